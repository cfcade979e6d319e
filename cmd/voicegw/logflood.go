package main

import (
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap/zapcore"
)

// floodLines is how many lines a second strangers may cause: of each kind of refusal, and of the HTTP server.
const floodLines = 10

// flood limits the lines that strangers cause. It is safe for concurrent use.
type flood struct {
	dropped atomic.Uint64 // lines over the limit

	mu     sync.Mutex
	second int64
	counts map[string]int // of this second, by kind
}

// admit reports whether another line of a kind may be written at an instant.
func (f *flood) admit(kind string, now time.Time) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if s := now.Unix(); s != f.second || f.counts == nil {
		f.second, f.counts = s, map[string]int{}
	}
	if f.counts[kind] == floodLines {
		f.dropped.Add(1)
		return false
	}
	f.counts[kind]++
	return true
}

// floodCore is a core without the lines over the limit.
type floodCore struct {
	zapcore.Core
	flood *flood
}

// With keeps the limit.
func (c *floodCore) With(fields []zapcore.Field) zapcore.Core {
	return &floodCore{c.Core.With(fields), c.flood}
}

// Check drops a line of a stranger's that is one too many.
func (c *floodCore) Check(e zapcore.Entry, to *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if kind := floodKind(&e); kind != "" && c.Enabled(e.Level) && !c.flood.admit(kind, e.Time) {
		return to
	}
	return c.Core.Check(e, to)
}

// httpLogger is the name of the log of the HTTP servers.
const httpLogger = "http"

// floodKind is the kind of a line that strangers can cause without a call, "" for the others.
func floodKind(e *zapcore.Entry) string {
	switch {
	case e.LoggerName == httpLogger:
		return httpLogger
	case strings.HasSuffix(e.Message, "refused"), strings.HasSuffix(e.Message, "rejected"):
		return e.Message
	}
	return ""
}

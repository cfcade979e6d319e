package main

import (
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap/zapcore"

	"github.com/voicegw/voicegw/transport"
)

// floodLines limits the lines a second that strangers can cause: of each kind of refusal, and of
// the HTTP servers.
const floodLines = 10

// flood limits the lines that strangers can cause. It is safe for concurrent use.
type flood struct {
	dropped atomic.Uint64 // lines over the limit

	mu     sync.Mutex
	second int64
	counts map[string]int // of this second, by kind
}

// admit reports whether one more line of a kind may be written now.
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

// floodCore drops the lines over the limit.
type floodCore struct {
	zapcore.Core
	flood *flood
}

// With returns a core with more fields and the same limit.
func (c *floodCore) With(fields []zapcore.Field) zapcore.Core {
	return &floodCore{c.Core.With(fields), c.flood}
}

// Check drops an entry over the limit.
func (c *floodCore) Check(e zapcore.Entry, to *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if kind := floodKind(&e); kind != "" && c.Enabled(e.Level) && !c.flood.admit(kind, e.Time) {
		return to
	}
	return c.Core.Check(e, to)
}

// httpLogger is the name of the logger of the HTTP servers.
const httpLogger = "http"

// floodKind returns the kind of an entry that strangers can cause without a call, "" for any other.
func floodKind(e *zapcore.Entry) string {
	switch e.LoggerName {
	case httpLogger:
		return httpLogger
	case transport.RefusalLogger:
		return e.Message
	}
	return ""
}

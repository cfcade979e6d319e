package simulate

import (
	"slices"
	"sync"

	"go.uber.org/zap/zapcore"
)

// logCapture keeps what is logged, as text: a field may hold the call that it is about, which must
// not be kept. It is a zapcore.Core.
type logCapture struct {
	with []zapcore.Field
	all  *logLines
}

// logLines is what the cores of a log share.
type logLines struct {
	mu    sync.Mutex
	lines []logLine
}

// logLine is a line of a log.
type logLine struct {
	level  zapcore.Level
	what   string
	fields map[string]any
}

func newLogCapture() *logCapture { return &logCapture{all: &logLines{}} }

// Enabled implements zapcore.Core.
func (l *logCapture) Enabled(level zapcore.Level) bool { return level >= zapcore.InfoLevel }

// With implements zapcore.Core.
func (l *logCapture) With(fields []zapcore.Field) zapcore.Core {
	return &logCapture{with: slices.Concat(l.with, fields), all: l.all}
}

// Check implements zapcore.Core.
func (l *logCapture) Check(e zapcore.Entry, to *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if l.Enabled(e.Level) {
		return to.AddCore(e, l)
	}
	return to
}

// Write implements zapcore.Core.
func (l *logCapture) Write(e zapcore.Entry, fields []zapcore.Field) error {
	m := zapcore.NewMapObjectEncoder()
	for _, f := range slices.Concat(l.with, fields) {
		f.AddTo(m)
	}
	l.all.mu.Lock()
	defer l.all.mu.Unlock()
	l.all.lines = append(l.all.lines, logLine{e.Level, e.Message, m.Fields})
	return nil
}

// Sync implements zapcore.Core.
func (l *logCapture) Sync() error { return nil }

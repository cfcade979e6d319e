package voicegw

import (
	"context"
	"log/slog"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// Slog returns a logger for Config.Log, and for the Log of an endpoint, that writes to l. The name
// of the logger becomes the attribute "logger".
func Slog(l *slog.Logger) *zap.Logger { return zap.New(slogCore{l.Handler()}) }

// slogCore writes entries of zap to a handler of slog.
type slogCore struct{ slog.Handler }

// Enabled reports whether the handler takes entries of a level.
func (c slogCore) Enabled(l zapcore.Level) bool {
	return c.Handler.Enabled(context.Background(), slogLevel(l))
}

// With returns a core that adds fields to each entry.
func (c slogCore) With(fields []zapcore.Field) zapcore.Core {
	return slogCore{c.WithAttrs(slogAttrs(fields))}
}

// Check adds the core to an entry that it takes.
func (c slogCore) Check(e zapcore.Entry, to *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if c.Enabled(e.Level) {
		return to.AddCore(e, c)
	}
	return to
}

// Write hands an entry to the handler.
func (c slogCore) Write(e zapcore.Entry, fields []zapcore.Field) error {
	r := slog.NewRecord(e.Time, slogLevel(e.Level), e.Message, e.Caller.PC)
	if e.LoggerName != "" {
		r.AddAttrs(slog.String("logger", e.LoggerName))
	}
	r.AddAttrs(slogAttrs(fields)...)
	return c.Handle(context.Background(), r)
}

// Sync does nothing: a handler of slog keeps nothing back.
func (slogCore) Sync() error { return nil }

// slogLevel returns the level of slog that has the meaning of a level of zap.
func slogLevel(l zapcore.Level) slog.Level {
	switch {
	case l < zapcore.InfoLevel:
		return slog.LevelDebug
	case l == zapcore.InfoLevel:
		return slog.LevelInfo
	case l == zapcore.WarnLevel:
		return slog.LevelWarn
	}
	return slog.LevelError
}

// slogAttrs returns fields of zap as attributes; an object becomes a map.
func slogAttrs(fields []zapcore.Field) []slog.Attr {
	var list []slog.Attr
	for _, f := range fields {
		enc := zapcore.NewMapObjectEncoder()
		f.AddTo(enc)
		for name, value := range enc.Fields {
			list = append(list, slog.Any(name, value))
		}
	}
	return list
}

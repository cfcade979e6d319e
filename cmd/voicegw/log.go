package main

import (
	"bytes"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/voicegw/voicegw/settings"
)

// newLogger returns a logger that writes one line an entry to w, and a line with the number of lost
// lines when there were any.
func newLogger(how settings.Log, w *logWriter) *zap.Logger { return newLoggerAt(how.Level, how, w) }

// newLoggerAt is newLogger with a level that may change.
func newLoggerAt(level zapcore.LevelEnabler, how settings.Log, w *logWriter) *zap.Logger {
	cfg := zap.NewProductionEncoderConfig()
	cfg.EncodeTime = zapcore.ISO8601TimeEncoder
	cfg.EncodeDuration = zapcore.StringDurationEncoder
	encoder := zapcore.NewJSONEncoder(cfg)
	if how.Format == "text" {
		cfg.EncodeLevel = zapcore.CapitalLevelEncoder
		encoder = zapcore.NewConsoleEncoder(cfg)
	}
	w.note = func(lost uint64) []byte {
		b, err := encoder.Clone().EncodeEntry(zapcore.Entry{Level: zapcore.WarnLevel, Time: time.Now(),
			LoggerName: w.name, Message: "lines of the log were lost"}, []zapcore.Field{zap.Uint64("lines", lost)})
		if err != nil {
			return nil
		}
		defer b.Free()
		return bytes.Clone(b.Bytes())
	}
	core := zapcore.NewCore(encoder, zapcore.AddSync(w), level)
	return zap.New(core, zap.WrapCore(func(c zapcore.Core) zapcore.Core { return &floodCore{Core: c, flood: &w.flood} }))
}

// auditName is the name of the logger of who did what.
const auditName = "audit"

// auditLog is the log of who did what. log.level does not apply to it, and it has a writer of its own, so that the
// lines of the other log do not displace its lines.
func auditLog(how settings.Log, w *logWriter) *zap.Logger {
	how.Level = zapcore.InfoLevel
	w.name = auditName
	return newLogger(how, w).Named(auditName)
}

// logMetrics returns counters of the lines of the log and of the audit log that were lost.
func logMetrics(w, audit *logWriter) []prometheus.Collector {
	unaudited := prometheus.NewCounterFunc(prometheus.CounterOpts{Namespace: "voicegw", Name: "audit_lines_lost_total",
		Help: "Lines that are not in the audit log, because it could not be written."},
		func() float64 { return float64(audit.losses()) })
	lost := func(why string, count func() uint64) prometheus.Collector {
		return prometheus.NewCounterFunc(prometheus.CounterOpts{Namespace: "voicegw", Name: "log_lines_lost_total",
			Help: "Lines that are not in the log. unread: the reader of the log was too slow; flood: strangers caused " +
				"too many.",
			ConstLabels: prometheus.Labels{"why": why}}, func() float64 { return float64(count()) })
	}
	return []prometheus.Collector{unaudited, lost("unread", w.losses), lost("flood", w.flood.dropped.Load)}
}

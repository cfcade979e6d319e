package main

import (
	"bytes"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// newLogger writes to w, one line an event. A line of its own counts the lines that were lost.
func newLogger(o logOptions, w *logWriter) *zap.Logger {
	cfg := zap.NewProductionEncoderConfig()
	cfg.EncodeTime = zapcore.ISO8601TimeEncoder
	cfg.EncodeDuration = zapcore.StringDurationEncoder
	encoder := zapcore.NewJSONEncoder(cfg)
	if o.format == "text" {
		cfg.EncodeLevel = zapcore.CapitalLevelEncoder
		encoder = zapcore.NewConsoleEncoder(cfg)
	}
	w.note = func(lost uint64) []byte {
		b, err := encoder.Clone().EncodeEntry(zapcore.Entry{Level: zapcore.WarnLevel, Time: time.Now(),
			Message: "lines of the log were lost"}, []zapcore.Field{zap.Uint64("lines", lost)})
		if err != nil {
			return nil
		}
		defer b.Free()
		return bytes.Clone(b.Bytes())
	}
	core := zapcore.NewCore(encoder, zapcore.AddSync(w), o.level)
	return zap.New(core, zap.WrapCore(func(c zapcore.Core) zapcore.Core { return &floodCore{Core: c, flood: &w.flood} }))
}

// logMetrics counts the lines that nobody will read.
func logMetrics(w *logWriter) []prometheus.Collector {
	lost := func(why string, count func() uint64) prometheus.Collector {
		return prometheus.NewCounterFunc(prometheus.CounterOpts{Namespace: "voicegw", Name: "log_lines_lost_total",
			Help: "Lines that are not in the log: unread, because nobody read it; flood, because strangers caused too " +
				"many.",
			ConstLabels: prometheus.Labels{"why": why}}, func() float64 { return float64(count()) })
	}
	return []prometheus.Collector{lost("unread", w.losses), lost("flood", w.flood.dropped.Load)}
}

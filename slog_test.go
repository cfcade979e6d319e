package voicegw

import (
	"bytes"
	"errors"
	"log/slog"
	"testing"
	"time"

	"go.uber.org/zap"
)

// TestSlog: what the gateway logs arrives with its level, name, fields and fields of its logger.
func TestSlog(t *testing.T) {
	var out bytes.Buffer
	log := Slog(slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelInfo,
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		}})))
	log.Debug("not this")
	call := log.Named("calls").With(zap.String("call", "c-1"))
	call.Info("began", zap.Duration("after", 2*time.Second), zap.Int("frames", 3))
	call.Warn("late")
	log.Error("lost", zap.Error(errors.New("no route")))
	want := "level=INFO msg=began call=c-1 logger=calls after=2s frames=3\n" +
		"level=WARN msg=late call=c-1 logger=calls\n" +
		"level=ERROR msg=lost error=\"no route\"\n"
	if out.String() != want {
		t.Errorf("logged\n%swant\n%s", out.String(), want)
	}
}

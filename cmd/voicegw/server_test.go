package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/settings"
	"github.com/voicegw/voicegw/transport/ws"
)

// piped is a listener whose connections are pipes.
type piped struct {
	net.Listener
	calls chan net.Conn
}

// Accept takes the next.
func (p *piped) Accept() (net.Conn, error) {
	c, ok := <-p.calls
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}

// Close makes Accept fail.
func (p *piped) Close() error { close(p.calls); return nil }

func TestLimitConnections(t *testing.T) {
	t.Parallel()
	synctest.Test(t, limitedToTwo)
}

func limitedToTwo(t *testing.T) {
	inner := &piped{calls: make(chan net.Conn, 3)}
	for range 3 {
		a, _ := net.Pipe()
		inner.calls <- a
	}
	l := limitConnections(inner, connectionLimits{most: 2, each: 2, requests: 2, requestsEach: 2})
	var open []net.Conn
	for range 2 {
		c, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, c)
	}
	next := make(chan error, 1)
	accept := func() {
		_, err := l.Accept()
		next <- err
	}
	go accept()
	synctest.Wait()
	if len(next) > 0 {
		t.Error("a third connection was accepted beside two")
	}
	for range 2 { // the second close of a connection gives back nothing more
		_ = open[0].Close()
	}
	if err := <-next; err != nil {
		t.Errorf("after one had ended: %v", err)
	}
	go accept()
	synctest.Wait()
	_ = l.Close()
	if err := <-next; !errors.Is(err, net.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

// mute is a model that never answers, whatever the limit.
type mute struct{ dialled, release chan struct{} }

// Dial waits for the end of the test.
func (d mute) Dial(context.Context, live.Setup) (live.Conn, error) {
	close(d.dialled)
	<-d.release
	return nil, errors.New("the test is over")
}

// TestShutDownIsBounded has a call that cannot end.
func TestShutDownIsBounded(t *testing.T) {
	t.Parallel()
	model := mute{make(chan struct{}), make(chan struct{})}
	gw, err := voicegw.New(voicegw.Config{Dialer: model})
	if err != nil {
		t.Fatal(err)
	}
	o, err := configured(t, "", nil, "--listen", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	o.Limits.ShutdownTimeout = 50 * time.Millisecond
	d, err := openServer(o, routes(http.NotFoundHandler(), gw, gw), zap.NewNop())
	if err != nil {
		t.Fatal(err)
	}
	serving, calling := make(chan error), make(chan struct{})
	go func() { serving <- d.serve() }()
	go func() {
		defer close(calling)
		url := strings.Replace(d.url, "http", "ws", 1) + "v1/voice"
		_, _ = ws.Dial(t.Context(), url, hello(), ws.DialConfig{})
	}()
	<-model.dialled
	if err := shutDown(o, d, gw, zap.NewNop()); err == nil || err.Error() != "1 calls did not end within 50ms" {
		t.Errorf("it says %v", err)
	}
	if err := <-serving; err != nil {
		t.Errorf("serve: %v", err)
	}
	close(model.release)
	<-calling
	_ = gw.Close()
}

func TestLogger(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		format string
		ok     func(string) bool
	}{
		{"text", func(s string) bool { return strings.Contains(s, "\tWARN\tmind\t{\"step\": 3}\n") }},
		{"json", func(s string) bool {
			var line struct{ Level, Msg string }
			return json.Unmarshal([]byte(s), &line) == nil && line.Level == "warn" && line.Msg == "mind"
		}},
	} {
		var out bytes.Buffer
		w := newLogWriter(&out)
		log := newLogger(settings.Log{Level: zapcore.WarnLevel, Format: c.format}, w)
		log.Info("the gap")
		log.Warn("mind", zap.Int("step", 3))
		w.close()
		if strings.Count(out.String(), "\n") != 1 || !c.ok(out.String()) {
			t.Errorf("%s: %q", c.format, out.String())
		}
	}
}

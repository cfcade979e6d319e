package endpointtest

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/voicegw/voicegw/internal/foreign/foreigntest"
	"github.com/voicegw/voicegw/transport"
)

// Quotes is an endpoint of which nothing that a caller says may be found in the log.
type Quotes struct {
	Endpoint     func(lines transport.Lines, log *zap.Logger) (Endpoint, error)
	Header       http.Header // of the request
	Subprotocols []string
	Greeting     []string // text frames that begin a call
	// Messages are text frames of a call, each with foreigntest.Card in place of what a caller keys
	// or types.
	Messages []string
}

// Test sends each message in a call of its own, once as the greeting and once behind it, and closes
// with Card as the reason. Neither the log of the gateway nor that of the endpoint, at any level,
// may have it.
func (q Quotes) Test(t *testing.T) {
	core, seen := observer.New(zap.DebugLevel)
	log := zap.New(core)
	p := Plan{Endpoint: func(lines transport.Lines) (Endpoint, error) { return q.Endpoint(lines, log) }}
	p.Gateway.Log = log
	w := New(t, p)
	for _, m := range q.Messages {
		if !strings.Contains(m, foreigntest.Card) {
			t.Fatalf("%s does not hold %s", m, foreigntest.Card)
		}
		q.call(t, w, []string{m})
		q.call(t, w, append(q.Greeting[:len(q.Greeting):len(q.Greeting)], m))
	}
	w.Eventually("all calls have ended", func() bool { return w.Gateway.Calls() == 0 })
	_ = w.Endpoint.Close() // all is logged
	for _, e := range seen.All() {
		for key, value := range e.ContextMap() {
			if strings.Contains(fmt.Sprintf("%s %v", e.Message, value), foreigntest.Card) {
				t.Errorf("logged as %q: %s: %v", e.Message, key, value)
			}
		}
	}
	if seen.Len() == 0 {
		t.Error("nothing was logged")
	}
}

// call sends frames, listens for a moment, and hangs up.
func (q Quotes) call(t *testing.T, w *World, frames []string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	conn, _, err := websocket.Dial(ctx, w.URL, &websocket.DialOptions{HTTPHeader: q.Header, Subprotocols: q.Subprotocols})
	if err != nil {
		t.Fatal(err)
	}
	conn.SetReadLimit(-1)
	for _, f := range frames {
		_ = conn.Write(ctx, websocket.MessageText, []byte(f)) // the far end may have closed
	}
	listening, stop := context.WithTimeout(ctx, 300*time.Millisecond)
	defer stop()
	closed := make(chan struct{})
	go func() { // ends with listening
		defer close(closed)
		for {
			if _, _, err := conn.Read(context.WithoutCancel(listening)); err != nil {
				return
			}
		}
	}()
	select {
	case <-closed:
	case <-listening.Done():
	}
	_ = conn.Close(4321, foreigntest.Card)
	<-closed
}

package endpointtest

import (
	"context"
	"net"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/coder/websocket"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/live/sim"
	"github.com/voicegw/voicegw/transport/ws/wstest"
)

// InBubble tells a story in a world where time passes only when everybody waits, on networks in
// memory: what is heard there depends on no machine. The world's URL is ws://localhost, and Dial
// the way there.
func InBubble(t *testing.T, p Plan, story func(w *World)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &World{tb: t, URL: "ws://localhost"}
		var err error
		if w.Model, err = sim.New(p.Model); err != nil {
			t.Fatal(err)
		}
		back, front := wstest.New(), wstest.New()
		defer serve(back, w.Model)()
		defer func() { _ = w.Model.Close() }()
		p.Gateway.Dialer = live.Wire{BaseURL: "ws://model", HTTPClient: over(back.Dial)}
		if w.Gateway, err = voicegw.New(p.Gateway); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = w.Gateway.Close() }()
		if w.Endpoint, err = p.Endpoint(w.Gateway.Lines()); err != nil {
			t.Fatal(err)
		}
		defer serve(front, w.Endpoint)()
		defer func() { _ = w.Endpoint.Close() }()
		w.client = over(front.Dial)
		story(w)
	})
}

// over is a client of a network.
func over(dial func(ctx context.Context, network, addr string) (net.Conn, error)) *http.Client {
	return &http.Client{Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}}
}

// serve serves h until the function it returns is called.
func serve(l net.Listener, h http.Handler) (stop func()) {
	server := &http.Server{Handler: h}
	var running sync.WaitGroup
	running.Go(func() { _ = server.Serve(l) })
	return func() {
		_ = server.Close()
		running.Wait()
	}
}

// Dialling returns how a client dials in a bubble, with these headers.
func (w *World) Dialling(header http.Header) *websocket.DialOptions {
	return &websocket.DialOptions{HTTPClient: w.client, HTTPHeader: header}
}

// Dial opens a WebSocket to the endpoint of a world in a bubble.
func (w *World) Dial() *websocket.Conn {
	w.tb.Helper()
	c, _, err := websocket.Dial(context.Background(), w.URL, w.Dialling(nil))
	if err != nil {
		w.tb.Fatal(err)
	}
	c.SetReadLimit(-1)
	return c
}

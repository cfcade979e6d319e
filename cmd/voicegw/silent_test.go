package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/voicegw/voicegw/settings"
	"github.com/voicegw/voicegw/transport/ws"
)

// dialFrom dials from an address of this machine, so that a stranger's connections count as
// somebody else's.
func dialFrom(last byte) func(context.Context, string, string) (net.Conn, error) {
	return (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, last)}}).DialContext
}

// silentSocket opens a WebSocket that says nothing.
func silentSocket(ctx context.Context, url string, from byte, subprotocols ...string) (net.Conn, error) {
	via := &http.Transport{DialContext: dialFrom(from), DisableKeepAlives: true}
	c, _, err := websocket.Dial(ctx, url, &websocket.DialOptions{Subprotocols: subprotocols,
		HTTPClient: &http.Client{Transport: via}})
	if err != nil {
		return nil, err
	}
	return websocket.NetConn(ctx, c, websocket.MessageBinary), nil
}

// slowPost begins a WHIP request whose body never ends.
func slowPost(ctx context.Context, address string, from byte) (net.Conn, error) {
	c, err := dialFrom(from)(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	_, err = io.WriteString(c, "POST /v1/whip HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/sdp\r\n"+
		"Content-Length: 1000\r\n\r\nv")
	return c, err
}

// TestSilentStrangersTakeNoLine opens many more connections than there are lines, at every endpoint.
// None of them says anything. A caller with a token is served at once, and the gateway is ready.
func TestSilentStrangersTakeNoLine(t *testing.T) {
	t.Parallel()
	carriers := writeFile(t, "secret", []byte("a secret of carriers"))
	s := startServe(t, []string{settings.SecretVariable + "=" + testSecret}, "--calls-max", "2", "--log-level", "error",
		"--endpoints", "webrtc,gemini,openai,rtvi,twilio", "--twilio-secret-file", carriers,
		"--access-cpu-max", "200", "--access-late-max", "1m")
	address := (&victim{served: s}).address()
	endpoints := map[string]func(from byte) (net.Conn, error){
		"voice": func(from byte) (net.Conn, error) { return silentSocket(t.Context(), s.voiceURL, from, ws.Subprotocol) },
		"whip":  func(from byte) (net.Conn, error) { return slowPost(t.Context(), address, from) },
	}
	for name, path := range map[string]string{"openai": "v1/realtime", "rtvi": "v1/rtvi", "twilio": "v1/twilio",
		"gemini": "ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent"} {
		endpoints[name] = func(from byte) (net.Conn, error) {
			return silentSocket(t.Context(), "ws"+strings.TrimPrefix(s.url, "http")+path, from)
		}
	}
	var mu sync.Mutex
	var open []net.Conn
	defer func() {
		for _, c := range open {
			_ = c.Close()
		}
	}()
	for name, dial := range endpoints {
		var strangers sync.WaitGroup
		for i := range 24 {
			strangers.Go(func() {
				c, err := dial(byte(1 + i%2)) // the caller's own address, and another
				if err != nil {
					t.Errorf("%s: stranger %d: %v", name, i, err)
					return
				}
				mu.Lock()
				defer mu.Unlock()
				open = append(open, c)
			})
		}
		strangers.Wait()
		if resp, body := get(t, http.DefaultClient, s.url+"readyz"); resp.StatusCode != http.StatusOK {
			t.Errorf("%s: /readyz: %s %q", name, resp.Status, body)
		}
		h := hello()
		h.Token = mint(t)
		began := time.Now()
		client, err := ws.Dial(t.Context(), s.voiceURL, h, ws.DialConfig{})
		if err != nil {
			t.Errorf("%s: a caller with a token: %v", name, err)
			continue
		}
		t.Logf("%s: a caller with a token is served after %v", name, time.Since(began))
		_ = client.Close()
	}
	s.end()
}

// TestIdleConnectionsShutNobodyOut: two addresses open as many connections as they can; a third is
// served.
func TestIdleConnectionsShutNobodyOut(t *testing.T) {
	t.Parallel()
	s := startServe(t, []string{settings.SecretVariable + "=" + testSecret}, "--log-level", "error",
		"--access-cpu-max", "200", "--access-late-max", "1m")
	address := (&victim{served: s}).address()
	var open []net.Conn
	for i := range 600 {
		c, err := dialFrom(byte(2+i%2))(t.Context(), "tcp", address)
		if err != nil {
			continue
		}
		defer func() { _ = c.Close() }()
		open = append(open, c)
	}
	h := hello()
	h.Token = mint(t)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	client, err := ws.Dial(ctx, s.voiceURL, h, ws.DialConfig{})
	if err != nil {
		t.Fatalf("beside %d idle connections: %v", len(open), err)
	}
	_ = client.Close()
	s.end()
}

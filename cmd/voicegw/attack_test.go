package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/voicegw/voicegw/access"
	"github.com/voicegw/voicegw/audio/audiotest"
	"github.com/voicegw/voicegw/settings"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/ws"
	"github.com/voicegw/voicegw/transport/ws/wsclient"
)

// refusal is the reason of an error of ws.Dial.
func refusal(err error) transport.Reason {
	var r *ws.Refused
	if errors.As(err, &r) {
		return r.Reason
	}
	return transport.ReasonOf(err)
}

// An attack goes on until ctx is done. It returns what was not as documented.
type attack func(ctx context.Context, v *victim) error

// victim is a gateway under attack.
type victim struct {
	*served
	used string // a token that was used
	late string // a token that has expired
}

func (v *victim) address() string {
	return strings.Trim(strings.TrimPrefix(v.url, "http:"), "/")
}

// TestAttacks attacks in every way at once while somebody talks: each attack is refused as
// documented, and nothing of the call is lost or cut.
func TestAttacks(t *testing.T) {
	t.Parallel()
	s := startServe(t, []string{settings.SecretVariable + "=" + testSecret}, "--limits-hello-timeout", "3s",
		"--log-level", "error",
		"--limits-connections-per-address", "60", "--access-cpu-max", "200", "--access-late-max", "1m")
	late, err := access.Mint([]byte(testSecret), access.Claims{ID: "late", Expiry: time.Now().Add(-time.Minute)})
	if err != nil {
		t.Fatal(err)
	}
	v := &victim{served: s, used: mint(t), late: late}
	if got := s.ended(t, v.used); got != transport.ReasonNone {
		t.Fatalf("the first use: %s", got)
	}
	good := []string{mint(t, "--life", "10m"), mint(t, "--life", "10m"), mint(t, "--life", "10m")}
	ctx, over := context.WithCancel(t.Context())
	var attackers sync.WaitGroup
	for name, a := range attacks() {
		attackers.Go(func() {
			if err := a(ctx, v); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	whole := false
	for _, token := range good {
		if whole = s.talk(t, token); whole {
			break
		}
	}
	over()
	attackers.Wait()
	if !whole {
		t.Errorf("beside the attacks the caller had no time to speak in one go in %d calls", len(good))
	}
	s.end()
	if log := s.stderr.String(); strings.Contains(log, "panic") || strings.Contains(log, "eyJ") {
		t.Errorf("the log: %s", log)
	}
}

// talk makes a call. Nothing of its reply may be lost or cut: what came is what was said, message
// by message, however late. It reports whether that was one turn: the machine, which all of this
// shares, may stop the caller for so long that the gateway takes it for the end of the turn, and
// then the reply is spoken over.
func (s *served) talk(t *testing.T, token string) (whole bool) {
	t.Helper()
	h := hello()
	h.Token = token
	said := audiotest.Speech("question")
	r, err := wsclient.Call(t.Context(), wsclient.Config{URL: s.voiceURL, In: said, Hello: h})
	if err != nil || r.Reason != transport.ReasonCallerHungUp {
		t.Errorf("the call ended by %s, %v", r.Closed, err)
		return true
	}
	const greeting = 1
	if r.Turns != greeting+1 || r.Interruptions+r.Pauses > 0 {
		t.Logf("%d turns, %d interruptions, %d pauses", r.Turns, r.Interruptions, r.Pauses)
		return false
	}
	ref := audiotest.Resample(said, r.Came.RateHz).Samples
	from, to := audiotest.FirstLoud(ref, r.Came.RateHz), audiotest.LastLoud(ref, r.Came.RateHz)
	ref = ref[from:to]
	lag, corr := audiotest.Align(ref, r.Came.Samples)
	holes := audiotest.Holes(ref, audiotest.Shift(r.Came.Samples, lag, len(ref)), r.Came.RateHz)
	if corr < 0.98 || holes > 0 || r.FramesCleared > 0 {
		t.Errorf("correlation %.4f, %d holes, %d frames cleared", corr, holes, r.FramesCleared)
	}
	return true
}

func attacks() map[string]attack {
	return map[string]attack{
		"slowloris":           slowloris,
		"flood of headers":    floodOfHeaders,
		"half-open peers":     halfOpen,
		"oversized message":   oversized,
		"forged token":        tokenAttack(func(v *victim) string { return v.used[:len(v.used)-6] + "AAAAAA" }),
		"replayed token":      tokenAttack(func(v *victim) string { return v.used }),
		"expired token":       tokenAttack(func(v *victim) string { return v.late }),
		"no token":            tokenAttack(func(*victim) string { return "" }),
		"foreign page":        refusedRequests(http.StatusForbidden, "GET", "Origin", "https://evil.example"),
		"foreign name":        refusedRequests(http.StatusMisdirectedRequest, "GET", "Host", "evil.example"),
		"wrong method":        refusedRequests(http.StatusMethodNotAllowed, "POST", "Content-Type", "text/xml"),
		"no WebSocket":        refusedRequests(http.StatusUpgradeRequired, "GET", "Accept", "text/html"),
		"unknown subprotocol": refusedRequests(http.StatusBadRequest, "GET", "Sec-WebSocket-Protocol", "x"),
	}
}

// breath is between two tries of an attacker, who shares the processors with the call.
const breath = 50 * time.Millisecond

// slowloris opens as many connections as it may from an address of its own and sends a byte now and
// then.
func slowloris(ctx context.Context, v *victim) error {
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}
	var open []net.Conn
	defer func() {
		for _, c := range open {
			_ = c.Close()
		}
	}()
	closed := 0
	for range 200 {
		c, err := dialer.Dial("tcp", v.address())
		if err != nil {
			closed++
			continue
		}
		open = append(open, c)
		_, _ = io.WriteString(c, "GET /v1/voice HTTP/1.1\r\nX: ")
	}
	for tick := time.NewTicker(100 * time.Millisecond); ; {
		select {
		case <-ctx.Done():
			tick.Stop()
			look := time.Now().Add(time.Second)
			for _, c := range open {
				_ = c.SetReadDeadline(look)
				if _, err := c.Read(make([]byte, 1)); err != nil && !timedOut(err) {
					closed++
				}
			}
			if closed < 200-60 {
				return fmt.Errorf("%d of 200 connections of one address were closed, want at least 140", closed)
			}
			return nil
		case <-tick.C:
			for _, c := range open {
				_, _ = io.WriteString(c, "x")
			}
		}
	}
}

// TestHeadersHaveAnEnd: who never comes to the end of the headers is hung up on, however few
// connections there are.
func TestHeadersHaveAnEnd(t *testing.T) {
	t.Parallel()
	s := startServe(t, nil)
	c, err := net.Dial("tcp", (&victim{served: s}).address())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	began := time.Now()
	_, _ = io.WriteString(c, "GET /v1/voice HTTP/1.1\r\nX: ")
	_ = c.SetReadDeadline(began.Add(patience))
	if _, err := c.Read(make([]byte, 1)); err == nil || timedOut(err) {
		t.Errorf("after %v: %v", time.Since(began), err)
	}
	s.end()
}

func timedOut(err error) bool {
	var n net.Error
	return errors.As(err, &n) && n.Timeout()
}

// floodOfHeaders sends headers without end, from an address of its own. It is told that they are
// too many, or reset when it comes too often.
func floodOfHeaders(ctx context.Context, v *victim) error {
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 3)}}
	const again = 10 // when the call beside it is over and nobody has told it yet
	told := false
	for late := 0; ctx.Err() == nil || !told; {
		if ctx.Err() != nil {
			if late++; late > again {
				return errors.New("nobody says that headers without end are too many")
			}
		}
		c, err := dialer.Dial("tcp", v.address())
		if err != nil {
			continue
		}
		_, _ = io.WriteString(c, "GET /v1/voice HTTP/1.1\r\nHost: localhost\r\n")
		line := []byte("X-Padding: " + strings.Repeat("x", 1000) + "\r\n")
		go func() {
			for range 200 {
				if _, err := c.Write(line); err != nil {
					return
				}
			}
		}()
		_ = c.SetReadDeadline(time.Now().Add(patience))
		resp, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err == nil && resp.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
			return fmt.Errorf("it answers %s", resp.Status)
		}
		told = told || err == nil
		_ = c.Close()
		time.Sleep(breath)
	}
	return nil
}

// upgraded is a WebSocket that has said nothing yet.
func (v *victim) upgraded(ctx context.Context) (*websocket.Conn, error) {
	c, _, err := websocket.Dial(ctx, v.voiceURL, &websocket.DialOptions{Subprotocols: []string{ws.Subprotocol}})
	return c, err
}

// closedBy waits for the close of a WebSocket.
func closedBy(c *websocket.Conn) int {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for {
		if _, _, err := c.Read(ctx); err != nil {
			return int(websocket.CloseStatus(err))
		}
	}
}

// halfOpen connects and says nothing.
func halfOpen(ctx context.Context, v *victim) error {
	for ctx.Err() == nil {
		var waiting sync.WaitGroup
		codes := make(chan int, 8)
		for range cap(codes) {
			c, err := v.upgraded(context.WithoutCancel(ctx))
			if err != nil {
				return err
			}
			waiting.Go(func() { codes <- closedBy(c) })
		}
		waiting.Wait()
		for range cap(codes) {
			if code := <-codes; code != transport.ReasonHelloTimeout.Code() {
				return fmt.Errorf("closed by %d, want %d", code, transport.ReasonHelloTimeout.Code())
			}
		}
	}
	return nil
}

// oversized sends more than the gateway takes in place of a hello.
func oversized(ctx context.Context, v *victim) error {
	for ctx.Err() == nil {
		c, err := v.upgraded(context.WithoutCancel(ctx))
		if err != nil {
			return err
		}
		if err := c.Write(context.WithoutCancel(ctx), websocket.MessageText, bytes.Repeat([]byte("x"), 1<<20)); err == nil {
			if code := closedBy(c); code != transport.ReasonMessageTooBig.Code() && code != -1 {
				return fmt.Errorf("closed by %d", code)
			}
		}
		_ = c.CloseNow()
		time.Sleep(breath)
	}
	return nil
}

// tokenAttack shows a token that is not good.
func tokenAttack(token func(*victim) string) attack {
	return func(ctx context.Context, v *victim) error {
		for ctx.Err() == nil {
			h := hello()
			h.Token = token(v)
			client, err := ws.Dial(context.WithoutCancel(ctx), v.voiceURL, h, ws.DialConfig{})
			if err == nil {
				_ = client.Close()
				return errors.New("it was let in")
			}
			if reason := refusal(err); reason != transport.ReasonUnauthorized {
				return fmt.Errorf("refused by %s: %w", reason, err)
			}
			time.Sleep(breath)
		}
		return nil
	}
}

// refusedRequests sends requests that are refused with a status.
func refusedRequests(status int, method, header, value string) attack {
	return func(ctx context.Context, v *victim) error {
		for ctx.Err() == nil {
			r, err := http.NewRequestWithContext(context.WithoutCancel(ctx), method, v.url+"v1/voice", strings.NewReader(""))
			if err != nil {
				return err
			}
			for k, s := range map[string]string{"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
				"Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Protocol": ws.Subprotocol} {
				r.Header.Set(k, s)
			}
			switch r.Header.Set(header, value); header {
			case "Host":
				r.Host = value
			case "Accept":
				r.Header.Del("Upgrade")
			}
			resp, err := http.DefaultClient.Do(r)
			if err != nil {
				return err
			}
			_ = resp.Body.Close()
			if resp.StatusCode != status {
				return fmt.Errorf("%s, want %d", resp.Status, status)
			}
			time.Sleep(breath)
		}
		return nil
	}
}

package wsclient

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/ws"
)

const (
	wildReady = `{"type":"ready","call":"c","version":1,"frame_ms":20,"ack_ms":100,"input_rate":16000,` +
		`"output_rate":48000,"budget_ms":400,"detection":"manual",` +
		`"model":{"name":"m\u001b[2J\u009b1m","embedded":false},"greeting":false,"limits":{"message_bytes":131072,` +
		`"call_s":60}}`
	wildTurn = `{"type":"turn","state":"start","generation":%d}`
)

// hostile answers a hello and then sends what flood says until it is hung up on. It returns the
// report, and how much memory the call held at its end.
func hostile(t *testing.T, flood func(send func(websocket.MessageType, string) bool)) (r Report, held uint64,
	err error) {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{ws.Subprotocol}})
		if err != nil {
			return
		}
		defer c.CloseNow()
		if _, _, err := c.Read(context.Background()); err != nil {
			return
		}
		send := func(kind websocket.MessageType, text string) bool {
			return c.Write(context.Background(), kind, []byte(text)) == nil
		}
		if !send(websocket.MessageText, wildReady) {
			return
		}
		var reading sync.WaitGroup
		reading.Go(func() {
			for {
				if _, _, err := c.Read(context.Background()); err != nil {
					return
				}
			}
		})
		flood(send)
		_ = c.CloseNow()
		reading.Wait()
	}))
	r, err = Call(t.Context(), Config{URL: srv.URL + "/v1/voice", Max: 10 * time.Second})
	srv.Close()
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	runtime.KeepAlive(r)
	return r, m.HeapAlloc, err
}

// TestHostileGateway sends without end whatever a client keeps. It is hung up on, and little of it
// is kept.
func TestHostileGateway(t *testing.T) {
	long := strings.Repeat("x", 100_000)
	sound := strings.Repeat("\x01\x10", 48_000)
	for name, flood := range map[string]func(n int, send func(websocket.MessageType, string) bool) bool{
		"sound": func(_ int, send func(websocket.MessageType, string) bool) bool {
			return send(websocket.MessageBinary, sound)
		},
		"cleared sound": func(_ int, send func(websocket.MessageType, string) bool) bool {
			return send(websocket.MessageBinary, sound) &&
				send(websocket.MessageText, `{"type":"clear","generation":1}`)
		},
		"turns": func(n int, send func(websocket.MessageType, string) bool) bool {
			return send(websocket.MessageText, fmt.Sprintf(wildTurn, n+2))
		},
		"transcripts": func(_ int, send func(websocket.MessageType, string) bool) bool {
			return send(websocket.MessageText, `{"type":"transcript","who":"model","final":true,`+
				`"generation":1,"text":"`+long+`"}`)
		},
		"marks": func(n int, send func(websocket.MessageType, string) bool) bool {
			return send(websocket.MessageText, fmt.Sprintf(`{"type":"mark","id":"%d","generation":1}`, n))
		},
		"errors": func(_ int, send func(websocket.MessageType, string) bool) bool {
			return send(websocket.MessageText, `{"type":"error","code":"x","message":"`+long+`","fatal":false}`)
		},
		"one message": func(_ int, send func(websocket.MessageType, string) bool) bool {
			return send(websocket.MessageBinary, strings.Repeat(sound, 100))
		},
	} {
		t.Run(name, func(t *testing.T) {
			r, held, err := hostile(t, func(send func(websocket.MessageType, string) bool) {
				for n := 0; (n > 0 || send(websocket.MessageText, fmt.Sprintf(wildTurn, 1))) && flood(n, send); n++ {
				}
			})
			if r.Reason != transport.ReasonMessageTooBig {
				t.Errorf("the call ended by %s: %s, %v", r.Reason, r.Message, err)
			}
			if held > 100<<20 {
				t.Errorf("%d MB are held", held>>20)
			}
		})
	}
}

// TestHostileWords: nothing a gateway says reaches a report with what a terminal would obey.
func TestHostileWords(t *testing.T) {
	const evil = `a\u001b]0;b\u0007\nclosed  done\u009b2J\u202e`
	r, _, _ := hostile(t, func(send func(websocket.MessageType, string) bool) {
		for _, m := range []string{`{"type":"error","code":"` + evil + `","message":"` + evil + `","fatal":false}`,
			`{"type":"bye","reason":"` + evil + `","message":"` + evil + `"}`} {
			send(websocket.MessageText, m)
		}
		time.Sleep(time.Second)
	})
	for _, s := range append(r.Notes, r.Ready.Model.Name, r.Closed, r.Message) {
		if strings.ContainsAny(s, "\x1b\a\n\u009b\u202e") {
			t.Errorf("it is kept: %q", s)
		}
	}
	if len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "closed done") {
		t.Errorf("notes %q", r.Notes)
	}
}

package wsendpoint

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/ws/wstest"
	"github.com/voicegw/voicegw/transport/wsconn"
)

// plain is a protocol of tests: words, and sound as numbers of samples. "hi" greets, "pcm RATE N"
// is N samples, "bye" hangs up, "heard G MS" is an account, "say X" is answered by X, anything else
// ends the call. After "more?" a far end may greet again for a second, and each reply is announced.
type plain struct {
	clears    []string
	more      bool
	announced uint64
}

func (c *plain) Settle() time.Duration {
	if c.more {
		return time.Second
	}
	return 0
}

func (c *plain) Announce(generation uint64, out *Outbox) {
	if c.more && generation != c.announced {
		c.announced = generation
		out.Put([]byte("first"))
		out.Put([]byte("second"))
	}
}

func (c *plain) Greet(h *transport.Hello, next func() (wsconn.Message, error), out *Outbox) error {
	for {
		m, err := next()
		switch {
		case errors.Is(err, ErrSettled):
			return nil
		case err != nil:
			return err
		case string(m.Data) == "more?":
			c.more = true
		case string(m.Data) == "hi":
			h.Client = "tests"
			return nil
		case string(m.Data) == "who?":
			out.Put([]byte("me"))
		case strings.HasPrefix(string(m.Data), "pcm"):
			return ErrUnread
		default:
			return transport.End(transport.ReasonEventBeforeHello, "", nil)
		}
	}
}

func (c *plain) Ready(_ transport.Ready, out *Outbox) { out.Put([]byte("ready")) }

func (c *plain) Read(m wsconn.Message, in *Inbox, out *Outbox) error {
	var rate, n int
	var g uint64
	var ms int64
	words := string(m.Data)
	switch {
	case words == "bye":
		in.Event(transport.Event{Kind: transport.EventBye})
	case words == "text":
		in.Event(transport.Event{Kind: transport.EventText, Text: "text"})
	case strings.HasPrefix(words, "say "):
		out.Put([]byte(words[4:]))
	default:
		if _, err := fmt.Sscanf(words, "pcm %d %d", &rate, &n); err == nil {
			return in.Samples(rate, make([]int16, n))
		}
		if _, err := fmt.Sscanf(words, "heard %d %d", &g, &ms); err == nil {
			in.Heard(g, ms)
			return nil
		}
		return transport.End(transport.ReasonBadJSON, "", nil)
	}
	return nil
}

func (c *plain) Audio(dst []byte, generation uint64, _ []int16) []byte {
	return append(dst, 'a', byte('0'+generation))
}

func (c *plain) Message(m *transport.Message, out *Outbox) { out.Put([]byte(m.Kind.String())) }

func (c *plain) Cleared(g uint64, ms int64) { c.clears = append(c.clears, fmt.Sprint(g, ms)) }

func (c *plain) Bye(e *transport.Ended, out *Outbox) (int, string) {
	out.Put([]byte("bye " + e.Reason.String()))
	return CloseCode(e)
}

// exchange is Lines that hand each call to a test.
type exchange struct {
	taken, checked error // why no line, why not this hello
	calls          chan *call
	begun          transport.Handshake // the last one
}

// call is a call that goes on until the test ends it.
type call struct {
	*Peer
	ctx  context.Context
	over chan error
}

func newExchange() *exchange { return &exchange{calls: make(chan *call, 8)} }

func (e *exchange) Take(h transport.Handshake) (transport.Line, error) {
	e.begun = h
	return e, e.taken
}

func (e *exchange) Check(context.Context, *transport.Hello) error { return e.checked }

func (e *exchange) Call(ctx context.Context, p transport.Peer) error {
	c := &call{Peer: p.(*Peer), ctx: ctx, over: make(chan error, 1)}
	e.calls <- c
	err := <-c.over
	_ = p.Close(transport.ReasonDone, "")
	return err
}

func (e *exchange) Release() {}

// network is a listener with its dialer.
type network interface {
	net.Listener
	Dial(ctx context.Context, network, addr string) (net.Conn, error)
}

// street is an endpoint on a network in memory.
type street struct {
	t        *testing.T
	endpoint *Endpoint
	lines    *exchange
	http     *http.Client
}

// inBubble tells a story in a world of its own time.
func inBubble(t *testing.T, cfg Config, proto Protocol, story func(s *street)) {
	t.Helper()
	inBubbleOn(t, func() network { return wstest.New() }, cfg, proto, story)
}

func inBubbleOn(t *testing.T, net func() network, cfg Config, proto Protocol, story func(s *street)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		lines := newExchange()
		cfg.Lines = lines
		proto.Name, proto.Codec = "plain", func(*http.Request) Codec { return &plain{} }
		d, err := New(cfg, proto)
		if err != nil {
			t.Fatal(err)
		}
		l := net()
		srv := &http.Server{Handler: d}
		var running sync.WaitGroup
		running.Go(func() { _ = srv.Serve(l) })
		tr := &http.Transport{DialContext: l.Dial, DisableKeepAlives: true}
		story(&street{t: t, endpoint: d, lines: lines, http: &http.Client{Transport: tr}})
		_ = srv.Close()
		tr.CloseIdleConnections()
		running.Wait()
	})
}

// caller is the far end.
type caller struct {
	t *testing.T
	*websocket.Conn
}

// knock upgrades.
func (s *street) knock() *caller {
	s.t.Helper()
	c, _, err := websocket.Dial(context.Background(), "ws://localhost/", &websocket.DialOptions{HTTPClient: s.http})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = c.CloseNow() })
	return &caller{s.t, c}
}

// connect makes a call that is ready.
func (s *street) connect() (*caller, *call) {
	s.t.Helper()
	far := s.knock()
	far.say("hi")
	near := <-s.lines.calls
	ready := make(chan error, 1)
	go func() { ready <- near.Ready(near.ctx, transport.Ready{Call: "c-1"}) }()
	far.hears("ready")
	if err := <-ready; err != nil {
		s.t.Fatal(err)
	}
	return far, near
}

func (c *caller) say(words string) {
	c.t.Helper()
	if err := c.Write(context.Background(), websocket.MessageText, []byte(words)); err != nil {
		c.t.Fatal(err)
	}
}

func (c *caller) hears(want string) {
	c.t.Helper()
	_, b, err := c.Read(context.Background())
	if err != nil || string(b) != want {
		c.t.Fatalf("heard %q, %v; want %q", b, err, want)
	}
}

// closed reads to the end and returns the close code and its words.
func (c *caller) closed() (websocket.StatusCode, string) {
	c.t.Helper()
	for {
		if _, _, err := c.Read(context.Background()); err != nil {
			var ce websocket.CloseError
			if asClose(err, &ce) {
				return ce.Code, ce.Reason
			}
			return -1, err.Error()
		}
	}
}

// event receives an event of a kind.
func (c *call) event(t *testing.T, kind transport.EventKind) transport.Event {
	t.Helper()
	var ev transport.Event
	if err := c.Recv(c.ctx, &ev); err != nil || ev.Kind != kind {
		t.Fatalf("Recv = %v, %+v, want %s", err, ev.Kind, kind)
	}
	return ev
}

// turn announces a turn, and sends frames of it.
func (c *call) turn(t *testing.T, generation uint64, frames int) {
	t.Helper()
	if err := c.Send(c.ctx, &transport.Message{Kind: transport.MessageTurn, State: transport.StateStart,
		Generation: generation}); err != nil {
		t.Fatal(err)
	}
	c.frames(t, generation, frames)
}

func (c *call) frames(t *testing.T, generation uint64, n int) {
	t.Helper()
	for range n {
		if err := c.SendAudio(c.ctx, generation, make([]int16, 480)); err != nil {
			t.Fatal(err)
		}
	}
}

const second = time.Second

package ws

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/wsconn"
)

// stall makes a call whose client does not read, and sends until the server notices.
func stall(t *testing.T, cfg Config) (*Peer, *websocket.Conn) {
	t.Helper()
	d := newEndpoint(t, cfg)
	c := rawDial(t, d.url)
	text(goodHello).to(t, c)
	p, err := d.next(t)
	if err != nil {
		t.Fatal(err)
	}
	ctx := testContext(t)
	if err := p.Ready(ctx, transport.Ready{Call: "c-1"}); err != nil {
		t.Fatal(err)
	}
	if err := p.Send(ctx, &transport.Message{Kind: transport.MessageTurn, State: transport.StateStart}); err != nil {
		t.Fatal(err)
	}
	second := make([]int16, 24000)
	for range 2000 { // far more than the kernel takes
		if err = p.SendAudio(ctx, 0, second); err != nil {
			break
		}
		if p.conn.Stalled() {
			t.Fatal("SendAudio reported success for what was not handed over")
		}
	}
	if !errors.Is(err, transport.ErrStalled) || transport.ReasonOf(err) != transport.ReasonPeerStalled {
		t.Fatalf("SendAudio = %v, want ErrStalled", err)
	}
	return p, c
}

// TestSlowReader: a client that stops reading costs the write timeout once and the close timeout
// once.
func TestSlowReader(t *testing.T) {
	p, _ := stall(t, Config{Limits: wsconn.Limits{WriteTimeout: quick, CloseTimeout: quick}})
	start := time.Now()
	if err := p.SendAudio(testContext(t), 0, []int16{1}); !errors.Is(err, transport.ErrStalled) {
		t.Errorf("the next SendAudio = %v, want ErrStalled", err)
	}
	if took := time.Since(start); took > patience/4 {
		t.Errorf("the next SendAudio took %v, want that it fails at once", took)
	}
	recv := make(chan error, 1)
	go func() { recv <- p.Recv(testContext(t), new(transport.Event)) }()
	start = time.Now()
	if err := p.Close(transport.ReasonPeerStalled, ""); !errors.Is(err, transport.ErrStalled) {
		t.Errorf("Close = %v, want that nothing could be said", err)
	}
	if took := time.Since(start); took > patience/4 {
		t.Errorf("Close took %v", took)
	}
	if err := <-recv; !errors.Is(err, transport.ErrStalled) {
		t.Errorf("Recv = %v, want the end", err)
	}
}

// TestSlowReaderComesBack: the stream stayed whole, so a client that reads again in time learns why
// it ends.
func TestSlowReaderComesBack(t *testing.T) {
	p, c := stall(t, Config{Limits: wsconn.Limits{WriteTimeout: quick, CloseTimeout: patience}})
	closed := make(chan error, 1)
	go func() { closed <- p.Close(transport.ReasonPeerStalled, "") }()
	events, ce := hearAll(t, c)
	checkEnd(t, events, ce, transport.ReasonPeerStalled, "stopped")
	<-closed
}

// TestCancelledRecvLeavesTheCallWhole: after it the far end can still be told why the call ends.
func TestCancelledRecvLeavesTheCallWhole(t *testing.T) {
	d := newEndpoint(t, Config{})
	c := rawDial(t, d.url)
	text(goodHello).to(t, c)
	p, err := d.next(t)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	recv := make(chan error, 1)
	go func() { recv <- p.Recv(ctx, new(transport.Event)) }()
	cancel()
	if err := <-recv; !errors.Is(err, context.Canceled) {
		t.Fatalf("Recv = %v, want that it was cancelled", err)
	}
	if err := p.Recv(ctx, new(transport.Event)); !errors.Is(err, context.Canceled) {
		t.Errorf("with a context that is done Recv = %v", err)
	}
	go func() { _ = p.Close(transport.ReasonGoingAway, "") }()
	events, ce := hearAll(t, c)
	checkEnd(t, events, ce, transport.ReasonGoingAway, "shutting down")
}

// TestCancelledSendLeavesTheCallWhole: a send is given up in the middle of a frame, and what
// follows is still in step.
func TestCancelledSendLeavesTheCallWhole(t *testing.T) {
	d := newEndpoint(t, Config{Limits: wsconn.Limits{CloseTimeout: patience, WriteTimeout: patience}})
	c := rawDial(t, d.url)
	text(goodHello).to(t, c)
	p, err := d.next(t)
	if err != nil {
		t.Fatal(err)
	}
	_ = p.Ready(testContext(t), transport.Ready{Call: "c-1"})
	_ = p.Send(testContext(t), &transport.Message{Kind: transport.MessageTurn, State: transport.StateStart})
	ctx, cancel := context.WithCancel(context.Background())
	progress := make(chan struct{}, 2000)
	sent := make(chan error, 1)
	go func() {
		var err error
		for err == nil {
			err = p.SendAudio(ctx, 0, make([]int16, 24000))
			progress <- struct{}{}
		}
		sent <- err
	}()
	stillFor(progress, quick) // the socket is full
	cancel()
	if err := <-sent; !errors.Is(err, context.Canceled) || errors.Is(err, transport.ErrStalled) {
		t.Fatalf("SendAudio = %v, want that it was cancelled", err)
	}
	go func() { _ = p.Close(transport.ReasonDone, "") }()
	events, ce := hearAll(t, c)
	checkEnd(t, events, ce, transport.ReasonDone, "")
}

// stillFor returns when nothing came for d.
func stillFor(c <-chan struct{}, d time.Duration) {
	for {
		select {
		case <-c:
		case <-time.After(d):
			return
		}
	}
}

// TestHangUpWithoutBye: closing the page is hanging up, a broken connection is not.
func TestHangUpWithoutBye(t *testing.T) {
	for _, tt := range []struct {
		name  string
		leave func(*websocket.Conn)
		want  transport.Reason
	}{
		{"close 1000", func(c *websocket.Conn) { _ = c.Close(websocket.StatusNormalClosure, "") },
			transport.ReasonCallerHungUp},
		{"page closed", func(c *websocket.Conn) { _ = c.Close(websocket.StatusGoingAway, "") }, transport.ReasonCallerHungUp},
		{"no code", func(c *websocket.Conn) { _ = c.Close(websocket.StatusNoStatusRcvd, "") }, transport.ReasonCallerHungUp},
		{"it claims our own fault", func(c *websocket.Conn) {
			_ = c.Close(websocket.StatusInternalError,
				"internal")
		}, transport.ReasonPeerLost},
		{"cable pulled", func(c *websocket.Conn) { _ = c.CloseNow() }, transport.ReasonPeerLost},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newEndpoint(t, Config{})
			end := serveOne(t, d, false)
			c := rawDial(t, d.url)
			text(goodHello).to(t, c)
			if _, _, err := c.Read(testContext(t)); err != nil { // ready
				t.Fatal(err)
			}
			tt.leave(c)
			if err := <-end; transport.ReasonOf(err) != tt.want {
				t.Errorf("Recv = %v, want %s", err, tt.want)
			}
		})
	}
}

// TestHangUpBeforeReady: a caller who leaves while the model is dialled is noticed.
func TestHangUpBeforeReady(t *testing.T) {
	d := newEndpoint(t, Config{})
	end := serveOne(t, d, true)
	c := rawDial(t, d.url)
	text(goodHello).to(t, c)
	_ = c.Close(websocket.StatusNormalClosure, "")
	if err := <-end; transport.ReasonOf(err) != transport.ReasonCallerHungUp {
		t.Errorf("Recv = %v, want that the caller hung up", err)
	}
}

// TestServerGoesAwayDuringHello: the wait for a hello ends with the request's context.
func TestServerGoesAwayDuringHello(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	d := newEndpointIn(t, ctx, Config{})
	c := rawDial(t, d.url)
	cancel()
	events, ce := hearAll(t, c)
	checkEnd(t, events, ce, transport.ReasonGoingAway, "")
	if _, err := d.next(t); transport.ReasonOf(err) != transport.ReasonGoingAway {
		t.Errorf("Accept = %v, want going away", err)
	}
}

// TestAnyoneMayClose from any goroutine while others send and receive.
func TestAnyoneMayClose(t *testing.T) {
	p, c := connect(t, Config{}, DialConfig{})
	ctx := testContext(t)
	_ = p.Send(ctx, &transport.Message{Kind: transport.MessageTurn, State: transport.StateStart, Generation: 1})
	var wg sync.WaitGroup
	wg.Go(func() {
		for p.SendAudio(ctx, 1, make([]int16, 480)) == nil {
		}
	})
	wg.Go(func() {
		for p.Recv(ctx, new(transport.Event)) == nil {
		}
	})
	wg.Go(func() {
		for c.SendAudio(ctx, make([]int16, 320)) == nil {
		}
	})
	var m transport.Message
	for range 20 {
		if err := c.Recv(ctx, &m); err != nil {
			t.Fatal(err)
		}
	}
	wg.Go(func() {
		for c.Recv(ctx, &m) == nil {
		}
	})
	for range 4 {
		wg.Go(func() { _ = p.Close(transport.ReasonMaxDuration, "") })
		wg.Go(func() { _ = c.Close() })
	}
	wg.Wait()
}

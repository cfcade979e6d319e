package ws

import (
	"context"
	"errors"
	"fmt"

	"github.com/coder/websocket"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/transport"
)

// Client is a call seen from the caller's side. Recv has one caller; SendAudio, SendEvent and Close may be called by
// anyone at any time.
type Client struct {
	wire
	cfg        DialConfig
	ready      transport.Ready
	generation uint64 // of the turn announced last; owned by Recv
	closed     chan struct{}
}

// Ready returns what the gateway promised.
func (c *Client) Ready() transport.Ready { return c.ready }

// Counters returns what went over the connection so far. Safe for concurrent use.
func (c *Client) Counters() Counters { return c.counters.snapshot() }

// greet says hello and waits for ready. Events before it are ignored; an error or a bye is a refusal.
func (c *Client) greet(ctx context.Context, hello transport.Hello) error {
	c.mu.Lock()
	c.out = appendHello(c.out[:0], hello)
	err := c.write(ctx, websocket.MessageText, c.out)
	c.mu.Unlock()
	if err != nil {
		return fmt.Errorf("say hello: %w", err)
	}
	for c.ready.Call == "" {
		typ, b, err := c.read(ctx, c.cfg.ReadyTimeout)
		if err != nil {
			return c.notReady(ctx, err)
		}
		if typ != websocket.MessageText {
			continue
		}
		if err := c.takeReady(b); err != nil {
			return err
		}
	}
	return nil
}

// notReady says why no ready came.
func (c *Client) notReady(ctx context.Context, err error) error {
	e := c.readFailed(ctx, err)
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded) || transport.ReasonOf(e) == transport.ReasonIdleTimeout:
		return fmt.Errorf("the gateway did not answer the hello within %v", c.cfg.ReadyTimeout)
	case ctx.Err() != nil:
		return ctx.Err()
	case transport.ReasonOf(e) == transport.ReasonPeerLost:
		return fmt.Errorf("the gateway hung up in place of an answer to the hello: %w", err)
	}
	r := transport.ReasonOf(e)
	return &Refused{Reason: r, Message: r.Message()}
}

// takeReady reads a text frame before ready.
func (c *Client) takeReady(b []byte) error {
	o, err := parseObject(b)
	if err != nil {
		return fmt.Errorf("the answer to the hello cannot be read: %w", err)
	}
	switch o.name {
	case "ready":
		c.ready, err = decodeReady(o)
		if err == nil && c.ready.Call == "" {
			err = &transport.FieldError{Event: "ready", Field: "call", Value: "missing", Want: "the id of the call"}
		}
		return err
	case "error", "bye":
		var m transport.Message
		if err := decodeMessage(b, &m); err != nil {
			return fmt.Errorf("the answer to the hello cannot be read: %w", err)
		}
		if m.Kind == transport.MessageError && !m.Fatal {
			return nil
		}
		r, _ := transport.ParseReason(m.Code)
		return &Refused{Reason: r, Message: transport.OneLine(m.Text, refusedLenMax)}
	}
	return nil
}

// SendAudio sends microphone audio at the input rate: whole samples, at most 1 s; 20-40 ms is right. It keeps nothing
// of pcm and returns [transport.ErrStalled] when the gateway did not take it within the write timeout.
func (c *Client) SendAudio(ctx context.Context, pcm []int16) error {
	if err := c.sendAudio(ctx, pcm); err != nil {
		return fmt.Errorf("transport/ws: send audio: %w", err)
	}
	return nil
}

// SendEvent sends an event other than audio.
func (c *Client) SendEvent(ctx context.Context, ev *transport.Event) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	b, err := appendEvent(c.out[:0], ev)
	if err != nil {
		return fmt.Errorf("transport/ws: send: %w", err)
	}
	c.out = b
	if err := c.write(ctx, websocket.MessageText, b); err != nil {
		return fmt.Errorf("transport/ws: send %s: %w", ev.Kind, err)
	}
	c.counters.eventsOut.Add(1)
	return nil
}

// Recv waits for the next message and fills m. Audio comes as [transport.MessageAudio] with the generation of the turn
// that was announced last. After bye, or when the connection breaks, the error is a *transport.Ended. When ctx is done
// the error is ctx.Err() and only Close may follow.
func (c *Client) Recv(ctx context.Context, m *transport.Message) error {
	for {
		typ, b, err := c.read(ctx, c.cfg.IdleTimeout)
		switch {
		case err != nil:
			return c.recvFailed(ctx, err)
		case c.ended.Load() != nil:
			continue // closing: what still comes is dropped
		}
		m.Reset()
		known, err := c.take(typ, b, m)
		if err != nil {
			e := ended(transport.ReasonBadJSON, "The gateway sent something that is not valid: "+err.Error(), err)
			_ = c.finish(e)
			return c.ended.Load()
		}
		if known {
			return nil
		}
	}
}

func (c *Client) recvFailed(ctx context.Context, err error) error {
	err = c.readFailed(ctx, err)
	var e *transport.Ended
	if !errors.As(err, &e) {
		return err
	}
	_ = c.finish(e)
	return c.ended.Load()
}

// take reads one message into m and reports false for one to be ignored.
func (c *Client) take(typ websocket.MessageType, b []byte, m *transport.Message) (bool, error) {
	if typ == websocket.MessageBinary {
		if len(b)%2 != 0 {
			return false, fmt.Errorf("an audio message has %d bytes", len(b))
		}
		m.Kind, m.Generation = transport.MessageAudio, c.generation
		m.PCM = audio.AppendSamples(m.PCM, b)
		c.counters.audioIn.Add(1)
		c.counters.samplesIn.Add(uint64(len(m.PCM)))
		return true, nil
	}
	c.counters.eventsIn.Add(1)
	err := decodeMessage(b, m)
	if errors.Is(err, errUnknown) {
		c.counters.unknownIn.Add(1)
		return false, nil
	}
	if m.Kind == transport.MessageTurn && m.State == transport.StateStart {
		c.generation = m.Generation
	}
	return err == nil, err
}

// Close hangs up with `bye` unless the call is over already, and closes the connection within CloseTimeout. The first
// Close decides; later ones wait for it.
func (c *Client) Close() error { return c.finish(ended(transport.ReasonCallerHungUp, "", nil)) }

func (c *Client) finish(e *transport.Ended) error {
	if !c.ended.CompareAndSwap(nil, e) {
		<-c.closed
		return nil
	}
	defer close(c.closed)
	c.shut(c.cfg.CloseTimeout, e, func() {
		b, _ := appendEvent(nil, &transport.Event{Kind: transport.EventBye})
		_ = c.farewell(b)
	})
	if c.link.stalled.Load() {
		return fmt.Errorf("transport/ws: close: %w", transport.ErrStalled)
	}
	return nil
}

package ws

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/wsconn"
)

// Client is a call seen from the caller's side. One goroutine may call Recv; any goroutine may call
// SendAudio, SendEvent and Close at any time.
type Client struct {
	wire
	cfg        DialConfig
	ready      transport.Ready
	generation uint64 // of the last announced turn; owned by Recv
	received   atomic.Uint64
}

// Received returns how many messages came since ready: what transport.Resume wants to know, for the
// first connection of a call. Safe for concurrent use.
func (c *Client) Received() uint64 { return c.received.Load() }

// Ready returns what the gateway promised.
func (c *Client) Ready() transport.Ready { return c.ready }

// greet sends the hello and waits for ready. It ignores events before ready; an error or a bye is a
// refusal.
func (c *Client) greet(ctx context.Context, hello transport.Hello) error {
	c.mu.Lock()
	c.out = appendHello(c.out[:0], hello)
	err := c.sendText(ctx)
	c.mu.Unlock()
	if err != nil {
		return fmt.Errorf("say hello: %w", err)
	}
	for c.ready.Call == "" {
		m, err := c.conn.Read(ctx, c.cfg.ReadyTimeout)
		if err != nil {
			return c.notReady(ctx, err)
		}
		if m.Binary {
			continue
		}
		if err := c.takeReady(m.Data); err != nil {
			return err
		}
	}
	return nil
}

// notReady returns why no ready came.
func (c *Client) notReady(ctx context.Context, err error) error {
	r := transport.ReasonOf(err)
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded) || r == transport.ReasonIdleTimeout:
		return fmt.Errorf("the gateway did not answer the hello within %v", c.cfg.ReadyTimeout)
	case ctx.Err() != nil:
		return ctx.Err()
	case r == transport.ReasonPeerLost:
		return fmt.Errorf("the gateway hung up in place of an answer to the hello: %w", err)
	}
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

// SendAudio sends caller audio at the input rate: whole samples, at most 1 s; send 20-40 ms at a
// time. It does not keep pcm. It returns [transport.ErrStalled] when the gateway did not take the
// audio within the write timeout.
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
	if err := c.sendText(ctx); err != nil {
		return fmt.Errorf("transport/ws: send %s: %w", ev.Kind, err)
	}
	return nil
}

// Recv waits for the next message and fills m. Audio comes as [transport.MessageAudio] with the
// generation of the last announced turn. After bye, or when the connection breaks, the error is a
// *transport.Ended. When ctx is done the error is ctx.Err() and only Close may follow.
func (c *Client) Recv(ctx context.Context, m *transport.Message) error {
	for {
		in, err := c.conn.Read(ctx, c.cfg.IdleTimeout)
		if err != nil {
			return c.conn.Fail(err, c.farewell)
		}
		m.Reset()
		known, err := c.take(in, m)
		if err != nil {
			text := "The gateway sent something that is not valid: " + err.Error()
			return c.conn.Fail(transport.End(transport.ReasonBadJSON, text, err), c.farewell)
		}
		if known {
			return nil
		}
	}
}

// take reads one message into m. It reports false for a message to ignore.
func (c *Client) take(in wsconn.Message, m *transport.Message) (bool, error) {
	if in.Binary {
		if len(in.Data)%2 != 0 {
			return false, fmt.Errorf("an audio message has %d bytes", len(in.Data))
		}
		m.Kind, m.Generation = transport.MessageAudio, c.generation
		m.PCM = audio.AppendSamples(m.PCM, in.Data)
		c.counters.audioIn.Add(1)
		c.counters.samplesIn.Add(uint64(len(m.PCM)))
		return true, nil
	}
	c.counters.eventsIn.Add(1)
	err := decodeMessage(in.Data, m)
	if errors.Is(err, errUnknown) {
		c.counters.unknownIn.Add(1)
		c.received.Add(1)
		return false, nil
	}
	if m.Kind == transport.MessageTurn && (m.State == transport.StateStart || m.State == transport.StateResume) {
		c.generation = m.Generation
	}
	if m.Kind != transport.MessageNet && m.Kind != transport.MessageNetGraph {
		c.received.Add(1)
	}
	return err == nil, err
}

// Close hangs up with `bye`, unless the call has ended already, and closes the connection within
// CloseTimeout. The first Close decides; later ones wait for it.
func (c *Client) Close() error {
	return c.conn.Close(transport.End(transport.ReasonCallerHungUp, "", nil), c.farewell)
}

func (c *Client) farewell() (f wsconn.Farewell) {
	if b, err := appendEvent(nil, &transport.Event{Kind: transport.EventBye}); err == nil {
		f.Messages = []wsconn.Message{{Data: b}}
	}
	return f
}

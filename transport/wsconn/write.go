package wsconn

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/coder/websocket"

	"github.com/voicegw/voicegw/transport"
)

// Write writes one message within the write timeout. The error is [transport.ErrStalled] if the far
// end did not take the message, a *transport.Ended if the call has ended or the connection broke,
// or the error of ctx. After the error of ctx the rest of the message is sent before anything else.
func (c *Conn) Write(ctx context.Context, m Message) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.Ended(); e != nil {
		return e
	}
	if c.Stalled() {
		return transport.ErrStalled
	}
	c.socket.startWrite(m.More)
	if err := c.sending.begin(ctx); err != nil {
		return err
	}
	err := c.write(m)
	c.sending.end()
	switch {
	case err != nil:
		return c.writeFailed(ctx, err)
	case c.Stalled():
		return transport.ErrStalled
	}
	c.bytesOut.Add(uint64(len(m.Data)))
	return ctx.Err()
}

// write writes one message; the caller holds mu.
func (c *Conn) write(m Message) error {
	typ := websocket.MessageText
	if m.Binary {
		typ = websocket.MessageBinary
	}
	return c.ws.Write(context.Background(), typ, m.Data)
}

// writeFailed returns why a write failed.
func (c *Conn) writeFailed(ctx context.Context, err error) error {
	switch e := c.Ended(); {
	case e != nil:
		return e
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, os.ErrDeadlineExceeded):
		c.socket.stalled.Store(true)
		return transport.ErrStalled
	}
	return transport.End(transport.ReasonPeerLost, "", err)
}

// Farewell is what a protocol sends at the end of a call.
type Farewell struct {
	Messages []Message
	// Code and Reason go into the close frame; 0 means the code and the name of the
	// transport.Reason.
	Code   int
	Reason string
}

// Close ends the call as e within the close timeout: it sends the farewell, which may be nil, and
// the close frame. A lost connection is only closed. The first Close decides; later ones wait for
// it and return nil. The error is [transport.ErrStalled] if the far end did not take the farewell
// and the close frame.
func (c *Conn) Close(e *transport.Ended, farewell func() Farewell) error {
	if !c.ended.CompareAndSwap(nil, e) {
		<-c.closed
		return nil
	}
	defer close(c.closed)
	c.socket.hurry(time.Now().Add(c.limits.CloseTimeout))
	close(c.leaving)
	if e.Reason == transport.ReasonPeerLost {
		_ = c.ws.CloseNow()
	} else {
		c.sayBye(e, farewell)
	}
	c.reading.release()
	c.mu.Lock()
	c.sending.release()
	c.mu.Unlock()
	c.pinger.stop()
	if c.Stalled() {
		return fmt.Errorf("transport/wsconn: close: %w", transport.ErrStalled)
	}
	return nil
}

// sayBye sends the farewell and the close frame.
func (c *Conn) sayBye(e *transport.Ended, farewell func() Farewell) {
	var f Farewell
	if farewell != nil {
		f = farewell()
	}
	c.mu.Lock()
	for _, m := range f.Messages {
		if c.write(m) != nil {
			break
		}
	}
	c.mu.Unlock()
	if f.Code == 0 {
		f.Code, f.Reason = e.Reason.Code(), e.Reason.String()
	}
	_ = c.ws.Close(websocket.StatusCode(f.Code), f.Reason)
}

// Fail closes the connection because of err and returns why the call ended, which may be another
// reason. It returns the error of a context unchanged, and the connection stays open.
func (c *Conn) Fail(err error, farewell func() Farewell) error {
	var e *transport.Ended
	switch {
	case errors.As(err, &e):
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, transport.ErrStalled):
		e = transport.End(transport.ReasonPeerStalled, "", nil)
	default:
		e = transport.End(transport.ReasonPeerLost, "", err)
	}
	_ = c.Close(e, farewell)
	return c.Ended()
}

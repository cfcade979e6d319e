package wsconn

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/coder/websocket"

	"github.com/voicegw/voicegw/transport"
)

const readBufferMin = 4096 // bytes; grows to the longest message

// errTooBig says that a message is longer than the limit.
var errTooBig = errors.New("a message is too long")

// Read returns the next message, which is valid until the next Read. It waits at most idle. The
// error is a *transport.Ended, to be passed to Fail, or the error of ctx; after the latter the
// connection is still usable. Once the call has ended, Read drops messages until the connection is
// closed.
func (c *Conn) Read(ctx context.Context, idle time.Duration) (Message, error) {
	for {
		m, err := c.read(ctx, idle)
		if err != nil {
			return Message{}, c.readFailed(ctx, err)
		}
		if c.Ended() == nil {
			return m, nil
		}
	}
}

// ReadHello is Read in a handshake, which lasts until deadline. When the handshake is given up, the
// error is that of [transport.GivenUp].
func (c *Conn) ReadHello(ctx context.Context, deadline time.Time) (Message, *transport.Ended) {
	m, err := c.Read(ctx, time.Until(deadline))
	var ended *transport.Ended
	switch {
	case err == nil:
		return m, nil
	case !errors.As(err, &ended):
		return Message{}, transport.GivenUp(ctx)
	case ended.Reason == transport.ReasonIdleTimeout:
		return Message{}, transport.End(transport.ReasonHelloTimeout, "", nil)
	}
	return Message{}, ended
}

// read reads one message. It passes no context to the WebSocket library: the library closes the
// socket without a close frame when its context is done.
func (c *Conn) read(ctx context.Context, idle time.Duration) (Message, error) {
	c.socket.startRead(idle)
	if err := c.reading.begin(ctx); err != nil {
		return Message{}, err
	}
	defer c.reading.end()
	typ, r, err := c.ws.Reader(context.Background())
	if err != nil {
		return Message{}, err
	}
	n := 0
	for {
		if n == len(c.in) {
			c.in = append(c.in, make([]byte, max(readBufferMin, len(c.in)))...)
		}
		m, err := r.Read(c.in[n:])
		n += m
		switch {
		case n > c.limits.MessageBytesMax:
			return Message{}, errTooBig
		case err == io.EOF:
			c.bytesIn.Add(uint64(n))
			return Message{Binary: typ == websocket.MessageBinary, Data: c.in[:n]}, nil
		case err != nil:
			return Message{}, err
		}
	}
}

// readFailed returns why a read failed: the reason of our own close, the context's error, or what
// the far end did.
func (c *Conn) readFailed(ctx context.Context, err error) error {
	var frame websocket.CloseError
	switch e := c.Ended(); {
	case e != nil:
		return e
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, errTooBig):
		return transport.End(transport.ReasonMessageTooBig, "", nil)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return transport.End(transport.ReasonIdleTimeout, "", nil)
	case !errors.As(err, &frame):
		return transport.End(transport.ReasonPeerLost, "", err)
	}
	// The close frame of a far end may contain any text, so the error leaves it out.
	err = fmt.Errorf("the far end closed with code %d and a reason of %d bytes", frame.Code, len(frame.Reason))
	if c.dialled {
		return transport.End(serverClosed(frame), "", err)
	}
	switch frame.Code {
	case websocket.StatusNormalClosure, websocket.StatusGoingAway, websocket.StatusNoStatusRcvd:
		return transport.End(transport.ReasonCallerHungUp, "", nil) // an orderly close, whatever its code
	}
	return transport.End(transport.ReasonPeerLost, "", err)
}

// serverClosed returns the reason in the close frame of a gateway: by name, else by a code that
// belongs to only one reason.
func serverClosed(frame websocket.CloseError) transport.Reason {
	if r, ok := transport.ParseReason(frame.Reason); ok && r.Code() == int(frame.Code) {
		return r
	}
	switch frame.Code {
	case websocket.StatusGoingAway:
		return transport.ReasonGoingAway
	case websocket.StatusMessageTooBig:
		return transport.ReasonMessageTooBig
	case websocket.StatusInternalError:
		return transport.ReasonInternal
	case websocket.StatusTryAgainLater:
		return transport.ReasonBusy
	case websocket.StatusNormalClosure, websocket.StatusNoStatusRcvd:
		return transport.ReasonDone
	}
	return transport.ReasonPeerLost
}

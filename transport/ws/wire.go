package ws

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/httpdoor"
)

// Subprotocol is the name of the protocol in the handshake.
const Subprotocol = "voicegw.v1"

// TokenPrefix begins a second subprotocol of the handshake that carries the token of a call, as `token.<jwt>`. The
// token in the hello, if there is one, counts in its place, and a bearer token of the request before both.
const TokenPrefix = "token."

const readBufferMin = 4096 // bytes; grows to the longest message

// errTooBig says that a message is longer than the limit.
var errTooBig = errors.New("a message is too long")

// wire is what both sides share: one WebSocket whose reads and writes are bounded. One goroutine may read, any may
// write, any may shut it down.
type wire struct {
	conn     *websocket.Conn
	link     *link
	limit    int // bytes of a message, 0 for none
	ended    atomic.Pointer[transport.Ended]
	counters counters

	reading guard
	in      []byte // owned by the reader

	sending guard // used under mu
	mu      sync.Mutex
	out     []byte // guarded by mu
}

func (w *wire) init(conn *websocket.Conn, l *link, limit int) {
	w.conn, w.link, w.limit = conn, l, limit
	w.reading.interrupt, w.sending.interrupt = l.interruptRead, l.interruptWrite
	conn.SetReadLimit(-1) // ours, so that the far end is told before the close
}

// read returns the next message, which is valid until the next read. It waits at most idle. It uses no context of the
// WebSocket library: a context that is done there closes the socket without a word.
func (w *wire) read(ctx context.Context, idle time.Duration) (websocket.MessageType, []byte, error) {
	w.link.startRead(idle)
	if err := w.reading.begin(ctx); err != nil {
		return 0, nil, err
	}
	defer w.reading.end()
	typ, r, err := w.conn.Reader(context.Background())
	if err != nil {
		return 0, nil, err
	}
	b, err := w.readAll(r)
	w.counters.bytesIn.Add(uint64(len(b)))
	return typ, b, err
}

// readAll reads one message into w.in.
func (w *wire) readAll(r io.Reader) ([]byte, error) {
	n := 0
	for {
		if n == len(w.in) {
			w.in = append(w.in, make([]byte, max(readBufferMin, len(w.in)))...)
		}
		m, err := r.Read(w.in[n:])
		n += m
		if w.limit > 0 && n > w.limit {
			return nil, errTooBig
		}
		if err == io.EOF {
			return w.in[:n], nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// sendAudio writes one binary frame.
func (w *wire) sendAudio(ctx context.Context, pcm []int16) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.out = audio.AppendBytes(w.out[:0], pcm)
	if err := w.write(ctx, websocket.MessageBinary, w.out); err != nil {
		return err
	}
	w.counters.audioOut.Add(1)
	w.counters.samplesOut.Add(uint64(len(pcm)))
	return nil
}

// write writes one message within the write timeout; the caller holds mu. When ctx is done meanwhile it returns its
// error, and the link still sends the rest of the frame before anything else.
func (w *wire) write(ctx context.Context, typ websocket.MessageType, b []byte) error {
	if e := w.ended.Load(); e != nil {
		return e
	}
	if w.link.stalled.Load() {
		return transport.ErrStalled
	}
	w.link.startWrite()
	if err := w.sending.begin(ctx); err != nil {
		return err
	}
	err := w.conn.Write(context.Background(), typ, b)
	w.sending.end()
	switch {
	case err != nil:
		return w.writeFailed(ctx, err)
	case w.link.stalled.Load():
		return transport.ErrStalled
	}
	w.counters.bytesOut.Add(uint64(len(b)))
	return ctx.Err()
}

// writeFailed says why a write failed.
func (w *wire) writeFailed(ctx context.Context, err error) error {
	switch e := w.ended.Load(); {
	case e != nil:
		return e
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, os.ErrDeadlineExceeded):
		w.link.stalled.Store(true)
		return transport.ErrStalled
	}
	return ended(transport.ReasonPeerLost, "", err)
}

// readFailed says why a read failed: the reason of our own close, the context's error, or what the far end did.
func (w *wire) readFailed(ctx context.Context, err error) error {
	var ce websocket.CloseError
	switch e := w.ended.Load(); {
	case e != nil:
		return e
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, errTooBig):
		return ended(transport.ReasonMessageTooBig, "", nil)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return ended(transport.ReasonIdleTimeout, "", nil)
	case errors.As(err, &ce):
		return ended(closedBy(ce), "", httpdoor.Broken(ce))
	}
	return ended(transport.ReasonPeerLost, "", err)
}

// closedBy is the reason in the close frame of the far end: by name, else by a code that has only one reason.
func closedBy(ce websocket.CloseError) transport.Reason {
	if r, ok := transport.ParseReason(ce.Reason); ok && r.Code() == int(ce.Code) {
		return r
	}
	switch ce.Code {
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

// shut closes the WebSocket within timeout, after it called farewell to write the last words; it holds mu meanwhile.
func (w *wire) shut(timeout time.Duration, e *transport.Ended, farewell func()) {
	w.link.hurry(time.Now().Add(timeout))
	if e.Reason == transport.ReasonPeerLost {
		_ = w.conn.CloseNow()
	} else {
		w.mu.Lock()
		farewell()
		w.mu.Unlock()
		_ = w.conn.Close(websocket.StatusCode(e.Reason.Code()), e.Reason.String())
	}
	w.reading.release()
	w.mu.Lock()
	w.sending.release()
	w.mu.Unlock()
}

// farewell writes a text frame although the call has ended; the caller holds mu.
func (w *wire) farewell(b []byte) error {
	return w.conn.Write(context.Background(), websocket.MessageText, b)
}

// ended makes the error of a call that is over; an empty message means the reason's own.
func ended(r transport.Reason, message string, err error) *transport.Ended {
	if message == "" {
		message = r.Message()
	}
	return &transport.Ended{Reason: r, Message: message, Err: err}
}

package live

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/coder/websocket"
)

const (
	// readBufferKeep is the largest read buffer that is kept for the next message.
	readBufferKeep = 64 << 10
	// closeGrace is how long a failed write waits for Recv to read the close frame.
	closeGrace = 250 * time.Millisecond
)

// wireConn is the Conn of Wire. Its goroutine keepAlive runs from start to Close.
type wireConn struct {
	outcome
	cfg   Wire
	terms terms
	ws    *websocket.Conn
	raw   net.Conn // below ws; nil if Wire.HTTPClient hides it. Closing it never blocks
	began time.Time

	sendMu  sync.Mutex // guards enc, and the order of messages
	enc     encoder
	stalled *time.Timer // runs during a write

	dec decoder // of the goroutine that calls Recv
	buf []byte

	inbound atomic.Int64 // time of the last frame from the model, in nanoseconds since began
	reading atomic.Int64 // start of the waiting Recv, in nanoseconds since began; 0: none waits

	closing atomic.Bool
	closed  chan struct{} // closed at the end of Close
	tasks   sync.WaitGroup
}

func newWireConn(w Wire, s *Setup, host, secret string) *wireConn {
	c := &wireConn{outcome: newOutcome(host, secret, s), cfg: w, terms: s.terms(), began: time.Now(),
		closed: make(chan struct{})}
	c.dec.cleaner = c.cleaner
	return c
}

// start starts keepAlive. Close stops it and waits for it.
func (c *wireConn) start() {
	c.stalled = time.AfterFunc(time.Hour, c.writeStalled)
	c.stalled.Stop()
	c.tasks.Go(c.keepAlive)
}

// elapsed returns the nanoseconds since the dial. It is never 0.
func (c *wireConn) elapsed() int64 { return int64(time.Since(c.began)) + 1 }

func (c *wireConn) heard() { c.inbound.Store(c.elapsed()) }

// drop closes the connection without a close frame.
func (c *wireConn) drop() {
	if c.raw != nil {
		_ = c.raw.Close()
	}
	_ = c.ws.CloseNow()
}

// explain turns an error of the WebSocket into a CloseError.
func (c *wireConn) explain(ctx context.Context, err error) *CloseError {
	var ce websocket.CloseError
	switch {
	case errors.As(err, &ce):
		code := int(ce.Code)
		return &CloseError{Code: code, Reason: ce.Reason, Class: classify(code, ce.Reason, c.phase)}
	case errors.Is(err, websocket.ErrMessageTooBig):
		return &CloseError{Code: 1009, Class: ClassBackend,
			Err: fmt.Errorf("a message has more than %d bytes", c.cfg.ReadLimit)}
	case ctx.Err() != nil:
		return &CloseError{Class: ctxClass(ctx.Err()), Err: ctx.Err(), limit: c.age()}
	}
	return &CloseError{Code: 1006, Class: ClassNetwork, Err: innermost(err)}
}

func (c *wireConn) age() time.Duration { return time.Since(c.began).Round(time.Millisecond) }

// Recv implements Conn.
func (c *wireConn) Recv(ctx context.Context, m *ServerMessage) error {
	if c.dec.pop(m) {
		return nil
	}
	if err := c.failure(); err != nil {
		return err
	}
	data, err := c.read(ctx)
	if err != nil {
		return err
	}
	c.dec.decode(data, m)
	return nil
}

// read returns the next message, valid until the next read.
func (c *wireConn) read(ctx context.Context) ([]byte, error) {
	c.reading.Store(c.elapsed())
	defer c.reading.Store(0)
	if cap(c.buf) > readBufferKeep {
		c.buf = nil
	}
	_, r, err := c.ws.Reader(ctx)
	if err == nil {
		c.heard()
		c.buf, err = appendAll(c.buf[:0], r)
	}
	if err != nil {
		return nil, c.fail(c.explain(ctx, err))
	}
	return c.buf, nil
}

// appendAll is io.ReadAll into buf.
func appendAll(buf []byte, r io.Reader) ([]byte, error) {
	for {
		if len(buf) == cap(buf) {
			buf = append(buf, 0)[:len(buf)]
		}
		n, err := r.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if err == io.EOF {
			return buf, nil
		}
		if err != nil {
			return buf, err
		}
	}
}

// Send implements Conn.
func (c *wireConn) Send(ctx context.Context, m ClientMessage) error {
	if m.Kind == ClientAudio {
		return c.SendAudio(ctx, m.PCM)
	}
	if err := m.check(&c.terms); err != nil {
		return err
	}
	return c.put(ctx, &m)
}

// put sends m, which is not audio and was checked.
func (c *wireConn) put(ctx context.Context, m *ClientMessage) error {
	c.sendMu.Lock()
	defer c.sendMu.Unlock()
	data, err := c.enc.message(m)
	if err != nil {
		return err
	}
	return c.write(ctx, data)
}

// SendAudio implements Conn.
func (c *wireConn) SendAudio(ctx context.Context, pcm []int16) error {
	c.sendMu.Lock()
	defer c.sendMu.Unlock()
	for len(pcm) > 0 {
		n := min(len(pcm), audioSamplesMax)
		if err := c.write(ctx, c.enc.audio(pcm[:n])); err != nil {
			return err
		}
		pcm = pcm[n:]
	}
	return nil
}

// write sends one message. The caller holds sendMu.
func (c *wireConn) write(ctx context.Context, data []byte) error {
	if err := c.failure(); err != nil {
		return err
	}
	c.stalled.Reset(c.cfg.WriteTimeout)
	err := c.ws.Write(ctx, websocket.MessageText, data)
	c.stalled.Stop()
	if err == nil {
		return nil
	}
	if ctx.Err() == nil && c.reading.Load() != 0 {
		c.awaitReason()
	}
	return c.fail(c.explain(ctx, err))
}

func (c *wireConn) writeStalled() {
	c.fail(&CloseError{Code: 1006, Class: ClassTimeout, limit: c.cfg.WriteTimeout})
	c.drop()
}

// Close implements Conn. A second call waits for the first one.
func (c *wireConn) Close(code int, reason string) error {
	if !c.closing.CompareAndSwap(false, true) {
		<-c.closed
		return nil
	}
	defer close(c.closed)
	before := c.failure()
	c.fail(&CloseError{Code: code, Reason: reason, Class: ClassEnded})
	cut := time.AfterFunc(c.cfg.CloseTimeout, c.drop)
	err := c.ws.Close(websocket.StatusCode(closeCode(code)), closeReason(reason))
	cut.Stop()
	c.stalled.Stop()
	c.tasks.Wait()
	if err == nil || before != nil || websocket.CloseStatus(err) != -1 {
		return nil // broken before, which the caller knows, or answered with another code
	}
	return fmt.Errorf("live: close: the model did not answer: %w", innermost(err))
}

// closeCode maps codes that must not be sent (RFC 6455 section 7.4) to 1011.
func closeCode(code int) int {
	switch {
	case code >= 3000 && code <= 4999, code >= 1000 && code <= 1003, code >= 1007 && code <= 1014:
		return code
	}
	return 1011
}

// closeReason cuts s at a whole character to the 123 bytes that a close frame can hold.
func closeReason(s string) string {
	const most = 123
	if len(s) <= most {
		return s
	}
	s = s[:most]
	for len(s) > 0 && !utf8.ValidString(s) {
		s = s[:len(s)-1]
	}
	return s
}

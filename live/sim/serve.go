package sim

import (
	"bufio"
	"context"
	"errors"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"
)

const (
	inboxMax     = 64
	pingsMax     = 64
	writeTimeout = 5 * time.Second
	closeTimeout = time.Second
)

var errStalled = errors.New("sim: the connection does not read any more")

// tap keeps the connection below a WebSocket, because closing it never blocks.
type tap struct {
	http.ResponseWriter
	conn net.Conn
}

// Hijack implements http.Hijacker.
func (t *tap) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(t.ResponseWriter).Hijack()
	t.conn = conn
	return conn, rw, err
}

// clientConn is one WebSocket. The goroutine of loop writes, and the goroutine of read reads.
type clientConn struct {
	ws      *websocket.Conn
	conn    net.Conn
	inbox   chan []byte    // messages; closed by the reader at the end
	pings   chan []byte    // data of pings to answer late; pings beyond its size get no answer
	done    chan struct{}  // closed when loop has returned
	mute    atomic.Bool    // sends no pong
	deaf    atomic.Bool    // reads nothing any more
	dropped bool           // by the machine
	failure error          // why inbox is closed; set before
	reader  sync.WaitGroup // the reading goroutine
}

// serve serves one client. It returns when the connection is closed and its reader has ended.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, m *machine) {
	c := &clientConn{inbox: make(chan []byte, inboxMax), pings: make(chan []byte, pingsMax), done: make(chan struct{})}
	late := m.cfg.pongLate > 0 || m.cfg.noPongs
	t := &tap{ResponseWriter: w}
	ws, err := websocket.Accept(t, r, &websocket.AcceptOptions{
		CompressionMode: websocket.CompressionDisabled,
		OnPingReceived:  func(_ context.Context, data []byte) bool { return c.pinged(data, late) },
	})
	if err != nil {
		m.rec.closed(0, "no upgrade", true)
		return
	}
	ws.SetReadLimit(defaultReadLimit)
	c.ws, c.conn = ws, t.conn
	c.reader.Go(func() { c.read(m.faults.StallReadsAfterMessages) })
	c.loop(s.stop, m)
	close(c.done)
	_ = c.conn.Close()
	_ = ws.CloseNow()
	c.reader.Wait()
}

// read moves messages into the inbox until the connection fails or the loop is done.
func (c *clientConn) read(stallAfter int) {
	defer close(c.inbox)
	for n := 0; ; n++ {
		if stallAfter > 0 && n > stallAfter { // the setup does not count
			<-c.done
			c.failure = errStalled
			return
		}
		if c.deaf.Load() {
			<-c.done
			c.failure = errStalled
			return
		}
		_, data, err := c.ws.Read(context.Background())
		if err != nil {
			c.failure = err
			return
		}
		select {
		case c.inbox <- data:
		case <-c.done:
			c.failure = errStalled
			return
		}
	}
}

// loop passes messages and times to the machine, and sends its frames.
func (c *clientConn) loop(stop <-chan struct{}, m *machine) {
	began := time.Now()
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		if !c.flush(m) {
			m.rec.closed(c.closeReason())
			return
		}
		if m.end != nil {
			m.rec.closed(m.end.code, m.end.reason, false)
			c.close(m)
			return
		}
		if at := m.wake(); at != never {
			timer.Reset(at - time.Since(began))
		} else {
			timer.Stop()
		}
		select {
		case data, ok := <-c.inbox:
			if !ok {
				m.rec.closed(closeOf(c.failure))
				return
			}
			m.receive(time.Since(began), data)
		case data := <-c.pings:
			m.takePing(time.Since(began), data)
		case <-timer.C:
			m.advance(time.Since(began))
		case <-stop:
			m.refuse(&refusal{1001, "The server is going away."})
		}
	}
}

// flush sends the frames of the machine. It reports whether the connection is still open.
func (c *clientConn) flush(m *machine) bool {
	c.mute.Store(m.stalled)
	c.deaf.Store(m.deaf)
	for i, f := range m.out {
		m.out[i] = frame{}
		if f.drop {
			c.dropped = true
			return false
		}
		if c.write(f, m.cfg.frameBytes) != nil {
			return false
		}
	}
	m.out = m.out[:0]
	return true
}

// write sends a pong, or a message in frames of frameBytes; 0 means one frame.
func (c *clientConn) write(f frame, frameBytes int) error {
	ctx, cancel := context.WithTimeout(context.Background(), writeTimeout)
	defer cancel()
	kind := websocket.MessageText
	if f.binary {
		kind = websocket.MessageBinary
	}
	switch {
	case f.pong:
		return c.pong(f.data)
	case frameBytes == 0:
		return c.ws.Write(ctx, kind, f.data)
	}
	w, err := c.ws.Writer(ctx, kind)
	if err != nil {
		return err
	}
	for piece := range slices.Chunk(f.data, frameBytes) {
		if _, err := w.Write(piece); err != nil {
			return err
		}
	}
	return w.Close()
}

// pong writes the frame of a late pong itself (RFC 6455 section 5.5.3), because the WebSocket
// answers at once or not at all. loop calls it between two messages, and while pongs are late
// nothing else writes.
func (c *clientConn) pong(data []byte) error {
	if err := c.conn.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
		return err
	}
	_, err := c.conn.Write(append([]byte{0x8a, byte(len(data))}, data...))
	return errors.Join(err, c.conn.SetWriteDeadline(time.Time{}))
}

// pinged reports whether to answer a ping at once. It queues pings to answer late.
func (c *clientConn) pinged(data []byte, late bool) bool {
	if !late {
		return !c.mute.Load()
	}
	select {
	case c.pings <- slices.Clone(data):
	default:
	}
	return false
}

// closeReason returns the reason of a failed write. It waits for the reader to learn it.
func (c *clientConn) closeReason() (code int, reason string, byClient bool) {
	if c.dropped {
		return 1006, "", false
	}
	patience := time.NewTimer(closeTimeout)
	defer patience.Stop()
	for {
		select {
		case _, ok := <-c.inbox:
			if !ok {
				return closeOf(c.failure)
			}
		case <-patience.C:
			return 1006, "", true
		}
	}
}

// close sends the close frame and closes the connection, in a bounded time.
func (c *clientConn) close(m *machine) {
	if m.stalled {
		return
	}
	cut := time.AfterFunc(closeTimeout, func() { _ = c.conn.Close() })
	defer cut.Stop()
	_ = c.ws.Close(websocket.StatusCode(m.end.code), m.end.reason)
}

// closeOf returns how the client closed a connection.
func closeOf(err error) (code int, reason string, byClient bool) {
	var ce websocket.CloseError
	if errors.As(err, &ce) {
		return int(ce.Code), ce.Reason, true
	}
	return 1006, "", true
}

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

var errStalled = errors.New("sim: the loop takes no more")

// tap keeps hold of the connection beneath a WebSocket, which can be closed without waiting for anything.
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

// link is the wire of one connection: the loop in serve writes, the goroutine in read reads.
type link struct {
	ws      *websocket.Conn
	conn    net.Conn
	inbox   chan []byte    // messages; closed by the reader when there are no more
	pings   chan []byte    // what pings hold that are answered late; more than it holds are not answered
	done    chan struct{}  // closed by the loop when it takes no more
	mute    atomic.Bool    // no pong either
	deaf    atomic.Bool    // nothing is read any more
	dropped bool           // on purpose
	failure error          // why there are no more; set before inbox is closed
	reader  sync.WaitGroup // the reading goroutine
}

// serve speaks to one client. It returns when the connection is gone and its reader has ended.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, m *machine) {
	l := &link{inbox: make(chan []byte, inboxMax), pings: make(chan []byte, pingsMax), done: make(chan struct{})}
	late := m.cfg.pongLate > 0 || m.cfg.noPongs
	t := &tap{ResponseWriter: w}
	ws, err := websocket.Accept(t, r, &websocket.AcceptOptions{
		CompressionMode: websocket.CompressionDisabled,
		OnPingReceived:  func(_ context.Context, data []byte) bool { return l.pinged(data, late) },
	})
	if err != nil {
		m.rec.closed(0, "no upgrade", true)
		return
	}
	ws.SetReadLimit(defaultReadLimit)
	l.ws, l.conn = ws, t.conn
	l.reader.Go(func() { l.read(m.faults.StallReadsAfterMessages) })
	l.loop(s.stop, m)
	close(l.done)
	_ = l.conn.Close()
	_ = ws.CloseNow()
	l.reader.Wait()
}

// read moves messages into the inbox until the connection fails or the loop is done.
func (l *link) read(stallAfter int) {
	defer close(l.inbox)
	for n := 0; ; n++ {
		if stallAfter > 0 && n > stallAfter { // the setup does not count
			<-l.done
			l.failure = errStalled
			return
		}
		if l.deaf.Load() {
			<-l.done
			l.failure = errStalled
			return
		}
		_, data, err := l.ws.Read(context.Background())
		if err != nil {
			l.failure = err
			return
		}
		select {
		case l.inbox <- data:
		case <-l.done:
			l.failure = errStalled
			return
		}
	}
}

// loop drives the machine: it tells it messages and times, and sends what it says.
func (l *link) loop(stop <-chan struct{}, m *machine) {
	began := time.Now()
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		if !l.flush(m) {
			m.rec.closed(l.whyLost())
			return
		}
		if m.end != nil {
			m.rec.closed(m.end.code, m.end.reason, false)
			l.close(m)
			return
		}
		if at := m.wake(); at != never {
			timer.Reset(at - time.Since(began))
		} else {
			timer.Stop()
		}
		select {
		case data, ok := <-l.inbox:
			if !ok {
				m.rec.closed(closeOf(l.failure))
				return
			}
			m.receive(time.Since(began), data)
		case data := <-l.pings:
			m.pinged(time.Since(began), data)
		case <-timer.C:
			m.advance(time.Since(began))
		case <-stop:
			m.refuse(&refusal{1001, "The server is going away."})
		}
	}
}

// flush sends what the machine has to say. It reports whether the connection goes on.
func (l *link) flush(m *machine) bool {
	l.mute.Store(m.stalled)
	l.deaf.Store(m.deaf)
	for i, f := range m.out {
		m.out[i] = frame{}
		if f.drop {
			l.dropped = true
			return false
		}
		if l.write(f, m.cfg.frameBytes) != nil {
			return false
		}
	}
	m.out = m.out[:0]
	return true
}

// write sends one message, in frames of so many bytes unless that is 0, or a pong.
func (l *link) write(f frame, frameBytes int) error {
	ctx, cancel := context.WithTimeout(context.Background(), writeTimeout)
	defer cancel()
	kind := websocket.MessageText
	if f.binary {
		kind = websocket.MessageBinary
	}
	switch {
	case f.pong:
		return l.pong(f.data)
	case frameBytes == 0:
		return l.ws.Write(ctx, kind, f.data)
	}
	w, err := l.ws.Writer(ctx, kind)
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

// pong answers a ping by hand (RFC 6455 section 5.5.3): the WebSocket answers at once or not at all. It is written
// between two messages, and while pongs are late nobody else writes.
func (l *link) pong(data []byte) error {
	if err := l.conn.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
		return err
	}
	_, err := l.conn.Write(append([]byte{0x8a, byte(len(data))}, data...))
	return errors.Join(err, l.conn.SetWriteDeadline(time.Time{}))
}

// pinged tells what becomes of a ping: whether it is answered at once.
func (l *link) pinged(data []byte, late bool) bool {
	if !late {
		return !l.mute.Load()
	}
	select {
	case l.pings <- slices.Clone(data):
	default:
	}
	return false
}

// whyLost finds the reason of a failed write, which the reader may be about to learn.
func (l *link) whyLost() (code int, reason string, byClient bool) {
	if l.dropped {
		return 1006, "", false
	}
	patience := time.NewTimer(closeTimeout)
	defer patience.Stop()
	for {
		select {
		case _, ok := <-l.inbox:
			if !ok {
				return closeOf(l.failure)
			}
		case <-patience.C:
			return 1006, "", true
		}
	}
}

// close says good-bye, in a bounded time.
func (l *link) close(m *machine) {
	if m.stalled {
		return
	}
	cut := time.AfterFunc(closeTimeout, func() { _ = l.conn.Close() })
	defer cut.Stop()
	_ = l.ws.Close(websocket.StatusCode(m.end.code), m.end.reason)
}

// closeOf reads what the client's end of a connection was.
func closeOf(err error) (code int, reason string, byClient bool) {
	var ce websocket.CloseError
	if errors.As(err, &ce) {
		return int(ce.Code), ce.Reason, true
	}
	return 1006, "", true
}

package sim

import (
	"bufio"
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"
)

const (
	inboxMax     = 64
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
	done    chan struct{}  // closed by the loop when it takes no more
	mute    atomic.Bool    // no pong either
	dropped bool           // on purpose
	failure error          // why there are no more; set before inbox is closed
	reader  sync.WaitGroup // the reading goroutine
}

// serve speaks to one client. It returns when the connection is gone and its reader has ended.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, m *machine) {
	l := &link{inbox: make(chan []byte, inboxMax), done: make(chan struct{})}
	t := &tap{ResponseWriter: w}
	ws, err := websocket.Accept(t, r, &websocket.AcceptOptions{
		CompressionMode: websocket.CompressionDisabled,
		OnPingReceived:  func(context.Context, []byte) bool { return !l.mute.Load() },
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
	for i, f := range m.out {
		m.out[i] = frame{}
		if f.drop {
			l.dropped = true
			return false
		}
		kind := websocket.MessageText
		if f.binary {
			kind = websocket.MessageBinary
		}
		ctx, cancel := context.WithTimeout(context.Background(), writeTimeout)
		err := l.ws.Write(ctx, kind, f.data)
		cancel()
		if err != nil {
			return false
		}
	}
	m.out = m.out[:0]
	return true
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

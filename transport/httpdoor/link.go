package httpdoor

import (
	"bufio"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"
)

// Link is the socket under a WebSocket. It bounds every read and write with deadlines, which cost no allocation and no
// goroutine. One goroutine may read, one may write, any may do the rest.
type Link struct {
	net.Conn
	WriteTimeout time.Duration // of one write

	stalled atomic.Bool

	mu          sync.Mutex
	end         time.Time // no deadline lies after it; zero until Hurry
	interrupted bool      // reads fail from now on
}

// past is a deadline that has passed.
var past = time.Unix(1, 0)

// StartRead gives the read in progress, or the next one, wait from now.
func (l *Link) StartRead(wait time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.interrupted {
		_ = l.Conn.SetReadDeadline(l.until(wait))
	}
}

// InterruptRead fails the read in progress and those to come, until Hurry.
func (l *Link) InterruptRead() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.interrupted = true
	_ = l.Conn.SetReadDeadline(past)
}

// Hurry lets nothing last beyond end, neither what is in progress nor what comes.
func (l *Link) Hurry(end time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.end, l.interrupted = end, false
	_ = l.Conn.SetDeadline(end)
}

// until is the deadline d from now; the caller holds mu.
func (l *Link) until(d time.Duration) time.Time {
	at := time.Now().Add(d)
	if !l.end.IsZero() && l.end.Before(at) {
		return l.end
	}
	return at
}

// Write hands b over within the write timeout, or finds the far end stalled: the stream is broken then.
func (l *Link) Write(b []byte) (int, error) {
	l.mu.Lock()
	_ = l.Conn.SetWriteDeadline(l.until(l.WriteTimeout))
	l.mu.Unlock()
	n, err := l.Conn.Write(b)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		l.stalled.Store(true)
	}
	return n, err
}

// Stalled reports whether a write ran into its deadline.
func (l *Link) Stalled() bool { return l.stalled.Load() }

// Close closes the socket, by Abandon when it stalled.
func (l *Link) Close() error {
	if l.Stalled() {
		Abandon(l.Conn)
	}
	return l.Conn.Close()
}

// Abandon has the close of a connection, of TCP or TLS, drop what was not delivered. Otherwise the kernel would keep it
// for minutes for a far end that does not read.
func Abandon(c net.Conn) {
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	if t, ok := c.(*net.TCPConn); ok {
		_ = t.SetLinger(0)
	}
}

// Broken is why a WebSocket cannot be read any more, for logs. A far end's close frame may say anything, so its words
// are left out.
func Broken(err error) error {
	var ce websocket.CloseError
	if errors.As(err, &ce) {
		return fmt.Errorf("the far end closed with code %d and a reason of %d bytes", ce.Code, len(ce.Reason))
	}
	return err
}

// Hijacker is an http.ResponseWriter that puts something under a WebSocket when its connection is taken over.
type Hijacker struct {
	http.ResponseWriter
	Put func(net.Conn) net.Conn // is given the connection and returns what is to be used in its place
}

// Hijack takes the connection over from net/http.
func (h *Hijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	c, rw, err := http.NewResponseController(h.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	c = h.Put(c)
	return c, bufio.NewReadWriter(rw.Reader, bufio.NewWriter(c)), nil
}

// Package wstest is a network without sockets. It joins a listener and a dialer in memory, with
// deadlines, so that a test under testing/synctest controls the time of both ends.
package wstest

import (
	"context"
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// Network joins dialers with one listener. Listen is for http.Server.Serve, Dial for a client.
type Network struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
	join   func() (near, far net.Conn)
}

// New makes a network whose connections buffer every write: a write never waits.
func New() *Network {
	return network(func() (near, far net.Conn) {
		up, down := newStream(), newStream()
		return &conn{in: down, out: up, addr: loopback()}, &conn{in: up, out: down, addr: loopback()}
	})
}

// NewNarrow makes a network whose connections buffer nothing: a write waits for its reader.
func NewNarrow() *Network {
	return network(func() (near, far net.Conn) {
		near, far = net.Pipe()
		return addressed{near}, addressed{far}
	})
}

func network(join func() (near, far net.Conn)) *Network {
	return &Network{conns: make(chan net.Conn), closed: make(chan struct{}), join: join}
}

func loopback() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80} }

// addressed is a pipe with an address.
type addressed struct{ net.Conn }

func (addressed) LocalAddr() net.Addr  { return loopback() }
func (addressed) RemoteAddr() net.Addr { return loopback() }

// Accept waits for the next connection. It makes Network a net.Listener.
func (n *Network) Accept() (net.Conn, error) {
	select {
	case c := <-n.conns:
		return c, nil
	case <-n.closed:
		return nil, net.ErrClosed
	}
}

// Close ends Accept and Dial.
func (n *Network) Close() error {
	n.once.Do(func() { close(n.closed) })
	return nil
}

// Addr returns an address on loopback.
func (n *Network) Addr() net.Addr { return loopback() }

// Dial connects, whatever the address. It has the shape of net.Dialer.DialContext.
func (n *Network) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	near, far := n.join()
	select {
	case n.conns <- far:
		return near, nil
	case <-n.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// conn is one end of a connection.
type conn struct {
	in, out *stream
	addr    net.Addr
}

func (c *conn) Read(b []byte) (int, error)         { return c.in.read(b) }
func (c *conn) Write(b []byte) (int, error)        { return c.out.write(b) }
func (c *conn) LocalAddr() net.Addr                { return c.addr }
func (c *conn) RemoteAddr() net.Addr               { return c.addr }
func (c *conn) SetReadDeadline(t time.Time) error  { return c.in.setDeadline(t) }
func (c *conn) SetWriteDeadline(t time.Time) error { return nil } // a write never waits
func (c *conn) SetDeadline(t time.Time) error      { return c.in.setDeadline(t) }

// Close ends both directions: the far end reads the written bytes and then EOF.
func (c *conn) Close() error {
	c.in.abandon()
	c.out.end()
	return nil
}

// stream is one direction.
type stream struct {
	mu        sync.Mutex
	changed   *sync.Cond
	buf       []byte
	ended     bool // by the writer
	abandoned bool // by the reader
	deadline  time.Time
	timer     *time.Timer
}

func newStream() *stream {
	s := &stream{}
	s.changed = sync.NewCond(&s.mu)
	return s
}

func (s *stream) read(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		switch {
		case s.abandoned:
			return 0, net.ErrClosed
		case !s.deadline.IsZero() && !time.Now().Before(s.deadline):
			return 0, os.ErrDeadlineExceeded
		case len(s.buf) > 0:
			n := copy(b, s.buf)
			s.buf = append(s.buf[:0], s.buf[n:]...)
			return n, nil
		case s.ended:
			return 0, io.EOF
		}
		s.changed.Wait()
	}
}

func (s *stream) write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended || s.abandoned {
		return 0, net.ErrClosed
	}
	s.buf = append(s.buf, b...)
	s.changed.Broadcast()
	return len(b), nil
}

func (s *stream) setDeadline(t time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.timer != nil {
		s.timer.Stop()
		s.timer = nil
	}
	if s.deadline = t; !t.IsZero() {
		s.timer = time.AfterFunc(time.Until(t), s.changed.Broadcast)
	}
	s.changed.Broadcast()
	return nil
}

func (s *stream) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	s.changed.Broadcast()
}

func (s *stream) abandon() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.abandoned = true
	if s.timer != nil {
		s.timer.Stop()
	}
	s.changed.Broadcast()
}

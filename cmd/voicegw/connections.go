package main

import (
	"crypto/tls"
	"net"
	"net/http"
	"sync"

	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/admission"
)

// limitedListener limits connections. Requests, idle connections included, have places of their
// own: one too many closes the oldest of the address that has the most. A connection that becomes a
// WebSocket leaves its place; the gateway limits handshakes and calls. An address at its limit
// loses its oldest request to a new one; if it has only WebSockets, the new connection is closed.
// When all places are taken, the next connection waits in the system's queue.
type limitedListener struct {
	net.Listener
	places   chan struct{} // full when the listener accepts no more
	each     int           // of one address
	requests *admission.Backlog
	closed   chan struct{}
	once     sync.Once

	mu   sync.Mutex
	from map[string]int // connections of each address
}

// connectionLimits limit the connections at one time.
type connectionLimits struct {
	most         int // in all; more than requests
	each         int // of one address
	requests     int // that are not WebSockets
	requestsEach int // of one address
}

func limitConnections(l net.Listener, c connectionLimits) *limitedListener {
	return &limitedListener{Listener: l, places: make(chan struct{}, c.most), each: c.each, closed: make(chan struct{}),
		requests: admission.NewBacklog(c.requests, c.requestsEach), from: map[string]int{}}
}

// Accept waits for a place and for a connection.
func (l *limitedListener) Accept() (net.Conn, error) {
	select {
	case l.places <- struct{}{}:
	case <-l.closed:
		return nil, net.ErrClosed
	}
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			<-l.places
			return nil, err
		}
		address := network(c.RemoteAddr())
		if l.enter(address) || l.requests.PushOut(address) && l.enter(address) {
			limited := &limitedConn{Conn: c, leave: func() { l.leave(address) }}
			limited.request = l.requests.Enter(address, func() {
				admission.Abandon(c)
				_ = limited.Close()
			})
			return limited, nil
		}
		admission.Abandon(c)
		_ = c.Close()
	}
}

// enter counts a connection of an address, unless the address is at its limit.
func (l *limitedListener) enter(address string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.from[address] >= l.each {
		return false
	}
	l.from[address]++
	return true
}

func (l *limitedListener) leave(address string) {
	l.mu.Lock()
	if l.from[address]--; l.from[address] == 0 {
		delete(l.from, address)
	}
	l.mu.Unlock()
	<-l.places
}

// Close closes the listener; an Accept that waits for a place returns.
func (l *limitedListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

// network returns the network address to which a connection counts.
func network(a net.Addr) string {
	host, _, err := net.SplitHostPort(a.String())
	if err != nil {
		host = a.String()
	}
	return transport.Network(host)
}

// limitedConn frees its places when it is closed.
type limitedConn struct {
	net.Conn
	once    sync.Once
	leave   func()
	request *admission.Place // among the requests
}

// Close closes the connection.
func (c *limitedConn) Close() error {
	err := c.Conn.Close()
	c.once.Do(func() {
		c.request.Leave()
		c.leave()
	})
	return err
}

// leaveRequests is an http.Server's ConnState. A hijacked connection is no longer a request.
func leaveRequests(c net.Conn, state http.ConnState) {
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	if limited, ok := c.(*limitedConn); ok && state == http.StateHijacked {
		limited.request.Leave()
	}
}

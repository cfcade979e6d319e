package main

import (
	"crypto/tls"
	"net"
	"net/http"
	"sync"

	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/httpdoor"
)

// limitedListener bounds connections. Those of requests, idle ones among them, have places of their
// own, where one too many closes the oldest of the address that has the most. A connection that became
// a WebSocket leaves them: the gateway bounds handshakes and calls. An address that has its share of
// both together loses its oldest request for a new one; when it has WebSockets alone the new
// connection is closed. When there are most in all the next waits in the system's queue.
type limitedListener struct {
	net.Listener
	places   chan struct{} // full when no more are accepted
	each     int           // of one address
	requests *httpdoor.Backlog
	closed   chan struct{}
	once     sync.Once

	mu   sync.Mutex
	from map[string]int // connections of each address
}

// connectionLimits are how many connections there may be.
type connectionLimits struct {
	most         int // in all; more than requests
	each         int // of one address
	requests     int // that are no WebSockets
	requestsEach int // of one address
}

func limitConnections(l net.Listener, c connectionLimits) *limitedListener {
	return &limitedListener{Listener: l, places: make(chan struct{}, c.most), each: c.each, closed: make(chan struct{}),
		requests: httpdoor.NewBacklog(c.requests, c.requestsEach), from: map[string]int{}}
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
				httpdoor.Abandon(c)
				_ = limited.Close()
			})
			return limited, nil
		}
		httpdoor.Abandon(c)
		_ = c.Close()
	}
}

// enter counts a connection of an address, unless there are as many as may be.
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

// Close ends the listener and whoever waits for a place.
func (l *limitedListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

// network is the network address that a connection counts for.
func network(a net.Addr) string {
	host, _, err := net.SplitHostPort(a.String())
	if err != nil {
		host = a.String()
	}
	return transport.Network(host)
}

// limitedConn gives its places back when it is closed.
type limitedConn struct {
	net.Conn
	once    sync.Once
	leave   func()
	request *httpdoor.Place // among the requests
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

// leaveRequests is an http.Server's ConnState: a connection that was taken over is no request any more.
func leaveRequests(c net.Conn, state http.ConnState) {
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	if limited, ok := c.(*limitedConn); ok && state == http.StateHijacked {
		limited.request.Leave()
	}
}

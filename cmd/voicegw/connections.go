package main

import (
	"net"
	"net/netip"
	"sync"
)

// limitedListener accepts so many connections at a time, and so many of one network address: those that are too many
// of one address are closed, the others wait in the system's queue.
type limitedListener struct {
	net.Listener
	places chan struct{} // full when no more are accepted
	each   int           // of one address
	closed chan struct{}
	once   sync.Once

	mu   sync.Mutex
	from map[netip.Prefix]int
}

func limitConnections(l net.Listener, most, each int) *limitedListener {
	return &limitedListener{Listener: l, places: make(chan struct{}, most), each: each, closed: make(chan struct{}),
		from: map[netip.Prefix]int{}}
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
		if l.enter(address) {
			return &limitedConn{Conn: c, leave: func() { l.leave(address) }}, nil
		}
		if t, ok := c.(*net.TCPConn); ok {
			_ = t.SetLinger(0) // the kernel keeps nothing of it
		}
		_ = c.Close()
	}
}

// enter counts a connection of an address, unless there are as many as may be.
func (l *limitedListener) enter(address netip.Prefix) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.from[address] >= l.each {
		return false
	}
	l.from[address]++
	return true
}

func (l *limitedListener) leave(address netip.Prefix) {
	l.mu.Lock()
	if l.from[address]--; l.from[address] == 0 {
		delete(l.from, address)
	}
	l.mu.Unlock()
	<-l.places
}

// network is what counts as one address: an IPv4 address, or the /64 of an IPv6 address. What is none counts together.
func network(a net.Addr) netip.Prefix {
	at, err := netip.ParseAddrPort(a.String())
	if err != nil {
		return netip.Prefix{}
	}
	ip := at.Addr().Unmap().WithZone("")
	bits := 64
	if ip.Is4() {
		bits = 32
	}
	p, _ := ip.Prefix(bits)
	return p
}

// Close ends the listener and whoever waits for a place.
func (l *limitedListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

// limitedConn gives its place back when it is closed.
type limitedConn struct {
	net.Conn
	once  sync.Once
	leave func()
}

// Close closes the connection.
func (c *limitedConn) Close() error {
	err := c.Conn.Close()
	c.once.Do(c.leave)
	return err
}

package wsdoor

import (
	"context"
	"errors"
	"io"

	"github.com/coder/websocket"
)

const readBufferMin = 4096 // bytes; grows to the longest message

// errTooBig says that a message is longer than the limit.
var errTooBig = errors.New("a message is too long")

// socket reads a WebSocket ahead by one message: pump reads, and whoever takes from inbound gives the message back with
// release before the next one is read.
type socket struct {
	conn    *websocket.Conn
	link    *link
	limit   int          // bytes of a message
	inbound chan inbound // closed behind an error
	free    chan struct{}
	shut    chan struct{} // closed when the call is over: nobody takes any more
	holding bool          // a message was taken; owned by whoever takes
}

// inbound is a message, or why there are no more.
type inbound struct {
	Inbound
	err error
}

func newSocket(conn *websocket.Conn, l *link, limit int) *socket {
	conn.SetReadLimit(-1) // ours, so that the far end is told before the close
	return &socket{conn: conn, link: l, limit: limit, inbound: make(chan inbound, 1), free: make(chan struct{}, 1),
		shut: make(chan struct{})}
}

// pump reads until the socket fails or the call is over.
func (s *socket) pump() {
	defer close(s.inbound)
	var buf []byte
	for {
		m, err := s.read(&buf)
		select {
		case s.inbound <- inbound{m, err}:
		case <-s.shut:
			return
		}
		if err != nil {
			return
		}
		select {
		case <-s.free:
		case <-s.shut:
			return
		}
	}
}

// release gives back the message that was taken last, if one was.
func (s *socket) release() {
	if s.holding {
		s.holding = false
		s.free <- struct{}{} // pump waits for it, or never will: there is room for one
	}
}

// read reads one message into buf. It uses no context of the WebSocket library: one that is done there closes the
// socket without a word. The link bounds it.
func (s *socket) read(buf *[]byte) (Inbound, error) {
	typ, r, err := s.conn.Reader(context.Background())
	if err != nil {
		return Inbound{}, err
	}
	n := 0
	for {
		if n == len(*buf) {
			*buf = append(*buf, make([]byte, max(readBufferMin, len(*buf)))...)
		}
		m, err := r.Read((*buf)[n:])
		n += m
		switch {
		case n > s.limit:
			return Inbound{}, errTooBig
		case err == io.EOF:
			return Inbound{Binary: typ == websocket.MessageBinary, Data: (*buf)[:n]}, nil
		case err != nil:
			return Inbound{}, err
		}
	}
}

package wsendpoint

import (
	"context"
	"time"

	"github.com/voicegw/voicegw/transport/wsconn"
)

// reader reads a connection ahead by one message. pump reads; the receiver takes a message from
// inbound and gives it back with release before pump reads the next one.
type reader struct {
	conn    *wsconn.Conn
	inbound chan inbound // closed after an error
	free    chan struct{}
	holding bool // a message was taken; owned by the receiver
}

// inbound is a message, or the error after the last message.
type inbound struct {
	wsconn.Message
	err error
}

func newReader(conn *wsconn.Conn) *reader {
	return &reader{conn: conn, inbound: make(chan inbound, 1), free: make(chan struct{}, 1)}
}

// pump reads until nothing more can be read or the call has ended. The time between two messages
// must not exceed idle.
func (r *reader) pump(idle time.Duration) {
	defer close(r.inbound)
	for {
		m, err := r.conn.Read(context.Background(), idle)
		select {
		case r.inbound <- inbound{m, err}:
		case <-r.conn.Leaving():
			return
		}
		if err != nil {
			return
		}
		select {
		case <-r.free:
		case <-r.conn.Leaving():
			return
		}
	}
}

// release gives back the message that was taken last, if any.
func (r *reader) release() {
	if r.holding {
		r.holding = false
		r.free <- struct{}{} // never blocks: the channel has room for one
	}
}

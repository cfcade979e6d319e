package wsconn

import (
	"errors"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/voicegw/voicegw/transport/admission"
)

// rowBytesMax bounds the bytes that are joined into one write.
const rowBytesMax = 16 << 10

// restBytesMax bounds the bytes that a socket keeps: the rest of a message and a few control frames.
const restBytesMax = 1 << 20

// socket is the connection under a WebSocket. Deadlines bound every read and write; they cost no
// allocation and no timer goroutine. The socket keeps the stream whole: it keeps the bytes that a
// write could not send in time and sends them first in the next message, so that a close frame can
// still follow.
type socket struct {
	net.Conn
	writeTimeout time.Duration
	anyByte      bool        // every received byte extends the read in progress
	stalled      atomic.Bool // a write ran into its deadline
	more         atomic.Bool // another message follows at once: join it with this one
	row          []byte      // messages that wait to be joined with the next; owned by Write, as rest is
	rest         []byte      // bytes not sent yet; owned by Write, which has one caller at a time

	mu         sync.Mutex
	end        time.Time     // the deadline of everything after hurry; zero before
	idle       time.Duration // how long a read may wait
	readStops  bool          // the read in progress was interrupted
	writeStops bool          // the write in progress was interrupted
	keeping    bool          // a piece of the message in progress was kept: keep what follows, too
}

// past is a deadline that has passed.
var past = time.Unix(1, 0)

// startRead sets the deadline of the next read: idle from now.
func (s *socket) startRead(idle time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.idle, s.readStops = idle, false
	_ = s.Conn.SetReadDeadline(s.until(idle))
}

// extendRead sets the deadline of the read in progress again: the far end showed a sign of life.
func (s *socket) extendRead() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.readStops {
		_ = s.Conn.SetReadDeadline(s.until(s.idle))
	}
}

// interruptRead ends the read in progress with a timeout.
func (s *socket) interruptRead() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.readStops = true
	_ = s.Conn.SetReadDeadline(past)
}

// startWrite begins a message: it forgets what stopped an earlier one.
func (s *socket) startWrite(more bool) {
	s.more.Store(more)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writeStops, s.keeping = false, false
}

// interruptWrite ends the write in progress with a timeout, without marking the socket as stalled.
func (s *socket) interruptWrite() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writeStops = true
	_ = s.Conn.SetWriteDeadline(past)
}

// hurry makes end the deadline of the operations in progress and of all later ones.
func (s *socket) hurry(end time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.more.Store(false)
	s.end, s.writeStops, s.keeping = end, false, false
	_ = s.Conn.SetDeadline(end)
}

// until returns the deadline d from now, or the one that hurry set; the caller holds mu.
func (s *socket) until(d time.Duration) time.Time {
	if !s.end.IsZero() {
		return s.end
	}
	return time.Now().Add(d)
}

// Read reads before the deadline of the read in progress.
func (s *socket) Read(b []byte) (int, error) {
	if s.anyByte {
		s.extendRead()
	}
	return s.Conn.Read(b)
}

// Write writes b to the socket within the write timeout, or before end. It keeps the bytes that do not go in time
// and reports success to the framing above, which would otherwise never write again; the caller of
// the framing checks stalled. The framing writes a message in pieces: once a piece is kept, Write
// keeps the pieces after it without waiting. It fails when it would keep more than restBytesMax.
func (s *socket) Write(b []byte) (int, error) {
	joined := len(s.row) > 0 || s.more.Load()
	if !joined {
		return s.write(b)
	}
	s.row = append(s.row, b...)
	if s.more.Load() && len(s.row) < rowBytesMax {
		return len(b), nil
	}
	_, err := s.write(s.row)
	s.row = s.row[:0]
	return len(b), err
}

// write is Write without joining.
func (s *socket) write(b []byte) (int, error) {
	if !s.armWrite() {
		return s.keep(b, len(b))
	}
	if len(s.rest) > 0 {
		n, err := s.Conn.Write(s.rest)
		s.rest = s.rest[n:]
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			return s.keep(b, len(b))
		case err != nil:
			return 0, err
		}
		s.rest = nil
	}
	n, err := s.Conn.Write(b)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return s.keep(b[n:], len(b))
	}
	return n, err
}

// armWrite sets the deadline of a write. It returns false if the write is to keep its bytes.
func (s *socket) armWrite() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.until(s.writeTimeout)
	if s.writeStops {
		at = past
	}
	_ = s.Conn.SetWriteDeadline(at)
	return !s.keeping
}

// keep stores bytes that the socket did not take, and returns written, or an error if it has no
// room for them.
func (s *socket) keep(b []byte, written int) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keeping = true
	if !s.writeStops {
		s.stalled.Store(true)
	}
	if len(s.rest)+len(b) > restBytesMax {
		return 0, os.ErrDeadlineExceeded
	}
	s.rest = append(s.rest, b...)
	return written, nil
}

// Close closes the socket. If bytes are undelivered, it does not leave them to the kernel.
func (s *socket) Close() error {
	if s.stalled.Load() {
		admission.Abandon(s.Conn)
	}
	return s.Conn.Close()
}

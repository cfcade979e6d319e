package ws

import (
	"errors"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/voicegw/voicegw/transport/httpdoor"
)

// link is the socket under a WebSocket. It bounds every read and write with deadlines, which cost no allocation and
// no timer goroutine, and it keeps the stream whole: what a write could not hand over in time is kept and goes first
// in the next one, so that a close frame can still follow.
type link struct {
	net.Conn
	writeTimeout time.Duration
	stalled      atomic.Bool // a write ran into its deadline
	rest         []byte      // not handed over yet; owned by Write, which has one caller at a time

	mu         sync.Mutex
	end        time.Time     // no deadline lies after it; zero until hurry
	idle       time.Duration // how long a read may wait
	readStops  bool          // the read in progress was interrupted
	writeStops bool          // the write in progress was interrupted
}

// under puts the link under a WebSocket.
func (l *link) under(c net.Conn) net.Conn {
	l.Conn = c
	return l
}

// past is a deadline that has passed.
var past = time.Unix(1, 0)

// startRead gives the next read idle from now.
func (l *link) startRead(idle time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.idle, l.readStops = idle, false
	_ = l.Conn.SetReadDeadline(l.until(idle))
}

// extendRead gives the read in progress its time again: the far end showed that it is there.
func (l *link) extendRead() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.readStops {
		_ = l.Conn.SetReadDeadline(l.until(l.idle))
	}
}

// interruptRead ends the read in progress with a timeout.
func (l *link) interruptRead() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.readStops = true
	_ = l.Conn.SetReadDeadline(past)
}

// startWrite forgets an interruption of an earlier write.
func (l *link) startWrite() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.writeStops = false
}

// interruptWrite ends the write in progress as if its time were over, without calling the link stalled.
func (l *link) interruptWrite() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.writeStops = true
	_ = l.Conn.SetWriteDeadline(past)
}

// hurry lets nothing last beyond end, neither what is in progress nor what comes.
func (l *link) hurry(end time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.end, l.writeStops = end, false
	_ = l.Conn.SetDeadline(end)
}

// until is the deadline d from now; the caller holds mu.
func (l *link) until(d time.Duration) time.Time {
	at := time.Now().Add(d)
	if !l.end.IsZero() && l.end.Before(at) {
		return l.end
	}
	return at
}

// Write hands b to the socket within the write timeout. What does not go in time is kept, and Write reports success to
// the framing above; whoever called that looks at stalled. With something kept already Write fails instead of keeping
// more, so it never holds more than one piece.
func (l *link) Write(b []byte) (int, error) {
	l.armWrite()
	if len(l.rest) > 0 {
		n, err := l.Conn.Write(l.rest)
		if l.rest = l.rest[n:]; err != nil {
			return 0, err
		}
		l.rest = nil
	}
	n, err := l.Conn.Write(b)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		l.keep(b[n:])
		return len(b), nil
	}
	return n, err
}

func (l *link) armWrite() {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := l.until(l.writeTimeout)
	if l.writeStops {
		at = past
	}
	_ = l.Conn.SetWriteDeadline(at)
}

// keep keeps what the socket did not take.
func (l *link) keep(b []byte) {
	l.rest = append([]byte(nil), b...)
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.writeStops {
		l.stalled.Store(true)
	}
}

// Close closes the socket. With something undelivered it does not leave that to the kernel.
func (l *link) Close() error {
	if l.stalled.Load() {
		httpdoor.Abandon(l.Conn)
	}
	return l.Conn.Close()
}

package resume

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"sync"
	"time"

	"github.com/voicegw/voicegw/transport"
)

// Calls are the calls of an endpoint that can be resumed. The zero value is ready. All methods are
// safe for concurrent use.
type Calls struct {
	mu       sync.Mutex
	byHandle map[string]*Peer
}

// Wait is how long a call waits for its far end.
type Wait struct {
	Broken time.Duration // after a connection that broke
	// Closed is the time after a connection that the far end closed in an orderly way. 0 is for
	// protocols in which such a close hangs up.
	Closed time.Duration
}

// New returns the peer of a call that begins on conn, and how long it waits for another connection.
// token is what the far end showed to begin the call, and must show again; "" is none. The peer must
// be closed.
func (c *Calls) New(conn Conn, token string, wait Wait) *Peer {
	p := &Peer{calls: c, first: conn, hello: conn.Hello(), handle: rand.Text(), token: sha256.Sum256([]byte(token)),
		wait: wait, conn: conn, wake: make(chan struct{}, 1)}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byHandle == nil {
		c.byHandle = map[string]*Peer{}
	}
	c.byHandle[p.handle] = p
	return p
}

// Find returns the peer of a call that a far end may resume: it has the handle of the call, and
// showed the same token. Otherwise it returns a *transport.Refused, the same for every reason.
func (c *Calls) Find(handle, token string) (*Peer, error) {
	c.mu.Lock()
	p := c.byHandle[handle]
	c.mu.Unlock()
	shown := sha256.Sum256([]byte(token))
	if p == nil || subtle.ConstantTimeCompare(shown[:], p.token[:]) == 0 {
		return nil, refused()
	}
	return p, nil
}

// Any reports whether there is a call that a far end with this token might resume.
func (c *Calls) Any(token string) bool {
	shown := sha256.Sum256([]byte(token))
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range c.byHandle {
		if subtle.ConstantTimeCompare(shown[:], p.token[:]) == 1 {
			return true
		}
	}
	return false
}

func refused() error { return &transport.Refused{Reason: transport.ReasonNotResumable} }

func (c *Calls) remove(p *Peer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.byHandle, p.handle)
}

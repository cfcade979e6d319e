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

// New returns the peer of a call that begins on conn, and waits for at most within when a connection
// breaks. token is what the far end showed to begin the call, and must show again; "" is none. The
// peer must be closed.
func (c *Calls) New(conn Conn, token string, within time.Duration) *Peer {
	p := &Peer{calls: c, hello: conn.Hello(), handle: rand.Text(), token: sha256.Sum256([]byte(token)), within: within,
		conn: conn, wake: make(chan struct{}, 1)}
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

func refused() error { return &transport.Refused{Reason: transport.ReasonNotResumable} }

func (c *Calls) remove(p *Peer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.byHandle, p.handle)
}

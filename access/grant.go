package access

import (
	"sync/atomic"
	"time"

	"github.com/voicegw/voicegw/petri"
)

// Grant is the right to one call and what its token says of it. Its methods are safe for concurrent use.
type Grant struct {
	Tenant, Subject string
	TokenID         string        // jti, "" without a token; for logs
	Model           string        // "": the gateway's
	CallMax         time.Duration // 0: the gateway's
	Tools           []string      // that the call may use; nil: all

	visit    *visit
	released atomic.Bool
	credits  [3]credit
}

// credit is what was taken of a quota's bytes and not spent yet.
type credit struct {
	left atomic.Int64
	part int64 // 0: no limit
}

func newGrant(v *visit, c *Claims) *Grant {
	g := &Grant{Tenant: c.Tenant, Subject: c.Subject, TokenID: c.ID, Model: c.Model, CallMax: c.CallMax, Tools: c.Tools,
		visit: v}
	for i, m := range v.meters {
		g.credits[i].part = m.limits.bytePart()
	}
	return g
}

// Allows reports whether the call may use a tool.
func (g *Grant) Allows(tool string) bool {
	if g.Tools == nil {
		return true
	}
	for _, t := range g.Tools {
		if t == tool {
			return true
		}
	}
	return false
}

// unuse lets the token be used again: the call it was shown for was not taken after all.
func (g *Grant) unuse() {
	v := g.visit
	v.g.mu.Lock()
	defer v.g.mu.Unlock()
	if v.used != nil {
		v.g.seen.giveBack(*v.used)
	}
}

// Spend counts bytes of the call against the limits of its address, tenant and subject, and reports whether there were
// so many left; when not, the call should end with transport.ReasonLimit. It allocates nothing and asks a quota only
// when a sixtieth of its bytes per minute is used up. It is meant for each message of audio in either direction.
func (g *Grant) Spend(n int) bool {
	ok := true
	for i := range g.credits {
		c := &g.credits[i]
		if c.part > 0 && c.left.Add(-int64(n)) < 0 && !g.borrow(i) {
			ok = false
		}
	}
	return ok
}

// borrow takes parts of a quota until nothing is owed, and reports whether there were enough.
func (g *Grant) borrow(i int) bool {
	v, c := g.visit, &g.credits[i]
	v.g.mu.Lock()
	defer v.g.mu.Unlock()
	for c.left.Load() < 0 {
		if g.released.Load() || !v.meters[i].spend(v.now()) {
			return false
		}
		c.left.Add(c.part)
	}
	return true
}

// Release says that the call is over. It may be called more than once.
func (g *Grant) Release() {
	if g.released.Swap(true) {
		return
	}
	v := g.visit
	v.g.mu.Lock()
	defer v.g.mu.Unlock()
	v.inject(attemptPorts().hangUp.Token(petri.Unit{}))
	v.leave()
	v.g.stats.Running--
}

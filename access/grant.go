package access

import (
	"slices"
	"sync/atomic"
	"time"
)

// Grant is the right to one call, with what its token says about it. Its fields must not be
// changed. Its methods are safe for concurrent use.
type Grant struct {
	Tenant, Subject string
	TokenID         string        // jti, for logs; "" without a token
	Model           string        // "" leaves the model to the gateway
	CallMax         time.Duration // 0 leaves the longest call to the gateway
	Tools           []string      // the tools that the call may use; nil allows all
	Session         []string      // the settings that the client may choose; nil leaves it to the gateway

	guard    *Guard
	token    tokenID   // the token that the call used up; zero: none
	quotas   [3]*quota // of the address, the tenant and the subject
	held     int       // how many of quotas hold a permit of this call
	admitted bool
	released atomic.Bool
}

// admit copies the claims of an admitted call. The caller holds the guard's mutex.
func (g *Grant) admit(c *Claims) {
	g.Tenant, g.Subject, g.TokenID = c.Tenant, c.Subject, c.ID
	g.Model, g.CallMax, g.Tools = c.Model, c.CallMax, c.Tools
	g.Session = c.Session
	g.admitted = true
}

// Allows reports whether the call may use a tool.
func (g *Grant) Allows(tool string) bool { return g.Tools == nil || slices.Contains(g.Tools, tool) }

// Shorten lets the call last no longer than this, in Hooks.Begin of its gateway. Zero changes nothing.
func (g *Grant) Shorten(longest time.Duration) {
	if longest > 0 && (g.CallMax == 0 || longest < g.CallMax) {
		g.CallMax = longest
	}
}

// Spend counts n bytes of the call against the limits of its address, tenant and subject. It
// returns false if one of them has fewer left; then the call should end with transport.ReasonLimit.
// Call it for each message of audio in either direction. It does not allocate.
func (g *Grant) Spend(n int) bool {
	ok, now := true, g.guard.cfg.Now()
	for _, q := range g.quotas {
		if q.bytes != nil && (g.released.Load() || !q.bytes.AllowN(now, n)) {
			ok = false
		}
	}
	return ok
}

// Release ends the call and gives back its permits. It may be called more than once.
func (g *Grant) Release() {
	if g.released.Swap(true) {
		return
	}
	g.guard.mu.Lock()
	defer g.guard.mu.Unlock()
	g.giveBack()
	g.guard.stats.Running--
}

// abandon gives back the permits of an attempt that did not become a call.
func (g *Grant) abandon() {
	g.guard.mu.Lock()
	defer g.guard.mu.Unlock()
	if !g.admitted {
		g.giveBack()
	}
}

// giveBack gives back the permits that are held. The caller holds the guard's mutex.
func (g *Grant) giveBack() {
	now := g.guard.cfg.Now()
	for _, q := range g.quotas[:g.held] {
		g.guard.quotas.giveBack(q, now)
	}
	g.held = 0
}

// unuse makes the token usable again, because the gateway did not take the call.
func (g *Grant) unuse() {
	g.guard.mu.Lock()
	defer g.guard.mu.Unlock()
	g.guard.seen.giveBack(g.token)
}

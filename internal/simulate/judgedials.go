package simulate

import (
	"time"

	"github.com/voicegw/voicegw/transport"
)

// dials counts the connections of a call to its model.
type dials struct {
	n, failed int
	open      int
	closed    int           // by the gateway
	credit    time.Duration // for dials, at the last one
	last      time.Duration
}

// A call may try to have dialsMax connections at once, and one more after each dialEvery.
const (
	dialsMax  = 4
	dialEvery = time.Second
	dialSlack = 50 * time.Millisecond // a dial may be late, and the next one is not
)

// judgePace wants some time between connections, and ends a call that gives them none. m.mu is
// held.
func (m *model) judgePace() {
	d, now := &m.dials, m.line.now()
	if d.n == 0 {
		d.credit = dialsMax * dialEvery
	}
	d.credit = min(dialsMax*dialEvery, d.credit+now-d.last) - dialEvery
	if d.last = now; d.credit < -dialSlack {
		m.line.violation("connection %d to the model was tried %v too early", d.n+1, -d.credit)
		m.line.fail(transport.ReasonPeerLost)
	}
}

// judgeClosed wants the gateway to have closed every connection, however it ended.
func (m *model) judgeClosed() {
	m.mu.Lock()
	open := m.dials.n - m.dials.failed - m.dials.closed
	m.mu.Unlock()
	if open != 0 {
		m.line.violation("%d of %d connections to the model were never closed", open, m.dials.n)
	}
}

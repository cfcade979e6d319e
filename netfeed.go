package voicegw

import (
	"context"
	"sync"
	"time"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/transport"
)

// netFeed lets a page watch the net of its own call: names of the transitions
// that fired, and the marking, at most ten times a second. It is an
// event.Store.
type netFeed struct {
	prog    *petri.Program
	changed chan struct{} // a signal; 1 deep

	mu    sync.Mutex
	fired []int32 // since the last message, each once
	seen  map[int32]bool
	last  uint64
	next  time.Duration // net time before which nothing is sent
	at    time.Duration
}

// feedEvery is how often a page hears of its net.
const feedEvery = 100 * time.Millisecond

func newNetFeed(p *petri.Program) *netFeed {
	return &netFeed{prog: p, changed: make(chan struct{}, 1), seen: map[int32]bool{}}
}

// Append notes what fired. Frames move all the time and change nothing, so
// they alone wake nobody.
func (f *netFeed) Append(events []petri.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	wake := false
	for _, e := range events {
		f.last, f.at = e.Seq, e.At
		if e.Kind != petri.Fired {
			continue
		}
		if !f.seen[e.Index] {
			f.seen[e.Index] = true
			f.fired = append(f.fired, e.Index)
		}
		wake = true
	}
	if wake && f.at >= f.next {
		f.next = f.at + feedEvery
		select {
		case f.changed <- struct{}{}:
		default:
		}
	}
}

// Stored is the last event: nothing waits for a page.
func (f *netFeed) Stored() uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.last
}

// take returns the names of what fired since the last call.
func (f *netFeed) take() ([]string, time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	names := make([]string, 0, len(f.fired))
	for _, i := range f.fired {
		names = append(names, f.prog.Transitions()[i].Name)
	}
	f.fired = f.fired[:0]
	clear(f.seen)
	return names, f.at
}

// send tells the peer. A failure shows at the next audio or event.
func (f *netFeed) send(ctx context.Context, c *call) {
	m := transport.Message{Kind: transport.MessageNet}
	m.Fired, m.At = f.take()
	marking := c.net.Marking()
	for _, p := range f.prog.Places() {
		n := 0
		for i := range p.Slots {
			n += int(marking[p.Slot+i])
		}
		if n > 0 {
			m.Marking = append(m.Marking, transport.PlaceCount{Place: p.Name, Count: n})
		}
	}
	_ = c.peer.Send(ctx, &m)
}

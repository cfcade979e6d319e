package voicegw

import (
	"math"
	"sync"
	"time"

	"github.com/voicegw/voicegw/petri"
)

// netFeed collects what a page that watches the net of its own call is shown.
// It is an event.Store.
type netFeed struct {
	prog    *program
	changed chan struct{} // a signal, 1 deep

	mu    sync.Mutex
	fired []int32 // since the last take, each once, at most all transitions
	seen  []bool  // by transition
	at    time.Duration
}

func newNetFeed(p *program) *netFeed {
	return &netFeed{prog: p, changed: make(chan struct{}, 1), seen: make([]bool, len(p.Transitions()))}
}

// Append notes what fired.
func (f *netFeed) Append(events []petri.Event) {
	if f.note(events) {
		select {
		case f.changed <- struct{}{}:
		default:
		}
	}
}

// Stored says that nothing waits for a page.
func (f *netFeed) Stored() uint64 { return math.MaxUint64 }

// note reports whether anything fired.
func (f *netFeed) note(events []petri.Event) (any bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, e := range events {
		f.at = e.At
		if e.Kind != petri.Fired {
			continue
		}
		any = true
		if !f.seen[e.Index] {
			f.seen[e.Index] = true
			f.fired = append(f.fired, e.Index)
		}
	}
	return any
}

// take appends the names of what fired since the last take to names, and
// returns the time of the last event.
func (f *netFeed) take(names []string) ([]string, time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, i := range f.fired {
		names = append(names, f.prog.Transitions()[i].Name)
		f.seen[i] = false
	}
	f.fired = f.fired[:0]
	return names, f.at
}

package agent

import (
	"errors"
	"math"
	"sync"
	"sync/atomic"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/petri/event"
	"github.com/voicegw/voicegw/petri/netview"
)

// WatchersMax is how many views a session has at a time.
const WatchersMax = 16

// ErrWatched means that a session has WatchersMax views.
var ErrWatched = errors.New("agent: too many others watch the session; try again later")

// Watch returns a view of the net that runs. stop ends it and must be called. A view shows names and
// counts, nothing that was said. It never delays the net.
func (s *Session) Watch() (v *netview.View, stop func(), err error) {
	v = netview.New(s.prog)
	v.Attach(s.run.Marking)
	v.Touch()
	if !s.watchers.add(v) {
		return nil, nil, ErrWatched
	}
	return v, func() { s.watchers.remove(v) }, nil
}

// Done returns a channel that is closed when the session has ended.
func (s *Session) Done() <-chan struct{} { return s.run.Done() }

// watchers are the views of a session. They are an event.Store that delays no output.
type watchers struct {
	some atomic.Bool

	mu    sync.Mutex
	views []*netview.View
}

// beside returns a store of what o stores, for the views as well.
func (w *watchers) beside(o event.Store) event.Store {
	if o == nil {
		return w
	}
	return event.Tee(o, w)
}

// Append hands events to the views.
func (w *watchers) Append(events []petri.Event) {
	if !w.some.Load() {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, v := range w.views {
		v.Append(events)
	}
}

// Stored reports everything as stored.
func (*watchers) Stored() uint64 { return math.MaxUint64 }

func (w *watchers) add(v *netview.View) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.views) == WatchersMax {
		return false
	}
	w.views = append(w.views, v)
	w.some.Store(true)
	return true
}

func (w *watchers) remove(v *netview.View) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, have := range w.views {
		if have == v {
			w.views = append(w.views[:i:i], w.views[i+1:]...)
			break
		}
	}
	w.some.Store(len(w.views) > 0)
}

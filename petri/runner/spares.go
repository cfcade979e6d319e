package runner

import (
	"sync"

	"github.com/voicegw/voicegw/petri"
)

// Spares keeps the machines of runs that have ended, so that the next runs need not allocate theirs. The zero value
// is empty. It is safe for concurrent use. The garbage collector may empty it.
type Spares struct{ pool sync.Pool }

// spare is what a run leaves to the next one.
type spare struct {
	machine *petri.Machine
	sinks   sinks
}

// take returns a spare, without anything of the run before but memory; nil if there is none.
func (s *Spares) take() *spare {
	if s == nil {
		return nil
	}
	p, _ := s.pool.Get().(*spare)
	return p
}

// leave gives up the machine when the run is over. A task that has not returned does not use it.
func (r *Runner) leave() {
	if r.cfg.Spares == nil || r.err != nil || r.loop.sinks.pending > 0 {
		return
	}
	r.own.Lock()
	defer r.own.Unlock()
	for _, t := range r.loop.sinks.tasks {
		t.latest = nil
	}
	r.cfg.Spares.pool.Put(&spare{r.machine, r.loop.sinks})
	r.machine, r.loop.sinks = nil, sinks{}
}

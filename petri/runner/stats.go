package runner

import (
	"math/bits"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/petri/event"
)

// LatenessBuckets is the length of Stats.Lateness.
const LatenessBuckets = 24

// Stats counts what a run has done so far.
type Stats struct {
	Events    uint64
	Injected  uint64 // tokens that entered, including the results of tasks
	Refused   uint64 // tokens that a full place refused
	Dropped   uint64 // tokens that a full place dropped to make room
	InboxFull uint64 // injections that failed with ErrInboxFull
	Fired     uint64

	// Outputs counts the outputs handed over to Config.Out or to a task. The lateness of a step
	// runs from the logical time of its oldest output until Out has returned for all of them.
	Outputs     uint64
	Discarded   uint64 // outputs never handed over, because the Store had failed
	LatenessMax time.Duration
	LatenessSum time.Duration
	// Lateness counts steps by lateness: bucket 0 below 1 us, bucket i below 2^i us, the last
	// bucket all others.
	Lateness [LatenessBuckets]uint64
	// Late counts the stretches of time in which lateness exceeded Config.Lateness.
	Late uint64
}

// stats holds the counters of the loop.
type stats struct {
	mu sync.Mutex
	Stats
	worst time.Duration // largest lateness of the current late stretch; 0: none
}

// Stats returns the counts so far.
func (r *Runner) Stats() Stats {
	r.stat.mu.Lock()
	defer r.stat.mu.Unlock()
	s := r.stat.Stats
	s.InboxFull = r.in.refusals()
	return s
}

// count adds events.
func (s *stats) count(events []petri.Event) {
	if len(events) == 0 {
		return
	}
	var n [petri.Faulted + 1]uint64
	for i := range events {
		n[events[i].Kind]++
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Events += uint64(len(events))
	s.Injected += n[petri.Injected]
	s.Refused += n[petri.Refused]
	s.Dropped += n[petri.Dropped]
	s.Fired += n[petri.Fired]
}

// discard counts an output that is never handed over.
func (s *stats) discard() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Discarded++
}

// late measures how late outputs were handed over. at is the logical time of the oldest one, and
// last the number of the last event before.
func (r *Runner) late(at time.Duration, outputs int, last uint64) {
	if outputs == 0 {
		return
	}
	now := r.in.elapsed()
	if r.cfg.Measure != nil {
		r.cfg.Measure(now - at)
	}
	n := event.Note{After: last, At: now}
	if !r.stat.late(now-at, outputs, r.cfg.Lateness, &n) {
		return
	}
	if r.cfg.Store != nil {
		event.SendNote(r.cfg.Store, n)
	}
	r.cfg.Logger.Warn("lateness of outputs", zap.String("run", r.cfg.Name), zap.Stringer("change", n.Kind),
		zap.Duration("lateness", n.Value), zap.Duration("bound", r.cfg.Lateness))
}

// late counts a step and reports whether a late stretch begins or ends with it.
func (s *stats) late(by time.Duration, outputs int, bound time.Duration, n *event.Note) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Outputs += uint64(outputs)
	s.LatenessMax = max(s.LatenessMax, by)
	s.LatenessSum += by
	s.Lateness[min(bits.Len64(uint64(by/time.Microsecond)), LatenessBuckets-1)]++
	switch {
	case by > bound && s.worst == 0:
		s.worst = by
		s.Late++
		n.Kind, n.Value = event.Late, by
		return true
	case by > bound:
		s.worst = max(s.worst, by)
	case s.worst > 0:
		n.Kind, n.Value = event.OnTime, s.worst
		s.worst = 0
		return true
	}
	return false
}

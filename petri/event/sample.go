package event

import (
	"fmt"

	"github.com/voicegw/voicegw/petri"
)

// Sample passes on every event that decides something and one in every of those
// that do not: arrivals at payload places and firings that only move frames.
// What is stored behind it is incomplete and cannot be replayed.
type Sample struct {
	next  Store
	prog  *petri.Program
	every int
	n     []int // by transition, then by place: events left out since the last
	buf   []petri.Event
	sent  uint64 // the last event passed on
	seen  uint64 // the last event
}

// NewSample makes a sample of events of prog for next. It panics unless every
// is at least 1.
func NewSample(next Store, prog *petri.Program, every int) *Sample {
	if every < 1 {
		panic(fmt.Sprintf("event: sample of one in %d; at least 1 is possible", every))
	}
	markIncomplete(next)
	return &Sample{next: next, prog: prog, every: every, n: make([]int, len(prog.Transitions())+len(prog.Places()))}
}

// Append passes on what the sample keeps.
func (s *Sample) Append(events []petri.Event) {
	if len(events) == 0 {
		return
	}
	s.buf = s.buf[:0]
	for _, e := range events {
		if s.keeps(e) {
			s.buf = append(s.buf, e)
		}
	}
	s.seen = events[len(events)-1].Seq
	if len(s.buf) > 0 {
		s.sent = s.buf[len(s.buf)-1].Seq
		s.next.Append(s.buf)
	}
}

func (s *Sample) keeps(e petri.Event) bool {
	at := int(e.Index)
	switch e.Kind {
	case petri.Fired:
		if !s.prog.Transitions()[at].Frame {
			return true
		}
	case petri.Injected, petri.Dropped, petri.Refused:
		if !s.prog.Places()[at].Payload {
			return true
		}
		at += len(s.prog.Transitions())
	default:
		return true
	}
	s.n[at]++
	if s.n[at] < s.every {
		return false
	}
	s.n[at] = 0
	return true
}

// Stored is the last event if everything passed on is stored. It must be called
// by the goroutine that appends.
func (s *Sample) Stored() uint64 {
	if n := s.next.Stored(); n < s.sent {
		return n
	}
	return s.seen
}

// Err is why the store behind failed, or nil.
func (s *Sample) Err() error { return Failure(s.next) }

// Notify passes fn on.
func (s *Sample) Notify(fn func()) {
	if n, ok := s.next.(Notifier); ok {
		n.Notify(fn)
	}
}

// Note passes n on.
func (s *Sample) Note(n Note) { SendNote(s.next, n) }

// Incomplete passes on that events are missing.
func (s *Sample) Incomplete() { markIncomplete(s.next) }

package monitor

import (
	"sync/atomic"

	"github.com/voicegw/voicegw/petri"
)

// Store is a monitor that follows a run live: it has the methods of a store of events, such as a
// runner or a tee uses. It stores nothing.
type Store struct {
	m      *Monitor
	report func(*Violation)
	stored atomic.Uint64
}

// NewStore makes a store of a monitor. The goroutine that appends calls report once, with the first
// violation; report must not block. A violation does not end the run.
func NewStore(m *Monitor, report func(*Violation)) *Store { return &Store{m: m, report: report} }

// Append follows events.
func (s *Store) Append(events []petri.Event) {
	before := s.m.broken
	_ = s.m.Append(events) // reported below, once
	if before == nil && s.m.broken != nil {
		s.report(s.m.broken)
	}
	if n := len(events); n > 0 {
		s.stored.Store(events[n-1].Seq)
	}
}

// Stored is the number of the last event appended, so that nothing waits for a monitor.
func (s *Store) Stored() uint64 { return s.stored.Load() }

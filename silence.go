package voicegw

import (
	"sync"
	"time"
)

// silence measures how long a peer takes to fall silent when the caller speaks over a reply: from the
// clear that the net sends until the peer's answer. It is safe for concurrent use.
type silence struct {
	now     func() time.Duration // since the call began
	observe func(seconds float64)

	mu         sync.Mutex
	generation uint64        // of the clear that is not answered; 0: none
	since      time.Duration // when it was sent
}

// cleared notes a clear of a generation, because the caller speaks.
func (s *silence) cleared(generation uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.generation, s.since = generation, s.now()
}

// acked notes that the peer answered a clear of a generation.
func (s *silence) acked(generation uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.generation == generation && generation > 0 {
		s.observe((s.now() - s.since).Seconds())
		s.generation = 0
	}
}

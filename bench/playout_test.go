package bench

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// story is a playout at a made-up time.
type story struct {
	playout
	now  time.Time
	said []string
}

func (s *story) at(ms int) time.Time { return s.now.Add(time.Duration(ms) * time.Millisecond) }

func (s *story) acksAt(ms int) []string {
	s.said = nil
	s.acks(s.at(ms), func(id uint64, ms int64, mark string) {
		s.said = append(s.said, fmt.Sprintf("%d:%d%s", id, ms, mark))
	})
	return s.said
}

// TestPlayout plays two replies, the first of them with a gap and a mark, and acknowledges them.
func TestPlayout(t *testing.T) {
	t.Parallel()
	s := &story{now: time.Unix(1000, 0)}
	for range 4 {
		s.push(s.at(0), 1) // played from 40 to 120
	}
	s.playout.mark(s.at(0), 1, "m")
	want := func(ms int, want ...string) {
		t.Helper()
		if got := s.acksAt(ms); !slices.Equal(got, want) {
			t.Errorf("after %d ms it acknowledges %v, want %v", ms, got, want)
		}
	}
	want(59)
	want(60, "1:20")
	want(100)
	want(120, "1:80m")
	if s.over(s.at(200)) {
		t.Error("the reply is over 80 ms after its last frame")
	}
	s.push(s.at(200), 1) // late
	if s.late != 1 {
		t.Errorf("%d frames are late, want 1", s.late)
	}
	want(260, "1:100")
	if !s.over(s.at(561)) {
		t.Error("the reply is not over after 301 ms")
	}
	s.push(s.at(600), 2)
	if s.late != 1 {
		t.Error("the first frame of a reply is late")
	}
	want(660, "2:20")
}

// TestPlayoutClears drops what was not played, and its marks.
func TestPlayoutClears(t *testing.T) {
	t.Parallel()
	s := &story{now: time.Unix(1000, 0)}
	for range 10 {
		s.push(s.at(0), 7)
	}
	s.playout.mark(s.at(0), 7, "m")
	if ms := s.clear(s.at(85), 7); ms != 40 {
		t.Errorf("%d ms were played, want 40", ms)
	}
	if got := s.acksAt(500); len(got) > 0 {
		t.Errorf("after a clear it acknowledges %v", got)
	}
	s.push(s.at(510), 7) // the rest again
	if got := s.acksAt(600); !slices.Equal(got, []string{"7:60"}) || s.late != 0 {
		t.Errorf("the rest is acknowledged as %v with %d late frames", got, s.late)
	}
}

// TestPlayoutReturnsMarks, as Twilio does, also those that a clear drops.
func TestPlayoutReturnsMarks(t *testing.T) {
	t.Parallel()
	s := &story{now: time.Unix(1000, 0)}
	s.returns = true
	s.push(s.at(0), 0)
	s.playout.mark(s.at(0), 0, "m")
	s.clear(s.at(10), 0)
	if got := s.acksAt(20); !slices.Equal(got, []string{"0:0m"}) {
		t.Errorf("after a clear it returns %v", got)
	}
}

// TestPlayoutIsBounded wants played audio to be dropped from memory.
func TestPlayoutIsBounded(t *testing.T) {
	t.Parallel()
	s := &story{now: time.Unix(1000, 0)}
	for n := range 100_000 {
		s.push(s.at(n*20), uint64(n/100))
		s.playout.mark(s.at(n*20), uint64(n/100), "m")
		s.acksAt(n * 20)
	}
	if c := cap(s.queue) + cap(s.marks) + cap(s.reached); c > 100 {
		t.Errorf("memory for %d entries is left", c)
	}
}

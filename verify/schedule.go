package verify

import (
	"time"

	"github.com/voicegw/voicegw/petri"
)

// scheduleMax is the longest firing sequence that Schedule gives times to.
const scheduleMax = 4096

// Schedule gives the earliest times at which a net can take a firing sequence
// from its start, or false if no timing allows it. Steps that fire at once
// have the time of the timed step before them. The constraints are differences
// of two instants, so the earliest times are longest paths among them.
func (m *Model) Schedule(steps []Step) ([]time.Duration, bool) {
	if len(steps) > scheduleMax {
		return nil, false
	}
	s := m.constraints(steps)
	at, ok := s.solve()
	if !ok {
		return nil, false
	}
	out := make([]time.Duration, len(steps))
	for i := range steps {
		out[i] = at[s.instant[i]]
	}
	return out, true
}

// schedule is a system of difference constraints over instants: instant 0 is
// the start, each timed step makes a new one.
type schedule struct {
	instant []int // by step
	n       int   // instants
	bounds  []bound
}

// bound says: at[to] >= at[from] + wait.
type bound struct {
	from, to int
	wait     time.Duration
}

// constraints collects what the waits of a net demand of a sequence: whatever
// fires has waited long enough, and nothing enabled has waited too long.
func (m *Model) constraints(steps []Step) *schedule {
	s := &schedule{n: 1}
	w := m.NewWalker(func() {}, nil)
	w.Track()
	copy(w.Marking, m.initial)
	since := make([]int, len(m.timed)) // instant at which each clock started
	for _, st := range steps {
		if c := m.clock[st.Transition]; c >= 0 && !m.Ended(w.Marking) {
			s.elapse(m, w.Marking, since, st.Transition)
		}
		now := s.n - 1
		s.instant = append(s.instant, now)
		clear(w.Kept)
		w.keepEnabled()
		w.apply(st)
		for c, t := range m.timed {
			if w.Kept[c>>6]>>(c&63)&1 == 0 || !m.enabled(t, w.Marking) {
				since[c] = now
			}
		}
	}
	return s
}

// elapse adds the instant at which t fires.
func (s *schedule) elapse(m *Model, marking []int32, since []int, t int32) {
	now := s.n
	s.n++
	s.bounds = append(s.bounds, bound{now - 1, now, 0})
	for c, u := range m.timed {
		if !m.enabled(u, marking) {
			continue
		}
		wait := m.transitions[u].When
		if u == t && wait.Earliest > 0 {
			s.bounds = append(s.bounds, bound{since[c], now, wait.Earliest})
		}
		if wait.Latest != petri.Forever {
			s.bounds = append(s.bounds, bound{now, since[c], -wait.Latest})
		}
	}
}

// solve finds the earliest instants, or false if the constraints contradict
// one another. (Bellman and Ford: after n rounds nothing may change.)
func (s *schedule) solve() ([]time.Duration, bool) {
	at := make([]time.Duration, s.n)
	for range s.n + 1 {
		changed := false
		for _, b := range s.bounds {
			if t := at[b.from] + b.wait; t > at[b.to] {
				at[b.to], changed = t, true
			}
		}
		if !changed {
			return at, true
		}
	}
	return nil, false
}

package verify

import (
	"time"

	"github.com/voicegw/voicegw/petri"
)

// scheduleMax is the longest firing sequence that Schedule gives times to.
const scheduleMax = 4096

// scheduleEnd is the latest time of a schedule; no run takes longer.
const scheduleEnd = petri.Forever / 2

// Schedule gives the earliest times at which a net can take a firing sequence
// from its start, or false if no timing allows it. Steps that fire at once
// have the time of the timed step before them. The constraints are differences
// of two instants, so the earliest times are longest paths among them.
func (m *Model) Schedule(steps []Step) ([]time.Duration, bool) { return m.schedule(steps, nil) }

// ScheduleWithin is Schedule with firing to at most most after firing from; -1
// is the start.
func (m *Model) ScheduleWithin(steps []Step, from, to int, most time.Duration) ([]time.Duration, bool) {
	if len(steps) > scheduleMax {
		return nil, false
	}
	s := m.constraints(steps, nil)
	first := 0
	if from >= 0 {
		first = s.instant[from]
	}
	s.bounds = append(s.bounds, bound{s.instant[to], first, -most})
	return s.times(len(steps))
}

// schedule is Schedule for a machine of which own[t] is the transition that is
// t, or -1: at one instant it fires timers before injections, and timers by
// declaration.
func (m *Model) schedule(steps []Step, own []int32) ([]time.Duration, bool) {
	if len(steps) > scheduleMax {
		return nil, false
	}
	s := m.constraints(steps, own)
	return s.times(len(steps))
}

// times are the earliest times of the steps.
func (s *schedule) times(steps int) ([]time.Duration, bool) {
	at, ok := s.solve()
	if !ok {
		return nil, false
	}
	out := make([]time.Duration, steps)
	for i := range out {
		out[i] = at[s.instant[i]]
	}
	return out, true
}

// schedule is a system of difference constraints over instants: instant 0 is
// the start, each timed step makes a new one.
type schedule struct {
	own     []int32
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
func (m *Model) constraints(steps []Step, own []int32) *schedule {
	s := &schedule{n: 1, own: own}
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
			s.bounds = append(s.bounds, bound{now, since[c], s.before(u, t) - wait.Latest})
		}
	}
}

// before is how much later than t a machine must have u due, if t fires first.
func (s *schedule) before(u, t int32) time.Duration {
	if s.own == nil || s.own[u] < 0 || u == t {
		return 0
	}
	if s.own[t] < 0 || s.own[u] < s.own[t] {
		return 1
	}
	return 0
}

// solve finds the earliest instants, or false if the constraints contradict
// one another. (Bellman and Ford: after n rounds nothing may change.)
func (s *schedule) solve() ([]time.Duration, bool) {
	at := make([]time.Duration, s.n)
	for range s.n + 1 {
		changed := false
		for _, b := range s.bounds {
			if b.wait > scheduleEnd-at[b.from] {
				return nil, false
			}
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

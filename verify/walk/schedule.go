package walk

import (
	"time"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify/netmodel"
)

// scheduleMax is the longest firing sequence for which Schedule computes times.
const scheduleMax = 4096

// scheduleEnd is the latest time of a schedule; no run takes longer.
const scheduleEnd = petri.Forever / 2

// Schedule returns the earliest times at which a net can take a firing sequence from its start, or
// false if no timing allows it. Steps that fire at once have the time of the timed step before
// them. The constraints are differences of two instants, so the earliest times are longest paths.
func Schedule(m *netmodel.Model, steps []netmodel.Step) ([]time.Duration, bool) {
	return ScheduleFor(m, steps, nil)
}

// ScheduleWithin is Schedule with one more constraint: from step from (-1 is the start) to step to
// the time is at most most.
func ScheduleWithin(m *netmodel.Model, steps []netmodel.Step, from, to int,
	most time.Duration) ([]time.Duration, bool) {
	if len(steps) > scheduleMax {
		return nil, false
	}
	s := constraints(m, steps, nil)
	first := 0
	if from >= 0 {
		first = s.instant[from]
	}
	s.bounds = append(s.bounds, bound{s.instant[to], first, -most})
	return s.times(len(steps))
}

// ScheduleFor is Schedule for a machine. own[t] is the machine's transition for t, or -1. At one
// instant a machine fires timers before injections, and timers in declaration order.
func ScheduleFor(m *netmodel.Model, steps []netmodel.Step, own []int32) ([]time.Duration, bool) {
	if len(steps) > scheduleMax {
		return nil, false
	}
	s := constraints(m, steps, own)
	return s.times(len(steps))
}

// times returns the earliest times of the steps.
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

// schedule is a system of difference constraints over instants: instant 0 is the start, and each
// timed step adds one.
type schedule struct {
	own     []int32
	instant []int // by step
	n       int   // instants
	bounds  []bound
}

// bound is the constraint at[to] >= at[from] + wait.
type bound struct {
	from, to int
	wait     time.Duration
}

// constraints collects what the waits of a net demand of a sequence: every transition that fires
// has waited long enough, and no enabled transition has waited too long.
func constraints(m *netmodel.Model, steps []netmodel.Step, own []int32) *schedule {
	s := &schedule{n: 1, own: own}
	w := NewWalker(m, func() {}, nil)
	w.Track()
	copy(w.Marking, m.Initial())
	since := make([]int, len(m.Timed())) // instant at which each clock started
	for _, st := range steps {
		if c := m.Clocks[st.Transition]; c >= 0 && !m.Ended(w.Marking) {
			s.elapse(m, w.Marking, since, st.Transition)
		}
		now := s.n - 1
		s.instant = append(s.instant, now)
		clear(w.Kept)
		w.keepEnabled()
		w.Apply(st)
		for c, t := range m.Timed() {
			if w.Kept[c>>6]>>(c&63)&1 == 0 || !m.Ready(t, w.Marking) {
				since[c] = now
			}
		}
	}
	return s
}

// elapse adds the instant at which t fires.
func (s *schedule) elapse(m *netmodel.Model, marking []int32, since []int, t int32) {
	now := s.n
	s.n++
	s.bounds = append(s.bounds, bound{now - 1, now, 0})
	for c, u := range m.Timed() {
		if !m.Ready(u, marking) {
			continue
		}
		wait := m.Transitions[u].When
		if u == t && wait.Earliest > 0 {
			s.bounds = append(s.bounds, bound{since[c], now, wait.Earliest})
		}
		if wait.Latest != petri.Forever {
			s.bounds = append(s.bounds, bound{now, since[c], s.before(u, t) - wait.Latest})
		}
	}
}

// before is the least time by which u must be due later than t, if the machine fires t first.
func (s *schedule) before(u, t int32) time.Duration {
	if s.own == nil || s.own[u] < 0 || u == t {
		return 0
	}
	if s.own[t] < 0 || s.own[u] < s.own[t] {
		return 1
	}
	return 0
}

// solve finds the earliest instants, or returns false if the constraints contradict one another.
// (Bellman and Ford: after n rounds nothing may change.)
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

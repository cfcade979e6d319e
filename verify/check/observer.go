package check

import (
	"slices"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify/claim"
	"github.com/voicegw/voicegw/verify/netmodel"
)

// observer watches a claim about time in the checker: two slots and one timer in addition to those
// of the program.
type observer struct {
	claim.Watch
	waits, late int
	timer       int32 // its number, after those of all transitions
	start, stop events
	began       bool
}

// events are firings: of transitions, and those that put tokens into slots or take some away.
type events struct{ fires, puts, takes []int32 }

func (k *checker) watch(w claim.Watch) error {
	e := &observer{Watch: w, waits: k.p.Slots(), late: k.p.Slots() + 1, timer: int32(len(k.p.Transitions()))}
	var err error
	if e.start, e.began, err = k.events(w.Observer.Start); err == nil {
		e.stop, _, err = k.events(w.Observer.Stop)
	}
	if err != nil {
		return err
	}
	k.observer = e
	k.atOnce, k.waits = append(k.atOnce, false), append(k.waits, petri.After(w.Observer.Limit))
	k.timed, k.gates = append(k.timed, e.timer), append(k.gates, nil)
	return nil
}

// events resolves event names; began reports that the start of the net is among them.
func (k *checker) events(names []string) (e events, began bool, err error) {
	for _, n := range names {
		switch b := (&netmodel.Names{Model: k.m}); {
		case n == "start":
			began = true
		case n[0] == '+' || n[0] == '-':
			for _, s := range b.Slots(n[1:]) {
				if n[0] == '+' {
					e.puts = append(e.puts, int32(s))
				} else {
					e.takes = append(e.takes, int32(s))
				}
			}
			if b.Err != nil {
				return e, began, b.Err
			}
		default:
			ts, err := k.m.Named(n)
			if err != nil {
				return e, began, err
			}
			e.fires = append(e.fires, ts...)
		}
	}
	return e, began, nil
}

// happen reports whether a firing is one of the events.
func (e *events) happen(t int32, md *petri.Mode, b *petri.Branch) bool {
	return slices.Contains(e.fires, t) ||
		slices.ContainsFunc(b.Put, func(c petri.Count) bool { return slices.Contains(e.puts, c.Slot) }) ||
		slices.ContainsFunc(md.Take, func(c petri.Count) bool { return slices.Contains(e.takes, c.Slot) }) ||
		slices.ContainsFunc(slices.Concat(md.Drain, md.Reset), func(s int32) bool { return slices.Contains(e.takes, s) })
}

// initial is the marking at the start.
func (k *checker) initial() []int32 {
	m := k.p.Initial()
	if k.observer == nil {
		return m
	}
	m = append(m, 0, 0)
	if k.observer.began {
		m[k.observer.waits] = 1
	}
	return m
}

// stops takes the observer's token away if a firing is a stop event, and records whether the token
// was there when the class began.
func (e *observer) stops(o *outcome, t int32, md *petri.Mode, b *petri.Branch) error {
	if e == nil || !e.stop.happen(t, md, b) || o.marking[e.waits] == 0 {
		return nil
	}
	if !o.run[e.timer] && e.Soonest {
		return refusal("a start and a stop come at one instant")
	}
	o.marking[e.waits], o.stopped = 0, true
	return nil
}

// starts puts the observer's token if a firing is a start event.
func (e *observer) starts(o *outcome, t int32, md *petri.Mode, b *petri.Branch) {
	if e != nil && e.start.happen(t, md, b) {
		o.marking[e.waits] = 1
		o.run[e.timer] = o.run[e.timer] && !e.Soonest // the latest start counts
	}
}

// expire fires the observer's timer.
func (e *observer) expire(o outcome) outcome {
	n := outcome{marking: slices.Clone(o.marking), run: slices.Clone(o.run)}
	n.marking[e.waits], n.marking[e.late] = 0, 1
	n.run[e.timer] = false
	return n
}

// bad reports the markings in which an observer was not stopped in time.
func (e *observer) bad(p *petri.Program) func([]int32) bool {
	return func(m []int32) bool {
		f := p.FinalSlot()
		return !e.Soonest && (m[e.late] > 0 || f >= 0 && m[f] > 0 && m[e.waits] > 0)
	}
}

// early reports whether a stop in the firing of a zone may come sooner than claimed: whether some
// of the observer's time remained.
func (e *observer) early(o *outcome, z *zoneCheck) bool {
	return e != nil && e.Soonest && o.stopped && z.bounds[z.row[e.timer]][z.fired] > 0
}

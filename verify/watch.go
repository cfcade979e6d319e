package verify

import (
	"fmt"
	"slices"

	"github.com/voicegw/voicegw/petri"
)

// Watch is a claim about time: what an observer never sees.
type Watch struct {
	Observer Observer
	// Soonest claims that no stop comes sooner than Limit after any start: the
	// observer counts from the latest. Otherwise the claim is that each start is followed by a stop sooner than
	// Limit, and before the end of the run.
	Soonest bool
}

// Claim is the claim as certificates write it.
func (w *Watch) Claim() string {
	kind := "always sooner than"
	if w.Soonest {
		kind = "never sooner than"
	}
	return fmt.Sprintf("%q comes %s %dns after %q", w.Observer.Stop, kind, w.Observer.Limit, w.Observer.Start)
}

// eye is an observer as a checker sees it: two slots and one timer more than the
// program has.
type eye struct {
	*Watch
	waits, late int
	timer       int32 // its number, after those of all transitions
	start, stop events
	began       bool
}

// events are firings: of transitions, and those that put tokens into slots or
// take some away.
type events struct{ fires, puts, takes []int32 }

func (k *checker) watch(w *Watch) error {
	e := &eye{Watch: w, waits: k.p.Slots(), late: k.p.Slots() + 1, timer: int32(len(k.p.Transitions()))}
	var err error
	if e.start, e.began, err = k.events(w.Observer.Start); err == nil {
		e.stop, _, err = k.events(w.Observer.Stop)
	}
	if err != nil {
		return err
	}
	k.eye = e
	k.atOnce, k.waits = append(k.atOnce, false), append(k.waits, petri.After(w.Observer.Limit))
	k.timed, k.gates = append(k.timed, e.timer), append(k.gates, nil)
	return nil
}

// events looks up what names stand for; began reports that the start of the net
// is among them.
func (k *checker) events(names []string) (e events, began bool, err error) {
	for _, n := range names {
		switch b := (&binder{m: k.m}); {
		case n == "start":
			began = true
		case n[0] == '+' || n[0] == '-':
			for _, s := range b.slots(n[1:]) {
				if n[0] == '+' {
					e.puts = append(e.puts, int32(s))
				} else {
					e.takes = append(e.takes, int32(s))
				}
			}
			if b.err != nil {
				return e, began, b.err
			}
		default:
			ts, err := k.m.named([]string{n})
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
	if k.eye == nil {
		return m
	}
	m = append(m, 0, 0)
	if k.eye.began {
		m[k.eye.waits] = 1
	}
	return m
}

// stops takes the observer's token away if a firing is a stop event, and notes
// whether the token was there when the class began.
func (e *eye) stops(o *outcome, t int32, md *petri.Mode, b *petri.Branch) error {
	if e == nil || !e.stop.happen(t, md, b) || o.marking[e.waits] == 0 {
		return nil
	}
	if !o.run[e.timer] && e.Soonest {
		return refusal("a start and a stop come at one instant")
	}
	o.marking[e.waits], o.stopped = 0, true
	return nil
}

// starts puts the observer's token where a firing is a start event.
func (e *eye) starts(o *outcome, t int32, md *petri.Mode, b *petri.Branch) {
	if e != nil && e.start.happen(t, md, b) {
		o.marking[e.waits] = 1
		o.run[e.timer] = o.run[e.timer] && !e.Soonest // the latest start counts
	}
}

// expire lets the observer's timer fire.
func (e *eye) expire(o outcome) outcome {
	n := outcome{marking: slices.Clone(o.marking), run: slices.Clone(o.run)}
	n.marking[e.waits], n.marking[e.late] = 0, 1
	n.run[e.timer] = false
	return n
}

// bad reports whether an observer was not stopped in time.
func (e *eye) bad(p *petri.Program) func([]int32) bool {
	return func(m []int32) bool {
		f := p.FinalSlot()
		return !e.Soonest && (m[e.late] > 0 || f >= 0 && m[f] > 0 && m[e.waits] > 0)
	}
}

// early reports whether a stop in the firing of a zone may come sooner than is
// claimed: whether some of the observer's time remained.
func (e *eye) early(o *outcome, z *zoneCheck) bool {
	return e != nil && e.Soonest && o.stopped && z.bounds[z.row[e.timer]][z.fired] > 0
}

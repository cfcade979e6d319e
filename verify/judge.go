package verify

import (
	"slices"
	"strings"
	"time"

	"github.com/voicegw/voicegw/petri"
)

// Trace is a run as properties judge it.
type Trace struct {
	Model *Model
	Steps []Step
	At    []time.Duration // by step; all 0 in a run without time
}

// moment is where a run stands: at its start, or after a firing.
type moment struct {
	firing  int // -1: at the start
	marking []int32
	rests   bool // nothing fires at once
	alive   bool // the firing did not fault
	refused []Refusal
}

// each calls fn for the start of a run and after each firing, until it returns
// false. fn must not keep the marking.
func (r *Trace) each(fn func(moment) bool) {
	m := r.Model
	w := m.NewWalker(func() {}, nil)
	copy(w.Marking, m.initial)
	for i, alive := -1, true; ; {
		if !fn(moment{i, w.Marking, m.rests(w.Marking), alive, w.Refused}) {
			return
		}
		if i++; i == len(r.Steps) {
			return
		}
		w.Refused = w.Refused[:0]
		alive = w.apply(r.Steps[i])
	}
}

// rests reports whether nothing fires at once.
func (m *Model) rests(marking []int32) bool {
	return m.Ended(marking) || !slices.ContainsFunc(m.order, func(t int32) bool { return m.enabled(t, marking) })
}

// First returns the first firing after which the net rests in a marking that is
// such; -1 is the start.
func (r *Trace) First(is func(marking []int32) bool) (at int, ok bool) {
	r.each(func(n moment) bool {
		if n.alive && n.rests && is(n.marking) {
			at, ok = n.firing, true
		}
		return !ok
	})
	return at, ok
}

// judged holds the run of a verdict against the property itself. A run that does
// not show what it should is no verdict; the story of one that does ends where it
// shows it.
func (p *Pass) judged(prop *Property, v Verdict) (Verdict, error) {
	w := v.Witness
	if w == nil || w.model == nil || v.Outcome == Unknown {
		return v, nil
	}
	breaks, err := prop.judge(p.model)
	if err != nil || breaks == nil {
		return v, err
	}
	r := &Trace{Model: w.model, Steps: w.Steps()}
	for _, f := range w.Firings {
		r.At = append(r.At, f.At)
	}
	at, ok := breaks(r)
	if !ok {
		u := unknown(v.Method, Spurious, "%s, but the run that was found does not show it", v.Reason)
		u.States, u.Witness = v.States, w
		return u, nil
	}
	w.tell(at + 1)
	return v, nil
}

// judge tells how runs are judged; nil: they are not.
func (p *Property) judge(m *Model) (func(*Trace) (int, bool), error) {
	switch {
	case p.Breaks != nil:
		return p.Breaks, nil
	case p.Watch != nil:
		watched, err := m.Observe(p.Watch.Observer)
		return func(r *Trace) (int, bool) { return p.Watch.broken(watched, r) }, err
	case p.Moves != nil:
		claim, err := p.Moves(m)
		return func(r *Trace) (int, bool) { return r.moves(claim.Bad) }, err
	case p.Bad == nil && strings.HasPrefix(p.Claim, "capacity"):
		return func(r *Trace) (int, bool) {
			return r.exceeds(func(f Refusal) bool { return kept(p.MayRefuse, r.Model.places[f.Place].Name) })
		}, nil
	case p.Bad == nil:
		return nil, nil
	}
	bad, err := p.Bad(m)
	if err != nil {
		return nil, err
	}
	waits := map[int32]bool{} // kinds of frame that wait when a chain begins
	var passing PassingCond
	if p.BadPassing != nil {
		passing, err = p.BadPassing(m, func(slot int32) bool { return waits[slot] })
	}
	return func(r *Trace) (int, bool) {
		if at, ok := r.First(bad); ok || passing == nil {
			return at, ok
		}
		return r.passes(passing, waits)
	}, err
}

// moves finds the end of the first move that is bad: from rest to rest, or from
// the start.
func (r *Trace) moves(bad func(from []int32, chain []Step, to []int32) bool) (at int, ok bool) {
	from, began := r.Model.Initial(), 0
	r.each(func(n moment) bool {
		if !n.rests || !n.alive {
			return true
		}
		if bad(from, r.Steps[began:n.firing+1], n.marking) {
			at, ok = n.firing, true
		}
		copy(from, n.marking)
		began = n.firing + 1
		return !ok
	})
	return at, ok
}

// passes finds the first firing before which a frame that waits moves and breaks
// a condition.
func (r *Trace) passes(bad PassingCond, waits map[int32]bool) (at int, ok bool) {
	m := r.Model
	r.each(func(n moment) bool {
		if n.rests {
			clear(waits)
			m.Rests(n.marking, func(slot int32) { waits[slot] = true })
		} else if next := n.firing + 1; next < len(r.Steps) {
			if rank := m.rank[r.Steps[next].Transition]; rank >= 0 && bad(n.marking, rank) {
				at, ok = n.firing, true
			}
		}
		return !ok
	})
	return at, ok
}

// Faults finds the first firing at which a machine faults: beyond a capacity, or
// after too many at one instant.
func (r *Trace) Faults() (firing int, ok bool) { return r.exceeds(func(Refusal) bool { return true }) }

// exceeds finds the first firing that faults, or is refused a token that may not
// be.
func (r *Trace) exceeds(mayRefuse func(Refusal) bool) (at int, ok bool) {
	chain := 0
	r.each(func(n moment) bool {
		if n.firing < 0 {
			return true
		}
		if chain++; r.Model.clock[r.Steps[n.firing].Transition] >= 0 {
			chain = 0
		}
		at, ok = n.firing, !n.alive || chain > petri.MaxChain
		for _, f := range n.refused {
			ok = ok || !mayRefuse(f)
		}
		return !ok
	})
	return at, ok
}

// broken finds the firing at which a run breaks a claim about time: a stop that
// comes too soon, or the first sign that none came in time. m is observed.
func (w *Watch) broken(m *Model, r *Trace) (int, bool) {
	waits := m.initial[m.slots-2] > 0
	since := time.Duration(0)
	at, found := 0, false
	r.each(func(n moment) bool {
		if n.firing < 0 {
			return true
		}
		at = n.firing
		s, waited := r.Steps[at], r.At[at]-since
		own := int(s.Transition) < len(m.prog.Transitions())
		stops := own && m.Stops(s)
		found = waits && waited >= w.Observer.Limit
		if w.Soonest {
			found = waits && stops && waited < w.Observer.Limit
		}
		waits = waits && !stops
		if own && m.Starts(s) && (!waits || w.Soonest) {
			waits, since = true, r.At[at]
		}
		found = found || !w.Soonest && waits && m.Ended(n.marking)
		return !found
	})
	return at, found
}

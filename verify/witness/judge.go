package witness

import (
	"slices"
	"time"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify/claim"
	"github.com/voicegw/voicegw/verify/netmodel"
	"github.com/voicegw/voicegw/verify/walk"
)

// Trace is a run in the form in which properties judge it.
type Trace struct {
	Model *netmodel.Model
	Steps []netmodel.Step
	At    []time.Duration // by step; all 0 in a run without time
}

// moment is a point of a run: its start, or the point after a firing.
type moment struct {
	firing  int // -1: at the start
	marking []int32
	rests   bool // nothing fires at once
	alive   bool // the firing did not fault
	refused []walk.Refusal
}

// each calls fn for the start of a run and after each firing, until it returns false. fn must not
// keep the marking.
func (r *Trace) each(fn func(moment) bool) {
	m := r.Model
	w := walk.NewWalker(m, func() {}, nil)
	copy(w.Marking, m.Initial())
	for i, alive := -1, true; ; {
		if !fn(moment{i, w.Marking, m.Tangible(w.Marking), alive, w.Refused}) {
			return
		}
		if i++; i == len(r.Steps) {
			return
		}
		w.Refused = w.Refused[:0]
		alive = w.Apply(r.Steps[i])
	}
}

// first returns the first firing after which the net rests in a marking that satisfies is; -1 is
// the start.
func (r *Trace) first(is func(marking []int32) bool) (at int, ok bool) {
	r.each(func(n moment) bool {
		if n.alive && n.rests && is(n.marking) {
			at, ok = n.firing, true
		}
		return !ok
	})
	return at, ok
}

// Judge returns the function that judges runs by a claim; nil if a run cannot decide the claim. The
// function returns the firing at which a run refutes the claim (for Reach: proves it), or false.
func Judge(c claim.Claim, m *netmodel.Model) (func(*Trace) (int, bool), error) {
	switch c := c.(type) {
	case claim.Reach:
		return func(r *Trace) (int, bool) { return r.reaches(c.Expr) }, nil
	case claim.After:
		return func(r *Trace) (int, bool) { return r.after(c.First, c.Then) }, nil
	case claim.LeadsTo:
		return func(r *Trace) (int, bool) { return r.lacks(c.First, c.Then) }, nil
	case claim.TimeDiverges:
		return (*Trace).standsStill, nil
	case claim.Watch:
		watched, err := m.Observe(c.Observer)
		return func(r *Trace) (int, bool) { return broken(c, watched, r) }, err
	case claim.Moving:
		claim, err := c.Bind(m)
		return func(r *Trace) (int, bool) { return r.moves(claim.Bad) }, err
	case claim.Capacity:
		return func(r *Trace) (int, bool) {
			return r.exceeds(func(f walk.Refusal) bool { return c.Allows(r.Model.Places[f.Place].Name) })
		}, nil
	case claim.Marking:
		return judgeMarkings(c, m)
	}
	return nil, nil
}

// judgeMarkings judges runs by the markings in which the net rests and those that they pass.
func judgeMarkings(c claim.Marking, m *netmodel.Model) (func(*Trace) (int, bool), error) {
	bad, err := c.Bad(m)
	if err != nil {
		return nil, err
	}
	waits := map[int32]bool{} // kinds of frame that wait when a chain begins
	passing, err := claim.BadPassing(c, m, func(slot int32) bool { return waits[slot] })
	return func(r *Trace) (int, bool) {
		if at, ok := r.first(bad); ok || passing == nil {
			return at, ok
		}
		return r.passes(passing, waits)
	}, err
}

// moves finds the end of the first bad move: from rest to rest, or from the start.
func (r *Trace) moves(bad func(from []int32, chain []netmodel.Step, to []int32) bool) (at int, ok bool) {
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

// passes finds the first firing before which a waiting frame moves and violates a condition.
func (r *Trace) passes(bad netmodel.PassingCond, waits map[int32]bool) (at int, ok bool) {
	m := r.Model
	r.each(func(n moment) bool {
		if n.rests {
			clear(waits)
			m.Rests(n.marking, func(slot int32) { waits[slot] = true })
		} else if next := n.firing + 1; next < len(r.Steps) {
			if rank := m.Ranks[r.Steps[next].Transition]; rank >= 0 && bad(n.marking, rank) {
				at, ok = n.firing, true
			}
		}
		return !ok
	})
	return at, ok
}

// faults finds the first firing at which a machine faults: it exceeds a capacity, or comes after
// too many at one instant.
func (r *Trace) faults() (firing int, ok bool) {
	return r.exceeds(func(walk.Refusal) bool { return true })
}

// exceeds finds the first firing that faults, or for which a place refuses a token that it may not
// refuse.
func (r *Trace) exceeds(mayRefuse func(walk.Refusal) bool) (at int, ok bool) {
	chain := 0
	r.each(func(n moment) bool {
		if n.firing < 0 {
			return true
		}
		if chain++; r.Model.Clocks[r.Steps[n.firing].Transition] >= 0 {
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

// reaches finds the firing after which an expression is true.
func (r *Trace) reaches(expr string) (int, bool) {
	c, err := r.Model.Bind(expr)
	if err != nil {
		return 0, false
	}
	return r.first(c.Holds)
}

// standsStill finds the end of a run after which time cannot continue: the run faults, or ends
// where something must fire at once.
func (r *Trace) standsStill() (int, bool) {
	if at, faults := r.faults(); faults {
		return at, true
	}
	last := len(r.Steps) - 1
	marking := r.Model.Initial()
	walk.Along(r.Model, r.Steps, func(_ int, m []int32) { copy(marking, m) })
	return last, slices.ContainsFunc(r.Model.Timed(), func(t int32) bool {
		return r.Model.When(t) == petri.Interval{} && r.Model.Enabled(t, marking)
	})
}

// broken finds the firing at which a run violates a claim about time: a stop that comes too soon,
// or the first sign that none came in time. m has the observer.
func broken(w claim.Watch, m *netmodel.Model, r *Trace) (int, bool) {
	waits := m.Initial()[m.Slots()-2] > 0
	since := time.Duration(0)
	at, found := 0, false
	r.each(func(n moment) bool {
		if n.firing < 0 {
			return true
		}
		at = n.firing
		s, waited := r.Steps[at], r.At[at]-since
		own := int(s.Transition) < len(m.Program().Transitions())
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

// after finds the firing after which the second expression is true once the first was.
func (r *Trace) after(first, then string) (int, bool) {
	a, err := r.Model.Bind(first)
	if err != nil {
		return 0, false
	}
	b, err := r.Model.Bind(then)
	if err != nil {
		return 0, false
	}
	began := false
	return r.first(func(m []int32) bool {
		began = began || a.Holds(m)
		return began && b.Holds(m)
	})
}

// lacks reports whether the first expression is true on a run and the second never is from there
// on. It returns the firing that shows it.
func (r *Trace) lacks(first, then string) (int, bool) {
	if _, comes := r.after(first, then); comes {
		return 0, false
	}
	_, began := r.after(first, "true()")
	return len(r.Steps) - 1, began
}

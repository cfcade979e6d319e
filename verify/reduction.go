package verify

import "slices"

// Reduction is what a search by stubborn sets preserves beside the dead
// markings: the truth, in some marking, of expressions. It is for nets whose
// transitions interleave and have no priorities and no capacities, such as
// imported ones; others are refused with an error.
type Reduction struct {
	// Exprs are expressions (see ParseExpr): the reduced graph has a marking that
	// satisfies one if the net has.
	Exprs []string
}

// reduce makes an exploration leave markings out.
func (e *explorer) reduce(r *Reduction) error {
	var looked []int32
	for _, text := range r.Exprs {
		slots, err := e.g.Model.lookedAt(text)
		if err != nil {
			return err
		}
		looked = append(looked, slots...)
	}
	var err error
	e.stubborn, err = newStubborn(e.g.Model, unique(looked))
	return err
}

// lookedAt lists the slots on which the truth of an expression depends: those of
// its places, and of what its transitions look at.
func (m *Model) lookedAt(expr string) ([]int32, error) {
	e, err := ParseExpr(expr)
	if err != nil {
		return nil, err
	}
	b := &binder{m: m}
	if b.expr(e); b.err != nil {
		return nil, b.err
	}
	var out []int32
	for _, s := range b.read {
		p := &m.places[m.slotPlace[s]]
		for k := range p.Slots {
			out = append(out, int32(p.Slot+k))
		}
	}
	if m.final >= 0 {
		out = append(out, m.final) // can() and ended ask whether the run is over
	}
	for _, t := range b.asked {
		for i := m.first[t]; i < m.first[t+1]; i++ {
			for _, c := range m.modes[i].needs.Bounds {
				out = append(out, c.Slot)
			}
			for _, c := range m.modes[i].needs.Sums {
				out = append(out, c.Slots...)
			}
		}
	}
	for s := range m.slots {
		if b.dead {
			out = append(out, int32(s)) // everything decides
		}
	}
	return out, nil
}

// expandReduced fires a stubborn set, or everything if all that follows the set
// was expanded already.
func (e *explorer) expandReduced(i int) {
	fire, reduced := e.stubborn.choose(e.here)
	if !reduced {
		for _, t := range fire {
			e.fire(t)
		}
		return
	}
	lead := len(e.g.edges)
	for _, t := range fire {
		e.fire(t)
	}
	// Dead markings need no proviso: the firing of a set is on the way to each.
	onward := len(e.stubborn.watch) == 0 && len(e.g.edges) > lead
	for _, edge := range e.g.edges[lead:] {
		onward = onward || int(edge.To) > i
	}
	if onward {
		e.g.Reduced = true
		return
	}
	for _, t := range e.g.Model.timed {
		if e.stubborn.enabled[t] && !slices.Contains(fire, t) {
			e.fire(t)
		}
	}
}

// reductionFor is what properties need of a graph; nil if that is everything.
func reductionFor(props []*Property) *Reduction {
	r := &Reduction{}
	for _, p := range props {
		switch {
		case len(p.Requires) > 0:
			return nil
		case p.Expr != "":
			r.Exprs = append(r.Exprs, p.Expr)
		case p.Claim != deadlockFree:
			return nil
		}
	}
	return r
}

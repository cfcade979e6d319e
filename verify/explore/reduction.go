package explore

import (
	"slices"

	"github.com/voicegw/voicegw/verify/expr"
	"github.com/voicegw/voicegw/verify/netmodel"
)

// Reduction is what a search by stubborn sets preserves in addition to the dead markings: whether
// some marking satisfies each of the expressions. It is for nets whose transitions interleave and
// have no priorities and no capacities, such as imported ones. Other nets are an error.
type Reduction struct {
	// Exprs are expressions (see expr.Parse). If the net has a marking that satisfies one, so has
	// the reduced graph.
	Exprs []string
}

// reduce makes an exploration leave markings out.
func (e *explorer) reduce(r *Reduction) error {
	var looked []int32
	for _, text := range r.Exprs {
		slots, err := lookedAt(e.g.Model, text)
		if err != nil {
			return err
		}
		looked = append(looked, slots...)
	}
	var err error
	e.stubborn, err = newStubborn(e.g.Model, netmodel.Unique(looked))
	return err
}

// lookedAt lists the slots on which the truth of an expression depends: those of its places, and
// those that its transitions depend on.
func lookedAt(m *netmodel.Model, text string) ([]int32, error) {
	e, err := expr.Parse(text)
	if err != nil {
		return nil, err
	}
	b := &netmodel.Names{Model: m}
	if b.Expr(e); b.Err != nil {
		return nil, b.Err
	}
	var out []int32
	for _, s := range b.Read {
		p := &m.Places[m.SlotPlace[s]]
		for k := range p.Slots {
			out = append(out, int32(p.Slot+k))
		}
	}
	if m.Final >= 0 {
		out = append(out, m.Final) // can() and ended depend on whether the run is over
	}
	for _, t := range b.Asked {
		for i := m.First[t]; i < m.First[t+1]; i++ {
			for _, c := range m.Modes[i].Needs.Bounds {
				out = append(out, c.Slot)
			}
			for _, c := range m.Modes[i].Needs.Sums {
				out = append(out, c.Slots...)
			}
		}
	}
	for s := range m.Slots() {
		if b.Dead {
			out = append(out, int32(s)) // every slot matters
		}
	}
	return out, nil
}

// expandReduced fires a stubborn set, or everything if every successor by the set is already
// expanded.
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
	// Dead markings need no proviso: the firing of a set is on the path to each.
	onward := len(e.stubborn.watch) == 0 && len(e.g.edges) > lead
	for _, edge := range e.g.edges[lead:] {
		onward = onward || int(edge.To) > i
	}
	if onward {
		e.g.Reduced = true
		return
	}
	for _, t := range e.g.Model.Timed() {
		if e.stubborn.enabled[t] && !slices.Contains(fire, t) {
			e.fire(t)
		}
	}
}

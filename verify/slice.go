package verify

import (
	"fmt"
	"slices"
	"strings"

	"github.com/voicegw/voicegw/petri"
)

// Slice says which part of a composed net a proof is about. The rest of the net
// is replaced by what it may do to that part at most, at any time (see
// petri.Program.Slice), so what is proved of every run of the slice holds of
// every run of the net. What some run of a slice does, the net need not do.
type Slice struct {
	// Name of the slice, after the name of the net: "session/turns".
	Name string
	// Keep names subnets and transitions that are kept exactly, in full or by
	// their last parts. A subnet stands for all its transitions and parts.
	Keep []string
	// Places names further places, in full or by their last parts.
	Places []string
}

// Of makes the slice of a program, with the places and transitions that the
// properties name. Names that the program does not have are errors.
func (s Slice) Of(prog *petri.Program, props ...*Property) (*petri.Program, error) {
	m := NewModel(prog, RunToCompletion)
	return s.of(m, limitsOf(m), props)
}

// of makes the slice of a model whose limits are known.
func (s Slice) of(m *Model, limits []petri.Limit, props []*Property) (*petri.Program, error) {
	c := &cut{m: m, keep: map[string]bool{}, also: map[string]bool{}}
	for _, name := range s.Keep {
		if err := c.keepNamed(name); err != nil {
			return nil, fmt.Errorf("verify: slice %s: %w", s.Name, err)
		}
	}
	for _, name := range s.Places {
		c.places(name)
	}
	for _, p := range props {
		if p.Expr != "" {
			c.expr(p.Expr)
		}
	}
	if c.err != nil {
		return nil, fmt.Errorf("verify: slice %s: %w", s.Name, c.err)
	}
	p, err := m.prog.Slice(petri.Cut{
		Name:   m.prog.Name() + "/" + s.Name,
		Keep:   func(t *petri.TransitionInfo) bool { return c.keep[t.Name] },
		Also:   func(p *petri.PlaceInfo) bool { return c.also[p.Name] },
		Limits: limits,
	})
	if err != nil {
		return nil, fmt.Errorf("verify: slice: %w", err)
	}
	return p, nil
}

// limitsOf are the flows of a net, as limits of its slices.
func limitsOf(m *Model) []petri.Limit {
	var out []petri.Limit
	for _, f := range m.Flows() {
		out = append(out, petri.Limit{Sum: f.Sum, Max: f.Start})
	}
	return out
}

// cut collects what a slice keeps.
type cut struct {
	m          *Model
	keep, also map[string]bool
	err        error
}

// keepNamed keeps a subnet or a transition.
func (c *cut) keepNamed(name string) error {
	groups := c.m.groups()
	if i, problem := lookup(groups, name); i >= 0 {
		for t := range c.m.transitions {
			info := &c.m.transitions[t]
			if info.Group == groups[i] || strings.HasPrefix(info.Group, groups[i]+"/") {
				c.keep[info.Name] = true
			}
		}
		return nil
	} else if strings.HasPrefix(problem, "is ambiguous") {
		return &NameError{Net: c.m.prog.Name(), What: "subnet", Name: name, Problem: problem}
	}
	ts, err := c.m.named([]string{name})
	if err != nil {
		return err
	}
	c.keep[c.m.transitions[ts[0]].Name] = true
	return nil
}

// groups lists the subnets that transitions belong to, and what those are
// parts of.
func (m *Model) groups() []string {
	var out []string
	for t := range m.transitions {
		for g := m.transitions[t].Group; g != ""; {
			if !slices.Contains(out, g) {
				out = append(out, g)
			}
			g = g[:max(strings.LastIndexByte(g, '/'), 0)]
		}
	}
	return out
}

// places adds a place.
func (c *cut) places(name string) {
	b := &binder{m: c.m}
	slots := b.slots(name)
	c.take(b)
	for _, s := range slots {
		c.also[c.m.places[c.m.slotPlace[s]].Name] = true
	}
}

// expr adds what an expression names.
func (c *cut) expr(text string) {
	e, err := ParseExpr(text)
	if err != nil {
		c.fail(err)
		return
	}
	b := &binder{m: c.m}
	b.expr(e)
	c.take(b)
	for _, s := range b.read {
		c.also[c.m.places[c.m.slotPlace[s]].Name] = true
	}
	for _, t := range b.asked {
		c.keep[c.m.transitions[t].Name] = true
	}
}

func (c *cut) take(b *binder) { c.fail(b.err) }

func (c *cut) fail(err error) {
	if c.err == nil {
		c.err = err
	}
}

// Layered reports whether every projected move of a slice fires at rest only,
// never in the midst of a chain of firings at one instant. It is true of every
// net that is no slice.
func (m *Model) Layered() bool { return len(m.amidst) == 0 }

// slice lays out what only slices have.
func (m *Model) slice() {
	for t := range m.transitions {
		if info := &m.transitions[t]; info.Projected && info.Yields < len(m.order) {
			m.amidst = append(m.amidst, int32(t))
		}
	}
	m.limits = m.prog.Limits()
	if len(m.limits) == 0 {
		return
	}
	for i := range m.modes {
		for j := range m.modes[i].branches {
			b := &m.modes[i].branches[j]
			b.limits = m.limitsOn(b.put)
		}
	}
}

// limitsOn lists the limits with slots that are filled.
func (m *Model) limitsOn(puts []put) []int32 {
	var out []int32
	for l := range m.limits {
		if slices.ContainsFunc(m.limits[l].Sum, func(c petri.Count) bool {
			return slices.ContainsFunc(puts, func(p put) bool { return p.slot == c.Slot })
		}) {
			out = append(out, int32(l))
		}
	}
	return out
}

// interrupted reports whether a projected move may fire before the transition
// of a rank, which is the first that is enabled at once.
func (m *Model) interrupted(rank int32, marking []int32) bool {
	for _, t := range m.amidst {
		if int(rank) >= m.transitions[t].Yields && m.enabled(t, marking) {
			return true
		}
	}
	return false
}

// eachAmidst calls fn for the transitions that may fire in a marking in the midst
// of a chain: the first that is enabled at once, and the projected moves that
// may come before it.
func (m *Model) eachAmidst(marking []int32, fn func(t int32)) {
	r := slices.IndexFunc(m.order, func(t int32) bool { return m.enabled(t, marking) })
	fn(m.order[r])
	for _, t := range m.amidst {
		if r >= m.transitions[t].Yields && m.enabled(t, marking) {
			fn(t)
		}
	}
}

// carried turns a verdict on a slice into one on the whole net.
func (m *Model) carried(prop *Property, v Verdict) Verdict {
	whole := m.prog.Whole()
	switch {
	case whole == nil || v.Outcome == Unknown:
		return v
	case !prop.Safety:
		u := unknown(v.Method, Unsupported,
			"it is %s in the slice %s, which tells nothing of %s: a slice may move where the whole net does not",
			v.Outcome, m.prog.Name(), whole.Name())
		u.States = v.States
		return u
	case v.Outcome == Refuted:
		u := unknown(v.Method, Sliced, "in the slice %s, which may do more than %s: %s", m.prog.Name(), whole.Name(),
			v.Reason)
		u.States, u.Witness = v.States, v.Witness
		if moved := m.assumed(v.Witness); len(moved) > 0 {
			u.Reason += "; on the way it is assumed that these may move: " + strings.Join(moved, ", ")
		}
		return u
	}
	return v
}

// assumed lists the projected moves of a witness, each with the places outside the
// slice that its original looks at: where to look for what the slice lacks.
func (m *Model) assumed(w *Witness) []string {
	if w == nil {
		return nil
	}
	var out []string
	for _, f := range w.Firings {
		info := &m.transitions[f.Step.Transition]
		if !info.Projected {
			continue
		}
		line := fmt.Sprintf("%s (without %s)", info.Name, strings.Join(m.unseen(strings.TrimSuffix(info.Name, "*")), " "))
		if !slices.Contains(out, line) {
			out = append(out, line)
		}
	}
	return out
}

// unseen lists the places that a transition of the whole takes from, looks at or
// empties and that the slice does not have.
func (m *Model) unseen(transition string) []string {
	whole := m.prog.Whole()
	ts := whole.Transitions()
	i := slices.IndexFunc(ts, func(t petri.TransitionInfo) bool { return t.Name == transition })
	var out []string
	for _, a := range ts[i].Arcs {
		name := whole.Places()[a.Place].Name
		if a.Kind != petri.OutArc && m.prog.Place(name) < 0 && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// Uncovered lists what no slice of several looks at: "T to P" for a transition
// that produces at a place where no slice has the place and the transition
// exactly, and transitions that no slice has exactly.
//
// What slices prove of their own transitions alone, such as that none exceeds a
// capacity, holds of the whole net if nothing is uncovered: the first firing of
// the whole that breaks it is one of a slice that has it, and until then that
// slice did what the whole did.
func Uncovered(prog *petri.Program, parts ...*petri.Program) []string {
	covered := map[string]bool{}
	for _, s := range parts {
		for _, t := range s.Transitions() {
			if s.Whole() != prog || t.Projected {
				continue
			}
			covered[t.Name] = true
			for _, a := range t.Arcs {
				covered[delivery(s, t.Name, a)] = true
			}
		}
	}
	var out []string
	for _, t := range prog.Transitions() {
		if !covered[t.Name] {
			out = append(out, t.Name)
			continue
		}
		for _, a := range t.Arcs {
			if a.Kind == petri.OutArc && !prog.Places()[a.Place].Out && !covered[delivery(prog, t.Name, a)] {
				out = append(out, delivery(prog, t.Name, a))
			}
		}
	}
	return out
}

func delivery(p *petri.Program, transition string, a petri.ArcInfo) string {
	if a.Kind != petri.OutArc {
		return ""
	}
	return transition + " to " + p.Places()[a.Place].Name
}

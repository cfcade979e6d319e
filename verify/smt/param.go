package smt

import (
	"fmt"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify/expr"
	"github.com/voicegw/voicegw/verify/netmodel"
)

// Param is a count of a net that a proof leaves open: the proof holds for every value of at least
// Min. The program is compiled with some value. The parameter replaces that value wherever
// Thresholds, Capacities and Initial say. Alike shows whether they cover every use of the value.
type Param struct {
	Name string `json:"name"` // its name in expressions; no place may have it
	Min  int    `json:"min"`  // 0 or more
	// Thresholds are arcs with this count: inhibitor arcs, or read arcs of tokens of one kind or of
	// AtLeast.
	Thresholds []Threshold `json:"thresholds,omitempty"`
	// Capacities are environment places with this capacity.
	Capacities []string `json:"capacities,omitempty"`
	// Initial are places of one kind of token that start with this many.
	Initial []string `json:"initial,omitempty"`
}

// Threshold is the inhibitor or read arc of a transition on a place, both named in full or by last
// parts.
type Threshold struct {
	Transition string `json:"transition"`
	Place      string `json:"place"`
}

// marks locates the parameters in an encoding.
type marks struct {
	cond    map[condAt]int // parameter of a condition's threshold
	initial map[int32]int  // by slot
	max     map[int]int    // by place
}

// condAt is a condition: transition, mode, position.
type condAt struct{ t, k, i int }

// mark locates parameters in a program.
func (n *naming) mark(params []Param) (*marks, error) {
	m := &marks{cond: map[condAt]int{}, initial: map[int32]int{}, max: map[int]int{}}
	seen := map[string]bool{}
	for i, p := range params {
		if p.Name == "" || p.Min < 0 || seen[p.Name] {
			return nil, fmt.Errorf("smt: parameter %q: it needs a name of its own and a least value from 0", p.Name)
		}
		seen[p.Name] = true
		if slots, err := n.slots(p.Name); err == nil && len(slots) > 0 {
			return nil, fmt.Errorf("smt: parameter %q: a place has this name", p.Name)
		}
		if err := n.markOne(m, i, p); err != nil {
			return nil, fmt.Errorf("smt: parameter %q: %w", p.Name, err)
		}
	}
	return m, nil
}

func (n *naming) markOne(m *marks, i int, p Param) error {
	if len(p.Thresholds)+len(p.Capacities)+len(p.Initial) == 0 {
		return fmt.Errorf("the net does not use it")
	}
	for _, th := range p.Thresholds {
		if err := n.threshold(m, i, th); err != nil {
			return err
		}
	}
	for _, name := range p.Capacities {
		pl, err := n.place(name)
		if err != nil {
			return err
		}
		if !n.prog.Places()[pl].Env {
			return fmt.Errorf("capacity of %s: proofs do not rest on capacities of inner places; ask for its bound", name)
		}
		m.max[pl] = i
	}
	for _, name := range p.Initial {
		slots, err := n.slots(name)
		if err != nil {
			return err
		}
		if len(slots) != 1 {
			return fmt.Errorf("initial tokens of %s: it has %d kinds of token; name one", name, len(slots))
		}
		m.initial[int32(slots[0])] = i
	}
	return nil
}

// threshold marks the condition that an arc compiled to, in each mode.
func (n *naming) threshold(m *marks, param int, th Threshold) error {
	ts, err := n.model.Named(th.Transition)
	if err != nil {
		return err
	}
	pl, err := n.place(th.Place)
	if err != nil {
		return err
	}
	info := &n.prog.Transitions()[ts[0]]
	kind, err := arcKind(info, pl)
	if err != nil {
		return fmt.Errorf("threshold of %s on %s: %w", th.Transition, th.Place, err)
	}
	for k := range info.Modes {
		found := 0
		for i, c := range info.Modes[k].Conds {
			if n.prog.SlotPlace(int(c.Slots[0])) == pl && (c.Max > 0) == (kind == petri.InhibitArc) {
				m.cond[condAt{int(ts[0]), k, i}] = param
				found++
			}
		}
		if found != 1 {
			return fmt.Errorf("threshold of %s on %s: it is not one condition but %d", th.Transition, th.Place, found)
		}
	}
	return nil
}

// arcKind finds which arc on a place has a threshold: its only inhibitor arc, or else its only read
// arc if nothing is consumed there.
func arcKind(t *petri.TransitionInfo, place int) (petri.ArcKind, error) {
	count := map[petri.ArcKind]int{}
	for _, a := range t.Arcs {
		if a.Place == place {
			count[a.Kind]++
		}
	}
	switch {
	case count[petri.InhibitArc] == 1:
		return petri.InhibitArc, nil
	case count[petri.InhibitArc] == 0 && count[petri.ReadArc] == 1 && count[petri.InArc] == 0:
		return petri.ReadArc, nil
	}
	return 0, fmt.Errorf("%d inhibitor, %d read and %d input arcs; one inhibitor arc, or one read arc alone, is possible",
		count[petri.InhibitArc], count[petri.ReadArc], count[petri.InArc])
}

// naming resolves names exactly as verify does.
type naming struct {
	prog  *petri.Program
	model *netmodel.Model
}

// slots lists the slots that the name of a place, or of some kinds of its tokens, stands for.
func (n *naming) slots(name string) ([]int, error) {
	e, err := expr.Parse(`"` + name + `" >= 1`)
	if err != nil {
		return nil, err
	}
	c, err := n.model.BindExpr(e)
	if err != nil {
		return nil, err
	}
	var out []int
	marking := make([]int32, n.prog.Slots())
	for s := range marking {
		marking[s] = 1
		if c.Holds(marking) {
			out = append(out, s)
		}
		marking[s] = 0
	}
	return out, nil
}

func (n *naming) place(name string) (int, error) {
	slots, err := n.slots(name)
	if err != nil {
		return 0, err
	}
	return n.prog.SlotPlace(slots[0]), nil
}

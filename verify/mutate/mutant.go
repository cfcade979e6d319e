package mutate

import (
	"fmt"
	"slices"
	"time"

	"github.com/voicegw/voicegw/petri"
)

// Mutant is a net with one change.
type Mutant struct {
	// Name says what was changed: the transition, then the change.
	Name string
	// Transition is the changed one. In a subnet, the subnet's name and a slash come first.
	Transition string
	Net        *petri.Net
	// Time reports that a firing interval was changed, which an exploration without time cannot
	// detect.
	Time bool
	// Runs are nets that stand in for Net where machines cannot run it: several points replace an
	// open interval. Each has fewer runs than Net, so a property that kills one of them kills the
	// mutant.
	Runs []*petri.Net
}

// Mutants lists the changes of a net, in order of declaration: each arc removed, each input and
// read arc with one token more, each inhibitor turned into a read arc, each guard removed and
// negated, each priority removed and negated, each bump removed, each interval 0, half, double and
// open. It does not change the net itself.
func Mutants(n *petri.Net) []Mutant {
	w := &walker{root: n}
	w.net(n, nil)
	return w.out
}

type walker struct {
	root *petri.Net
	out  []Mutant
}

// net visits a net; path holds the indices of the parts that lead to it.
func (w *walker) net(n *petri.Net, path []int) {
	for i := range n.Transitions {
		w.transition(n, path, i)
	}
	for i, part := range n.Nets {
		if part != nil {
			w.net(part, append(slices.Clone(path), i))
		}
	}
}

// with copies the net with another transition at a path.
func with(n *petri.Net, path []int, i int, t petri.Transition) *petri.Net {
	c := *n
	if len(path) == 0 {
		c.Transitions = slices.Clone(n.Transitions)
		c.Transitions[i] = t
		return &c
	}
	c.Nets = slices.Clone(n.Nets)
	c.Nets[path[0]] = with(n.Nets[path[0]], path[1:], i, t)
	return &c
}

func (w *walker) transition(n *petri.Net, path []int, i int) {
	t := n.Transitions[i]
	name := t.Name
	if len(path) > 0 {
		name = n.Name + "/" + name
	}
	add := func(change string, time bool, fn func(*petri.Transition)) {
		m := t
		fn(&m)
		w.out = append(w.out, Mutant{Name: n.Name + "/" + t.Name + ": " + change, Transition: name,
			Net: with(w.root, path, i, m), Time: time})
	}
	arcs(t, func(change string, fn func(*petri.Transition)) { add(change, false, fn) })
	for b, width := range t.Out.Widths() {
		for a := range width {
			add(fmt.Sprintf("without output %d.%d", b, a), false, func(m *petri.Transition) { m.Out = m.Out.Without(b, a) })
		}
	}
	if t.Guard != nil {
		add("without guard", false, func(m *petri.Transition) { m.Guard = nil })
		add("guard turned round", false, func(m *petri.Transition) {
			m.Guard = func(k *petri.Keys) bool { return !t.Guard(k) }
		})
	}
	if t.Priority != 0 {
		add("without priority", false, func(m *petri.Transition) { m.Priority = 0 })
		add("priority turned round", false, func(m *petri.Transition) { m.Priority = -m.Priority })
	}
	if t.Bump {
		add("without bump", false, func(m *petri.Transition) { m.Bump = false })
	}
	intervals(t, func(change string, when ...petri.Interval) {
		add(change, true, func(m *petri.Transition) { m.When = when[0] })
		for _, point := range when[1:] {
			m, last := t, &w.out[len(w.out)-1]
			m.When = point
			last.Runs = append(last.Runs, with(w.root, path, i, m))
		}
	})
}

// arcs lists the changes of the arcs that are not outputs.
func arcs(t petri.Transition, add func(change string, fn func(*petri.Transition))) {
	lists := []struct {
		kind string
		of   func(*petri.Transition) *petri.Arcs
	}{
		{"input", func(t *petri.Transition) *petri.Arcs { return &t.In }},
		{"read", func(t *petri.Transition) *petri.Arcs { return &t.Read }},
		{"inhibitor", func(t *petri.Transition) *petri.Arcs { return &t.Inhibit }},
		{"reset", func(t *petri.Transition) *petri.Arcs { return &t.Reset }},
	}
	for _, l := range lists {
		for i, a := range *l.of(&t) {
			add(fmt.Sprintf("without %s %d", l.kind, i), func(m *petri.Transition) {
				*l.of(m) = slices.Delete(slices.Clone(*l.of(m)), i, i+1)
			})
			switch l.kind {
			case "input", "read":
				add(fmt.Sprintf("%s %d takes 2", l.kind, i), func(m *petri.Transition) {
					*l.of(m) = slices.Clone(*l.of(m))
					(*l.of(m))[i] = twice(a)
				})
			case "inhibitor":
				add(fmt.Sprintf("inhibitor %d reads", i), func(m *petri.Transition) {
					m.Inhibit = slices.Delete(slices.Clone(m.Inhibit), i, i+1)
					m.Read = append(slices.Clone(m.Read), a)
				})
			}
		}
	}
}

// twice is an arc of two tokens.
func twice(a petri.AnyArc) petri.AnyArc {
	if c, ok := a.(interface{ Exactly(int) petri.Arc }); ok {
		return c.Exactly(2)
	}
	return a
}

// never is longer than any run that a proof follows.
const never = 365 * 24 * time.Hour

// intervals lists the changes of an interval. For an interval that a machine cannot wait for, it
// adds points of that interval.
func intervals(t petri.Transition, add func(change string, when ...petri.Interval)) {
	w := t.When
	if w.AtOnce() || w == petri.Anytime() {
		return
	}
	half, double := petri.Interval{Earliest: w.Earliest / 2, Latest: w.Latest}, petri.Interval{Earliest: w.Earliest * 2,
		Latest: w.Latest}
	if w.Latest != petri.Forever {
		half.Latest, double.Latest = w.Latest/2, w.Latest*2
	}
	add("at once", petri.Interval{})
	if half.Earliest == half.Latest {
		add("any time", petri.Anytime(), petri.After(never), half, double)
	} else {
		add("any time", petri.Anytime())
	}
	add("half the wait", half)
	add("double the wait", double)
}

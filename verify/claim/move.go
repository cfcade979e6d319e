package claim

import (
	"slices"
	"strings"

	"github.com/voicegw/voicegw/verify/netmodel"
)

// Move is a claim about one move of a net: a token from outside or a timer, with everything that
// fires at once after it. The start of the net is its first move.
//
// An event is the name of a transition that fires, or +P: a firing puts a token into place P, or a
// token leaves through P. An event that must happen may have alternatives, +P|+Q; a ! marks an
// event that must not happen. Conditions are in the language of expr.Parse. A place that the net
// does not have holds no token, and a transition that it does not have never fires, so a claim
// about a whole net can be checked on its parts. Strict finds misspelt names.
type Move struct {
	Name, Doc string
	// On lists events of which one happens in the move; none: any move.
	On []string
	// Changed, if not "", is a place that holds more or fewer tokens after the move.
	Changed string
	// When is the marking before the move; "" means any. Moves that end the run count only if Final
	// is set.
	When  string
	Final bool
	// From is a condition that the marking before must then satisfy, Does lists events that must
	// happen, Then is a condition that the marking after must satisfy, and Keeps lists places that
	// must hold as many tokens as before.
	From  string
	Does  []string
	Then  string
	Keeps []string
}

// Text is the whole claim in words.
func (c Move) Text() string {
	text := "each move"
	for _, part := range []struct{ word, what string }{
		{"with", strings.Join(c.On, "|")}, {"that changes", c.Changed}, {"when", c.When}, {"comes from", c.From},
		{"does", strings.Join(c.Does, " and ")}, {"leads to", c.Then}, {"keeps", strings.Join(c.Keeps, " ")},
	} {
		if part.what != "" {
			text += ", " + part.word + " " + part.what
		}
	}
	if c.Final {
		text += ", at the end too"
	}
	return text
}

// Scope is Whole.
func (Move) Scope() Scope { return Whole }

// Strict returns an error for a name that a net does not have.
func (c Move) Strict(m *netmodel.Model) error {
	for _, text := range []string{c.When, c.From, c.Then} {
		if text == "" {
			continue
		}
		if _, err := m.Bind(text); err != nil {
			return err
		}
	}
	names := &netmodel.Names{Model: m}
	for _, p := range append(slices.Clone(c.Keeps), strings.Fields(c.Changed)...) {
		names.Slots(p)
	}
	for _, e := range slices.Concat(c.On, c.Does) {
		for _, one := range strings.Split(strings.TrimPrefix(e, "!"), "|") {
			if !slices.Contains(m.Happens(one), true) {
				names.Fail("event", one, "never happens in claim "+c.Name)
			}
		}
	}
	return names.Err
}

// BoundMove is a Move whose names are resolved in a net. It is not safe for concurrent use.
type BoundMove struct {
	m                *netmodel.Model
	on               []bool // by step; nil: any
	changed          []int
	when, from, then netmodel.Pred
	does, never      [][]bool
	kept             [][]int
	final            bool
}

// Bind resolves the names of the claim.
func (c Move) Bind(m *netmodel.Model) (*BoundMove, error) { return c.BoundBy(m, m.BindLoosely) }

// BoundBy binds the conditions with a function. For an empty text the function must leave its
// target unchanged.
func (c Move) BoundBy(m *netmodel.Model, condition func(text string, to *netmodel.Pred) error) (*BoundMove, error) {
	b := &BoundMove{m: m, final: c.Final}
	for _, x := range []struct {
		text string
		to   *netmodel.Pred
	}{{c.When, &b.when}, {c.From, &b.from}, {c.Then, &b.then}} {
		if err := condition(x.text, x.to); err != nil {
			return nil, err
		}
	}
	for _, e := range c.Does {
		if not, found := strings.CutPrefix(e, "!"); found {
			b.never = append(b.never, m.Happens(not))
		} else {
			b.does = append(b.does, m.Happens(e))
		}
	}
	names := &netmodel.Names{Model: m, Loose: true}
	for _, p := range c.Keeps {
		b.kept = append(b.kept, names.Slots(p))
	}
	if len(c.On) > 0 {
		b.on = m.Happens(strings.Join(c.On, "|"))
	}
	if c.Changed != "" {
		b.changed = append([]int{}, names.Slots(c.Changed)...)
		if b.on == nil {
			b.on = m.Touching(b.changed)
		}
	}
	return b, names.Err
}

// vacuous reports whether the net has none of the events that the claim is about.
func (b *BoundMove) vacuous() bool { return b.on != nil && !slices.Contains(b.on, true) }

// Triggers marks, by step index, the steps of which a move must have one for the claim to apply;
// nil: any step.
func (b *BoundMove) Triggers() []bool { return b.on }

func (b *BoundMove) any(event []bool, chain []netmodel.Step) bool {
	return slices.ContainsFunc(chain, func(s netmodel.Step) bool { return event[b.m.StepIndex(s)] })
}

// Bad reports whether a move violates the claim: the marking before it, its firings, the marking
// after it.
func (b *BoundMove) Bad(from []int32, chain []netmodel.Step, to []int32) bool {
	return b.Applies(from, chain, to) && b.Breaks(from, chain, to)
}

// Breaks reports whether a move to which the claim applies violates it.
func (b *BoundMove) Breaks(from []int32, chain []netmodel.Step, to []int32) bool {
	happens := func(e []bool) bool { return b.any(e, chain) }
	if b.from != nil && !b.from(from) || b.then != nil && !b.then(to) || slices.ContainsFunc(b.never, happens) {
		return true
	}
	for _, e := range b.does {
		if !happens(e) {
			return true
		}
	}
	return slices.ContainsFunc(b.kept, func(slots []int) bool { return count(from, slots) != count(to, slots) })
}

// Applies reports whether the claim applies to a move.
func (b *BoundMove) Applies(from []int32, chain []netmodel.Step, to []int32) bool {
	switch {
	case b.on != nil && !b.any(b.on, chain):
		return false
	case b.changed != nil && count(from, b.changed) == count(to, b.changed):
		return false
	}
	return (b.final || !b.m.Ended(to)) && (b.when == nil || b.when(from))
}

func count(marking []int32, slots []int) (n int32) {
	for _, s := range slots {
		n += marking[s]
	}
	return n
}

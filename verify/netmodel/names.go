package netmodel

import (
	"fmt"
	"slices"
	"strings"

	"github.com/voicegw/voicegw/internal/spelling"
)

// NamedBy reports whether a list names something, in full or by its last parts.
func NamedBy(keep []string, name string) bool {
	return slices.ContainsFunc(keep, func(s string) bool { return s == name || strings.HasSuffix(name, "/"+s) })
}

// Named finds transitions by name, in full or by their last parts; no names mean all.
func (m *Model) Named(names ...string) ([]int32, error) {
	var out []int32
	if len(names) == 0 {
		for t := range m.Transitions {
			out = append(out, int32(t))
		}
	}
	for _, n := range names {
		i, err := m.LookupIn("transition", m.transitionNames(), n)
		if err != nil {
			return nil, err
		}
		if m.Transitions[i].Projected {
			return nil, &NameError{Net: m.prog.Name(), What: "transition", Name: n, Problem: notExact}
		}
		out = append(out, int32(i))
	}
	return out, nil
}

// nearestMax is the number of similar names that an error lists.
const nearestMax = 3

// Slots resolves the name of a place, or of some kinds of its tokens.
func (b *Names) Slots(name string) []int {
	if b.Loose {
		if bare, _, _ := strings.Cut(name, "["); len(b.Model.endings().places[bare]) == 0 {
			b.Missing++
			return nil
		}
	}
	i, kinds, err := b.place(name)
	if err != nil {
		b.refuse(err)
		return nil
	}
	p := &b.Model.Places[i]
	if p.Out {
		b.Fail("place", name, "is an output place, where nothing lies")
		return nil
	}
	var out []int
	for s := p.Slot; s < p.Slot+p.Slots; s++ {
		if kinds == "" || isKind(b.Model.SlotName[s][len(p.Name):], kinds) {
			out = append(out, s)
		}
	}
	b.Read = append(b.Read, out...)
	if len(out) == 0 && !b.Loose {
		b.Fail("place", name, "has no such tokens: its colour has "+strings.Join(b.kinds(i), ", "))
	}
	return out
}

// place resolves a place, or the place in whose name brackets select kinds of tokens.
func (b *Names) place(name string) (i int, kinds string, err error) {
	ends, shared := b.Model.endings(), len(b.Model.Places) == len(b.Model.prog.Places())
	if i, ok := ends.place(b.Model, name); ok && shared {
		return i, "", nil
	}
	open := strings.LastIndexByte(name, '[')
	if open >= 0 && strings.HasSuffix(name, "]") && len(ends.places[name]) == 0 {
		if i, ok := ends.place(b.Model, name[:open]); ok && shared {
			return i, name[open+1 : len(name)-1], nil
		}
	}
	i, err = b.Model.LookupIn("place", b.Model.placeNames(), name)
	if err != nil && open >= 0 && strings.HasSuffix(name, "]") {
		kinds = name[open+1 : len(name)-1]
		i, err = b.Model.LookupIn("place", b.Model.placeNames(), name[:open])
	}
	return i, kinds, err
}

// isKind reports whether a slot's label, such as "[start,fresh]", has all the requested parts.
func isKind(label, kinds string) bool {
	have := strings.Split(strings.Trim(label, "[]"), ",")
	for _, k := range strings.Split(kinds, ",") {
		if !slices.Contains(have, k) {
			return false
		}
	}
	return true
}

func (b *Names) kinds(place int) []string {
	p := &b.Model.Places[place]
	var out []string
	for s := p.Slot; s < p.Slot+p.Slots; s++ {
		out = append(out, b.Model.SlotName[s])
	}
	return out
}

// Transition resolves a transition that can be enabled at rest; -1 if there is none.
func (b *Names) Transition(name string) int32 {
	i, err := b.Model.LookupIn("transition", b.Model.transitionNames(), name)
	if err != nil {
		b.refuse(err)
		return -1
	}
	b.Asked = append(b.Asked, int32(i))
	if b.Model.Transitions[i].Projected {
		b.Fail("transition", name, notExact)
	}
	if t := &b.Model.Transitions[i]; b.Model.Clocks[i] < 0 && !t.Frame {
		b.Fail("transition", name, "fires at once, so it is enabled in no marking in which the net rests")
	}
	return int32(i)
}

// NeverCan reports whether a transition is enabled in no marking at rest, because it does not exist
// or because it fires at once.
func (b *Names) NeverCan(name string) bool {
	ts := b.Model.endings().transitions[name]
	return len(ts) == 0 || len(ts) == 1 && b.Model.Clocks[ts[0]] < 0 && !b.Model.Transitions[ts[0]].Frame
}

// Lookup finds a place by its full name, or by last parts that are unique.
func (m *Model) Lookup(place string) (int, error) { return m.LookupIn("place", m.placeNames(), place) }

func (m *Model) placeNames() []string {
	var out []string
	for _, p := range m.Places {
		out = append(out, p.Name)
	}
	return out
}

func (m *Model) transitionNames() []string {
	var out []string
	for _, t := range m.Transitions {
		out = append(out, t.Name)
	}
	return out
}

// Fail records an error about a name, unless there was an error before.
func (b *Names) Fail(what, name, problem string) {
	b.refuse(&NameError{Net: b.Model.prog.Name(), What: what, Name: name, Problem: problem})
}

func (b *Names) refuse(err error) {
	if b.Err == nil {
		b.Err = err
	}
}

// notExact explains why a property cannot name a projected move.
const notExact = "is not part of the slice, which has only a move in its place"

// NameError reports that a property names something that a net does not have.
type NameError struct {
	Net, What, Name, Problem string
	// Ambiguous reports that the name has more than one meaning.
	Ambiguous bool

	known []string // the names of which Error lists the nearest; many errors are never printed
}

// Error names the net and what it does not have.
func (e *NameError) Error() string {
	problem := e.Problem
	if len(e.known) > 0 {
		problem += "; the nearest are " + strings.Join(spelling.Closest(e.Name, e.known, nearestMax), ", ")
	}
	return fmt.Sprintf("verify: net %s: %s %q %s", e.Net, e.What, e.Name, problem)
}

// LookupIn finds a name: in full, or as the last parts of exactly one name. Its error is a
// NameError.
func (m *Model) LookupIn(what string, all []string, name string) (int, error) {
	if i := slices.Index(all, name); i >= 0 {
		return i, nil
	}
	var ends []int
	for i, n := range all {
		if strings.HasSuffix(n, "/"+name) {
			ends = append(ends, i)
		}
	}
	err := &NameError{Net: m.prog.Name(), What: what, Name: name}
	switch len(ends) {
	case 1:
		return ends[0], nil
	case 0:
		err.Problem, err.known = "does not exist", all
	default:
		err.Problem, err.Ambiguous = fmt.Sprintf("is ambiguous: %s and %s", all[ends[0]], all[ends[1]]), true
	}
	return -1, err
}

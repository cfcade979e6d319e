package verify

import (
	"fmt"
	"slices"
	"sort"
	"strings"
)

// nearestMax is how many similar names an error lists.
const nearestMax = 3

// slots resolves the name of a place, or of some kinds of its tokens.
func (b *binder) slots(name string) []int {
	if b.loose {
		if bare, _, _ := strings.Cut(name, "["); len(b.m.endings().places[bare]) == 0 {
			b.missing++
			return nil
		}
	}
	i, kinds, problem := b.place(name)
	if i < 0 {
		b.fail("place", name, problem)
		return nil
	}
	p := &b.m.places[i]
	if p.Out {
		b.fail("place", name, "is an output place, where nothing lies")
		return nil
	}
	var out []int
	for s := p.Slot; s < p.Slot+p.Slots; s++ {
		if kinds == "" || isKind(b.m.slotName[s][len(p.Name):], kinds) {
			out = append(out, s)
		}
	}
	b.read = append(b.read, out...)
	if len(out) == 0 && !b.loose {
		b.fail("place", name, "has no such tokens: its colour has "+strings.Join(b.kinds(i), ", "))
	}
	return out
}

// place looks up a place, or the one of which a name in brackets names kinds of
// tokens. It returns -1 and what is wrong if there is none.
func (b *binder) place(name string) (i int, kinds, problem string) {
	ends, shared := b.m.endings(), len(b.m.places) == len(b.m.prog.Places())
	if i, ok := ends.place(b.m, name); ok && shared {
		return i, "", ""
	}
	open := strings.LastIndexByte(name, '[')
	if open >= 0 && strings.HasSuffix(name, "]") && len(ends.places[name]) == 0 {
		if i, ok := ends.place(b.m, name[:open]); ok && shared {
			return i, name[open+1 : len(name)-1], ""
		}
	}
	i, problem = lookup(b.placeNames(), name)
	if i < 0 && open >= 0 && strings.HasSuffix(name, "]") {
		kinds = name[open+1 : len(name)-1]
		i, problem = lookup(b.placeNames(), name[:open])
	}
	return i, kinds, problem
}

// isKind reports whether a slot's label, such as "[start,fresh]", has all the
// parts that were asked for.
func isKind(label, kinds string) bool {
	have := strings.Split(strings.Trim(label, "[]"), ",")
	for _, k := range strings.Split(kinds, ",") {
		if !slices.Contains(have, k) {
			return false
		}
	}
	return true
}

func (b *binder) kinds(place int) []string {
	p := &b.m.places[place]
	var out []string
	for s := p.Slot; s < p.Slot+p.Slots; s++ {
		out = append(out, b.m.slotName[s])
	}
	return out
}

func (b *binder) transition(name string) int32 {
	i, problem := lookup(b.transitionNames(), name)
	if i < 0 {
		b.fail("transition", name, problem)
		return -1
	}
	b.asked = append(b.asked, int32(i))
	if b.m.transitions[i].Projected {
		b.fail("transition", name, notExact)
	}
	if t := &b.m.transitions[i]; b.m.clock[i] < 0 && !t.Frame {
		b.fail("transition", name, "fires at once, so it is enabled in no marking in which the net rests")
	}
	return int32(i)
}

// neverCan reports whether a transition is enabled in no marking at rest,
// because there is none or because it fires at once.
func (b *binder) neverCan(name string) bool {
	ts := b.m.endings().transitions[name]
	return len(ts) == 0 || len(ts) == 1 && b.m.clock[ts[0]] < 0 && !b.m.transitions[ts[0]].Frame
}

func (b *binder) placeNames() []string {
	var out []string
	for _, p := range b.m.places {
		out = append(out, p.Name)
	}
	return out
}

func (b *binder) transitionNames() []string {
	var out []string
	for _, t := range b.m.transitions {
		out = append(out, t.Name)
	}
	return out
}

func (b *binder) fail(what, name, problem string) {
	if b.err == nil {
		b.err = &NameError{Net: b.m.prog.Name(), What: what, Name: name, Problem: problem}
	}
}

// notExact says why a projected move cannot be asked for.
const notExact = "is not part of the slice, which has only a move in its place"

// NameError says that a property names something a net does not have.
type NameError struct {
	Net, What, Name, Problem string
}

// Error names the net and what it does not have.
func (e *NameError) Error() string {
	return fmt.Sprintf("verify: net %s: %s %q %s", e.Net, e.What, e.Name, e.Problem)
}

// lookup finds a name: in full, or as the last parts of exactly one.
func lookup(all []string, name string) (int, string) {
	if i := slices.Index(all, name); i >= 0 {
		return i, ""
	}
	var ends []int
	for i, n := range all {
		if strings.HasSuffix(n, "/"+name) {
			ends = append(ends, i)
		}
	}
	switch len(ends) {
	case 1:
		return ends[0], ""
	case 0:
		return -1, "does not exist; the nearest are " + strings.Join(nearest(all, name), ", ")
	default:
		return -1, fmt.Sprintf("is ambiguous: %s and %s", all[ends[0]], all[ends[1]])
	}
}

// nearest lists the names with the smallest edit distance, which is counted
// against the last part of a name too.
func nearest(all []string, name string) []string {
	type scored struct {
		name  string
		score int
	}
	var list []scored
	for _, n := range all {
		score := distance(n, name)
		if i := strings.LastIndexByte(n, '/'); i >= 0 {
			score = min(score, distance(n[i+1:], name))
		}
		list = append(list, scored{n, score})
	}
	sort.SliceStable(list, func(i, j int) bool { return list[i].score < list[j].score })
	var out []string
	for _, s := range list[:min(nearestMax, len(list))] {
		out = append(out, s.name)
	}
	return out
}

// distance is the Levenshtein distance, letter case ignored, of at most the
// first 64 bytes.
func distance(a, b string) int {
	a, b = strings.ToLower(a), strings.ToLower(b)
	a, b = a[:min(len(a), 64)], b[:min(len(b), 64)]
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diag := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diag
			if a[i] != b[j] {
				cost++
			}
			diag = row[j+1]
			row[j+1] = min(cost, diag+1, row[j]+1)
		}
	}
	return row[len(b)]
}

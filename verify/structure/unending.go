package structure

import (
	"maps"
	"math"
	"slices"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify/farkas"
	"github.com/voicegw/voicegw/verify/netmodel"
)

// Unending lists the transitions of a program that fire at once and for which the structure does
// not show that they occur only finitely often in a chain. If there are none, every chain of
// firings at one instant ends, and slices need not show it: in a slice, a chain through other
// transitions is cut into pieces.
//
// Take the firings that happen for ever in one chain. Others among them must put back for ever what
// each needs. Others must take away for ever what each puts, because capacities are finite. No
// firing decreases a sum of tokens that no firing increases. Where no firing changes a count, all
// firings agree about its value. Firings that violate one of these conditions are removed until
// none does.
func Unending(prog *petri.Program) []string {
	m := netmodel.New(prog, netmodel.RunToCompletion)
	s := &unending{m: m, found: map[string]bool{}}
	s.look(chained(m))
	return slices.Sorted(maps.Keys(s.found))
}

// splitsMax is the number of cases that Unending distinguishes by counts that do not change; beyond
// that it distinguishes none.
const splitsMax = 1 << 12

// unending is a search in progress.
type unending struct {
	m     *netmodel.Model
	found map[string]bool
	cases int
}

// look removes the firings that occur finitely often, and records what remains.
func (u *unending) look(left []chainFiring) {
	u.cases++
	for n := -1; n != len(left); {
		n = len(left)
		left = slices.DeleteFunc(slices.Clone(left), func(l chainFiring) bool { return !l.fed(left) || !l.drained(left) })
		if n == len(left) {
			left = dropDecreasing(u.m, left)
		}
	}
	if len(left) == 0 {
		return
	}
	if slot, at := u.dispute(left); slot >= 0 && u.cases < splitsMax {
		u.look(slices.DeleteFunc(slices.Clone(left), func(l chainFiring) bool { return l.least(slot) >= at }))
		u.look(slices.DeleteFunc(left, func(l chainFiring) bool { return l.most(slot) < at }))
		return
	}
	for _, l := range left {
		u.found[u.m.Transitions[l.md.Transition].Name] = true
	}
}

// dispute finds a slot that none of the firings changes, and a count at: some firings need fewer
// than at tokens there, and some need at least as many. The slot is -1 if there is none.
func (u *unending) dispute(left []chainFiring) (slot, at int32) {
	changed := make([]bool, u.m.Slots())
	for _, l := range left {
		for s, n := range effect(u.m, l.md, l.b) {
			changed[s] = changed[s] || n != 0
		}
		for _, s := range l.md.Empty {
			changed[s] = true
		}
		for _, s := range u.m.Fresh {
			changed[s], changed[s+1] = changed[s] || l.md.Bump, changed[s+1] || l.md.Bump
		}
	}
	for _, l := range left {
		for _, b := range l.md.Needs.Bounds {
			fewer := func(o chainFiring) bool { return o.most(b.Slot) < b.Min }
			if b.Min > 0 && !changed[b.Slot] && slices.ContainsFunc(left, fewer) {
				return b.Slot, b.Min
			}
		}
	}
	return -1, 0
}

// least is the number of tokens that a slot must hold at least; most is the number that it may hold
// at most.
func (l *chainFiring) least(slot int32) int32 {
	for _, b := range l.md.Needs.Bounds {
		if b.Slot == slot {
			return b.Min
		}
	}
	return 0
}

func (l *chainFiring) most(slot int32) int32 {
	most := int32(math.MaxInt32)
	for _, b := range l.md.Needs.Bounds {
		if b.Slot == slot {
			most = min(most, b.Max-1)
		}
	}
	for _, c := range l.md.Needs.Sums {
		if c.Max > 0 && slices.Contains(c.Slots, slot) {
			most = min(most, c.Max-1)
		}
	}
	return most
}

// chainFiring is one way to fire in a chain: its needs (of each list of slots, at least one slot
// must hold a token), what it puts, and what it takes or may empty.
type chainFiring struct {
	md    *netmodel.Mode
	b     *netmodel.Branch
	needs [][]int32
	puts  []int32
	takes []int32
}

// chained returns the ways to fire of the transitions that fire at once.
func chained(m *netmodel.Model) []chainFiring {
	var out []chainFiring
	for i := range m.Modes {
		md := &m.Modes[i]
		if m.Ranks[md.Transition] < 0 {
			continue
		}
		for b := range md.Branches {
			if md.Choice < 0 || int(md.Choice) == b {
				out = append(out, newChainFiring(m, md, &md.Branches[b]))
			}
		}
	}
	return out
}

func newChainFiring(m *netmodel.Model, md *netmodel.Mode, b *netmodel.Branch) chainFiring {
	l := chainFiring{md: md, b: b, takes: slices.Clone(md.Empty)}
	for _, k := range md.Take {
		l.takes, l.needs = append(l.takes, k.Slot), append(l.needs, []int32{k.Slot})
	}
	emptied := func(s int32) bool { return slices.Contains(md.Empty, s) }
	for _, c := range md.Needs.Bounds {
		if c.Min > 0 && emptied(c.Slot) {
			l.needs = append(l.needs, []int32{c.Slot})
		}
	}
	for _, c := range md.Needs.Sums {
		if c.Min > 0 && !slices.ContainsFunc(c.Slots, func(s int32) bool { return !emptied(s) }) {
			l.needs = append(l.needs, c.Slots)
		}
	}
	for _, p := range b.Put {
		l.puts = append(l.puts, p.Slot)
	}
	for _, s := range m.Fresh {
		if md.Bump {
			l.takes, l.puts = append(l.takes, s), append(l.puts, s+1)
		}
	}
	return l
}

// fed reports whether others in by put back what this one takes.
func (l *chainFiring) fed(by []chainFiring) bool {
	for _, need := range l.needs {
		if !slices.ContainsFunc(by, func(o chainFiring) bool {
			return slices.ContainsFunc(o.puts, func(s int32) bool { return slices.Contains(need, s) })
		}) {
			return false
		}
	}
	return true
}

// drained reports whether others in by take away what this one puts.
func (l *chainFiring) drained(by []chainFiring) bool {
	for _, p := range l.b.Put {
		if !p.Refuse && !slices.ContainsFunc(by, func(o chainFiring) bool { return slices.Contains(o.takes, p.Slot) }) {
			return false
		}
	}
	return true
}

// dropDecreasing removes the firings that decrease a sum which none of them increases.
func dropDecreasing(m *netmodel.Model, left []chainFiring) []chainFiring {
	if len(left) == 0 {
		return left
	}
	rows := make([][]int64, m.Slots(), m.Slots()+len(left))
	for _, l := range left {
		effect := effect(m, l.md, l.b)
		for s := range rows {
			rows[s] = append(rows[s], effect[s])
		}
	}
	for _, s := range m.Fresh { // a bump moves one token at a time
		if !slices.ContainsFunc(left, func(l chainFiring) bool { return l.md.Bump }) {
			break
		}
		for i := range rows {
			n := int64(0)
			switch int32(i) {
			case s:
				n = -1
			case s + 1:
				n = 1
			}
			rows[i] = append(rows[i], n)
		}
	}
	rows = slices.DeleteFunc(rows, func(row []int64) bool { // a count that nothing changes is in no other sum
		return !slices.ContainsFunc(row, func(n int64) bool { return n != 0 })
	})
	if len(rows) == 0 {
		return left
	}
	counts := len(rows)
	for c := range rows[0] { // what a sum loses
		slack := make([]int64, len(rows[0]))
		slack[c] = 1
		rows = append(rows, slack)
	}
	shrinks := make([]bool, len(left))
	for _, weights := range farkas.Flows(rows) {
		for i := range left {
			shrinks[i] = shrinks[i] || weights[counts+i] > 0 && slices.ContainsFunc(weights[:counts],
				func(w int64) bool { return w > 0 })
		}
	}
	var out []chainFiring
	for i, l := range left {
		if !shrinks[i] {
			out = append(out, l)
		}
	}
	return out
}

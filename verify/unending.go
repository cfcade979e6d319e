package verify

import (
	"maps"
	"math"
	"slices"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify/farkas"
)

// Unending lists the transitions of a program that fire at once and of which its
// structure does not show that a chain has them finitely often. If there are none,
// every chain of firings at one instant ends, and slices need not show it: in a
// slice a chain that leads through other transitions is cut into pieces.
//
// Of the firings that happen for ever in one chain, each needs its tokens put back
// for ever by others of them; what each of them puts somewhere is taken away for
// ever, as capacities are finite; no sum of tokens that none of them increases is
// decreased by any; and where none of them changes a count, all agree about it.
// What does not meet that is left out, until nothing is.
func Unending(prog *petri.Program) []string {
	m := NewModel(prog, RunToCompletion)
	s := &unending{m: m, found: map[string]bool{}}
	s.look(m.chained())
	return slices.Sorted(maps.Keys(s.found))
}

// splitsMax is how many cases Unending tells apart by counts that do not change;
// beyond that it tells none apart.
const splitsMax = 1 << 12

// unending is a search under way.
type unending struct {
	m     *Model
	found map[string]bool
	cases int
}

// look leaves out of some links those that fire finitely often, and notes what
// remains.
func (u *unending) look(left []link) {
	u.cases++
	for n := -1; n != len(left); {
		n = len(left)
		left = slices.DeleteFunc(slices.Clone(left), func(l link) bool { return !l.fed(left) || !l.drained(left) })
		if n == len(left) {
			left = u.m.restless(left)
		}
	}
	if len(left) == 0 {
		return
	}
	if slot, at := u.dispute(left); slot >= 0 && u.cases < splitsMax {
		u.look(slices.DeleteFunc(slices.Clone(left), func(l link) bool { return l.least(slot) >= at }))
		u.look(slices.DeleteFunc(left, func(l link) bool { return l.most(slot) < at }))
		return
	}
	for _, l := range left {
		u.found[u.m.transitions[l.md.t].Name] = true
	}
}

// dispute finds a slot that no link changes, and a count of which some need fewer
// tokens there and some as many at least; -1 if there is none.
func (u *unending) dispute(left []link) (slot, at int32) {
	changed := make([]bool, u.m.slots)
	for _, l := range left {
		for s, n := range u.m.effect(l.md, l.b) {
			changed[s] = changed[s] || n != 0
		}
		for _, s := range l.md.empty {
			changed[s] = true
		}
		for _, s := range u.m.fresh {
			changed[s], changed[s+1] = changed[s] || l.md.bump, changed[s+1] || l.md.bump
		}
	}
	for _, l := range left {
		for _, b := range l.md.needs.Bounds {
			if b.Min > 0 && !changed[b.Slot] && slices.ContainsFunc(left, func(o link) bool { return o.most(b.Slot) < b.Min }) {
				return b.Slot, b.Min
			}
		}
	}
	return -1, 0
}

// least and most are what a slot must hold at least, and may hold at most.
func (l *link) least(slot int32) int32 {
	for _, b := range l.md.needs.Bounds {
		if b.Slot == slot {
			return b.Min
		}
	}
	return 0
}

func (l *link) most(slot int32) int32 {
	most := int32(math.MaxInt32)
	for _, b := range l.md.needs.Bounds {
		if b.Slot == slot {
			most = min(most, b.Max-1)
		}
	}
	for _, c := range l.md.needs.Sums {
		if c.Max > 0 && slices.Contains(c.Slots, slot) {
			most = min(most, c.Max-1)
		}
	}
	return most
}

// link is one way to fire in a chain: what it takes of which at least one slot
// must hold a token, what it puts, and what it may empty.
type link struct {
	md    *mode
	b     *branch
	needs [][]int32
	puts  []int32
	takes []int32
}

// chained are the ways to fire of what fires at once.
func (m *Model) chained() []link {
	var out []link
	for i := range m.modes {
		md := &m.modes[i]
		if m.rank[md.t] < 0 {
			continue
		}
		for b := range md.branches {
			if md.choice < 0 || int(md.choice) == b {
				out = append(out, m.chainLink(md, &md.branches[b]))
			}
		}
	}
	return out
}

func (m *Model) chainLink(md *mode, b *branch) link {
	l := link{md: md, b: b, takes: slices.Clone(md.empty)}
	for _, k := range md.take {
		l.takes, l.needs = append(l.takes, k.Slot), append(l.needs, []int32{k.Slot})
	}
	emptied := func(s int32) bool { return slices.Contains(md.empty, s) }
	for _, c := range md.needs.Bounds {
		if c.Min > 0 && emptied(c.Slot) {
			l.needs = append(l.needs, []int32{c.Slot})
		}
	}
	for _, c := range md.needs.Sums {
		if c.Min > 0 && !slices.ContainsFunc(c.Slots, func(s int32) bool { return !emptied(s) }) {
			l.needs = append(l.needs, c.Slots)
		}
	}
	for _, p := range b.put {
		l.puts = append(l.puts, p.slot)
	}
	for _, s := range m.fresh {
		if md.bump {
			l.takes, l.puts = append(l.takes, s), append(l.puts, s+1)
		}
	}
	return l
}

// fed reports whether some links put back what this one takes.
func (l *link) fed(by []link) bool {
	for _, need := range l.needs {
		if !slices.ContainsFunc(by, func(o link) bool {
			return slices.ContainsFunc(o.puts, func(s int32) bool { return slices.Contains(need, s) })
		}) {
			return false
		}
	}
	return true
}

// drained reports whether some links take away what this one puts.
func (l *link) drained(by []link) bool {
	for _, p := range l.b.put {
		if !p.refuse && !slices.ContainsFunc(by, func(o link) bool { return slices.Contains(o.takes, p.slot) }) {
			return false
		}
	}
	return true
}

// restless leaves out the links that decrease a sum which none of them increases.
func (m *Model) restless(left []link) []link {
	if len(left) == 0 {
		return left
	}
	rows := make([][]int64, m.slots, m.slots+len(left))
	for _, l := range left {
		effect := m.effect(l.md, l.b)
		for s := range rows {
			rows[s] = append(rows[s], effect[s])
		}
	}
	for _, s := range m.fresh { // a bump moves a token at a time
		if !slices.ContainsFunc(left, func(l link) bool { return l.md.bump }) {
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
	for c := range rows[0] { // what a sum loses
		slack := make([]int64, len(rows[0]))
		slack[c] = 1
		rows = append(rows, slack)
	}
	shrinks := make([]bool, len(left))
	for _, weights := range farkas.Flows(rows) {
		for i := range left {
			shrinks[i] = shrinks[i] || weights[m.slots+i] > 0 && slices.ContainsFunc(weights[:m.slots],
				func(w int64) bool { return w > 0 })
		}
	}
	var out []link
	for i, l := range left {
		if !shrinks[i] {
			out = append(out, l)
		}
	}
	return out
}

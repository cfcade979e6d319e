package netmodel

import (
	"fmt"
	"math"
	"sort"

	"github.com/voicegw/voicegw/petri"
)

// Model is a Program laid out for exploration. It uses the program's own tables and computes again,
// from the conditions, what each firing can enable or disable. It is immutable and may be shared.
type Model struct {
	prog        *petri.Program
	Places      []petri.PlaceInfo
	Transitions []petri.TransitionInfo
	SlotName    []string
	SlotPlace   []int32
	initial     []int32
	Semantics   Semantics

	slots  int
	Modes  []Mode
	First  []int32 // by transition: its first mode; one more at the end
	Order  []int32 // transitions that run to completion, in the order they are tried
	Ranks  []int32 // by transition: position in Order, or -1
	timed  []int32 // all others, in declaration order
	Clocks []int32 // by transition: position in timed, or -1
	Final  int32
	Fresh  []int32 // the fresh slot of every kind of generational token

	Above  [][]int32 // by transition: those preferred to it; nil: there are none
	Amidst []int32   // in a slice: moves that may fire in the middle of a chain
	Limits []petri.Limit
	Given  []given // what is known about every marking at rest
	Frames []frameSlot
	stepAt []int32 // by mode: index of its first step; one more at the end
	ends   *lazyEndings
}

// Semantics defines how transitions that fire at once are read.
type Semantics uint8

const (
	// RunToCompletion is what a Machine does: after an injection or a timer the transitions with
	// interval [0,0] fire in order of priority and declaration until none is enabled.
	RunToCompletion Semantics = iota
	// Interleave reads [0,0] like any other interval, as other tools of the field do: if several
	// are enabled, any of them may fire first. For imported nets.
	Interleave
)

// Mode is one way to enable a transition: what it needs, takes and empties, and the branches on
// which it may produce.
type Mode struct {
	Transition, Index int32 // transition, mode within it
	Needs             petri.Needs
	Take              []petri.Count
	Empty             []int32 // slots drained or reset
	Bump              bool
	Choice            int32   // branch chosen by keys; -1: any
	Assumed           bool    // projected: what does not fit does not happen
	Lowers            []int32 // clocks that consuming, resetting and bumping may stop
	Branches          []Branch
}

// Branch is what a firing produces, and what that can enable and disable.
type Branch struct {
	Clears []int32 // slots that an observer empties
	Stop   bool    // the observer stops
	Put    []Put
	Limits []int32 // limits that producing may break
	Wakes  []int32 // ranks that this firing may enable
	Stops  []int32 // clocks that producing may stop
	Clocks []int32 // clocks that clearing may stop
}

// Put is a number of tokens for a slot, with the capacity of its place.
type Put struct {
	Slot, N     int32
	Place       int32
	First, Last int32 // slots of the place: first <= s < last
	Max         int32
	Refuse      bool // what does not fit is turned away
	Quiet       bool // and the refusal is not reported
}

// New lays out a program.
func New(prog *petri.Program, sem Semantics) *Model {
	m := &Model{
		prog: prog, Places: prog.Places(), Transitions: prog.Transitions(), initial: prog.Initial(),
		Semantics: sem, slots: prog.Slots(), Final: int32(prog.FinalSlot()), ends: &lazyEndings{},
	}
	for s := range m.slots {
		m.SlotName = append(m.SlotName, prog.SlotName(s))
		m.SlotPlace = append(m.SlotPlace, int32(prog.SlotPlace(s)))
	}
	m.sortTransitions()
	for _, p := range m.Places {
		if p.Gen {
			for s := 0; s < p.Slots; s += 2 {
				m.Fresh = append(m.Fresh, int32(p.Slot+s))
			}
		}
	}
	for i := range m.Transitions {
		m.First = append(m.First, int32(len(m.Modes)))
		m.addModes(int32(i))
	}
	m.First = append(m.First, int32(len(m.Modes)))
	m.slice()
	m.gather()
	m.link()
	m.collectFrames()
	m.countSteps()
	return m
}

// Fill returns a slice of n copies of v.
func Fill(n int, v int32) []int32 {
	s := make([]int32, n)
	for i := range s {
		s[i] = v
	}
	return s
}

func (m *Model) sortTransitions() {
	m.Ranks, m.Clocks = Fill(len(m.Transitions), -1), Fill(len(m.Transitions), -1)
	if m.Semantics == RunToCompletion {
		m.Order = m.prog.Order()
	}
	for r, t := range m.Order {
		m.Ranks[t] = int32(r)
	}
	for t := range m.Transitions {
		if m.Ranks[t] < 0 {
			m.Clocks[t] = int32(len(m.timed))
			m.timed = append(m.timed, int32(t))
		}
	}
}

func (m *Model) addModes(t int32) {
	info := &m.Transitions[t]
	for k := range info.Modes {
		pm := &info.Modes[k]
		md := Mode{Transition: t, Index: int32(k), Take: pm.Take, Bump: info.Bump, Choice: int32(pm.Choice()),
			Assumed: info.Projected, Needs: *pm.Needs()}
		md.Empty = append(append(md.Empty, pm.Drain...), pm.Reset...)
		for i := range pm.Branches {
			md.Branches = append(md.Branches, Branch{Put: m.puts(pm.Branches[i].Put, info.Outside)})
		}
		m.Modes = append(m.Modes, md)
	}
}

// TopGroup is the first part of the name of a subnet.
func TopGroup(g string) string {
	for i := range len(g) {
		if g[i] == '/' {
			return g[:i]
		}
	}
	return g
}

func (m *Model) puts(counts []petri.Count, outside bool) []Put {
	var out []Put
	for _, c := range counts {
		pl := int(m.SlotPlace[c.Slot])
		p := &m.Places[pl]
		out = append(out, Put{
			Slot: c.Slot, N: c.N, Place: int32(pl), First: int32(p.Slot), Last: int32(p.Slot + p.Slots),
			Max: int32(p.Max), Refuse: p.Env && outside,
		})
	}
	return out
}

// gather lays out the bounds of all modes side by side, where a search reads them faster.
func (m *Model) gather() {
	n := 0
	for i := range m.Modes {
		n += len(m.Modes[i].Needs.Bounds)
	}
	all := make([]petri.Bound, 0, n)
	for i := range m.Modes {
		from := len(all)
		all = append(all, m.Modes[i].Needs.Bounds...)
		m.Modes[i].Needs.Bounds = all[from:len(all):len(all)]
	}
}

// Enabled reports whether a marking has what the mode needs.
func (md *Mode) Enabled(marking []int32) bool { return md.Needs.Hold(marking) }

// link computes what each firing can enable or disable.
func (m *Model) link() {
	l := &linker{m: m, needs: make([][]int32, m.slots), blocks: make([][]int32, m.slots)}
	for i := range m.Modes {
		l.index(&m.Modes[i])
	}
	for i := range m.Modes {
		l.mode(&m.Modes[i])
	}
}

type linker struct {
	m             *Model
	needs, blocks [][]int32 // by slot: transitions with a lower, an upper bound
}

func (l *linker) index(md *Mode) {
	for _, c := range md.Needs.Bounds {
		if c.Min > 0 {
			l.needs[c.Slot] = append(l.needs[c.Slot], md.Transition)
		}
		if c.Max < math.MaxInt32 {
			l.blocks[c.Slot] = append(l.blocks[c.Slot], md.Transition)
		}
	}
	for _, c := range md.Needs.Sums {
		for _, s := range c.Slots {
			if c.Min > 0 {
				l.needs[s] = append(l.needs[s], md.Transition)
			}
			if c.Max > 0 {
				l.blocks[s] = append(l.blocks[s], md.Transition)
			}
		}
	}
}

func (l *linker) mode(md *Mode) {
	less := append([]int32(nil), md.Empty...)
	for _, k := range md.Take {
		less = append(less, k.Slot)
	}
	var aged, renewed []int32 // slots that a bump fills, slots that it empties
	if md.Bump {
		for _, s := range l.m.Fresh {
			renewed, aged = append(renewed, s), append(aged, s+1)
		}
	}
	md.Lowers = l.clocks(l.needs, append(append([]int32(nil), less...), renewed...))
	for i := range md.Branches {
		b := &md.Branches[i]
		more := append([]int32(nil), aged...)
		for _, p := range b.Put {
			more = append(more, p.Slot)
		}
		b.Stops = l.clocks(l.blocks, more)
		up := append(l.ranks(l.needs, more), l.ranks(l.blocks, less)...)
		up = append(up, l.ranks(l.blocks, renewed)...)
		if r := l.m.Ranks[md.Transition]; r >= 0 {
			up = append(up, r)
		}
		b.Wakes = Unique(up)
		b.Clocks = l.clocks(l.needs, b.Clears)
	}
}

func (l *linker) clocks(by [][]int32, slots []int32) []int32 { return l.pick(by, slots, l.m.Clocks) }

func (l *linker) ranks(by [][]int32, slots []int32) []int32 { return l.pick(by, slots, l.m.Ranks) }

func (l *linker) pick(by [][]int32, slots, number []int32) []int32 {
	var out []int32
	for _, s := range slots {
		for _, t := range by[s] {
			if number[t] >= 0 {
				out = append(out, number[t])
			}
		}
	}
	return Unique(out)
}

// Unique sorts s and removes duplicates.
func Unique(s []int32) []int32 {
	sort.Slice(s, func(i, j int) bool { return s[i] < s[j] })
	n := 0
	for i, v := range s {
		if i == 0 || v != s[n-1] {
			s[n] = v
			n++
		}
	}
	return s[:n]
}

// Program returns the program that the model was made from.
func (m *Model) Program() *petri.Program { return m.prog }

// Timed returns the transitions that have a clock, in declaration order: those that do not run to
// completion. The caller must not change the slice.
func (m *Model) Timed() []int32 { return m.timed }

// Enabled reports whether some mode of a transition is enabled. Once the final place is marked,
// nothing is enabled.
func (m *Model) Enabled(t int32, marking []int32) bool {
	if m.Ended(marking) {
		return false
	}
	return m.Ready(t, marking)
}

// Ready is Enabled for a marking in which the run has not ended.
func (m *Model) Ready(t int32, marking []int32) bool {
	for i := m.First[t]; i < m.First[t+1]; i++ {
		if m.Modes[i].Enabled(marking) {
			return true
		}
	}
	return false
}

// Ended reports whether the final place is marked.
func (m *Model) Ended(marking []int32) bool { return m.Final >= 0 && marking[m.Final] > 0 }

// Steps appends every way in which an enabled transition can fire: its enabled modes, and for each
// the branch that keys choose, or all branches where the choice is free. It appends nothing while a
// preferred transition is enabled.
func (m *Model) Steps(t int32, marking []int32, to []Step) []Step {
	if m.Above != nil && m.outranked(t, marking) {
		return to
	}
	for i := m.First[t]; i < m.First[t+1]; i++ {
		md := &m.Modes[i]
		if md.Enabled(marking) {
			to = md.Steps(to)
		}
	}
	return to
}

// Steps appends the ways the mode can fire.
func (md *Mode) Steps(to []Step) []Step {
	if md.Choice >= 0 {
		return append(to, Step{md.Transition, md.Index, md.Choice})
	}
	for b := range md.Branches {
		to = append(to, Step{md.Transition, md.Index, int32(b)})
	}
	return to
}

// Step is one firing: a transition, its mode and the branch it produces on.
type Step struct{ Transition, Mode, Branch int32 }

func (m *Model) countSteps() {
	m.stepAt = make([]int32, 0, len(m.Modes)+1)
	n := int32(0)
	for i := range m.Modes {
		m.stepAt = append(m.stepAt, n)
		n += int32(len(m.Modes[i].Branches))
	}
	m.stepAt = append(m.stepAt, n)
}

// StepCount is the number of different steps; StepIndex numbers them.
func (m *Model) StepCount() int { return int(m.stepAt[len(m.Modes)]) }

// StepIndex is the number of a step.
func (m *Model) StepIndex(s Step) int {
	return int(m.stepAt[m.First[s.Transition]+s.Mode] + s.Branch)
}

// StepsOf returns the range of the steps of a transition: from the first to one after the last.
func (m *Model) StepsOf(t int32) (from, to int) {
	return int(m.stepAt[m.First[t]]), int(m.stepAt[m.First[t+1]])
}

// Name renders a step: the transition, the kinds of token it takes if there are several ways, and
// the branch if there are several.
func (m *Model) Name(s Step) string {
	t := &m.Transitions[s.Transition]
	name := t.Name
	if len(t.Modes) > 1 && t.Modes[s.Mode].Label != "" {
		name += " (" + t.Modes[s.Mode].Label + ")"
	}
	if len(m.Modes[m.First[s.Transition]+s.Mode].Branches) > 1 {
		name += fmt.Sprintf(" branch %d", s.Branch)
	}
	return name
}

// Clock is the clock of a transition: its position among Timed, or -1.
func (m *Model) Clock(t int32) int32 { return m.Clocks[t] }

// Rank is the position of a transition in the order of those that fire at once, or -1 if it does
// not fire at once.
func (m *Model) Rank(t int32) int32 { return m.Ranks[t] }

// Outside reports whether a transition is not part of the net that runs: it belongs to an
// environment automaton or to an observer.
func (m *Model) Outside(t int32) bool {
	return int(t) >= len(m.prog.Transitions()) || m.Transitions[t].Outside
}

// When is the firing interval of a transition.
func (m *Model) When(t int32) petri.Interval { return m.Transitions[t].When }

// Transition returns the name of a transition.
func (m *Model) Transition(t int32) string { return m.Transitions[t].Name }

// Count is the number of transitions, including those of observers.
func (m *Model) Count() int { return len(m.Transitions) }

// Chains reports whether anything runs to completion.
func (m *Model) Chains() bool { return len(m.Order) > 0 }

// Slots is the length of a marking.
func (m *Model) Slots() int { return m.slots }

// Initial returns a copy of the initial marking.
func (m *Model) Initial() []int32 { return append([]int32(nil), m.initial...) }

// Marked is the number of tokens at a place.
func (m *Model) Marked(place int, marking []int32) int {
	p := &m.Places[place]
	n := 0
	for s := p.Slot; s < p.Slot+p.Slots; s++ {
		n += int(marking[s])
	}
	return n
}

// Place returns the name of a place.
func (m *Model) Place(i int) string { return m.Places[i].Name }

package verify

import (
	"fmt"
	"math"
	"sort"

	"github.com/voicegw/voicegw/petri"
)

// Model is a Program laid out for exploration: the tables are the program's
// own, with what each firing can enable or disable worked out again from the
// conditions. It is immutable and may be shared.
type Model struct {
	prog        *petri.Program
	places      []petri.PlaceInfo
	transitions []petri.TransitionInfo
	slotName    []string
	slotPlace   []int32
	initial     []int32
	semantics   Semantics

	slots int
	modes []mode
	first []int32 // by transition: its first mode; one more at the end
	order []int32 // transitions that run to completion, in the order they are tried
	rank  []int32 // by transition: position in order, or -1
	timed []int32 // all others, in declaration order
	clock []int32 // by transition: position in timed, or -1
	final int32
	fresh []int32 // the fresh slot of every kind of generational token

	above  [][]int32 // by transition: those preferred to it; nil: none
	amidst []int32   // of a slice: moves that may fire in the midst of a chain
	limits []petri.Limit
	given  []given // what is known of every marking at rest
	frames []frameSlot
	stepAt []int32 // by mode: index of its first step; one more at the end
	ends   *lazyEndings
}

// Semantics says how transitions that fire at once are read.
type Semantics uint8

const (
	// RunToCompletion is what a Machine does: after an injection or a timer
	// the transitions with interval [0,0] fire in order of priority and
	// declaration until none is enabled.
	RunToCompletion Semantics = iota
	// Interleave reads [0,0] as any other interval, as tools of the field do:
	// which of several fires first is open. For imported nets.
	Interleave
)

type mode struct {
	t, k     int32 // transition, mode within it
	needs    petri.Needs
	take     []petri.Count
	empty    []int32 // slots drained or reset
	bump     bool
	choice   int32   // branch chosen by keys; -1: any
	assumed  bool    // projected: what does not fit does not happen
	lowers   []int32 // clocks that consuming, resetting and bumping may stop
	branches []branch
}

type branch struct {
	clears []int32 // slots that an observer empties
	stop   bool    // the observer stops
	put    []put
	limits []int32 // limits that producing may break
	wakes  []int32 // ranks that this firing may enable
	stops  []int32 // clocks that producing may stop
	clocks []int32 // clocks that clearing may stop
}

// put is a number of tokens for a slot, with what its place holds at most.
type put struct {
	slot, n     int32
	place       int32
	first, last int32 // slots of the place: first <= s < last
	max         int32
	refuse      bool // what does not fit is turned away
	quiet       bool // and nobody is told
}

// NewModel lays out a program.
func NewModel(prog *petri.Program, sem Semantics) *Model {
	m := &Model{
		prog: prog, places: prog.Places(), transitions: prog.Transitions(), initial: prog.Initial(),
		semantics: sem, slots: prog.Slots(), final: int32(prog.FinalSlot()), ends: &lazyEndings{},
	}
	for s := range m.slots {
		m.slotName = append(m.slotName, prog.SlotName(s))
		m.slotPlace = append(m.slotPlace, int32(prog.SlotPlace(s)))
	}
	m.sortTransitions()
	for _, p := range m.places {
		if p.Gen {
			for s := 0; s < p.Slots; s += 2 {
				m.fresh = append(m.fresh, int32(p.Slot+s))
			}
		}
	}
	for i := range m.transitions {
		m.first = append(m.first, int32(len(m.modes)))
		m.addModes(int32(i))
	}
	m.first = append(m.first, int32(len(m.modes)))
	m.slice()
	m.gather()
	m.link()
	m.collectFrames()
	m.countSteps()
	return m
}

func fill(n int, v int32) []int32 {
	s := make([]int32, n)
	for i := range s {
		s[i] = v
	}
	return s
}

func (m *Model) sortTransitions() {
	m.rank, m.clock = fill(len(m.transitions), -1), fill(len(m.transitions), -1)
	if m.semantics == RunToCompletion {
		m.order = m.prog.Order()
	}
	for r, t := range m.order {
		m.rank[t] = int32(r)
	}
	for t := range m.transitions {
		if m.rank[t] < 0 {
			m.clock[t] = int32(len(m.timed))
			m.timed = append(m.timed, int32(t))
		}
	}
}

func (m *Model) addModes(t int32) {
	info := &m.transitions[t]
	for k := range info.Modes {
		pm := &info.Modes[k]
		md := mode{t: t, k: int32(k), take: pm.Take, bump: info.Bump, choice: int32(pm.Choice()),
			assumed: info.Projected, needs: *pm.Needs()}
		md.empty = append(append(md.empty, pm.Drain...), pm.Reset...)
		for i := range pm.Branches {
			md.branches = append(md.branches, branch{put: m.puts(pm.Branches[i].Put, info.Outside)})
		}
		m.modes = append(m.modes, md)
	}
}

func topGroup(g string) string {
	for i := range len(g) {
		if g[i] == '/' {
			return g[:i]
		}
	}
	return g
}

func (m *Model) puts(counts []petri.Count, outside bool) []put {
	var out []put
	for _, c := range counts {
		pl := int(m.slotPlace[c.Slot])
		p := &m.places[pl]
		out = append(out, put{
			slot: c.Slot, n: c.N, place: int32(pl), first: int32(p.Slot), last: int32(p.Slot + p.Slots),
			max: int32(p.Max), refuse: p.Env && outside,
		})
	}
	return out
}

// gather lays the bounds of all modes out side by side, where a search finds
// them sooner.
func (m *Model) gather() {
	n := 0
	for i := range m.modes {
		n += len(m.modes[i].needs.Bounds)
	}
	all := make([]petri.Bound, 0, n)
	for i := range m.modes {
		from := len(all)
		all = append(all, m.modes[i].needs.Bounds...)
		m.modes[i].needs.Bounds = all[from:len(all):len(all)]
	}
}

func (md *mode) enabled(marking []int32) bool { return md.needs.Hold(marking) }

// link works out what each firing can enable or disable.
func (m *Model) link() {
	l := &linker{m: m, needs: make([][]int32, m.slots), blocks: make([][]int32, m.slots)}
	for i := range m.modes {
		l.index(&m.modes[i])
	}
	for i := range m.modes {
		l.mode(&m.modes[i])
	}
}

type linker struct {
	m             *Model
	needs, blocks [][]int32 // by slot: transitions with a lower, an upper bound
}

func (l *linker) index(md *mode) {
	for _, c := range md.needs.Bounds {
		if c.Min > 0 {
			l.needs[c.Slot] = append(l.needs[c.Slot], md.t)
		}
		if c.Max < math.MaxInt32 {
			l.blocks[c.Slot] = append(l.blocks[c.Slot], md.t)
		}
	}
	for _, c := range md.needs.Sums {
		for _, s := range c.Slots {
			if c.Min > 0 {
				l.needs[s] = append(l.needs[s], md.t)
			}
			if c.Max > 0 {
				l.blocks[s] = append(l.blocks[s], md.t)
			}
		}
	}
}

func (l *linker) mode(md *mode) {
	less := append([]int32(nil), md.empty...)
	for _, k := range md.take {
		less = append(less, k.Slot)
	}
	var aged, renewed []int32 // slots that a bump fills, empties
	if md.bump {
		for _, s := range l.m.fresh {
			renewed, aged = append(renewed, s), append(aged, s+1)
		}
	}
	md.lowers = l.clocks(l.needs, append(append([]int32(nil), less...), renewed...))
	for i := range md.branches {
		b := &md.branches[i]
		more := append([]int32(nil), aged...)
		for _, p := range b.put {
			more = append(more, p.slot)
		}
		b.stops = l.clocks(l.blocks, more)
		up := append(l.ranks(l.needs, more), l.ranks(l.blocks, less)...)
		up = append(up, l.ranks(l.blocks, renewed)...)
		if r := l.m.rank[md.t]; r >= 0 {
			up = append(up, r)
		}
		b.wakes = unique(up)
		b.clocks = l.clocks(l.needs, b.clears)
	}
}

func (l *linker) clocks(by [][]int32, slots []int32) []int32 { return l.pick(by, slots, l.m.clock) }

func (l *linker) ranks(by [][]int32, slots []int32) []int32 { return l.pick(by, slots, l.m.rank) }

func (l *linker) pick(by [][]int32, slots, number []int32) []int32 {
	var out []int32
	for _, s := range slots {
		for _, t := range by[s] {
			if number[t] >= 0 {
				out = append(out, number[t])
			}
		}
	}
	return unique(out)
}

// unique sorts and drops repetitions.
func unique(s []int32) []int32 {
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

// Program returns the program the model was made of.
func (m *Model) Program() *petri.Program { return m.prog }

// Timed returns the transitions that have a clock, in declaration order: those
// that do not run to completion. The caller must not change the slice.
func (m *Model) Timed() []int32 { return m.timed }

// Enabled reports whether some mode of a transition is enabled; nothing is
// once the final place is marked.
func (m *Model) Enabled(t int32, marking []int32) bool {
	if m.Ended(marking) {
		return false
	}
	return m.enabled(t, marking)
}

func (m *Model) enabled(t int32, marking []int32) bool {
	for i := m.first[t]; i < m.first[t+1]; i++ {
		if m.modes[i].enabled(marking) {
			return true
		}
	}
	return false
}

// Ended reports whether the final place is marked.
func (m *Model) Ended(marking []int32) bool { return m.final >= 0 && marking[m.final] > 0 }

// Steps appends every way an enabled transition can fire: its enabled modes,
// and of each the branch that keys choose, or all where the choice is free.
// There is none while a preferred transition is enabled.
func (m *Model) Steps(t int32, marking []int32, to []Step) []Step {
	if m.above != nil && m.outranked(t, marking) {
		return to
	}
	for i := m.first[t]; i < m.first[t+1]; i++ {
		md := &m.modes[i]
		if md.enabled(marking) {
			to = md.steps(to)
		}
	}
	return to
}

func (md *mode) steps(to []Step) []Step {
	if md.choice >= 0 {
		return append(to, Step{md.t, md.k, md.choice})
	}
	for b := range md.branches {
		to = append(to, Step{md.t, md.k, int32(b)})
	}
	return to
}

// Step is one firing: a transition, its mode and the branch it produces on.
type Step struct{ Transition, Mode, Branch int32 }

func (m *Model) countSteps() {
	m.stepAt = make([]int32, 0, len(m.modes)+1)
	n := int32(0)
	for i := range m.modes {
		m.stepAt = append(m.stepAt, n)
		n += int32(len(m.modes[i].branches))
	}
	m.stepAt = append(m.stepAt, n)
}

// StepCount is the number of different steps; StepIndex numbers them.
func (m *Model) StepCount() int { return int(m.stepAt[len(m.modes)]) }

// StepIndex is the number of a step.
func (m *Model) StepIndex(s Step) int {
	return int(m.stepAt[m.first[s.Transition]+s.Mode] + s.Branch)
}

// StepsOf returns the range of the steps of a transition: from, and one more
// than the last.
func (m *Model) StepsOf(t int32) (from, to int) {
	return int(m.stepAt[m.first[t]]), int(m.stepAt[m.first[t+1]])
}

// Name renders a step: the transition, the kinds of token it takes if there are
// several ways, the branch if there are several.
func (m *Model) Name(s Step) string {
	t := &m.transitions[s.Transition]
	name := t.Name
	if len(t.Modes) > 1 && t.Modes[s.Mode].Label != "" {
		name += " (" + t.Modes[s.Mode].Label + ")"
	}
	if len(m.modes[m.first[s.Transition]+s.Mode].branches) > 1 {
		name += fmt.Sprintf(" branch %d", s.Branch)
	}
	return name
}

// Clock is the clock of a transition: its position among Timed, or -1.
func (m *Model) Clock(t int32) int32 { return m.clock[t] }

// Rank is the position of a transition in the order of those that fire at once,
// -1 if it is none.
func (m *Model) Rank(t int32) int32 { return m.rank[t] }

// Outside reports whether a transition is none of the net that runs, but one of
// its environment's automata or of an observer.
func (m *Model) Outside(t int32) bool {
	return int(t) >= len(m.prog.Transitions()) || m.transitions[t].Outside
}

// When is the firing interval of a transition.
func (m *Model) When(t int32) petri.Interval { return m.transitions[t].When }

// Transition returns the name of a transition.
func (m *Model) Transition(t int32) string { return m.transitions[t].Name }

// Transitions is the number of transitions, those of observers included.
func (m *Model) Transitions() int { return len(m.transitions) }

// Chains reports whether anything runs to completion.
func (m *Model) Chains() bool { return len(m.order) > 0 }

// Slots is the length of a marking.
func (m *Model) Slots() int { return m.slots }

// Initial returns a copy of the initial marking.
func (m *Model) Initial() []int32 { return append([]int32(nil), m.initial...) }

// Marked is the number of tokens at a place.
func (m *Model) Marked(place int, marking []int32) int {
	p := &m.places[place]
	n := 0
	for s := p.Slot; s < p.Slot+p.Slots; s++ {
		n += int(marking[s])
	}
	return n
}

package petri

import (
	"fmt"
	"slices"
	"sort"
)

// maxModes limits the modes of one transition.
const maxModes = 1024

// maxTried limits the combinations of token kinds for which Compile asks one guard.
const maxTried = 1 << 16

// maxTransitions and maxPlaces limit a program.
const (
	maxTransitions = 100_000
	maxPlaces      = 200_000
)

// Compile checks a net and tabulates it: it evaluates guards and choices for all keys they depend
// on, and lists for every firing the transitions that it can enable or disable. The error is an
// *Error that lists every problem.
func Compile(n *Net) (*Program, error) { return compile(n, crowdMin) }

// compile is Compile. A slot is crowded from crowd sleepers on.
func compile(n *Net, crowd int) (*Program, error) {
	if n == nil {
		return nil, &Error{Problems: []Problem{{Text: "compile: the net is nil"}}}
	}
	f := &flattener{byName: map[string]int32{}, inside: map[*Net]bool{}, final: -1}
	if n.Name == "" {
		f.errs.add(Problem{}, "the net has no name")
	}
	f.net(n, "", nil)
	if len(f.places) > maxPlaces || len(f.trans) > maxTransitions {
		f.errs.add(Problem{Net: n.Name}, "net %q has %d places and %d transitions; at most %d and %d are allowed",
			n.Name, len(f.places), len(f.trans), maxPlaces, maxTransitions)
		return nil, f.errs.err()
	}
	c := &compiler{flattener: f, p: &Program{
		name: n.Name, final: -1, byName: f.byName, tasks: f.tasks, closed: f.closed,
	}}
	c.closeOutputs()
	c.layout()
	c.initial()
	for i := range f.trans {
		c.transition(&f.trans[i])
	}
	c.checkNet()
	if err := f.errs.err(); err != nil {
		return nil, err
	}
	c.rank()
	c.affect(crowd)
	c.begins()
	c.runnable()
	return c.p, nil
}

type compiler struct {
	*flattener
	p *Program
}

// begins lists the transitions that a machine reviews when it starts, so that a start looks at no others.
func (c *compiler) begins() {
	m := &Machine{prog: c.p, count: c.p.initial, awake: make([]uint64, len(c.p.gates)/64+1)}
	for u := range c.p.gates {
		if m.enabled(&c.p.gates[u], int32(u)) || m.awake[u>>6]&(1<<(u&63)) != 0 {
			c.p.begins = append(c.p.begins, int32(u))
		}
	}
}

// closeOutputs turns each output that a transition of a closed net consumes into an inner place.
func (c *compiler) closeOutputs() {
	if !c.closed {
		return
	}
	for i := range c.trans {
		for _, list := range c.trans[i].arcs {
			for _, a := range list {
				c.places[a.at].Out = false
			}
		}
	}
}

// layout assigns slots to every place that can be marked.
func (c *compiler) layout() {
	for i := range c.places {
		p := &c.places[i]
		p.Slot = len(c.p.slotPlace)
		c.checkColour(p)
		if p.Out {
			if p.Env {
				c.errs.add(Problem{Place: p.Name},
					"place %q is an environment place and an output; it can be only one", p.Name)
			}
			if p.Final {
				c.errs.add(Problem{Place: p.Name},
					"final place %q is an output, which never holds tokens; use another place", p.Name)
			}
			p.Slots = 0
			continue
		}
		for range p.Slots {
			c.p.slotPlace = append(c.p.slotPlace, int32(i))
		}
		if p.Gen {
			c.p.genPlaces = append(c.p.genPlaces, int32(i))
		}
		if p.Final {
			c.p.final = int32(p.Slot)
		}
	}
	c.p.places = c.places
}

// checkColour checks the keys of a place's colour.
func (c *compiler) checkColour(p *PlaceInfo) {
	if len(p.Keys) > maxKeys {
		c.errs.add(Problem{Place: p.Name},
			"place %q: colour %s has %d keys; at most %d are allowed", p.Name, p.Type, len(p.Keys), maxKeys)
		return
	}
	if p.Keys != nil && len(p.Keys) == 0 {
		c.errs.add(Problem{Place: p.Name},
			"place %q: colour %s names no key; name at least one, or do not implement petri.Keyed", p.Name, p.Type)
	}
	for i, k := range p.Keys {
		if slices.Contains(p.Keys[:i], k) {
			c.errs.add(Problem{Place: p.Name}, "place %q: colour %s names two keys %q", p.Name, p.Type, k)
		}
	}
	if p.Final && p.col.slots() > 1 {
		c.errs.add(Problem{Place: p.Name},
			"final place %q distinguishes several kinds of token; give it a colour without key and generation", p.Name)
	}
}

func (c *compiler) initial() {
	c.p.initial = make([]int32, len(c.p.slotPlace))
	for _, t := range c.init {
		i := c.byName[t.place]
		p := &c.places[i]
		if p.Out {
			c.errs.add(Problem{Place: p.Name}, "initial token at output place %q, which never holds tokens", p.Name)
			continue
		}
		kind, problem := p.col.kindOf(t.value, 0)
		if problem != "" {
			c.errs.add(Problem{Place: p.Name}, "initial token at %q: %s", p.Name, problem)
			continue
		}
		if what := shared(t.value); what != "" {
			c.errs.add(Problem{Place: p.Name}, "initial token at %q: machines would share its %s", p.Name, what)
			continue
		}
		slot := int32(p.Slot + kind)
		c.p.initial[slot]++
		c.p.init = append(c.p.init, t)
	}
	for i := range c.places {
		p := &c.places[i]
		if n := c.p.marked(c.p.initial, p); n > p.Max {
			c.errs.add(Problem{Place: p.Name}, "place %q starts with %d tokens; its capacity is %d", p.Name, n, p.Max)
		}
	}
}

// marked returns the number of tokens of a place in a marking.
func (p *Program) marked(count []int32, pl *PlaceInfo) int {
	n := 0
	for i := range pl.Slots {
		n += int(count[pl.Slot+i])
	}
	return n
}

// rank orders the at-once transitions and numbers the clocks of the timed ones.
func (c *compiler) rank() {
	for i := range c.p.transitions {
		t := &c.p.transitions[i]
		if t.When.AtOnce() {
			c.p.ranks = append(c.p.ranks, int32(i))
		} else {
			t.clock = int32(c.p.timed)
			c.p.timed++
		}
	}
	sort.SliceStable(c.p.ranks, func(a, b int) bool {
		return c.p.transitions[c.p.ranks[a]].Priority > c.p.transitions[c.p.ranks[b]].Priority
	})
	for r, i := range c.p.ranks {
		c.p.transitions[i].rank = int32(r)
	}
}

// runnable records why a machine cannot run the net, if it cannot.
func (c *compiler) runnable() {
	for i := range c.p.transitions {
		t := &c.p.transitions[i]
		if !t.When.Point() {
			c.p.runnable = fmt.Errorf("petri: net %q cannot be run: transition %q waits for %s; "+
				"a machine waits for single instants; only automata of the environment wait for intervals",
				c.p.name, t.Name, t.When)
			return
		}
	}
}

// affect lists, for every firing, the transitions whose enabling it can change.
func (c *compiler) affect(crowd int) {
	needs := make([][]int32, len(c.p.slotPlace))  // transitions with a lower bound on the slot
	blocks := make([][]int32, len(c.p.slotPlace)) // transitions with an upper bound on the slot
	for i := range c.p.transitions {
		t := &c.p.transitions[i]
		for k := range t.Modes {
			for _, cd := range t.Modes[k].Conds {
				for _, s := range cd.Slots {
					if cd.Min > 0 {
						needs[s] = appendOnce(needs[s], int32(i))
					}
					if cd.Max > 0 {
						blocks[s] = appendOnce(blocks[s], int32(i))
					}
				}
			}
		}
	}
	c.p.watchers = make([][]int32, len(c.p.slotPlace))
	for s := range needs {
		c.p.watchers[s] = union(needs[s], blocks[s])
	}
	c.gates()
	c.sleep(crowd)
	d := &dependants{c: c, needs: needs, seen: make([]int32, len(c.p.transitions))}
	for i := range c.p.transitions {
		t := &c.p.transitions[i]
		for k := range t.Modes {
			d.mode(int32(i), t, &t.Modes[k])
		}
	}
}

// gates stores the conditions of all simple transitions side by side, so that a machine reads one
// block of memory for each check. The conditions that are met least often come first.
func (c *compiler) gates() {
	for i := range c.p.transitions {
		t := &c.p.transitions[i]
		g := gate{from: int32(len(c.p.conds)), sumFrom: int32(len(c.p.sums)), rank: t.rank, clock: t.clock}
		if g.kind = several; len(t.Modes) == 1 {
			g.kind = simple
			c.p.conds = append(c.p.conds, t.Modes[0].needs.Bounds...)
			c.p.sums = append(c.p.sums, t.Modes[0].needs.Sums...)
			slices.SortStableFunc(c.p.conds[g.from:], c.p.scarcest)
		}
		g.to, g.sumTo = int32(len(c.p.conds)), int32(len(c.p.sums))
		c.p.gates = append(c.p.gates, g)
	}
}

// union merges two ascending lists.
func union(a, b []int32) []int32 {
	out := make([]int32, 0, len(a)+len(b))
	for len(a) > 0 || len(b) > 0 {
		switch {
		case len(b) == 0 || len(a) > 0 && a[0] < b[0]:
			out, a = append(out, a[0]), a[1:]
		case len(a) == 0 || b[0] < a[0]:
			out, b = append(out, b[0]), b[1:]
		default:
			out, a, b = append(out, a[0]), a[1:], b[1:]
		}
	}
	return out
}

func appendOnce(list []int32, v int32) []int32 {
	if n := len(list); n > 0 && list[n-1] == v {
		return list
	}
	return append(list, v)
}

// dependants computes the lists of affected transitions, one mode after the other.
type dependants struct {
	c     *compiler
	needs [][]int32
	seen  []int32
	stamp int32
}

func (d *dependants) mode(self int32, t *TransitionInfo, m *Mode) {
	less := m.lessens()
	if t.Bump {
		less = append(less, d.c.genSlots()...)
	}
	d.stamp++
	for _, s := range less {
		for _, u := range d.needs[s] {
			if d.c.p.transitions[u].clock >= 0 && d.first(u) && u != self {
				m.down = append(m.down, u)
			}
		}
	}
	m.plain = m.cancels == nil && d.c.p.final < 0
	for i := range m.Branches {
		d.branch(self, t, m, &m.Branches[i], less)
		m.plain = m.plain && m.Branches[i].crowds == nil
	}
}

func (d *dependants) branch(self int32, t *TransitionInfo, m *Mode, b *Branch, less []int32) {
	d.stamp++
	add := func(u int32) {
		if d.first(u) {
			b.affected = append(b.affected, u)
		}
	}
	add(self)
	for _, u := range m.down {
		add(u)
	}
	for _, s := range slotsOf(less, b.Put) {
		if !m.changes(s, t, b) {
			continue
		}
		for _, u := range d.c.p.watchers[s] {
			if !d.c.p.crowded(s, u) {
				add(u)
			}
		}
		if w := d.c.p.crowdAt[s]; w > 0 && !slices.Contains(b.crowds, w-1) {
			b.crowds = append(b.crowds, w-1)
		}
	}
	slices.Sort(b.affected)
}

func (d *dependants) first(u int32) bool {
	if d.seen[u] == d.stamp {
		return false
	}
	d.seen[u] = d.stamp
	return true
}

// changes reports whether a firing can change the number of tokens in a slot.
func (m *Mode) changes(slot int32, t *TransitionInfo, b *Branch) bool {
	if t.Bump || slices.Contains(m.Drain, slot) || slices.Contains(m.Reset, slot) {
		return true
	}
	var n int32
	for _, k := range m.Take {
		if k.Slot == slot {
			n -= k.N
		}
	}
	for _, k := range b.Put {
		if k.Slot == slot {
			n += k.N
		}
	}
	return n != 0
}

// lessens lists the slots that a mode takes from, drains or empties.
func (m *Mode) lessens() []int32 {
	var s []int32
	for _, k := range m.Take {
		s = append(s, k.Slot)
	}
	s = append(s, m.Drain...)
	return append(s, m.Reset...)
}

func slotsOf(less []int32, put []Count) []int32 {
	s := append([]int32(nil), less...)
	for _, k := range put {
		s = append(s, k.Slot)
	}
	return s
}

func (c *compiler) genSlots() []int32 {
	var s []int32
	for _, i := range c.p.genPlaces {
		p := &c.places[i]
		for k := range p.Slots {
			s = append(s, int32(p.Slot+k))
		}
	}
	return s
}

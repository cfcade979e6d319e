package petri

import (
	"fmt"
	"math/bits"
	"strings"
)

// transition checks one transition and expands it into modes.
func (c *compiler) transition(t *flatTransition) {
	info := TransitionInfo{
		Name: t.scope.path + t.Name, Group: t.group, When: t.When, Priority: t.Priority,
		Free: t.Out.free, Bump: t.Bump, Outside: t.env, branches: len(t.Out.branches), action: t.Action, rank: -1, clock: -1,
	}
	b := &builder{c: c, t: t, info: &info, bad: t.bad}
	b.checkText()
	b.arcs()
	b.describeOutputs()
	b.peeks()
	if !b.bad {
		b.expand()
	}
	c.p.transitions = append(c.p.transitions, info)
}

// builder compiles one transition.
type builder struct {
	c     *compiler
	t     *flatTransition
	info  *TransitionInfo
	bad   bool
	tried int // combinations of keys so far
}

func (b *builder) fail(format string, args ...any) {
	b.report(Problem{}, format, args...)
}

// never reports that the transition can never fire.
func (b *builder) never(text string) { b.report(Problem{Kind: NeverFires}, "%s", text) }

func (b *builder) report(about Problem, format string, args ...any) {
	b.bad = true
	about.Transition = b.info.Name
	b.c.errs.add(about, "transition %q: %s", b.info.Name, fmt.Sprintf(format, args...))
}

func (b *builder) checkText() {
	w := b.t.When
	switch {
	case b.t.Name == "":
		b.c.errs.add(Problem{Net: b.t.scope.net.Name}, "net %q has a transition without a name", b.t.scope.net.Name)
	case w.Earliest < 0 || w.Latest < w.Earliest:
		b.fail("firing interval [%s,%s] is empty or negative", w.Earliest, w.Latest)
	case !w.AtOnce() && b.t.Priority != 0:
		b.fail("priority %d on a timed transition; priorities order at-once transitions only", b.t.Priority)
	case w.Earliest == Forever:
		b.never("it can never fire: the earliest time is forever")
	}
	if len(b.t.In)+len(b.t.Read) == 0 && w.AtOnce() {
		b.fail("it needs no token and fires at once, so it would fire for ever")
	}
}

// arcs resolves and checks the input, read, inhibitor and reset arcs.
func (b *builder) arcs() {
	type use struct {
		kind  ArcKind
		place int32
	}
	seen := map[use]bool{}
	for kind, list := range b.t.arcs {
		for _, a := range list {
			u := use{ArcKind(kind), a.at}
			if seen[u] && ArcKind(kind) != InhibitArc {
				b.fail("two %s arcs on place %q; use one arc with a count", arcNames[kind], a.place)
			}
			seen[u] = true
			b.arc(ArcKind(kind), a.Arc, a.at)
		}
	}
}

var arcNames = [...]string{"input", "read", "inhibitor", "reset", "output"}

// peeks lists the read arcs whose place the firing resets or bumps.
func (b *builder) peeks() {
	for i := range b.info.arcs {
		a := &b.info.arcs[i]
		p := &b.c.places[a.place]
		if a.kind != ReadArc || p.col.unit || b.has(InArc, a.place) {
			continue
		}
		if b.has(ResetArc, a.place) || b.t.Bump && p.Gen {
			b.info.peeks = append(b.info.peeks, int32(i))
		}
	}
}

func (b *builder) has(kind ArcKind, place int32) bool {
	for i := range b.info.arcs {
		if b.info.arcs[i].kind == kind && b.info.arcs[i].place == place {
			return true
		}
	}
	return false
}

func (b *builder) arc(kind ArcKind, a Arc, place int32) {
	p := &b.c.places[place]
	if p.Out {
		b.fail("%s arc on output place %q, which never holds tokens", arcNames[kind], p.Name)
		return
	}
	if a.from != nil || a.keyBy != nil {
		b.fail("Passing and KeyBy belong to outputs, not to the %s arc on %q", arcNames[kind], p.Name)
	}
	if a.n < 1 || a.n > MaxTokens {
		b.fail("%s arc on %q has count %d; it must be 1 to %d", arcNames[kind], p.Name, a.n, MaxTokens)
	} else if kind != ResetArc && kind != InhibitArc && a.n > p.Max {
		b.fail("%s arc needs %d tokens of %q, whose capacity is %d", arcNames[kind], a.n, p.Name, p.Max)
	}
	slots, label := b.accepted(a, p)
	b.info.arcs = append(b.info.arcs, flatArc{
		local: a.place.String(), place: place, kind: kind, slots: slots, n: int32(a.n), all: a.kind != exactly,
	})
	b.info.Arcs = append(b.info.Arcs, ArcInfo{
		Kind: kind, Place: int(place), Count: a.n, All: a.kind != exactly, Label: label,
	})
}

// accepted returns the slots that an arc accepts.
func (b *builder) accepted(a Arc, p *PlaceInfo) (slots []int32, label string) {
	if !b.checkKeys(a, p) {
		return nil, ""
	}
	var names []string
	for i := range p.col.slots() {
		k, stale := i, false
		if p.Gen {
			k, stale = i/2, i%2 == 1
		}
		if a.keys != 0 && !a.keys.has(Key(k)) || a.age == freshOnly && stale || a.age == staleOnly && !stale {
			continue
		}
		slots = append(slots, int32(p.Slot+i))
		if a.keys != 0 && (len(names) == 0 || names[len(names)-1] != p.Keys[k]) {
			names = append(names, p.Keys[k])
		}
	}
	switch a.age {
	case freshOnly:
		names = append(names, "fresh")
	case staleOnly:
		names = append(names, "stale")
	}
	return slots, strings.Join(names, ",")
}

// checkKeys reports whether the colour of a place has the keys and the age that an arc names.
func (b *builder) checkKeys(a Arc, p *PlaceInfo) bool {
	ok := true
	fail := func(format string, args ...any) {
		ok = false
		b.fail(format, args...)
	}
	switch {
	case a.badKey && p.Keys == nil, a.keys != 0 && p.Keys == nil:
		fail("arc on %q names a key, but colour %s has none; implement petri.Keyed", p.Name, p.Type)
	case len(p.Keys) > maxKeys || p.Keys != nil && len(p.Keys) == 0:
		b.bad = true // checkColour reports it
		return false
	case a.badKey || bits.Len32(uint32(a.keys)) > max(len(p.Keys), 1):
		fail("arc on %q names a key that colour %s does not have; it has %s", p.Name, p.Type, strings.Join(p.Keys, ", "))
	}
	if a.age != anyAge && !p.Gen {
		fail("arc on %q asks for fresh or stale tokens, but colour %s has no generation; implement petri.Generational",
			p.Name, p.Type)
	}
	return ok
}

// expand adds a mode for every combination of token kinds that the arcs allow.
func (b *builder) expand() {
	n := len(b.info.arcs)
	pick := make([][]Count, n)
	b.choose(0, pick)
	if !b.bad && len(b.info.Modes) == 0 {
		b.never("its guard refuses every combination of keys, so it can never fire")
	}
}

// choose picks the token kinds for arc i and for the arcs after it.
func (b *builder) choose(i int, pick [][]Count) {
	if b.bad {
		return
	}
	if i == len(pick) {
		if b.tried++; b.tried > maxTried {
			b.fail("its arcs allow more than %d combinations of keys, too many to try its guard on; narrow them with Is",
				maxTried)
			return
		}
		b.mode(pick)
		return
	}
	a := &b.info.arcs[i]
	if !b.distinguishes(a) {
		pick[i] = nil
		b.choose(i+1, pick)
		return
	}
	b.multisets(a, 0, a.n, nil, func(taken []Count) {
		pick[i] = taken
		b.choose(i+1, pick)
	})
}

// distinguishes reports whether an arc needs a mode of its own for each token kind.
func (b *builder) distinguishes(a *flatArc) bool {
	switch {
	case a.kind == InArc:
		return !a.all
	case a.kind == ReadArc && !a.all && a.n == 1 && len(a.slots) > 1:
		return b.looksAtKeys()
	default:
		return a.kind == ReadArc && !a.all && len(a.slots) == 1
	}
}

// looksAtKeys reports whether a guard, a choice or an output of the transition depends on keys.
func (b *builder) looksAtKeys() bool {
	if b.t.Guard != nil || b.t.Out.choose != nil {
		return true
	}
	for _, br := range b.t.outs {
		for _, a := range br {
			if a.keyBy != nil || a.from != nil {
				return true
			}
		}
	}
	return false
}

// multisets calls fn for every way to take n tokens from the arc's slots.
func (b *builder) multisets(a *flatArc, from int, n int32, taken []Count, fn func([]Count)) {
	if n == 0 {
		fn(append([]Count(nil), taken...))
		return
	}
	if from == len(a.slots) || b.bad {
		return
	}
	for k := n; k >= 0; k-- {
		next := taken
		if k > 0 {
			next = append(taken, Count{a.slots[from], k})
		}
		b.multisets(a, from+1, n-k, next, fn)
	}
}

// mode compiles one combination, if the guard allows it.
func (b *builder) mode(pick [][]Count) {
	m := Mode{branch: -1, arcSlot: make([]int32, len(pick)), picks: make([][]take, len(pick))}
	var label []string
	for i := range b.info.arcs {
		b.modeArc(&m, i, pick[i], &label)
	}
	m.Label = strings.Join(label, " ")
	m.needs = needs(m.Conds)
	keys := &Keys{t: b.info, mode: &m, prog: b.c.p}
	if b.t.Guard != nil && !b.t.Guard(keys) {
		b.checkLook(keys, "guard")
		return
	}
	b.checkLook(keys, "guard")
	if len(b.info.Modes) >= maxModes {
		b.fail("its arcs allow more than %d combinations of keys; narrow them with Is", maxModes)
		return
	}
	b.branches(&m, keys)
	b.cancels(&m)
	b.quicken(&m)
	b.info.Modes = append(b.info.Modes, m)
}

func (b *builder) checkLook(k *Keys, who string) {
	if k.bad != "" {
		b.fail("its %s looks at the key of %q; the transition must take or read exactly one token there", who, k.bad)
		k.bad = ""
	}
}

func (b *builder) modeArc(m *Mode, i int, pick []Count, label *[]string) {
	a := &b.info.arcs[i]
	p := &b.c.places[a.place]
	m.arcSlot[i] = -1
	if len(pick) == 1 && (pick[0].N == 1 || len(a.slots) == 1) {
		m.arcSlot[i] = pick[0].Slot
		if len(a.slots) > 1 {
			*label = append(*label, p.SlotName(int(pick[0].Slot)-p.Slot))
		}
	}
	switch {
	case a.kind == InhibitArc:
		m.Conds = append(m.Conds, Cond{Slots: a.slots, Max: a.n})
	case a.kind == ResetArc:
		for _, s := range a.slots {
			m.Reset = append(m.Reset, s)
			m.empties = append(m.empties, empty{slot: s, place: a.place, ring: s - int32(p.Slot)})
		}
	case a.all || pick == nil:
		m.Conds = append(m.Conds, Cond{Slots: a.slots, Min: a.n})
		if a.kind == InArc {
			b.drain(m, a, p)
		}
	default:
		b.takeOrRead(m, i, a, p, pick)
	}
}

func (b *builder) drain(m *Mode, a *flatArc, p *PlaceInfo) {
	for _, s := range a.slots {
		m.Drain = append(m.Drain, s)
		m.empties = append(m.empties, empty{slot: s, place: a.place, ring: s - int32(p.Slot), input: true})
	}
}

func (b *builder) takeOrRead(m *Mode, i int, a *flatArc, p *PlaceInfo, pick []Count) {
	for _, k := range pick {
		m.Conds = append(m.Conds, Cond{Slots: []int32{k.Slot}, Min: k.N})
		take := take{slot: k.Slot, place: a.place, ring: k.Slot - int32(p.Slot), n: k.N}
		m.picks[i] = append(m.picks[i], take)
		if a.kind == InArc {
			m.Take = append(m.Take, k)
			m.takes = append(m.takes, take)
		}
	}
}

// cancels lists the in-flight places whose task the mode cancels: the mode takes from them without
// taking the task's result.
func (b *builder) cancels(m *Mode) {
	for _, t := range b.c.tasks {
		inFlight, done := int32(b.c.places[t.InFlight].Slot), int32(t.Done)
		ends := false
		for _, s := range m.lessens() {
			ends = ends || s == inFlight
		}
		for _, k := range m.Take {
			if b.c.p.slotPlace[k.Slot] == done {
				ends = false
			}
		}
		if ends {
			m.cancels = append(m.cancels, int32(t.InFlight))
		}
	}
}

package petri

import (
	"fmt"
	"slices"
	"time"
)

// This file is the reference machine. It runs a net in the plainest way: it searches lists of
// tokens from the front and computes everything anew after every step. It shares no code with
// Machine. It runs drawings, which random_test.go makes and also turns into nets.

type shade byte

const (
	unitSort shade = iota
	intSort
	hueSort
	turnSort
	cardSort
)

func (s shade) keyed() bool { return s == hueSort || s == cardSort }
func (s shade) aged() bool  { return s == turnSort || s == cardSort }

// drawing is a net as data.
type drawing struct {
	places []drawnPlace
	trans  []drawnTransition
	final  int // -1: none
	init   []drawnToken
}

type drawnPlace struct {
	name   string
	sort   shade
	max    int
	env    bool
	policy Policy
	out    bool
}

type drawnToken struct{ place, key, gen, id int }

type drawnArc struct {
	place int
	kind  countKind
	n     int
	keys  keySet
	age   age
}

type drawnOut struct {
	place, n int
	pass     int    // place whose token is passed on, or -1
	key      int    // of the tokens produced, if none is passed on
	salt     uint64 // not 0: the key is computed from what look sees
}

type drawnTransition struct {
	in, read, inhibit, reset []drawnArc
	look                     []int // places whose keys guard, choice and computed keys see
	guard, choice            uint64
	free                     bool
	branches                 [][]drawnOut
	wait                     time.Duration
	priority                 int
	bump                     bool
}

// refToken is a token of the reference machine.
type refToken struct{ key, gen, id, age int }

// reference runs a drawing.
type reference struct {
	d      *drawing
	tokens [][]refToken
	clock  map[int]time.Duration // due times of the enabled timed transitions
	now    time.Duration
	gen    int
	born   int
	ended  bool
	events []Event
	out    []drawnToken
	fault  bool
}

func startReference(d *drawing) *reference {
	r := &reference{d: d, tokens: make([][]refToken, len(d.places)), clock: map[int]time.Duration{}}
	r.event(Started, 0, 0, 0, 0)
	for _, t := range d.init {
		r.add(t.place, refToken{key: t.key, gen: t.gen, id: t.id})
	}
	r.checkEnd()
	r.setClocks()
	r.settle()
	return r
}

func (r *reference) event(kind EventKind, index, branch, slot, size int) {
	r.events = append(r.events, Event{Seq: uint64(len(r.events) + 1), At: r.now, Kind: kind,
		Branch: uint8(branch), Index: int32(index), Slot: int32(slot), Size: int32(size)})
}

func (r *reference) add(place int, t refToken) {
	r.born++
	t.age = r.born
	r.tokens[place] = append(r.tokens[place], t)
}

func (r *reference) fresh(t refToken) bool { return t.gen == r.gen }

// slot is the kind of a token as events number it.
func (r *reference) slot(place int, t refToken) int {
	s := r.d.places[place].sort
	switch {
	case !s.keyed() && !s.aged():
		return 0
	case !s.aged():
		return t.key
	case r.fresh(t):
		return t.key * 2
	default:
		return t.key*2 + 1
	}
}

func (r *reference) matches(a drawnArc, t refToken) bool {
	return (a.keys == 0 || a.keys.has(Key(t.key))) &&
		(a.age == anyAge || (a.age == freshOnly) == r.fresh(t))
}

// matching lists the tokens that an arc accepts, oldest first.
func (r *reference) matching(a drawnArc) []refToken {
	var list []refToken
	for _, t := range r.tokens[a.place] {
		if r.matches(a, t) {
			list = append(list, t)
		}
	}
	return list
}

// binding is the token that each arc of one token takes or reads.
type binding map[*drawnArc]refToken

// bind returns how a transition can fire: arc by arc, it tries the oldest token first. It reports
// false if the transition cannot fire.
func (r *reference) bind(t *drawnTransition) (binding, bool) {
	if r.ended {
		return nil, false
	}
	for _, a := range t.inhibit {
		if len(r.matching(a)) >= a.n {
			return nil, false
		}
	}
	var single []*drawnArc
	for _, list := range [][]drawnArc{t.in, t.read} {
		for i := range list {
			a := &list[i]
			if len(r.matching(*a)) < a.n {
				return nil, false
			}
			if a.kind == exactly && a.n == 1 {
				single = append(single, a)
			}
		}
	}
	b := binding{}
	return b, r.try(t, single, b)
}

func (r *reference) try(t *drawnTransition, single []*drawnArc, b binding) bool {
	if len(single) == 0 {
		return t.guard == 0 || mix(t.guard, r.looks(t, b))%4 != 0
	}
	for _, tok := range r.matching(*single[0]) {
		b[single[0]] = tok
		if r.try(t, single[1:], b) {
			return true
		}
	}
	return false
}

// looks is what guard, choice and computed keys see.
func (r *reference) looks(t *drawnTransition, b binding) uint64 {
	var h uint64
	for _, place := range t.look {
		tok := b[t.arcOn(place)]
		h = mix(h, uint64(tok.key*2))
		if !r.d.places[place].sort.aged() || r.fresh(tok) {
			h = mix(h, 1)
		}
	}
	return h
}

// arcOn returns the arc whose token a look at a place sees.
func (t *drawnTransition) arcOn(place int) *drawnArc {
	for _, list := range [][]drawnArc{t.in, t.read} {
		for i := range list {
			if list[i].place == place {
				return &list[i]
			}
		}
	}
	panic("no arc on the place")
}

// setClocks starts and stops clocks in the current marking.
func (r *reference) setClocks() {
	for i := range r.d.trans {
		t := &r.d.trans[i]
		_, on := r.bind(t)
		_, running := r.clock[i]
		switch {
		case t.wait == 0:
		case !on && running:
			delete(r.clock, i)
		case on && !running:
			r.clock[i] = r.now + t.wait
		}
	}
}

// stopClocks stops the clocks of the transitions that the current marking disables.
func (r *reference) stopClocks() {
	for i := range r.d.trans {
		if _, on := r.bind(&r.d.trans[i]); !on {
			delete(r.clock, i)
		}
	}
}

// settle fires at-once transitions until none is enabled.
func (r *reference) settle() {
	for n := 0; !r.fault; n++ {
		best := -1
		for i := range r.d.trans {
			t := &r.d.trans[i]
			if _, on := r.bind(t); on && t.wait == 0 && (best < 0 || t.priority > r.d.trans[best].priority) {
				best = i
			}
		}
		if best < 0 {
			return
		}
		if n == MaxChain {
			r.fault = true
			return
		}
		r.fire(best)
	}
}

// until fires the timers that are due until now.
func (r *reference) until(now time.Duration) {
	for !r.fault {
		first := -1
		for i := range r.d.trans {
			if due, ok := r.clock[i]; ok && due <= now && (first < 0 || due < r.clock[first]) {
				first = i
			}
		}
		if first < 0 {
			break
		}
		r.now = r.clock[first]
		r.fire(first)
		r.settle()
	}
	r.now = max(r.now, now)
}

// inject injects a token and reports whether it was accepted.
func (r *reference) inject(at time.Duration, tok drawnToken) bool {
	r.until(at)
	if r.fault || r.ended {
		return false
	}
	p := r.d.places[tok.place]
	t := refToken{key: tok.key, gen: tok.gen, id: tok.id}
	slot, size := r.slot(tok.place, t), 0
	if p.sort == cardSort {
		size = tok.id % 7
	}
	if list := r.tokens[tok.place]; len(list) >= p.max {
		drop := 0
		switch p.policy {
		case Refuse:
			r.event(Refused, tok.place, 0, slot, size)
			return false
		case Coalesce:
			drop = len(list) - 1
		}
		r.event(Dropped, tok.place, 0, r.slot(tok.place, list[drop]), 0)
		r.tokens[tok.place] = slices.Delete(list, drop, drop+1)
	}
	r.event(Injected, tok.place, 0, slot, size)
	r.add(tok.place, t)
	r.checkEnd()
	r.setClocks()
	r.settle()
	return true
}

func (r *reference) checkEnd() {
	if r.d.final >= 0 && len(r.tokens[r.d.final]) > 0 && !r.ended {
		r.ended = true
		r.event(Ended, -1, 0, 0, 0)
	}
}

// fire fires one transition.
func (r *reference) fire(i int) {
	t := &r.d.trans[i]
	b, ok := r.bind(t)
	if !ok {
		panic(fmt.Sprint("fired while disabled: ", i))
	}
	seen := r.look(t, b)
	taken := r.consume(t, b)
	delete(r.clock, i)
	passed := map[int][]refToken{}
	for _, a := range t.read {
		passed[a.place] = seen[a.place]
	}
	for _, a := range t.in {
		passed[a.place] = taken[a.place]
	}
	choice := int(mix(t.choice, r.looks(t, b)) % uint64(max(len(t.branches), 1)))
	looked := r.looks(t, b)
	if t.bump {
		r.gen++
	}
	r.stopClocks()
	seq := len(r.events) + 1
	note := r.note(t, taken, seen, seq)
	if t.free {
		choice = int(note % uint64(len(t.branches)))
	}
	if len(t.branches) > 0 {
		r.produce(t.branches[choice], passed, looked, int(note%1000), seq)
	}
	if r.fault {
		return
	}
	r.event(Fired, i, choice, 0, 0)
	r.checkEnd()
	r.setClocks()
}

// look returns the oldest token that each read arc reads.
func (r *reference) look(t *drawnTransition, b binding) map[int][]refToken {
	seen := map[int][]refToken{}
	for i := range t.read {
		a := &t.read[i]
		if tok, ok := b[a]; ok {
			seen[a.place] = []refToken{tok}
		} else {
			seen[a.place] = r.matching(*a)[:1]
		}
	}
	return seen
}

// consume takes the inputs, then empties the reset places. It returns the tokens with the inputs
// first.
func (r *reference) consume(t *drawnTransition, b binding) map[int][]refToken {
	taken := map[int][]refToken{}
	take := func(a drawnArc, list []refToken) {
		for _, tok := range list {
			r.tokens[a.place] = slices.DeleteFunc(r.tokens[a.place], func(x refToken) bool { return x == tok })
		}
		taken[a.place] = append(taken[a.place], list...)
	}
	for i := range t.in {
		a := &t.in[i]
		switch tok, ok := b[a]; {
		case ok:
			take(*a, []refToken{tok})
		case a.kind == exactly:
			take(*a, r.matching(*a)[:a.n])
		default:
			take(*a, r.matching(*a))
		}
	}
	for _, a := range t.reset {
		take(a, r.matching(a))
	}
	return taken
}

// note is a number computed from everything that the action can see.
func (r *reference) note(t *drawnTransition, taken, seen map[int][]refToken, seq int) uint64 {
	h := mix(uint64(seq), uint64(r.gen))
	for _, place := range t.visible() {
		s := r.d.places[place].sort
		front := append(slices.Clone(taken[place]), seen[place]...)
		if t.arcIn(t.in, place) < 0 && t.arcIn(t.read, place) >= 0 {
			front = seen[place]
		}
		if s != unitSort && len(front) > 0 {
			h = mix(h, uint64(front[0].id+front[0].key))
		}
		h = mix(h, uint64(len(taken[place])))
		for _, tok := range taken[place] {
			if s != unitSort {
				h = mix(h, uint64(tok.id+tok.key))
			}
		}
	}
	return h
}

// visible lists the places at which the action may look, each once.
func (t *drawnTransition) visible() []int {
	var places []int
	for _, list := range [][]drawnArc{t.in, t.read, t.reset} {
		for _, a := range list {
			if !slices.Contains(places, a.place) {
				places = append(places, a.place)
			}
		}
	}
	return places
}

func (t *drawnTransition) arcIn(list []drawnArc, place int) int {
	return slices.IndexFunc(list, func(a drawnArc) bool { return a.place == place })
}

// produce places the tokens of a branch.
func (r *reference) produce(outs []drawnOut, passed map[int][]refToken, looked uint64, note, seq int) {
	for k, o := range outs {
		p := r.d.places[o.place]
		for i := range o.n {
			tok := refToken{key: o.key, gen: r.gen, id: note*10 + k}
			if o.salt != 0 {
				tok.key = int(mix(o.salt, looked) % 3)
			}
			if p.sort == unitSort || p.sort == hueSort {
				tok.id = 0
			}
			if o.pass >= 0 {
				tok = passed[o.pass][i]
			}
			if p.out {
				r.out = append(r.out, drawnToken{o.place, tok.key, tok.gen, tok.id})
				continue
			}
			r.add(o.place, tok)
		}
		if len(r.tokens[o.place]) > p.max {
			r.fault = true
			return
		}
	}
}

// mix hashes two numbers.
func mix(a, b uint64) uint64 {
	a ^= b + 0x9e3779b97f4a7c15 + a<<6 + a>>2
	a *= 0xff51afd7ed558ccd
	return a ^ a>>33
}

package petri

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// draw returns a random number below n.
type draw func(n int) int

func (d draw) chance(percent int) bool { return d(100) < percent }

// net draws a net.
func (d draw) net() *drawing {
	g := &drawing{final: -1}
	for i := range 3 + d(6) {
		p := drawnPlace{name: fmt.Sprint("p", i), sort: shade(d(5)), max: MaxTokens}
		switch d(10) {
		case 0, 1, 2:
			p.env, p.max = true, 1+d(4)
		case 3:
			p.max = 1 + d(5)
		}
		g.places = append(g.places, p)
	}
	inner := len(g.places)
	for s := range shade(5) {
		g.places = append(g.places, drawnPlace{name: fmt.Sprint("out", s), sort: s, max: MaxTokens, out: true})
	}
	for range 1 + d(7) {
		g.trans = append(g.trans, d.transition(g, inner))
	}
	if d.chance(40) {
		d.frames(g, inner)
	}
	if d.chance(30) {
		g.final = d(inner)
		if s := g.places[g.final].sort; s.keyed() || s.aged() {
			g.final = -1
		}
	}
	for range d(6) {
		t := drawnToken{place: d(inner), key: d(3), id: d(100)}
		g.init = append(g.init, t.cut(g))
	}
	return g
}

// cut removes from a token what its place does not distinguish.
func (t drawnToken) cut(g *drawing) drawnToken {
	s := g.places[t.place].sort
	if !s.keyed() {
		t.key = 0
	}
	if !s.aged() {
		t.gen = 0
	}
	if s == unitSort || s == hueSort {
		t.id = 0
	}
	return t
}

func (d draw) arc(g *drawing, place int) drawnArc {
	a := drawnArc{place: place, kind: exactly, n: 1}
	switch d(8) {
	case 0:
		a.n = 2 + d(2)
	case 1:
		a.kind = all
	case 2:
		a.kind, a.n = atLeast, 1+d(3)
	}
	a.n = min(a.n, g.places[place].max)
	if g.places[place].sort.keyed() && d.chance(50) {
		a.keys = keySet(1 + d(7))
	}
	if g.places[place].sort.aged() && d.chance(60) {
		a.age = age(d(3))
	}
	return a
}

// arcs draws up to n arcs on different places.
func (d draw) arcs(g *drawing, inner, n int) []drawnArc {
	var list []drawnArc
	for range d(n + 1) {
		p := d(inner)
		if !slices.ContainsFunc(list, func(a drawnArc) bool { return a.place == p }) {
			list = append(list, d.arc(g, p))
		}
	}
	return list
}

func (d draw) transition(g *drawing, inner int) drawnTransition {
	var t drawnTransition
	t.in = d.arcs(g, inner, 3)
	t.read, t.inhibit, t.reset = d.arcs(g, inner, d(3)), d.arcs(g, inner, d(3)), d.arcs(g, inner, d(2))
	if d.chance(40) {
		t.wait = time.Duration(1 + d(6))
	} else {
		t.priority = d(3)
	}
	if len(t.in) == 0 && t.wait == 0 && (len(t.read) == 0 || d.chance(90)) {
		t.in = []drawnArc{d.arc(g, d(inner))}
	}
	t.bump = d.chance(12)
	for _, p := range t.visible() {
		single := func(list []drawnArc) bool {
			i := t.arcIn(list, p)
			return i >= 0 && list[i].kind == exactly && list[i].n == 1
		}
		if single(t.in) || t.arcIn(t.in, p) < 0 && single(t.read) {
			t.look = append(t.look, p)
		}
	}
	if len(t.look) > 0 && d.chance(35) {
		t.guard = uint64(1 + d(1000))
	}
	switch d(5) {
	case 0:
		t.branches = [][]drawnOut{d.outs(g, &t), d.outs(g, &t)}
		t.choice = uint64(1 + d(1000))
	case 1:
		t.branches, t.free = [][]drawnOut{d.outs(g, &t), d.outs(g, &t), nil}, true
	default:
		t.branches = [][]drawnOut{d.outs(g, &t)}
	}
	return t
}

// frames adds a payload place and a transition that moves its tokens.
func (d draw) frames(g *drawing, inner int) {
	s := shade(d(5))
	g.places = append(g.places, drawnPlace{name: "frames", sort: s, max: 1 + d(3), env: true, policy: Policy(1 + d(2))})
	from := len(g.places) - 1
	t := drawnTransition{in: []drawnArc{{place: from, n: 1}}, read: d.arcs(g, inner, 1), inhibit: d.arcs(g, inner, 2),
		branches: [][]drawnOut{{{place: inner + int(s), n: 1, pass: from}}}, priority: d(3)}
	if s == unitSort {
		t.branches[0][0].pass = -1
	}
	g.trans = append(g.trans, t)
}

// outs draws the outputs of a branch.
func (d draw) outs(g *drawing, t *drawnTransition) []drawnOut {
	var list []drawnOut
	for range d(4) {
		p := d(len(g.places))
		pl := g.places[p]
		if pl.policy != Refuse || slices.ContainsFunc(list, func(o drawnOut) bool { return o.place == p }) {
			continue
		}
		o := drawnOut{place: p, n: min(1+d(8)/6, pl.max), pass: -1}
		if pl.sort.keyed() {
			o.key = d(3)
		}
		if pl.sort == hueSort && len(t.look) > 0 && d.chance(40) {
			o.salt = uint64(1 + d(1000))
		}
		if from := d.source(g, t, pl.sort); from >= 0 && pl.sort != unitSort && d.chance(60) {
			o = drawnOut{place: p, n: 1, pass: from}
		}
		list = append(list, o)
	}
	return list
}

// source picks a place whose token can be passed on, or returns -1.
func (d draw) source(g *drawing, t *drawnTransition, s shade) int {
	var can []int
	for _, p := range t.look {
		if g.places[p].sort == s {
			can = append(can, p)
		}
	}
	if len(can) == 0 {
		return -1
	}
	return can[d(len(can))]
}

// coloured makes the drawn arcs of one sort, with the Go type of their place.
type coloured interface {
	arc(a drawnArc) Arc
	out(o drawnOut, from string, look func(*Keys) uint64) Arc
	key(k *Keys) (int, bool)
	put(f *Firing, o drawnOut, id int)
	note(f *Firing, h uint64, needed bool) uint64
	token(t drawnToken) Token
	any() AnyPlace
}

type tint[T any] struct {
	place Place[T]
	make  func(key int, gen Gen, id int) T
	id    func(T) uint64
}

func (c tint[T]) any() AnyPlace { return c.place }

func (c tint[T]) token(t drawnToken) Token { return c.place.Token(c.make(t.key, Gen(t.gen), t.id)) }

func (c tint[T]) arc(a drawnArc) Arc {
	arc := Arc{place: c.place, kind: a.kind, n: a.n, keys: a.keys, age: a.age}
	return arc
}

func (c tint[T]) out(o drawnOut, from string, look func(*Keys) uint64) Arc {
	a := c.place.Exactly(o.n)
	col := c.place.colour()
	switch {
	case o.pass >= 0:
		return c.place.Passing(Place[T](from))
	case o.salt != 0:
		a.keyBy = func(k *Keys) Key { return Key(mix(o.salt, look(k)) % 3) }
	case col.keys != nil:
		a = a.Is(Key(o.key))
	}
	if col.gen {
		a = a.Fresh()
	}
	return a
}

func (c tint[T]) key(k *Keys) (int, bool) { return int(c.place.Key(k)), c.place.IsFresh(k) }

func (c tint[T]) put(f *Firing, o drawnOut, id int) {
	if c.place.colour().enum || c.place.colour().unit {
		return
	}
	for range o.n {
		c.place.Put(f, c.make(o.key, f.Gen(), id))
	}
}

func (c tint[T]) note(f *Firing, h uint64, needed bool) uint64 {
	unit := c.place.colour().unit
	if v := c.place.Get(f); !unit && (needed || c.place.Count(f) > 0) {
		h = mix(h, c.id(v))
	}
	h = mix(h, uint64(c.place.Count(f)))
	c.place.Each(f, func(v T) {
		if !unit {
			h = mix(h, c.id(v))
		}
	})
	return h
}

func colouredPlace(p drawnPlace) coloured {
	switch p.sort {
	case unitSort:
		return tint[Unit]{Place[Unit](p.name), func(int, Gen, int) Unit { return Unit{} }, func(Unit) uint64 { return 0 }}
	case intSort:
		return tint[int]{Place[int](p.name), func(_ int, _ Gen, id int) int { return id },
			func(v int) uint64 { return uint64(v) }}
	case hueSort:
		return tint[hue]{Place[hue](p.name), func(k int, _ Gen, _ int) hue { return hue(k) },
			func(v hue) uint64 { return uint64(v) }}
	case turnSort:
		return tint[*turn]{Place[*turn](p.name), func(_ int, g Gen, id int) *turn { return &turn{g, id} },
			func(v *turn) uint64 { return uint64(v.id) }}
	default:
		return tint[card]{Place[card](p.name), func(k int, g Gen, id int) card { return card{hue(k), g, id} },
			func(v card) uint64 { return uint64(v.id + int(v.hue)) }}
	}
}

// build turns a drawing into a net.
func (g *drawing) build() *Net {
	n := &Net{Name: "drawing", Imported: true}
	tints := make([]coloured, len(g.places))
	for i, p := range g.places {
		c := colouredPlace(p)
		tints[i] = c
		switch {
		case p.out:
			n.Out = append(n.Out, Output{Place: c.any()})
		case p.env:
			n.Env = append(n.Env, Env{Place: c.any(), Capacity: p.max, Policy: p.policy})
		case p.max != MaxTokens:
			n.Caps = append(n.Caps, Cap{c.any(), p.max})
		default:
			n.Sinks = append(n.Sinks, c.any())
		}
	}
	if g.final >= 0 {
		n.Final = tints[g.final].any()
	}
	for _, t := range g.init {
		n.Init = append(n.Init, tints[t.place].token(t))
	}
	for i := range g.trans {
		n.Transitions = append(n.Transitions, g.trans[i].build(g, i, tints))
	}
	return n
}

func (t *drawnTransition) build(g *drawing, i int, tints []coloured) Transition {
	arcs := func(list []drawnArc) (out Arcs) {
		for _, a := range list {
			out = append(out, tints[a.place].arc(a))
		}
		return out
	}
	look := func(k *Keys) (h uint64) {
		for _, p := range t.look {
			key, fresh := tints[p].key(k)
			if h = mix(h, uint64(key*2)); fresh {
				h = mix(h, 1)
			}
		}
		return h
	}
	tr := Transition{Name: fmt.Sprint("t", i), In: arcs(t.in), Read: arcs(t.read), Inhibit: arcs(t.inhibit),
		Reset: arcs(t.reset), Priority: t.priority, Bump: t.bump}
	if t.wait > 0 {
		tr.When = After(t.wait)
	}
	if t.guard != 0 {
		tr.Guard = func(k *Keys) bool { return mix(t.guard, look(k))%4 != 0 }
	}
	var branches []Arcs
	for _, outs := range t.branches {
		b := Arcs{}
		for _, o := range outs {
			from := ""
			if o.pass >= 0 {
				from = g.places[o.pass].name
			}
			b = append(b, tints[o.place].out(o, from, look))
		}
		branches = append(branches, b)
	}
	switch {
	case t.free:
		tr.Out = Free(branches...)
	case len(branches) > 1:
		tr.Out = Xor(branches...).By(func(k *Keys) int { return int(mix(t.choice, look(k)) % uint64(len(branches))) })
	default:
		tr.Out = And(branches[0]...)
	}
	tr.Action = t.action(tints)
	return tr
}

// action puts the tokens of the branch. It returns nil if no token needs an action.
func (t *drawnTransition) action(tints []coloured) func(*Firing) {
	idle := !t.free
	for _, outs := range t.branches {
		for _, o := range outs {
			c := tints[o.place].any().colour()
			idle = idle && (o.pass >= 0 || c.unit || c.enum)
		}
	}
	if idle {
		return nil
	}
	return func(f *Firing) {
		h := mix(f.Seq(), uint64(f.Gen()))
		for _, p := range t.visible() {
			h = tints[p].note(f, h, t.arcIn(t.in, p) >= 0 || t.arcIn(t.read, p) >= 0)
		}
		if t.free {
			f.Choose(int(h % uint64(len(t.branches))))
		}
		for k, o := range t.branches[f.Branch()] {
			if o.pass < 0 {
				tints[o.place].put(f, o, int(h%1000)*10+k)
			}
		}
	}
}

// pair is the machine and the reference side by side.
type pair struct {
	g     *drawing
	prog  *Program
	tints []coloured
	m     *Machine
	r     *reference
	seen  int // events compared
	outs  int
}

// startPair compiles a drawing, with crowds from a number of sleepers on. It returns an error if Compile
// refuses the drawing.
func startPair(g *drawing, crowd int) (*pair, error) {
	prog, err := compile(g.build(), crowd)
	if err != nil {
		return nil, err
	}
	p := &pair{g: g, prog: prog}
	for _, pl := range g.places {
		p.tints = append(p.tints, colouredPlace(pl))
	}
	return p, nil
}

// faults calls fn and returns the Fault with which it panicked, or nil.
func faults(fn func()) (f *Fault) {
	defer func() {
		if v := recover(); v != nil {
			var ok bool
			if f, ok = v.(*Fault); !ok {
				panic(v)
			}
		}
	}()
	fn()
	return nil
}

// start starts the machine, with the memory of the run before if there was one.
func (p *pair) start() {
	if p.m == nil {
		p.m = p.prog.Start()
	} else {
		p.m.Restart()
	}
}

// run plays a schedule on both and returns the first difference.
func (p *pair) run(d draw, steps int) string {
	fault := faults(p.start)
	p.r, p.seen, p.outs = startReference(p.g), 0, 0
	if fault != nil || p.r.fault {
		return p.bothFault(fault)
	}
	if s := p.compare(p.m.Advance(0)); s != "" {
		return s
	}
	for range steps {
		s, over := p.step(d)
		if s != "" || over {
			return s
		}
	}
	return p.queues()
}

func (p *pair) bothFault(f *Fault) string {
	if (f != nil) != p.r.fault {
		return fmt.Sprintf("fault %v, reference %v", f, p.r.fault)
	}
	return ""
}

// step injects or advances on both.
func (p *pair) step(d draw) (difference string, over bool) {
	at := p.r.now + time.Duration(d(5))
	tok := drawnToken{place: d(len(p.g.places)), key: d(3), gen: max(p.r.gen-d(2), 0), id: d(100)}.cut(p.g)
	if !p.g.places[tok.place].env {
		var ready Ready
		fault := faults(func() { ready = p.m.Advance(at) })
		p.r.until(at)
		if fault != nil || p.r.fault {
			return p.bothFault(fault), true
		}
		return p.compare(ready), false
	}
	var err error
	fault := faults(func() { err = p.m.Inject(at, p.tints[tok.place].token(tok)) })
	ok := p.r.inject(at, tok)
	if fault != nil || p.r.fault {
		return p.bothFault(fault), true
	}
	if (err == nil) != ok {
		return fmt.Sprintf("inject %v: %v, reference %v", tok, err, ok), true
	}
	return p.compare(p.m.Advance(at)), false
}

// compare compares what happened since the last comparison, and the states.
func (p *pair) compare(ready Ready) string {
	for _, e := range ready.Events {
		if p.seen == len(p.r.events) {
			return "more events than the reference: " + p.prog.Describe(e)
		}
		want := p.r.events[p.seen]
		p.seen++
		if k := want.Kind; k == Injected || k == Refused || k == Dropped {
			want.Index = int32(p.prog.Place(p.g.places[want.Index].name))
		}
		if e.Mode = 0; e != want {
			return fmt.Sprintf("event %+v, reference %+v", e, want)
		}
	}
	if p.seen != len(p.r.events) {
		return fmt.Sprintf("the reference has one more event: %+v", p.r.events[p.seen])
	}
	for _, o := range ready.Out {
		if p.outs == len(p.r.out) {
			return fmt.Sprintf("more outputs than the reference: %v", o)
		}
		want := p.r.out[p.outs]
		if w := p.tints[want.place].token(want); o.place != w.place || !reflect.DeepEqual(o.value, w.value) {
			return fmt.Sprintf("output %+v, reference %+v", o, w)
		}
		p.outs++
	}
	if p.outs != len(p.r.out) {
		return fmt.Sprintf("the reference has one more output: %+v", p.r.out[p.outs])
	}
	return p.standing(ready)
}

// place is the compiled place of a drawn one. Their orders differ.
func (p *pair) place(i int) *PlaceInfo { return &p.prog.places[p.prog.Place(p.g.places[i].name)] }

// standing compares marking, generation, end and the next due time.
func (p *pair) standing(ready Ready) string {
	want := make([]int32, p.prog.Slots())
	for i, list := range p.r.tokens {
		for _, t := range list {
			want[p.place(i).Slot+p.r.slot(i, t)]++
		}
	}
	wake := Forever
	for _, due := range p.r.clock {
		wake = min(wake, due)
	}
	switch {
	case !slices.Equal(p.m.Marking(nil), want):
		return fmt.Sprintf("marking %v, reference %v", p.m.Marking(nil), want)
	case int(p.m.Gen()) != p.r.gen:
		return fmt.Sprintf("generation %d, reference %d", p.m.Gen(), p.r.gen)
	case ready.Ended != p.r.ended || p.m.Ended() != p.r.ended:
		return fmt.Sprintf("ended %v, reference %v", ready.Ended, p.r.ended)
	case ready.Wake != wake || p.m.Wake() != wake:
		return fmt.Sprintf("wakes at %v, reference %v", ready.Wake, wake)
	}
	return ""
}

// queues compares the values in the places, in order.
func (p *pair) queues() string {
	for i, list := range p.r.tokens {
		var want [64][]any
		for _, t := range list {
			slot := p.r.slot(i, t)
			want[slot] = append(want[slot], p.tints[i].token(drawnToken{i, t.key, t.gen, t.id}).value)
		}
		for slot := range p.place(i).Slots {
			s := p.m.queues[p.prog.Place(p.g.places[i].name)]
			if s != nil && !reflect.DeepEqual(s.tokens(int32(slot)), want[slot]) {
				return fmt.Sprintf("place %d slot %d holds %v, reference %v", i, slot, s.tokens(int32(slot)), want[slot])
			}
		}
	}
	return ""
}

// tally counts what random runs exercised, so that a test can require it.
type tally struct{ nets, refused, crowds, faults, ended, events, outs, bumps int }

func (c *tally) check(t interface{ Fatalf(string, ...any) }, d draw) {
	g := d.net()
	p, err := startPair(g, 1+d(3))
	c.nets++
	if err == nil && len(p.prog.crowds) > 0 {
		c.crowds++
	}
	if err != nil {
		c.refused++
		return
	}
	if s := p.run(d, 10); s != "" {
		t.Fatalf("%s\n%s", s, g)
	}
	if s := p.run(d, 30); s != "" {
		t.Fatalf("in its second run: %s\n%s", s, g)
	}
	c.events += len(p.r.events)
	c.outs += len(p.r.out)
	c.bumps += p.r.gen
	if p.r.fault {
		c.faults++
	}
	if p.r.ended {
		c.ended++
	}
}

// String lists the drawing.
func (g *drawing) String() string {
	s := fmt.Sprintf("init %v final %d\n", g.init, g.final)
	for i, p := range g.places {
		s += fmt.Sprintf("place %d %+v\n", i, p)
	}
	for i, t := range g.trans {
		s += fmt.Sprintf("transition %d %+v\n", i, t)
	}
	return s
}

// TestReference plays random schedules on random nets. The machine and the reference must agree on
// every event, output, marking and due time.
func TestReference(t *testing.T) {
	nets := 2000
	if testing.Short() {
		nets = 400
	}
	var c tally
	for seed := range nets {
		rng := rand.New(rand.NewPCG(uint64(seed), 1))
		c.check(t, rng.IntN)
	}
	t.Logf("%+v", c)
	if c.refused > nets/3 || c.faults > nets/3 || c.ended < nets/50 ||
		c.bumps < nets/10 || c.crowds < nets/5 || c.events < nets*20 || c.outs < nets*5 {
		t.Errorf("the random nets exercise too little: %+v", c)
	}
}

// TestReferenceShrinks is TestReference with small counterexamples.
func TestReferenceShrinks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var c tally
		c.check(t, func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "n") })
	})
}

// FuzzMachine is TestReference with the choices of the fuzzer.
func FuzzMachine(f *testing.F) {
	f.Add([]byte("voice"))
	f.Fuzz(func(t *testing.T, choices []byte) {
		var c tally
		c.check(t, func(n int) int {
			if len(choices) == 0 {
				return 0
			}
			i := int(choices[0]) % n
			choices = choices[1:]
			return i
		})
	})
}

package petri

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// wild draws nets that no author would write: with nil parts, wrong names and numbers, or nested in
// themselves. Compile must return, and a net that it accepts must run until it ends or faults.
type wild struct {
	draw
	nets []*Net
}

func (w *wild) place() AnyPlace {
	name := fmt.Sprint("p", w.draw(5))
	switch w.draw(40) {
	case 0:
		return nil
	case 1:
		return (*Place[Unit])(nil)
	case 2:
		name = ""
	case 3:
		name = "n0/p1"
	}
	return w.typed(name)
}

// typed gives most names one type and some another.
func (w *wild) typed(name string) AnyPlace {
	kind := 0
	if name != "" {
		kind = int(name[len(name)-1] - '0')
	}
	if w.chance(3) {
		kind = w.draw(8)
	}
	switch kind {
	case 0:
		return Place[Unit](name)
	case 1:
		return Place[hue](name)
	case 2:
		return Place[card](name)
	case 3:
		return Place[*turn](name)
	case 4:
		return Place[int](name)
	case 5:
		return Place[manyKeys](name)
	case 6:
		return Place[noKeys](name)
	default:
		return Place[Result[int]](name)
	}
}

func (w *wild) count() int {
	return [...]int{1, 1, 1, 1, 1, 2, 3, 0, -1, 7, MaxTokens, MaxTokens + 1, 1 << 40}[w.draw(13)]
}

func (w *wild) arc() AnyArc {
	p := w.place()
	if p == nil || w.chance(5) {
		return p
	}
	if ptr, ok := p.(*Place[Unit]); ok {
		return ptr
	}
	a := Arc{place: p, n: w.count(), kind: countKind(w.draw(3))}
	if w.chance(80) {
		a.n, a.kind = 1, exactly
	}
	if w.chance(20) {
		a = a.Is(Key(w.draw(5)), Key(w.draw(3)))
	}
	if w.chance(2) {
		a = a.Is(Key(w.draw(256)))
	}
	if w.chance(20) {
		a.age = age(w.draw(3))
	}
	if w.chance(10) {
		a.keyBy = func(k *Keys) Key { return w.look(k) }
	}
	if from := w.place(); !isNil(from) && from.typ() == p.typ() && w.chance(40) {
		a.from = from // like Passing, which takes a place of the same colour
	}
	return a
}

func (w *wild) arcs(n int) Arcs {
	var list Arcs
	for range w.draw(n + 1) {
		list = append(list, w.arc())
	}
	return list
}

// look looks at the key of any place.
func (w *wild) look(k *Keys) Key {
	switch w.draw(4) {
	case 0:
		return Place[hue](fmt.Sprint("p", w.draw(5))).Key(k)
	case 1:
		if Place[card]("p2").IsFresh(k) {
			return 1
		}
		return Place[card]("p2").Key(k)
	default:
		return Key(w.draw(4))
	}
}

func (w *wild) split() Split {
	var branches []Arcs
	for range w.draw(4) {
		branches = append(branches, w.arcs(3))
	}
	by := func(k *Keys) int { return int(w.look(k)) - w.draw(2) }
	switch w.draw(6) {
	case 0:
		return Xor(branches...).By(by)
	case 1:
		return Free(branches...)
	case 2:
		return Xor(branches...)
	case 3:
		return And(w.arcs(3)...).By(by)
	default:
		return And(w.arcs(3)...)
	}
}

func (w *wild) transition(i int) Transition {
	t := Transition{Name: fmt.Sprint("t", i), In: w.arcs(2), Read: w.arcs(1), Inhibit: w.arcs(1), Reset: w.arcs(1),
		Out: w.split(), Bump: w.chance(10)}
	if w.chance(5) {
		t.Name = [...]string{"", "t0", "n0/t0"}[w.draw(3)]
	}
	if w.chance(30) {
		t.When = Interval{time.Duration(w.draw(4)), time.Duration(w.draw(4))}
	}
	if w.chance(2) {
		t.When = [...]Interval{After(-1), After(Forever), Anytime(), {5, 2}, After(Forever - 1)}[w.draw(5)]
	}
	t.Priority = w.draw(8) / 6
	if w.chance(20) {
		t.Guard = func(k *Keys) bool { return w.look(k)%2 == 0 }
	}
	if w.chance(40) {
		t.Action = w.act
	}
	return t
}

// act is an action that may break its declaration.
func (w *wild) act(f *Firing) {
	if w.chance(30) {
		f.Choose(w.draw(3))
	}
	for range w.draw(3) {
		switch w.draw(4) {
		case 0:
			Place[hue]("p1").Put(f, hue(w.draw(4)))
		case 1:
			Place[card]("p2").Put(f, card{hue: hue(w.draw(4)), gen: f.Gen()})
		case 2:
			Place[int]("p4").Put(f, Place[int]("p4").Get(f))
		default:
			Place[*turn]("p3").Put(f, &turn{gen: f.Gen() + Gen(w.draw(2))})
		}
	}
}

func (w *wild) net(depth int) *Net {
	n := &Net{Name: fmt.Sprint("n", len(w.nets)%4), Imported: w.chance(50), closed: w.chance(5)}
	w.nets = append(w.nets, n)
	for i := range w.draw(4) {
		n.Transitions = append(n.Transitions, w.transition(i))
	}
	list := func(percent int, add func(AnyPlace)) {
		for w.chance(percent) {
			add(w.place())
		}
	}
	list(40, func(p AnyPlace) { n.Ports = append(n.Ports, p) })
	list(50, func(p AnyPlace) { n.Env = append(n.Env, Env{p, w.count() % 100, Policy(w.draw(20) / 18)}) })
	list(20, func(p AnyPlace) { n.Out = append(n.Out, Output{p, w.chance(50)}) })
	list(15, func(p AnyPlace) { n.Caps = append(n.Caps, Cap{p, w.count()}) })
	list(40, func(p AnyPlace) { n.Sinks = append(n.Sinks, p) })
	list(60, func(p AnyPlace) {
		name := "p0"
		if !isNil(p) {
			name = p.String()
		}
		v := [...]any{Unit{}, Unit{}, hue(1), card{}, &turn{}, 7, nil, hue(9), &turn{gen: 3}}[w.draw(9)]
		n.Init = append(n.Init, Token{place: name, value: v})
	})
	if w.chance(10) {
		n.Final = w.place()
	}
	if w.chance(10) {
		n.Tasks = append(n.Tasks, Task[int, int]{Place[int](fmt.Sprint("p", w.draw(9))), "p0", "p7"})
	}
	if depth < 3 {
		for w.chance(35) {
			n.Nets = append(n.Nets, w.part(depth))
		}
	}
	return n
}

func (w *wild) part(depth int) *Net {
	switch w.draw(20) {
	case 0:
		return nil
	case 1:
		return w.nets[w.draw(len(w.nets))]
	}
	return w.net(depth + 1)
}

// run compiles and plays a wild net. It reports whether Compile accepted it.
func (w *wild) run(t *testing.T) bool {
	p, err := Compile(w.net(0))
	if err != nil {
		var e *Error
		if !errors.As(err, &e) || len(e.Problems) == 0 || p != nil {
			t.Fatalf("Compile = %v, %v", p, err)
		}
		return false
	}
	if p.Runnable() != nil {
		return true
	}
	faults(func() {
		m := p.Start()
		for range 10 {
			if pl := p.places; len(pl) > 0 {
				name := pl[w.draw(len(pl))].Name
				v := [...]any{Unit{}, hue(w.draw(5)), card{gen: m.gen}, &turn{}, 7, nil, Result[int]{}}[w.draw(7)]
				_ = m.Inject(m.Now()+time.Duration(w.draw(3)), Token{place: name, value: v})
			}
			m.Advance(m.Now() + time.Duration(w.draw(3)))
			w.check(t, m)
		}
	})
	return true
}

// check checks what every machine must keep, whatever its net.
func (w *wild) check(t *testing.T, m *Machine) {
	for i := range m.prog.places {
		p := &m.prog.places[i]
		n := m.prog.marked(m.count, p)
		if n > p.Max {
			t.Fatalf("place %s holds %d of %d", p.Name, n, p.Max)
		}
		for slot := range p.Slots {
			have := m.count[p.Slot+slot]
			if s := m.queues[i]; have < 0 || s != nil && len(s.tokens(int32(slot))) != int(have) {
				t.Fatalf("place %s slot %d: %d tokens are counted", p.Name, slot, have)
			}
		}
	}
	for i := range m.prog.transitions {
		on := !m.ended && m.prog.transitions[i].Enabled(m.count)
		if on != m.on[i] || on && m.prog.transitions[i].When.AtOnce() {
			t.Fatalf("transition %s: enabled %v, known as %v", m.prog.transitions[i].Name, on, m.on[i])
		}
	}
}

// TestWild compiles wild nets and runs those that Compile accepts.
func TestWild(t *testing.T) {
	nets := 15_000
	if testing.Short() {
		nets = 4000
	}
	accepted := 0
	for seed := range nets {
		w := wild{draw: rand.New(rand.NewPCG(uint64(seed), 8)).IntN}
		if w.run(t) {
			accepted++
		}
	}
	t.Logf("%d of %d nets were accepted", accepted, nets)
	if accepted < nets/50 {
		t.Errorf("only %d of %d nets were accepted", accepted, nets)
	}
}

// FuzzCompile is TestWild with the choices of the fuzzer.
func FuzzCompile(f *testing.F) {
	f.Add([]byte("a net"))
	f.Fuzz(func(t *testing.T, choices []byte) {
		w := wild{draw: func(n int) int {
			if len(choices) == 0 {
				return n - 1
			}
			i := int(choices[0]) % n
			choices = choices[1:]
			return i
		}}
		w.run(t)
	})
}

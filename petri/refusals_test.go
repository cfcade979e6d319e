package petri

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// update rewrites the golden files of this package.
var update = flag.Bool("update", false, "rewrite golden files")

// Places of the nets that Compile refuses.
const (
	pA    = Place[Unit]("a")
	pB    = Place[Unit]("b")
	pC    = Place[Unit]("c")
	pEdge = Place[edge]("edge")
	pHeld = Place[edge]("held")
	pIn   = Place[*chunk]("in")
	pKept = Place[*chunk]("kept")
	pText = Place[string]("text")
	pOut  = Place[string]("out")
	pDone = Place[Result[string]]("done")
)

type manyKeys uint8

func (k manyKeys) Key() Key         { return Key(k) }
func (manyKeys) KeyNames() []string { return make([]string, maxKeys+1) }

type noKeys uint8

func (k noKeys) Key() Key         { return Key(k) }
func (noKeys) KeyNames() []string { return []string{} }

type twinKeys uint8

func (k twinKeys) Key() Key         { return Key(k) }
func (twinKeys) KeyNames() []string { return []string{"left", "left"} }

// digit is an enum of eight.
type digit uint8

func (d digit) Key() Key         { return Key(d) }
func (digit) KeyNames() []string { return strings.Split("0 1 2 3 4 5 6 7", " ") }

type refusal struct {
	name string
	net  func() *Net
}

// one is a net of one transition between a marked place a and a sink b.
func one(change func(*Transition)) *Net {
	t := Transition{Name: "move", In: Arcs{pA}, Out: And(pB)}
	change(&t)
	return &Net{Name: "n", Init: []Token{pA.Token(Unit{})}, Sinks: []AnyPlace{pB}, Transitions: []Transition{t}}
}

// keyed is a net of one transition that takes an edge.
func keyed(change func(*Transition)) *Net {
	t := Transition{Name: "take", In: Arcs{pEdge}}
	change(&t)
	return &Net{Name: "n", Env: []Env{{Place: pEdge, Capacity: 4}}, Transitions: []Transition{t}}
}

// framed is a net of one transition that moves a frame out, and a state c.
func framed(change func(*Transition)) *Net {
	t := Transition{Name: "send", In: Arcs{pText}, Out: And(pOut)}
	change(&t)
	return &Net{Name: "n", Env: []Env{{Place: pText, Capacity: 4, Policy: DropOldest}}, Out: []Output{{Place: pOut}},
		Init: []Token{pC.Token(Unit{})}, Sinks: []AnyPlace{pC}, Transitions: []Transition{t}}
}

// worker is a net with a task.
func worker(change func(*Net)) *Net {
	n := &Net{Name: "n", Init: []Token{pA.Token(Unit{})},
		Tasks: []AnyTask{Task[string, string]{Start: pOut, InFlight: pB, Done: pDone}},
		Transitions: []Transition{
			{Name: "begin", In: Arcs{pA}, Out: And(pOut, pB), Action: func(f *Firing) { pOut.Put(f, "x") }},
			{Name: "finish", In: Arcs{pDone, pB}, Out: And(pA)},
		}}
	change(n)
	return n
}

func with(n *Net, change func(*Net)) *Net { change(n); return n }

// in makes a net of parts without Compose and its checks.
func in(parts ...*Net) *Net { return &Net{Name: "n", Nets: parts} }

func loops() *Net {
	n := one(func(*Transition) {})
	n.Nets = []*Net{{Name: "inner", Nets: []*Net{n}}}
	return n
}

func wide(n int) []Arcs {
	out := make([]Arcs, n)
	for i := range out {
		out[i] = Arcs{pB}
	}
	return out
}

func large() *Net {
	n := &Net{Name: "large", Transitions: make([]Transition, maxTransitions+1)}
	for i := range n.Transitions {
		n.Transitions[i] = Transition{Name: fmt.Sprint("t", i), In: Arcs{pA}, Out: And(pA)}
	}
	n.Init = []Token{pA.Token(Unit{})}
	return n
}

func netRefusals() []refusal {
	plain := func(change func(*Net)) func() *Net {
		return func() *Net { return with(one(func(*Transition) {}), change) }
	}
	return []refusal{
		{"nil net", func() *Net { return nil }},
		{"net without a name", plain(func(n *Net) { n.Name = "" })},
		{"nil part", func() *Net { return in(one(func(*Transition) {}), nil) }},
		{"part without a name", func() *Net { return in(with(one(func(*Transition) {}), func(n *Net) { n.Name = "" })) }},
		{"two parts of one name", func() *Net { return in(one(func(*Transition) {}), one(func(*Transition) {})) }},
		{"part of itself", loops},
		{"too large", large},
		{"qualified names meet", plain(func(n *Net) {
			n.Nets = []*Net{with(one(func(*Transition) {}), func(n *Net) { n.Name = "sub" })}
			n.Transitions[0].In = append(n.Transitions[0].In, Place[Unit]("sub/a"))
		})},
		{"nil places everywhere", plain(func(n *Net) {
			n.Env, n.Out, n.Caps = []Env{{}}, []Output{{}}, []Cap{{}}
			n.Sinks = append(n.Sinks, nil)
			n.Tasks = []AnyTask{nil}
			n.Nets = []*Net{{Name: "part", Ports: []AnyPlace{nil}}}
			n.Final = (*Place[Unit])(nil)
		})},
		{"nil task pointer", plain(func(n *Net) { n.Tasks = []AnyTask{(*Task[string, string])(nil)} })},
		{"place without a name", plain(func(n *Net) { n.Sinks = append(n.Sinks, Place[Unit]("")) })},
		{"one name, two types", plain(func(n *Net) { n.Sinks = append(n.Sinks, Place[int]("b")) })},
		{"port of another type than the net's place", plain(func(n *Net) {
			n.Nets = []*Net{{Name: "part", Ports: []AnyPlace{Place[int]("b")},
				Transitions: []Transition{{Name: "drop", In: Arcs{Place[int]("b")}}}}}
		})},
		{"unused port", plain(func(n *Net) { n.Nets = []*Net{{Name: "part", Ports: []AnyPlace{pB}}} })},
		{"environment of capacity -1", plain(func(n *Net) { n.Env = []Env{{Place: pA, Capacity: -1}} })},
		{"environment of 65537", plain(func(n *Net) { n.Env = []Env{{Place: pA, Capacity: MaxTokens + 1}} })},
		{"environment twice", plain(func(n *Net) {
			n.Env = []Env{{Place: pA, Capacity: 2}, {Place: pA, Capacity: 3}}
		})},
		{"two capacities", plain(func(n *Net) { n.Caps = []Cap{{pB, 2}, {pB, 3}} })},
		{"capacity 0", plain(func(n *Net) { n.Caps = []Cap{{pB, 0}} })},
		{"fused places of two capacities", func() *Net {
			a := with(one(func(*Transition) {}), func(n *Net) { n.Name, n.Caps, n.Ports = "x", []Cap{{pB, 2}}, []AnyPlace{pB} })
			b := with(one(func(*Transition) {}), func(n *Net) { n.Name, n.Caps, n.Ports = "y", []Cap{{pB, 4}}, []AnyPlace{pB} })
			return in(a, b)
		}},
		{"two final places", plain(func(n *Net) {
			n.Final, n.Nets = pB, []*Net{{Name: "part", Final: pA, Init: []Token{pA.Token(Unit{})}}}
		})},
		{"final place with keys", func() *Net {
			return with(keyed(func(t *Transition) { t.Out = And(pHeld) }), func(n *Net) { n.Final = pHeld })
		}},
		{"final output", plain(func(n *Net) { n.Final, n.Out = pB, []Output{{Place: pB}} })},
		{"environment and output", plain(func(n *Net) { n.Out, n.Env = []Output{{Place: pB}}, []Env{{Place: pB}} })},
		{"initial token nowhere", plain(func(n *Net) { n.Init = append(n.Init, pC.Token(Unit{})) })},
		{"initial token of another type", plain(func(n *Net) { n.Init = append(n.Init, Place[int]("a").Token(1)) })},
		{"initial nil", plain(func(n *Net) { n.Init = append(n.Init, Token{place: "a"}) })},
		{"initial token at an output", plain(func(n *Net) {
			n.Out, n.Init = []Output{{Place: pB}}, append(n.Init, pB.Token(Unit{}))
		})},
		{"initial token of no key", func() *Net {
			return with(keyed(func(*Transition) {}), func(n *Net) { n.Init = []Token{pEdge.Token(9)} })
		}},
		{"initial token of the future", func() *Net {
			return &Net{Name: "n", Init: []Token{pIn.Token(&chunk{gen: 1})},
				Transitions: []Transition{{Name: "drop", In: Arcs{pIn}}}}
		}},
		{"initial marking over capacity", plain(func(n *Net) {
			n.Caps, n.Init = []Cap{{pA, 1}}, append(n.Init, pA.Token(Unit{}))
		})},
		{"33 keys", func() *Net { return keyless[manyKeys]() }},
		{"no keys", func() *Net { return keyless[noKeys]() }},
		{"two keys of one name", func() *Net { return keyless[twinKeys]() }},
		{"two transitions of one name", plain(func(n *Net) { n.Transitions = append(n.Transitions, n.Transitions[0]) })},
		{"output never produced", plain(func(n *Net) { n.Out = []Output{{Place: pC}} })},
		{"nothing fills it", plain(func(n *Net) { n.Init = nil })},
		{"isolated", plain(func(n *Net) { n.Caps = []Cap{{pC, 1}} })},
		{"never used", plain(func(n *Net) { n.Sinks = nil })},
		{"never fires", plain(func(n *Net) {
			n.Transitions = append(n.Transitions, Transition{Name: "wait", In: Arcs{pB, pC}, Out: And(pC)})
		})},
		{"a key that never comes", func() *Net {
			return &Net{Name: "n", Init: []Token{pEdge.Token(start)}, Transitions: []Transition{
				{Name: "go", In: Arcs{pEdge.Is(start)}}, {Name: "halt", In: Arcs{pEdge.Is(stop)}}}}
		}},
		{"stale without a bump", func() *Net {
			return &Net{Name: "n", Init: []Token{pIn.Token(&chunk{})}, Transitions: []Transition{
				{Name: "drop", In: Arcs{pIn.Stale()}}}}
		}},
	}
}

// keyless is a net with one place of a colour.
func keyless[T any]() *Net {
	p := Place[T]("k")
	return &Net{Name: "n", Env: []Env{{Place: p}}, Transitions: []Transition{{Name: "drop", In: Arcs{p}}}}
}

func arcRefusals() []refusal {
	move := func(change func(*Transition)) func() *Net { return func() *Net { return one(change) } }
	take := func(change func(*Transition)) func() *Net { return func() *Net { return keyed(change) } }
	return []refusal{
		{"nil arcs", move(func(t *Transition) {
			t.In, t.Read, t.Out = append(t.In, nil, Arc{}), Arcs{(*Place[Unit])(nil)}, And(pB, nil)
		})},
		{"transition without a name", move(func(t *Transition) { t.Name = "" })},
		{"negative wait", move(func(t *Transition) { t.When = After(-1) })},
		{"empty interval", move(func(t *Transition) { t.When = Between(2*time.Second, time.Second) })},
		{"never", move(func(t *Transition) { t.When = After(Forever) })},
		{"timed priority", move(func(t *Transition) { t.When, t.Priority = After(1), 7 })},
		{"fires for ever", move(func(t *Transition) { t.In, t.Inhibit = nil, Arcs{pA} })},
		{"two input arcs", move(func(t *Transition) { t.In = Arcs{pA, pA.Exactly(2)} })},
		{"two read arcs", take(func(t *Transition) { t.Read = Arcs{pEdge.Is(start), pEdge.Is(stop)} })},
		{"two output arcs", move(func(t *Transition) { t.Out = And(pB, pB) })},
		{"output consumed", func() *Net {
			n := one(func(t *Transition) { t.Read = Arcs{pB} })
			n.Out = []Output{{Place: pB}}
			return n
		}},
		{"passing input", take(func(t *Transition) { t.In = Arcs{pEdge.Passing(pEdge)} })},
		{"KeyBy input", take(func(t *Transition) { t.In = Arcs{pEdge.KeyBy(func(*Keys) Key { return 0 })} })},
		{"input of 0", move(func(t *Transition) { t.In = Arcs{pA.Exactly(0)} })},
		{"input of 65537", move(func(t *Transition) { t.In = Arcs{pA.Exactly(MaxTokens + 1)} })},
		{"more than fits", take(func(t *Transition) { t.In = Arcs{pEdge.Is(start).Exactly(5)} })},
		{"key of no key", move(func(t *Transition) { t.In = Arcs{pA.Is(start)} })},
		{"key out of range", take(func(t *Transition) { t.In = Arcs{pEdge.Is(Key(2))} })},
		{"key 200", take(func(t *Transition) { t.In = Arcs{pEdge.Is(Key(200))} })},
		{"fresh without generation", take(func(t *Transition) { t.In = Arcs{pEdge.Fresh()} })},
		{"guard looks elsewhere", take(func(t *Transition) { t.Guard = func(k *Keys) bool { return pHeld.Key(k) == 0 } })},
		{"guard looks at all", take(func(t *Transition) {
			t.In, t.Guard = Arcs{pEdge.All()}, func(k *Keys) bool { return pEdge.Key(k) == 0 }
		})},
		{"guard looks at what inhibits", take(func(t *Transition) {
			t.In, t.Inhibit = Arcs{pEdge.Is(start)}, Arcs{pHeld}
			t.Guard = func(k *Keys) bool { return pHeld.Key(k) == 0 }
		})},
		{"guard refuses all", take(func(t *Transition) { t.Guard = func(*Keys) bool { return false } })},
		{"too many combinations", func() *Net { return digits(4, func(*Keys) bool { return true }) }},
		{"too many combinations refused", func() *Net { return digits(8, func(*Keys) bool { return false }) }},
		{"too many ways to take", func() *Net {
			p := Place[digit]("d")
			return &Net{Name: "n", Env: []Env{{Place: p, Capacity: 1000}}, Transitions: []Transition{
				{Name: "take", In: Arcs{p.Exactly(1000)}, Guard: func(*Keys) bool { return false }}}}
		}},
	}
}

// digits is a net that takes n digits of n places.
func digits(n int, guard Guard) *Net {
	net := &Net{Name: "n"}
	t := Transition{Name: "take", Guard: guard}
	for i := range n {
		p := Place[digit](fmt.Sprint("d", i))
		net.Env = append(net.Env, Env{Place: p})
		t.In = append(t.In, p)
	}
	net.Transitions = []Transition{t}
	return net
}

func outputRefusals() []refusal {
	move := func(change func(*Transition)) func() *Net { return func() *Net { return one(change) } }
	// from an edge to held, with the change's output
	take := func(out Split, action func(*Firing)) func() *Net {
		return func() *Net {
			n := keyed(func(t *Transition) { t.Out, t.Action = out, action })
			n.Sinks = []AnyPlace{pHeld}
			return n
		}
	}
	// from chunk in to kept
	hold := func(change func(*Transition)) func() *Net {
		return func() *Net {
			t := Transition{Name: "hold", In: Arcs{pIn}, Out: And(pKept)}
			change(&t)
			return &Net{Name: "n", Env: []Env{{Place: pIn, Capacity: 2}}, Sinks: []AnyPlace{pKept}, Transitions: []Transition{t}}
		}
	}
	nop := func(*Firing) {}
	return []refusal{
		{"Xor of one", move(func(t *Transition) { t.Out = Xor(Arcs{pB}).By(func(*Keys) int { return 0 }) })},
		{"Xor without By", move(func(t *Transition) { t.Out = Xor(Arcs{pB}, Arcs{}) })},
		{"By without Xor", move(func(t *Transition) { t.Out = And(pB).By(func(*Keys) int { return 0 }) })},
		{"By of Free", move(func(t *Transition) {
			t.Out, t.Action = Free(Arcs{pB}, Arcs{}).By(func(*Keys) int { return 0 }), nop
		})},
		{"choice out of range", move(func(t *Transition) { t.Out = Xor(Arcs{pB}, Arcs{}).By(func(*Keys) int { return 2 }) })},
		{"choice looks elsewhere", move(func(t *Transition) {
			t.Out = Xor(Arcs{pB}, Arcs{}).By(func(k *Keys) int { return int(pEdge.Key(k)) })
		})},
		{"Free without Choose", move(func(t *Transition) { t.Out = Free(Arcs{pB}, Arcs{}) })},
		{"Free of one", move(func(t *Transition) { t.Out, t.Action = Free(Arcs{pB}), nop })},
		{"257 branches", move(func(t *Transition) { t.Out = Xor(wide(257)...).By(func(*Keys) int { return 0 }) })},
		{"output of 0", move(func(t *Transition) { t.Out = And(pB.Exactly(0)) })},
		{"output of all", move(func(t *Transition) { t.Out = And(pB.All()) })},
		{"output stale", hold(func(t *Transition) { t.Out, t.Action = And(pKept.Stale()), nop })},
		{"output of two keys", take(And(pHeld.Is(start, stop)), nil)},
		{"output of no such key", take(And(pHeld.Is(Key(3))), nil)},
		{"nothing produces it", move(func(t *Transition) { t.Out = And(pText) })},
		{"nothing says the key", take(And(pHeld.Exactly(2)), nop)},
		{"KeyBy out of range", take(And(pHeld.KeyBy(func(*Keys) Key { return 2 })), nil)},
		{"KeyBy looks elsewhere", take(And(pHeld.KeyBy(func(k *Keys) Key { return pHeld.Key(k) })), nil)},
		{"Passing what is not taken", take(And(pHeld.Passing(pHeld)), nil)},
		{"Passing more than taken", take(And(pHeld.Passing(pEdge).Exactly(3)), nil)},
		{"Passing with a key", take(And(pHeld.Passing(pEdge).Is(start)), nil)},
		{"Passing a mixture", func() *Net {
			n := take(And(pHeld.Passing(pEdge).Exactly(2)), nil)()
			n.Transitions[0].In = Arcs{pEdge.Exactly(2)}
			return n
		}},
		{"two could be passed on", hold(func(t *Transition) { t.In = append(t.In, Place[*chunk]("in2")) })},
		{"nothing says the generation", hold(func(t *Transition) {
			t.In, t.Action = Arcs{pIn.Exactly(2)}, nop
		})},
		{"Fresh passes on stale", hold(func(t *Transition) { t.Out = And(pKept.Fresh()) })},
		{"Fresh passes on through a bump", hold(func(t *Transition) {
			t.In, t.Out, t.Bump = Arcs{pIn.Fresh()}, And(pKept.Fresh()), true
		})},
	}
}

func protocolRefusals() []refusal {
	frame := func(change func(*Transition)) func() *Net { return func() *Net { return framed(change) } }
	task := func(change func(*Net)) func() *Net { return func() *Net { return worker(change) } }
	return []refusal{
		{"frames taken two at a time", frame(func(t *Transition) { t.In, t.Out = Arcs{pText.Exactly(2)}, Split{} })},
		{"frame and state", frame(func(t *Transition) { t.In = Arcs{pText, pC} })},
		{"frame changes state", frame(func(t *Transition) { t.Out = And(pOut, pC) })},
		{"frame resets state", frame(func(t *Transition) { t.Reset = Arcs{pC} })},
		{"frame bumps", frame(func(t *Transition) { t.Bump = true })},
		{"frame later", frame(func(t *Transition) { t.When = After(1) })},
		{"frames decide", func() *Net {
			return with(framed(func(*Transition) {}), func(n *Net) {
				n.Transitions = append(n.Transitions, Transition{Name: "note", In: Arcs{pC}, Read: Arcs{pText}})
			})
		}},
		{"frame from inside", func() *Net {
			return with(framed(func(*Transition) {}), func(n *Net) {
				n.Transitions = append(n.Transitions, Transition{Name: "make", In: Arcs{pC}, Out: And(pText),
					Action: func(f *Firing) { pText.Put(f, "") }})
			})
		}},
		{"coalescing control", func() *Net {
			return with(keyed(func(t *Transition) { t.Out = And(pHeld) }), func(n *Net) {
				n.Env[0].Policy, n.Sinks = Coalesce, []AnyPlace{pHeld}
			})
		}},
		{"task that drops results", task(func(n *Net) {
			n.Env = []Env{{Place: pDone, Policy: DropOldest}}
		})},
		{"task started inside", task(func(n *Net) {
			n.Transitions = append(n.Transitions, Transition{Name: "steal", In: Arcs{pOut}})
		})},
		{"task that cannot be cancelled", task(func(n *Net) {
			n.Transitions[0].Out, n.Transitions[1].In = And(pOut), Arcs{pDone}
		})},
		{"in flight without a start", task(func(n *Net) {
			n.Transitions = append(n.Transitions, Transition{Name: "lie", In: Arcs{pC}, Out: And(pB)})
			n.Init = append(n.Init, pC.Token(Unit{}))
		})},
		{"two starts at once", task(func(n *Net) {
			n.Transitions[0].Out = And(pOut.Exactly(2), pB)
		})},
		{"one place, two tasks", task(func(n *Net) {
			n.Tasks = append(n.Tasks, Task[string, string]{Start: pOut, InFlight: pB, Done: "other_done"})
		})},
		{"in flight from the start", task(func(n *Net) { n.Init = append(n.Init, pB.Token(Unit{})) })},
		{"all at once", func() *Net {
			n := one(func(t *Transition) { t.In = Arcs{pA, pA, nil}; t.Priority, t.When = 3, After(-1) })
			n.Sinks = append(n.Sinks, Place[int]("b"))
			n.Init = append(n.Init, pC.Token(Unit{}))
			n.Transitions = append(n.Transitions,
				Transition{Name: "move", In: Arcs{pB.Is(start)}, Out: Xor(Arcs{pC}, Arcs{pC, pC})})
			n.Nets = []*Net{nil, {Name: "part", Ports: []AnyPlace{pA}}}
			return n
		}},
	}
}

// TestRefusals compares every text with which Compile refuses a net with testdata/refusals.golden.
// -update rewrites the file.
func TestRefusals(t *testing.T) {
	var got strings.Builder
	for _, list := range [][]refusal{netRefusals(), arcRefusals(), outputRefusals(), protocolRefusals()} {
		for _, r := range list {
			p, err := Compile(r.net())
			if err == nil || p != nil {
				t.Errorf("%s: Compile = %v, %v; want a refusal", r.name, p, err)
			}
			fmt.Fprintf(&got, "== %s\n%v\n", r.name, err)
		}
	}
	golden(t, "testdata/refusals.golden", got.String())
}

// golden compares a text with a file, or rewrites the file.
func golden(t *testing.T, name, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	g, w := strings.Split(got, "\n"), strings.Split(string(want), "\n")
	for i := range max(len(g), len(w)) {
		if i >= len(g) || i >= len(w) || g[i] != w[i] {
			t.Fatalf("%s:%d differs\n got %q\nwant %q\n(-update rewrites it)", name, i+1, at(g, i), at(w, i))
		}
	}
}

func at(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return "(end)"
}

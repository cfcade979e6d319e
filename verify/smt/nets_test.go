package smt

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/verify/explore"
	"github.com/voicegw/voicegw/verify/expr"
	"github.com/voicegw/voicegw/verify/netmodel"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// needSolvers fails a test that is about solvers where there are none.
func needSolvers(t testing.TB) {
	t.Helper()
	for _, name := range []string{"z3", "cvc5"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Fatalf("%s is not installed: run make deps", name)
		}
	}
}

type unit = petri.Place[petri.Unit]

// frame is a token of a generation.
type frame struct{ gen petri.Gen }

func (f frame) Generation() petri.Gen { return f.gen }

// light is a token with a key.
type light uint8

func (l light) Key() petri.Key   { return petri.Key(l) }
func (light) KeyNames() []string { return []string{"red", "green"} }

func arcs(names ...string) petri.Arcs {
	var out petri.Arcs
	for _, n := range names {
		out = append(out, unit(n))
	}
	return out
}

func many(name string, n int) []petri.Token {
	var out []petri.Token
	for range n {
		out = append(out, unit(name).Token(petri.Unit{}))
	}
	return out
}

func anytime(name string, in, out petri.Arcs) petri.Transition {
	return petri.Transition{Name: name, In: in, Out: petri.And(out...), When: petri.Anytime()}
}

func inhibit(t petri.Transition, by ...petri.AnyArc) petri.Transition { t.Inhibit = by; return t }
func reading(t petri.Transition, what ...petri.AnyArc) petri.Transition {
	t.Read = what
	return t
}
func reset(t petri.Transition, what ...petri.AnyArc) petri.Transition { t.Reset = what; return t }

func compile(t testing.TB, n *petri.Net) *petri.Program {
	t.Helper()
	p, err := petri.Compile(n)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// voice is a call with barge-in, recovery and a budget of k frames.
func voice(k int) *petri.Net {
	return &petri.Net{Name: "voice", Imported: true, Init: append(many("BUDGET", k), many("IDLE", 1)...),
		Transitions: []petri.Transition{
			inhibit(anytime("utt_start", arcs("IDLE"), arcs("LISTEN", "VAD_OPEN")), unit("VAD_OPEN")),
			anytime("utt_end", arcs("LISTEN", "VAD_OPEN"), arcs("THINK")),
			anytime("model_start", arcs("THINK"), arcs("SPEAK")),
			anytime("model_tool", arcs("THINK"), arcs("TOOL")),
			anytime("tool_done", arcs("TOOL"), arcs("THINK")),
			inhibit(reading(anytime("chunk", arcs("BUDGET"), arcs("INFLIGHT")), unit("SPEAK")), unit("BARGE")),
			anytime("played", arcs("INFLIGHT"), arcs("BUDGET")),
			inhibit(anytime("turn_complete", arcs("SPEAK"), arcs("IDLE")), unit("INFLIGHT")),
			inhibit(anytime("barge_in", arcs("SPEAK"), arcs("BARGE", "VAD_OPEN")), unit("BARGE"), unit("VAD_OPEN")),
			anytime("flush", arcs("BARGE", "INFLIGHT"), arcs("BARGE", "BUDGET")),
			inhibit(anytime("barge_done", arcs("BARGE"), arcs("LISTEN")), unit("INFLIGHT")),
			anytime("silence1", arcs("THINK"), arcs("REC1")),
			anytime("rec1_ok", arcs("REC1"), arcs("THINK")),
			anytime("silence2", arcs("REC1"), arcs("REC2")),
			anytime("rec2", arcs("REC2"), arcs("IDLE")),
			inhibit(reset(anytime("new_utt", arcs("THINK"), arcs("LISTEN", "VAD_OPEN")),
				unit("TOOL"), unit("REC1"), unit("REC2"), unit("VAD_OPEN")), unit("VAD_OPEN")),
		}}
}

// budget leaves the budget of voice open.
func budget() Config {
	return Config{Params: []Param{{Name: "K", Min: 1, Initial: []string{"BUDGET"}}}}
}

// playout hands frames over, at most k not acknowledged; a pause takes them back, a cut makes them
// stale.
func playout(k int) *petri.Net {
	const (
		waiting, unacked, unplayed petri.Place[frame] = "waiting", "unacked", "unplayed"
		pause                                         = unit("pause")
	)
	return &petri.Net{Name: "playout", Imported: true, Transitions: []petri.Transition{
		{Name: "speak", Out: petri.And(waiting.Fresh()), When: petri.Anytime(),
			Action: func(f *petri.Firing) { waiting.Put(f, frame{f.Gen()}) }},
		{Name: "send", In: petri.Arcs{waiting.Fresh()}, Inhibit: petri.Arcs{unacked.AtLeast(k), unplayed, pause},
			Out: petri.And(unacked.Passing(waiting))},
		{Name: "again", In: petri.Arcs{unplayed}, Inhibit: petri.Arcs{unacked.AtLeast(k), pause},
			Out: petri.And(unacked.Passing(unplayed))},
		{Name: "played", In: petri.Arcs{unacked.Fresh()}, When: petri.Anytime()},
		{Name: "pause", Inhibit: petri.Arcs{pause}, Out: petri.And(pause), When: petri.Anytime()},
		{Name: "take_back", In: petri.Arcs{unacked}, Read: petri.Arcs{pause}, Out: petri.And(unplayed.Passing(unacked))},
		{Name: "resume", In: petri.Arcs{pause}, When: petri.Anytime()},
		{Name: "cut", In: petri.Arcs{pause}, Bump: true, When: petri.Anytime()},
		{Name: "drop_stale", In: petri.Arcs{waiting.Stale()}},
	}}
}

func window() Config {
	return Config{Params: []Param{{Name: "K", Min: 1, Thresholds: []Threshold{
		{"send", "unacked"}, {"again", "unacked"}}}}}
}

// freshness picks results of tasks that are fresh and commits them; a new turn makes results in
// flight stale. careful says whether it drops what was picked.
func freshness(careful bool) *petri.Net {
	const flight, picked petri.Place[frame] = "flight", "picked"
	turn := petri.Transition{Name: "next_turn", In: arcs("idle"), Out: petri.And(unit("idle")), Bump: true,
		When: petri.Anytime()}
	if careful {
		turn.Reset = petri.Arcs{picked}
	}
	return &petri.Net{Name: "freshness", Imported: true, Init: many("idle", 1), Transitions: []petri.Transition{
		{Name: "dispatch", Out: petri.And(flight.Fresh()), When: petri.Anytime(),
			Action: func(f *petri.Firing) { flight.Put(f, frame{f.Gen()}) }},
		turn,
		anytime("pick", petri.Arcs{flight.Fresh()}, petri.Arcs{picked.Passing(flight)}),
		{Name: "commit", In: petri.Arcs{picked}, When: petri.Anytime(),
			Out: petri.Xor(arcs("good"), arcs("old")).By(func(k *petri.Keys) int {
				if picked.IsFresh(k) {
					return 0
				}
				return 1
			})},
		anytime("discard", petri.Arcs{flight.Stale()}, nil),
	}}
}

// run asks one question.
func run(t testing.TB, p *petri.Program, prop *verify.Property) *verify.Result {
	t.Helper()
	r, err := verify.Run(context.Background(), p, verify.Config{Max: 5000}, prop)
	if err != nil {
		t.Fatal(err)
	}
	return &r.Results[0]
}

// maker makes random nets.
type maker struct{ *rand.Rand }

// place is one of the five places a random net has: c has keys, d generations.
func (k maker) arc(in bool) petri.AnyArc {
	const (
		c petri.Place[light] = "c"
		d petri.Place[frame] = "d"
	)
	n := 1 + k.IntN(8)/7
	switch i := k.IntN(5); i {
	case 3:
		if a := c.Is(light(k.IntN(2))); !in || k.IntN(2) == 0 {
			return a.Exactly(n)
		}
		return c.Exactly(n)
	case 4:
		if a := d.Fresh(); !in || k.IntN(2) == 0 {
			return a.Exactly(n)
		}
		return d.Exactly(n)
	default:
		return unit([]string{"a", "b", "e"}[i]).Exactly(n)
	}
}

func (k maker) some(in bool, most int) petri.Arcs {
	var out petri.Arcs
	seen := map[string]bool{}
	for range k.IntN(most + 1) {
		a := k.arc(in)
		if name := petri.ArcPlace(a).String(); !seen[name] {
			seen[name] = true
			out = append(out, a)
		}
	}
	return out
}

func (k maker) transition(name string) petri.Transition {
	t := petri.Transition{Name: name, In: k.some(true, 2), Read: k.some(true, 1), Inhibit: k.some(true, 1),
		Bump: k.IntN(5) == 0, When: petri.Anytime(), Action: func(*petri.Firing) { panic("nobody fires it") }}
	if len(t.In) == 0 {
		t.In = petri.Arcs{k.arc(true)}
	}
	if k.IntN(4) == 0 {
		t.Reset = k.some(true, 1)
	}
	if k.IntN(6) == 0 {
		t.In = petri.Arcs{petri.Place[light]("c").All()}
	}
	if k.IntN(3) == 0 {
		t.When, t.Priority = petri.Interval{}, k.IntN(3)
	}
	t.Out = petri.And(k.some(false, 2)...)
	if k.IntN(5) == 0 {
		t.Out = petri.Free(k.some(false, 2), k.some(false, 1))
	}
	return t
}

// program is a random net that compiles.
func (k maker) program() *petri.Program {
	for {
		n := &petri.Net{Name: "random", Imported: true}
		for i := range 3 + k.IntN(4) {
			n.Transitions = append(n.Transitions, k.transition(fmt.Sprint("t", i)))
		}
		if k.IntN(3) == 0 {
			n.Final = unit("end")
			n.Transitions[0].Out = petri.And(unit("end"))
		}
		n.Init = append(many("a", 1+k.IntN(2)), petri.Place[light]("c").Token(0), petri.Place[frame]("d").Token(frame{}))
		if p, err := petri.Compile(n); err == nil {
			return p
		}
	}
}

// expr is a random expression over a random net.
func (k maker) expr(depth int) string {
	names := []string{"a", "c", "c[red]", "c[green]", "d", "d[fresh]", "d[stale]"}
	name := names[k.IntN(len(names))]
	switch i := k.IntN(12); {
	case i == 0:
		return "!(" + k.expr(depth+1) + ")"
	case i == 1:
		return "dead"
	case i == 2:
		return "ended"
	case i < 5 && depth < 2:
		return k.expr(depth+1) + " && " + k.expr(depth+1)
	case i < 6 && depth < 2:
		return "(" + k.expr(depth+1) + " || " + k.expr(depth+1) + ")"
	case i < 8:
		op := []string{"==", "!=", ">", "<"}[k.IntN(4)]
		return fmt.Sprintf("2*%s + %q %s %d", name, names[k.IntN(len(names))], op, k.IntN(5))
	default:
		return fmt.Sprintf("%s >= %d", name, 1+k.IntN(2))
	}
}

// TestRandomNets: on random nets of all kinds of arc the solver and the explicit search agree, on
// all places and on slices, and every marking satisfies every invariant.
func TestRandomNets(t *testing.T) {
	needSolvers(t)
	c := Config{Timeout: time.Second}
	z3, err := c.z3(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	var safe, reached, silent, sliced int
	for seed := range uint64(100) {
		k := maker{rand.New(rand.NewPCG(seed, 3))}
		p := k.program()
		g, err := explore.Explore(context.Background(), p, explore.Options{Max: 400})
		if err != nil {
			t.Fatal(err)
		}
		if !g.Complete || len(g.Faults) > 0 {
			continue
		}
		expr := k.expr(0)
		want, markings := truth(t, g, expr)
		for _, whole := range []bool{true, false} {
			s := encode(t, g.Model, expr, whole)
			a, invariant, err := s.decide(context.Background(), z3)
			if quiet := (*silence)(nil); errors.As(err, &quiet) && !strings.Contains(err.Error(), "(error") { // a time-out
				silent++
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			if whole && a.safe() == want || !whole && a.safe() && want {
				t.Errorf("seed %d: %q, whole %v: reached is %v, the solver says safe is %v\n%s",
					seed, expr, whole, want, a.safe(), s.horn())
			}
			if !a.safe() {
				reached++
				continue
			}
			safe++
			if !whole {
				sliced++
			}
			for _, m := range markings {
				if !s.holds(t, invariant, m) {
					t.Fatalf("seed %d: %q: marking %v breaks the invariant %s", seed, expr, m, invariant)
				}
			}
		}
	}
	t.Logf("%d safe (%d on slices), %d reached, %d without an answer", safe, sliced, reached, silent)
	if safe < 30 || reached < 30 || sliced < 15 || silent > 40 {
		t.Error("the nets are too easy or too hard")
	}
}

// truth tells whether the explicit search finds a marking that satisfies an expression, and lists
// all markings.
func truth(t testing.TB, g *explore.Graph, text string) (found bool, all [][]int32) {
	t.Helper()
	e, err := expr.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	c, err := g.Model.BindExpr(e)
	if err != nil {
		return false, nil
	}
	g.Each(func(_ int, m []int32) bool {
		all = append(all, append([]int32(nil), m...))
		found = found || c.Holds(m)
		return true
	})
	return found, all
}

func encode(t testing.TB, m *netmodel.Model, expr string, whole bool) *system {
	t.Helper()
	e, err := newEncoder(m, netmodel.RunToCompletion, nil)
	if err != nil {
		t.Fatal(err)
	}
	if whole {
		e.keepAll()
	}
	s, err := e.system(expr)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// holds evaluates a formula in a marking.
func (s *system) holds(t testing.TB, f term, m []int32) bool {
	env := map[string]int64{}
	for _, slot := range s.slots {
		env[slotVar(slot).atom] = int64(m[slot])
	}
	return eval(t, f, env) != 0
}

// eval evaluates a formula or a sum; false is 0.
func eval(t testing.TB, f term, env map[string]int64) int64 {
	t.Helper()
	if f.atom != "" {
		var n int64
		switch v, ok := env[f.atom]; {
		case ok:
			return v
		case f.atom == "true":
			return 1
		case f.atom == "false":
			return 0
		}
		if _, err := fmt.Sscan(f.atom, &n); err != nil {
			t.Fatalf("what is %s?", f.atom)
		}
		return n
	}
	if f.head() == "let" {
		inner := map[string]int64{}
		for k, v := range env {
			inner[k] = v
		}
		for _, b := range f.list[1].list {
			inner[b.list[0].atom] = eval(t, b.list[1], env)
		}
		return eval(t, f.list[2], inner)
	}
	var args []int64
	for _, a := range f.list[1:] {
		args = append(args, eval(t, a, env))
	}
	return apply(t, f.head(), args)
}

func apply(t testing.TB, op string, args []int64) int64 {
	truth := func(b bool) int64 {
		if b {
			return 1
		}
		return 0
	}
	switch op {
	case "not":
		return 1 - args[0]
	case "ite":
		if args[0] != 0 {
			return args[1]
		}
		return args[2]
	case "-":
		if len(args) == 1 {
			return -args[0]
		}
		return args[0] - args[1]
	case "<":
		return truth(args[0] < args[1])
	case "<=":
		return truth(args[0] <= args[1])
	case ">":
		return truth(args[0] > args[1])
	case ">=":
		return truth(args[0] >= args[1])
	case "=":
		return truth(args[0] == args[1])
	case "=>":
		return truth(args[0] == 0 || args[1] != 0)
	}
	acc := map[string]int64{"and": 1, "*": 1}[op]
	for _, a := range args {
		switch op {
		case "and":
			acc = min(acc, a)
		case "or":
			acc = max(acc, a)
		case "+":
			acc += a
		case "*":
			acc *= a
		default:
			t.Fatalf("what is %s?", op)
		}
	}
	return acc
}

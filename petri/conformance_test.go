package petri

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestConformance tests the requirements of libpetri that agree with docs/semantics.md, under
// libpetri's numbers. The end of that page lists the others, with reasons.
func TestConformance(t *testing.T) {
	for _, c := range slices.Concat(structureConformance(), runConformance(), moduleConformance()) {
		t.Run(c.id+"_"+c.name, c.test)
	}
}

// TestConformanceExceptions checks that no requirement is both excepted in the document and tested.
func TestConformanceExceptions(t *testing.T) {
	text, err := os.ReadFile("../docs/semantics.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, ok := strings.Cut(string(text), "| id | libpetri | voicegw |")
	for _, c := range slices.Concat(structureConformance(), runConformance(), moduleConformance()) {
		for _, id := range strings.Split(c.id, ",") {
			if !ok || strings.Contains(table, "| "+id+" ") || strings.Contains(table, ", "+id+" ") {
				t.Errorf("%s is excepted in the document and tested", id)
			}
		}
	}
}

// held runs the tests of sentences of docs/semantics.md.
func held(ids ...string) func(*testing.T) {
	return func(t *testing.T) {
		for _, id := range ids {
			i := slices.IndexFunc(sentences(), func(s sentence) bool { return s.id == id })
			sentences()[i].test(t)
		}
	}
}

// refused checks that Compile refuses nets of TestRefusals, whose golden file has the texts.
func refused(names ...string) func(*testing.T) {
	return func(t *testing.T) {
		all := slices.Concat(netRefusals(), arcRefusals(), outputRefusals(), protocolRefusals())
		for _, name := range names {
			i := slices.IndexFunc(all, func(r refusal) bool { return r.name == name })
			if _, err := Compile(all[i].net()); err == nil {
				t.Errorf("%s: not refused", name)
			}
		}
	}
}

func structureConformance() []sentence {
	return []sentence{
		{"CORE-002,MOD-050", "same_name_and_type", held("6.2", "6.3")},
		{"CORE-003", "wrong_type", held("4.1")},
		{"CORE-013,EXEC-010", "per_place_fifo", held("3.7")},
		{"CORE-022,IO-005", "enabled", held("3.1")},
		{"CORE-030_AC3", "one_input_arc_per_place", refused("two input arcs", "two read arcs", "two output arcs")},
		{"CORE-031", "inhibitor_blocks", held("3.5")},
		{"CORE-032,EXEC-012", "read_peeks_before_reset", held("3.4")},
		{"CORE-033,EXEC-013_AC4", "reset_needs_nothing", held("3.6")},
		{"CORE-041", "immutable", immutable},
		{"CORE-043", "outputs_have_a_producer", refused("nothing produces it", "nothing says the key")},
		{"CORE-073,ENV-014", "snapshot_with_clocks", held("10.1", "10.2")},
		{"CORE-062,CORE-063,IO-011", "all_declared_outputs_or_none", held("3.11")},
		{"IO-001,IO-002,IO-003,IO-004", "required_and_consumed", held("3.3")},
		{"IO-007,VER-010,VER-011", "one_table", oneTable},
		{"IO-012", "exactly_one_branch", held("4.4", "4.5")},
		{"IO-016,IO-017", "branches_and_leaves", branchesAndLeaves},
		{"TIME-001", "interval_forms", func(t *testing.T) {
			got := fmt.Sprint([]Interval{{}, After(ms), Between(ms, 2*ms), Anytime(), {Earliest: ms, Latest: Forever}})
			same(t, "forms", got, "[at once after 1ms [1ms,2ms] [0s,inf) [1ms,inf)]")
			refused("negative wait", "empty interval", "never")(t)
		}},
	}
}

// immutable changes a net after it was compiled. Its program stays as it was.
func immutable(t *testing.T) {
	n := tick()
	p := compiled(t, n)
	n.Transitions[0].When = After(1)
	n.Transitions[0].In[0] = pB
	n.Init = nil
	clear(n.Env)
	w := &world{T: t, p: p, m: p.Start()}
	w.inject(5*ms, pText.Token("x"))
	same(t, "trace", w.until(20*ms), "5ms say, 10ms tick, 20ms tick")
}

// oneTable derives the marking from the events and the tables that proofs use, and compares it with
// the machine's marking after every call.
func oneTable(t *testing.T) {
	fired := 0
	for seed := range 800 {
		d := draw(rand.New(rand.NewPCG(uint64(seed), 4)).IntN)
		g := d.net()
		p, err := startPair(g, 1)
		if err != nil {
			continue
		}
		if faults(func() { p.m = p.prog.Start() }) != nil {
			continue
		}
		marking := p.prog.Initial()
		for range 20 {
			at := p.m.Now() + time.Duration(d(6))
			tok := drawnToken{place: d(len(g.places)), key: d(3), id: d(9)}.cut(g)
			if faults(func() {
				if g.places[tok.place].env {
					_ = p.m.Inject(at, p.tints[tok.place].token(tok))
				}
			}) != nil {
				break
			}
			var r Ready
			if faults(func() { r = p.m.Advance(at) }) != nil {
				break
			}
			for _, e := range r.Events {
				fired += p.prog.apply(t, marking, e)
			}
			if got := p.m.Marking(nil); !slices.Equal(got, marking) {
				t.Fatalf("seed %d: marking %v, by the tables %v\n%s", seed, got, marking, g)
			}
		}
	}
	if fired < 2000 {
		t.Errorf("only %d firings", fired)
	}
}

// apply changes a marking as an event says, with the exported tables alone.
func (p *Program) apply(t *testing.T, marking []int32, e Event) (fired int) {
	switch e.Kind {
	case Injected:
		marking[p.places[e.Index].Slot+int(e.Slot)]++
	case Dropped:
		marking[p.places[e.Index].Slot+int(e.Slot)]--
	case Fired:
		tr := &p.transitions[e.Index]
		m := &tr.Modes[e.Mode]
		if !m.Enabled(marking) || !tr.Enabled(marking) {
			t.Fatalf("%s fired, but the tables say it is disabled in %v", p.FiringName(e), marking)
		}
		for _, k := range m.Take {
			marking[k.Slot] -= k.N
		}
		for _, s := range slices.Concat(m.Drain, m.Reset) {
			marking[s] = 0
		}
		for i := range p.places {
			if pl := &p.places[i]; tr.Bump && pl.Gen {
				for s := pl.Slot; s < pl.Slot+pl.Slots; s += 2 {
					marking[s], marking[s+1] = 0, marking[s]+marking[s+1]
				}
			}
		}
		for _, k := range m.Branches[e.Branch].Put {
			marking[k.Slot] += k.N
		}
		return 1
	}
	return 0
}

func branchesAndLeaves(t *testing.T) {
	n := one(func(t *Transition) {
		t.Out = Xor(Arcs{pB, pC.Exactly(2)}, Arcs{}, Arcs{pOut}).By(func(*Keys) int { return 0 })
		t.Action = func(*Firing) {}
	})
	n.Sinks, n.Out = []AnyPlace{pB, pC}, []Output{{Place: pOut}}
	p := compiled(t, n)
	b := p.Transitions()[0].Modes[0].Branches
	same(t, "branches", len(b), 3)
	same(t, "leaves", fmt.Sprint(b[0].Put, b[1].Put, b[2].Put, b[2].Emit), "[{1 1} {2 2}] [] [] [{3 1}]")
	same(t, "choice", p.Transitions()[0].Modes[0].Choice(), 0)
}

func runConformance() []sentence {
	return []sentence{
		{"TIME-006,TIME-015", "exact_on_a_given_clock", held("1.1", "1.7")},
		{"TIME-010", "clock_from_enablement", held("1.7", "3.15")},
		{"TIME-011,TIME-012", "restart_and_keep", held("3.13", "3.14")},
		{"TIME-014", "fallback", fallback},
		{"EXEC-003", "loser_disabled", func(t *testing.T) {
			n := &Net{Name: "n", Init: units(pA), Sinks: []AnyPlace{pB}, Transitions: []Transition{
				{Name: "wins", In: Arcs{pA}, Out: And(pB)}, {Name: "loses", In: Arcs{pA}, Out: And(pB)}}}
			w := play(t, n)
			same(t, "trace", w.until(ms), "0s wins")
			same(t, "marking", w.marking(), "b")
		}},
		{"EXEC-040,EXEC-041", "quiescence_and_result", func(t *testing.T) {
			w := play(t, one(func(*Transition) {}))
			r := w.m.Advance(0)
			same(t, "nothing due", r.Wake, Forever)
			same(t, "result", w.marking(), "b")
			same(t, "nothing more", w.until(time.Hour), "")
		}},
		{"CONC-005,PERF-001,PERF-003", "only_what_a_firing_touches", func(t *testing.T) {
			for _, n := range []int{100, 3000} {
				p := compiled(t, growthNet(n))
				for i := range p.transitions {
					if got := len(p.transitions[i].Modes[0].Branches[0].affected); got > 2 {
						t.Fatalf("of %d transitions a firing of %s looks at %d", n, p.transitions[i].Name, got)
					}
				}
			}
		}},
		{"CONC-020,CONC-021,CONC-026", "equals_the_reference", func(t *testing.T) {
			var c tally
			for seed := range 100 {
				c.check(t, rand.New(rand.NewPCG(uint64(seed), 5)).IntN)
			}
		}},
		{"ENV-004", "in_the_marking_when_acknowledged", func(t *testing.T) {
			w := play(t, &Net{Name: "n", Env: env(pA), Sinks: []AnyPlace{pA}})
			w.inject(0, pA.Token(Unit{}))
			same(t, "marking", w.marking(), "a")
		}},
		{"ENV-005,ENV-016", "refused_after_the_end", held("9.1")},
		{"ENV-006", "never_silently_lost", held("7.2", "7.3")},
		{"ENV-010", "long_lived", func(t *testing.T) {
			w := play(t, &Net{Name: "n", Env: env(pA), Transitions: []Transition{{Name: "take", In: Arcs{pA}}}})
			for i := range 3 {
				at := time.Duration(i) * time.Hour
				w.inject(at, pA.Token(Unit{}))
				same(t, "trace", w.until(at), at.String()+" take")
			}
		}},
		{"EVT-002,EVT-014", "once_and_in_order", held("9.4")},
		{"EVT-022,PERF-010", "no_events_no_allocation", func(t *testing.T) {
			w := play(t, chainNet[Unit](100, nil))
			w.until(0)
			w.m.Silent(true)
			w.inject(0, Place[Unit]("p0").Token(Unit{}))
			same(t, "events", len(w.m.events)+cap(w.m.events), cap(w.m.Advance(0).Events))
			same(t, "capacity", cap(w.m.events) < 4, true)
		}},
	}
}

// fallback is a slow answer with a default after 50 ms.
func fallback(t *testing.T) {
	n := &Net{Name: "n", Env: env(pA, pB), Sinks: []AnyPlace{pC}, Transitions: []Transition{
		{Name: "answer", In: Arcs{pA, pB}, Out: And(pC)},
		{Name: "default", In: Arcs{pA}, Out: And(pC), When: After(50 * ms)}}}
	for at, want := range map[time.Duration]string{49 * ms: "49ms answer", 50 * ms: "50ms default"} {
		w := play(t, n)
		w.inject(0, pA.Token(Unit{}))
		w.inject(at, pB.Token(Unit{}))
		same(t, "trace", w.until(time.Second), want)
	}
}

func moduleConformance() []sentence {
	return []sentence{
		{"MOD-001,MOD-002", "typed_ports", held("6.1", "6.3")},
		{"MOD-003,MOD-004,MOD-010", "prefixed_instances", held("6.1", "6.4")},
		{"MOD-005,MOD-006", "ports_are_used_and_known", refused("unused port", "port of another type than the net's place")},
		{"MOD-011,MOD-012,MOD-013", "nested", held("6.2")},
		{"MOD-030,MOD-031", "flat_result", held("6.6")},
		{"MOD-051", "fusion_of_many", func(t *testing.T) {
			var parts []*Net
			for i := range 5 {
				parts = append(parts, counterPart(fmt.Sprint("part", i), pA, pB))
			}
			n, err := Compose("n", parts...)
			if err != nil {
				t.Fatal(err)
			}
			n.Env, n.Sinks = env(pA), []AnyPlace{pB}
			p := compiled(t, n)
			same(t, "places", len(p.Places()), 2+5)
		}},
		{"MOD-060,MOD-061", "a_part_alone", func(t *testing.T) {
			harness := &Net{Name: "harness", Ports: []AnyPlace{pA, pB}, Init: units(pC),
				Transitions: []Transition{{Name: "ask", In: Arcs{pC}, Out: And(pA.Exactly(2))}, {Name: "end", In: Arcs{pB}}}}
			n, err := Compose("n", counterPart("x", pA, pB), harness)
			if err != nil {
				t.Fatal(err)
			}
			w := play(t, n)
			same(t, "trace", w.until(0), "0s harness/ask, 0s x/count, 0s x/count, 0s x/report, 0s harness/end")
		}},
	}
}

// sameAgain plays random schedules on random nets twice, the second time in other portions of time.
// The events must be the same.
func sameAgain(t *testing.T) {
	runs := 0
	for seed := range 300 {
		play := func(portions int) string {
			d := draw(rand.New(rand.NewPCG(uint64(seed), 3)).IntN)
			g := d.net()
			prog, err := Compile(g.build())
			if err != nil {
				return ""
			}
			return script(d, g, prog, portions)
		}
		one := play(1)
		if again, chunks := play(1), play(4); again != one || chunks != one {
			t.Fatalf("seed %d:\n%s\nagain:\n%s\nin portions:\n%s", seed, one, again, chunks)
		}
		if len(one) > 100 {
			runs++
		}
	}
	if runs < 150 {
		t.Errorf("only %d runs did anything", runs)
	}
}

// script plays 20 injections and returns everything that came out.
func script(d draw, g *drawing, prog *Program, portions int) string {
	var events, log string
	var m *Machine
	keep := func(r Ready) {
		for _, e := range r.Events {
			events += fmt.Sprintln(e)
		}
		for _, o := range r.Out {
			log += fmt.Sprintln(o.place, o.seq)
		}
	}
	f := faults(func() {
		m = prog.Start()
		for range 20 {
			from, to := m.Now(), m.Now()+time.Duration(d(8))
			for i := range portions {
				keep(m.Advance(from + (to-from)*time.Duration(i+1)/time.Duration(portions)))
			}
			tok := drawnToken{place: d(len(g.places)), key: d(3), id: d(9)}.cut(g)
			if g.places[tok.place].env {
				err := m.Inject(to, colouredPlace(g.places[tok.place]).token(tok))
				log += fmt.Sprintln(err)
			}
			keep(m.Advance(to))
		}
	})
	if f != nil && m != nil {
		keep(m.Fault()) // the outputs of the call are void, so their number depends on the portions
		log = ""
	}
	return events + log + fmt.Sprintln(f)
}

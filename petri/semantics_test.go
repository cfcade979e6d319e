package petri

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// sentence is a numbered sentence of docs/semantics.md with its test.
type sentence struct {
	id, name string
	test     func(*testing.T)
}

func sentences() []sentence {
	return slices.Concat(timeSentences(), completionSentences(), firingSentences(), actionSentences(),
		clockSentences(), colourSentences(),
		generationSentences(), compositionSentences(), environmentSentences(), taskSentences(), endSentences(),
		snapshotSentences())
}

func TestSemantics(t *testing.T) {
	for _, s := range sentences() {
		t.Run(s.id+"_"+s.name, s.test)
	}
}

// TestSemanticsNumbers checks that docs/semantics.md and TestSemantics have the same sentences.
func TestSemanticsNumbers(t *testing.T) {
	text, err := os.ReadFile("../docs/semantics.md")
	if err != nil {
		t.Fatal(err)
	}
	var doc, tests []string
	for _, m := range regexp.MustCompile(`(?m)^\*\*(\d+\.\d+)\*\* `).FindAllStringSubmatch(string(text), -1) {
		doc = append(doc, m[1])
	}
	for _, s := range sentences() {
		tests = append(tests, s.id)
	}
	if len(doc) < 50 || !slices.Equal(doc, tests) {
		t.Errorf("sentences %v\ntests     %v", doc, tests)
	}
}

// tick is a net in which tick fires every 10 ms, and say passes on the text injected.
func tick() *Net {
	return &Net{Name: "tick", Env: env(pText), Out: []Output{{Place: pOut}}, Init: units(pA), Transitions: []Transition{
		{Name: "tick", In: Arcs{pA}, Out: And(pA), When: After(10 * ms)},
		{Name: "say", In: Arcs{pText}, Out: And(pOut)},
	}}
}

func timeSentences() []sentence {
	return []sentence{
		{"1.1", "time_moves_when_told", func(t *testing.T) {
			w := play(t, tick())
			same(t, "start", w.m.Now(), 0)
			w.inject(3*ms, pText.Token("x"))
			same(t, "after an injection", w.m.Now(), 3*ms)
			w.until(7 * ms)
			same(t, "after an advance", w.m.Now(), 7*ms)
		}},
		{"1.2", "due_time_not_call_time", func(t *testing.T) {
			w := play(t, tick())
			same(t, "late", w.until(35*ms), "10ms tick, 20ms tick, 30ms tick")
			w.inject(55*ms, pText.Token("x"))
			same(t, "injection", w.until(55*ms), "40ms tick, 50ms tick, 55ms say")
		}},
		{"1.3", "ties_by_declaration", func(t *testing.T) {
			n := &Net{Name: "n", Init: units(pA, pB), Transitions: []Transition{
				{Name: "second", In: Arcs{pB}, When: After(ms)}, {Name: "first", In: Arcs{pA}, When: After(ms)}}}
			same(t, "trace", play(t, n).until(ms), "1ms second, 1ms first")
		}},
		{"1.4", "timer_before_injection", func(t *testing.T) {
			w := play(t, tick())
			w.inject(10*ms, pText.Token("x"))
			same(t, "trace", w.until(10*ms), "10ms tick, 10ms say")
		}},
		{"1.5", "never_back", func(t *testing.T) {
			w := play(t, tick())
			w.until(5 * ms)
			if err := w.m.Inject(4*ms, pText.Token("x")); !errors.Is(err, ErrPast) {
				t.Errorf("inject in the past: %v", err)
			}
			w.until(2 * ms)
			same(t, "now", w.m.Now(), 5*ms)
		}},
		{"1.6", "chunks_of_time", func(t *testing.T) {
			one, many := play(t, tick()), play(t, tick())
			one.until(time.Second)
			for at := time.Duration(0); at <= time.Second; at += 3 * ms / 2 {
				many.until(at)
			}
			many.until(time.Second)
			same(t, "events", fmt.Sprint(many.events), fmt.Sprint(one.events))
			same(t, "count", len(one.events), 101)
		}},
		{"1.7", "a_wait_is_a_point", func(t *testing.T) {
			w := play(t, tick())
			same(t, "before", w.until(10*ms-1), "")
			same(t, "at", w.until(10*ms), "10ms tick")
			same(t, "text", After(10*ms).String()+", "+Interval{}.String(), "after 10ms, at once")
		}},
		{"1.8", "intervals_do_not_run", func(t *testing.T) {
			n := tick()
			n.Transitions[0].When = Between(ms, 2*ms)
			p, err := Compile(n)
			if err != nil {
				t.Fatal(err)
			}
			same(t, "reason", p.Runnable().Error(), `petri: net "tick" cannot be run: transition "tick" waits for [1ms,2ms]; `+
				"a machine waits for single instants; only automata of the environment wait for intervals")
			defer func() { same(t, "panic", recover(), any(p.Runnable())) }()
			p.Start()
		}},
		{"1.9", "past_the_end_of_time", func(t *testing.T) {
			n := tick()
			n.Transitions[0].When = After(Forever - 5)
			w := play(t, n)
			same(t, "first", w.until(Forever-4), (Forever-5).String()+" tick")
			same(t, "then never", w.until(Forever), "")
			same(t, "wake", w.m.Wake(), Forever)
		}},
		{"1.10", "wake", func(t *testing.T) {
			w := play(t, tick())
			same(t, "at the start", w.m.Advance(0).Wake, 10*ms)
			same(t, "later", w.m.Advance(12*ms).Wake, 20*ms)
			same(t, "none", play(t, chainNet[Unit](3, nil)).m.Wake(), Forever)
		}},
	}
}

func completionSentences() []sentence {
	return []sentence{
		{"2.1", "run_to_completion", func(t *testing.T) {
			n := &Net{Name: "n", Init: units(pA), Env: env(pText), Sinks: []AnyPlace{pC}, Transitions: []Transition{
				{Name: "start", In: Arcs{pA}, Out: And(pB)},
				{Name: "wait", In: Arcs{pB}, Out: And(pA), When: After(ms)},
				{Name: "take", In: Arcs{pText}, Out: And(pC)},
				{Name: "then", In: Arcs{pC.Exactly(2)}},
			}}
			w := play(t, n)
			same(t, "start", w.marking(), "b")
			w.inject(0, pText.Token("x"))
			same(t, "after one", w.marking(), "b c")
			w.inject(ms, pText.Token("x"))
			same(t, "trace", w.until(2*ms), "0s start, 0s take, 1ms wait, 1ms start, 1ms take, 1ms then, 2ms wait, 2ms start")
		}},
		{"2.2", "priority_then_declaration", func(t *testing.T) {
			n := &Net{Name: "n", Init: units(pA, pB, pC), Transitions: []Transition{
				{Name: "low", In: Arcs{pA}, Priority: -1}, {Name: "first", In: Arcs{pB}},
				{Name: "second", In: Arcs{pC}}, {Name: "high", Read: Arcs{pC}, In: Arcs{pA}, Priority: 2}}}
			n.Init = append(n.Init, pA.Token(Unit{}))
			same(t, "trace", play(t, n).until(0), "0s high, 0s high, 0s first, 0s second")
		}},
		{"2.3", "timers_together_conflict", func(t *testing.T) {
			n := &Net{Name: "n", Init: units(pA, pB), Transitions: []Transition{
				{Name: "first", In: Arcs{pA}, When: After(ms)},
				{Name: "second", In: Arcs{pB}, Read: Arcs{pA}, When: After(ms)}}}
			w := play(t, n)
			same(t, "trace", w.until(ms), "1ms first")
			same(t, "marking", w.marking(), "b")
		}},
		{"2.4", "chains_are_bounded", func(t *testing.T) {
			chain := func(n int) *Net {
				net := chainNet[Unit](n, func(_ int, t *Transition) { t.When = Interval{} })
				return net
			}
			w := play(t, chain(MaxChain))
			w.inject(0, Place[Unit]("p0").Token(Unit{}))
			same(t, "end", w.marking(), "")
			w = play(t, chain(MaxChain+1))
			got := fault(func() { w.inject(0, Place[Unit]("p0").Token(Unit{})) })
			same(t, "fault", got,
				"petri: net chain: transition t1000: more than 1000 firings at one instant; the net has a loop without a wait")
		}},
	}
}

func firingSentences() []sentence {
	return []sentence{
		{"3.1", "enabled", func(t *testing.T) {
			n := &Net{Name: "n", Env: env(pA, pB, pC, pEdge), Transitions: []Transition{
				{Name: "go", In: Arcs{pEdge, pA}, Read: Arcs{pB}, Inhibit: Arcs{pC},
					Guard: func(k *Keys) bool { return pEdge.Key(k) == stop.Key() }},
				{Name: "clear", In: Arcs{pC}, When: After(ms)}}}
			w := play(t, n)
			w.inject(0, pC.Token(Unit{}), pA.Token(Unit{}), pEdge.Token(start), pB.Token(Unit{}))
			same(t, "inhibited", w.until(0), "")
			same(t, "guard refuses", w.until(ms), "1ms clear")
			w.inject(2*ms, pEdge.Token(stop))
			same(t, "all there", w.until(2*ms), "2ms go")
			same(t, "left", w.marking(), "b edge[start]")
		}},
		{"3.2", "order_within_a_firing", func(t *testing.T) {
			// renew takes the tokens of in, empties kept, bumps and makes a fresh token. No other
			// transition fires in between.
			n := &Net{Name: "n", Env: env(pIn), Sinks: []AnyPlace{pKept}, Transitions: []Transition{
				{Name: "renew", In: Arcs{pIn.Exactly(2)}, Reset: Arcs{pKept}, Bump: true, Out: And(pKept.Fresh()),
					Action: func(f *Firing) { pKept.Put(f, &chunk{gen: f.Gen()}) }},
				{Name: "see_none", Read: Arcs{pIn.AtLeast(2)}, Inhibit: Arcs{pKept}, In: Arcs{pIn}, Priority: -1},
				{Name: "see_stale", In: Arcs{pKept.Stale()}, Priority: 1}}}
			w := play(t, n)
			for range 4 {
				w.inject(0, pIn.Token(&chunk{}))
			}
			same(t, "trace", w.until(0), "0s renew, 0s renew")
			same(t, "marking", w.marking(), "kept[fresh]")
		}},
		{"3.3", "input_arcs", func(t *testing.T) {
			for _, c := range []struct {
				arc    Arc
				tokens int
				left   string
			}{
				{pB.One(), 3, "b*2"}, {pB.Exactly(2), 3, "b"}, {pB.Exactly(2), 1, "a b"}, {pB.AtLeast(2), 1, "a b"},
				{pB.AtLeast(2), 5, ""}, {pB.All(), 4, ""}, {pB.All(), 0, "a"},
			} {
				n := &Net{Name: "n", Env: env(pA, pB), Transitions: []Transition{{Name: "take", In: Arcs{pA, c.arc}}}}
				w := play(t, n)
				for range c.tokens {
					w.inject(0, pB.Token(Unit{}))
				}
				w.inject(0, pA.Token(Unit{}))
				same(t, fmt.Sprint(c.arc.kind, c.arc.n, " of ", c.tokens), w.marking(), c.left)
			}
		}},
		{"3.4", "read_arcs", func(t *testing.T) {
			n := &Net{Name: "n", Env: env(pText, pA), Out: []Output{{Place: pOut}}, Transitions: []Transition{
				{Name: "look", In: Arcs{pA}, Read: Arcs{pText}, Out: And(pOut.Passing(pText))},
				{Name: "look_and_empty", In: Arcs{pA}, Read: Arcs{pText.AtLeast(2)}, Reset: Arcs{pText}, Out: And(pOut),
					Priority: 1, Action: func(f *Firing) { pOut.Put(f, fmt.Sprint(pText.Get(f), pText.Count(f))) }}}}
			w := play(t, n)
			w.inject(0, pA.Token(Unit{}))
			same(t, "needs", w.until(0), "")
			w.inject(0, pText.Token("x"))
			same(t, "leaves", w.marking(), "text")
			w.inject(0, pText.Token("y"), pA.Token(Unit{}))
			same(t, "trace", w.until(0), "0s look, 0s look_and_empty")
			same(t, "reads before it empties", fmt.Sprint(w.outs), "[out=x out=x2]")
			same(t, "emptied", w.marking(), "")
		}},
		{"3.5", "inhibitor_arcs", func(t *testing.T) {
			n := &Net{Name: "n", Env: env(pA, pB), Transitions: []Transition{
				{Name: "two", In: Arcs{pA}, Inhibit: Arcs{pB.AtLeast(2)}},
				{Name: "one", In: Arcs{pA}, Inhibit: Arcs{pB}, Priority: 1}}}
			w := play(t, n)
			w.inject(0, pA.Token(Unit{}), pB.Token(Unit{}), pA.Token(Unit{}), pB.Token(Unit{}), pA.Token(Unit{}))
			same(t, "trace", w.until(0), "0s one, 0s two")
			same(t, "marking", w.marking(), "a b*2")
		}},
		{"3.6", "reset_arcs", func(t *testing.T) {
			n := &Net{Name: "n", Env: env(pA, pEdge, pB), Sinks: []AnyPlace{pEdge}, Transitions: []Transition{
				{Name: "empty_starts", In: Arcs{pA}, Reset: Arcs{pEdge.Is(start)}},
				{Name: "empty", In: Arcs{pB}, Reset: Arcs{pEdge}}}}
			w := play(t, n)
			w.inject(0, pA.Token(Unit{}), pB.Token(Unit{}))
			same(t, "needs none", w.until(0), "0s empty_starts, 0s empty")
			w.inject(0, pEdge.Token(start), pEdge.Token(stop), pEdge.Token(start), pA.Token(Unit{}))
			same(t, "one key", w.marking(), "edge[stop]")
			w.inject(0, pB.Token(Unit{}))
			same(t, "all", w.marking(), "")
		}},
	}
}

func actionSentences() []sentence {
	return []sentence{
		{"3.7", "queues", func(t *testing.T) {
			n := &Net{Name: "n", Env: env(pText, pA, pB), Out: []Output{{Place: pOut}}, Transitions: []Transition{
				{Name: "turn", In: Arcs{pText, pA}, Out: And(pText)},
				{Name: "send", In: Arcs{pText, pB}, Out: And(pOut)}}}
			w := play(t, n)
			w.inject(0, pText.Token("x"), pText.Token("y"), pText.Token("z"), pA.Token(Unit{}))
			w.inject(0, pB.Token(Unit{}), pB.Token(Unit{}), pB.Token(Unit{}))
			w.until(0)
			same(t, "order", fmt.Sprint(w.outs), "[out=y out=z out=x]")
		}},
		{"3.8", "narrowed_arcs", func(t *testing.T) {
			kept := Place[edge]("log")
			n := &Net{Name: "n", Env: env(pEdge, pA, pB), Out: []Output{{Place: kept}}, Transitions: []Transition{
				{Name: "stops", In: Arcs{pEdge.Is(stop), pA}, Out: And(kept)},
				{Name: "any", In: Arcs{pEdge, pB}, Out: And(kept)}}}
			w := play(t, n)
			w.inject(0, pEdge.Token(start), pEdge.Token(stop), pEdge.Token(start), pEdge.Token(stop), pA.Token(Unit{}))
			w.inject(0, pB.Token(Unit{}), pB.Token(Unit{}), pB.Token(Unit{}))
			w.until(0)
			same(t, "order", fmt.Sprint(w.outs), "[log=1 log=0 log=0 log=1]")
		}},
		{"3.9", "oldest_combination", func(t *testing.T) {
			kept := Place[edge]("log")
			outs := []Output{{Place: kept}, {Place: pOut}}
			n := &Net{Name: "n", Env: env(pEdge, pHeld, pA), Out: outs, Transitions: []Transition{
				{Name: "pair", In: Arcs{pA, pEdge, pHeld}, Out: And(kept.Passing(pEdge)),
					Guard: func(k *Keys) bool { return pEdge.Key(k) == pHeld.Key(k) }},
				{Name: "two", In: Arcs{pA.Exactly(3), pEdge.Exactly(2)}, Out: And(pOut),
					Action: func(f *Firing) { pOut.Put(f, fmt.Sprint(pEdge.Get(f), pEdge.Count(f))) }}}}
			w := play(t, n)
			w.inject(0, pEdge.Token(start), pEdge.Token(stop), pHeld.Token(stop), pHeld.Token(start), pA.Token(Unit{}))
			w.inject(0, pEdge.Token(stop), pEdge.Token(start), pA.Token(Unit{}))
			w.until(0)
			same(t, "the guard decides, then age", fmt.Sprint(w.outs), "[log=0 log=1]")
			w.inject(0, pA.Token(Unit{}), pA.Token(Unit{}), pA.Token(Unit{}))
			w.until(0)
			same(t, "the two oldest", w.outs[2], "out=1 2")
		}},
		{"3.10", "what_an_action_gets", func(t *testing.T) {
			see := func(f *Firing) {
				s := fmt.Sprint(pText.Get(f), pText.Count(f), ":")
				pText.Each(f, func(v string) { s += v })
				pOut.Put(f, s)
			}
			n := &Net{Name: "n", Env: env(pText, pA, pB, pC), Out: []Output{{Place: pOut}}, Transitions: []Transition{
				{Name: "take", In: Arcs{pA, pText.Exactly(2)}, Out: And(pOut), Action: see},
				{Name: "read", In: Arcs{pB}, Read: Arcs{pText}, Out: And(pOut), Action: see},
				{Name: "reset", In: Arcs{pC}, Reset: Arcs{pText}, Out: And(pOut), Action: see}}}
			w := play(t, n)
			for _, v := range []string{"v", "w", "x", "y", "z"} {
				w.inject(0, pText.Token(v))
			}
			w.inject(0, pA.Token(Unit{}), pB.Token(Unit{}), pC.Token(Unit{}), pC.Token(Unit{}))
			w.until(0)
			same(t, "seen", fmt.Sprint(w.outs), "[out=v2:vw out=x0: out=x3:xyz out=0:]")
		}},
		{"3.11", "an_action_keeps_its_word", keepsItsWord},
		{"3.12", "without_an_action", func(t *testing.T) {
			kept, text2 := Place[edge]("log"), Place[string]("text2")
			n := &Net{Name: "n", Env: env(pText, text2, pA), Sinks: []AnyPlace{pB}, Out: []Output{{Place: pOut}, {Place: kept}},
				Transitions: []Transition{
					{Name: "pass", In: Arcs{pText, pA.Exactly(2)}, Out: And(pB.Exactly(3), kept.Is(stop), pOut)},
					{Name: "name", In: Arcs{pText, text2}, Out: And(pOut.Passing(text2)), Priority: 1}}}
			w := play(t, n)
			w.inject(0, pA.Token(Unit{}), pA.Token(Unit{}), pText.Token("x"), text2.Token("u"), pText.Token("y"))
			w.until(0)
			same(t, "outputs", fmt.Sprint(w.outs), "[log=1 out=x out=u]")
			same(t, "marking", w.marking(), "b*3")
		}},
	}
}

// keepsItsWord tries every way in which an action can break its declaration.
func keepsItsWord(t *testing.T) {
	base := func(out Split, act func(*Firing)) *Net {
		return &Net{Name: "n", Init: units(pA), Sinks: []AnyPlace{pHeld, pText, pKept}, Imported: true,
			Transitions: []Transition{{Name: "act", In: Arcs{pA}, Out: out, Action: act}}}
	}
	text := func(act func(*Firing)) *Net { return base(And(pText.Exactly(2)), act) }
	for _, c := range []struct {
		name string
		net  *Net
		want string
	}{
		{"too few", text(func(f *Firing) { pText.Put(f, "x") }),
			"place text: the action produced 1 tokens; 2 are declared"},
		{"none", text(func(*Firing) {}), "place text: the action produced nothing; 2 are declared"},
		{"too many", text(func(f *Firing) { pText.Put(f, "x"); pText.Put(f, "y"); pText.Put(f, "z") }),
			"place text: the action produced 3 tokens; 2 are declared"},
		{"elsewhere", text(func(f *Firing) { pOut.Put(f, "x") }),
			"place out: the action produces there, but it is not an output of the transition"},
		{"reads elsewhere", text(func(f *Firing) { pEdge.Get(f) }),
			"place edge: the action reads it, but it is not an input, read or reset place of the transition"},
		{"counts elsewhere", text(func(f *Firing) { pB.Count(f) }),
			"place b: the action reads it, but it is not an input, read or reset place of the transition"},
		{"lists elsewhere", text(func(f *Firing) { pEdge.Each(f, func(edge) {}) }),
			"place edge: the action reads it, but it is not an input, read or reset place of the transition"},
		{"other key", base(And(pHeld.Is(start)), func(f *Firing) { pHeld.Put(f, stop) }),
			"place held: the action produced held[stop]; held[start] is declared"},
		{"no key", base(And(pHeld.Is(start)), func(f *Firing) { pHeld.Put(f, 7) }),
			"place held: the action produced an invalid token: its key is 7, but colour petri.edge has 2 keys"},
		{"the future", base(And(pKept.Fresh()), func(f *Firing) { pKept.Put(f, &chunk{gen: 1}) }),
			"place kept: the action produced an invalid token: its generation is 1, but the current one is 0"},
		{"other branch", base(Xor(Arcs{pText}, Arcs{pHeld.Is(stop)}).By(func(*Keys) int { return 1 }), func(f *Firing) {
			pText.Put(f, "x")
		}), "place text: the action produced there, but branch 1 does not"},
		{"no choice", base(Free(Arcs{pText}, Arcs{}), func(f *Firing) { pText.Put(f, "x") }),
			"the action of a Free output did not call Choose"},
		{"no such choice", base(Free(Arcs{pText}, Arcs{}), func(f *Firing) { f.Choose(2) }),
			"the action called Choose(2); the output must be Free and has 2 branches"},
		{"choice in an And", text(func(f *Firing) { f.Choose(0) }),
			"the action called Choose(0); the output must be Free and has 1 branches"},
	} {
		p, err := Compile(c.net)
		if err != nil {
			t.Fatal(c.name, err)
		}
		same(t, c.name, fault(func() { p.Start() }), "petri: net n: transition act: "+c.want)
	}
}

func clockSentences() []sentence {
	return []sentence{
		{"3.13", "intermediate_marking_stops_clocks", func(t *testing.T) {
			n := &Net{Name: "n", Init: units(pA), Env: env(pB, pC), Transitions: []Transition{
				{Name: "late", In: Arcs{pA}, Out: And(pA), When: After(10 * ms)},
				{Name: "refill", In: Arcs{pA, pB}, Out: And(pA)},
				{Name: "reset", In: Arcs{pC}, Reset: Arcs{pA}, Out: And(pA)}}}
			w := play(t, n)
			w.inject(4*ms, pB.Token(Unit{}))
			same(t, "refilled", w.until(14*ms), "4ms refill, 14ms late")
			w.inject(19*ms, pC.Token(Unit{}))
			same(t, "reset and fired", w.until(49*ms), "19ms reset, 29ms late, 39ms late, 49ms late")
			same(t, "a bump restarts", bumped(t), "4ms bump, 14ms drop")
		}},
		{"3.14", "clocks_run_on", func(t *testing.T) {
			n := &Net{Name: "n", Env: env(pA, pB, pC), Transitions: []Transition{
				{Name: "late", In: Arcs{pA}, When: After(10 * ms)},
				{Name: "take", In: Arcs{pA, pB}},
				{Name: "read", In: Arcs{pC}, Read: Arcs{pA}}}}
			w := play(t, n)
			w.inject(0, pA.Token(Unit{}))
			w.inject(3*ms, pA.Token(Unit{}))
			w.inject(4*ms, pB.Token(Unit{}), pC.Token(Unit{}))
			same(t, "trace", w.until(30*ms), "4ms take, 4ms read, 10ms late")
		}},
		{"3.15", "inhibited_clocks", func(t *testing.T) {
			n := &Net{Name: "n", Init: units(pA), Env: env(pB, pC), Transitions: []Transition{
				{Name: "late", In: Arcs{pA}, Inhibit: Arcs{pB}, When: After(10 * ms)},
				{Name: "clear", In: Arcs{pB, pC}}}}
			w := play(t, n)
			w.inject(8*ms, pB.Token(Unit{}))
			same(t, "stopped", w.until(20*ms), "")
			w.inject(21*ms, pC.Token(Unit{}))
			same(t, "anew", w.until(40*ms), "21ms clear, 31ms late")
		}},
	}
}

// bumped is a net whose timer waits for a fresh token that a bump replaces.
func bumped(t *testing.T) string {
	n := &Net{Name: "n", Init: []Token{pKept.Token(&chunk{})}, Env: env(pB), Transitions: []Transition{
		{Name: "drop", In: Arcs{pKept.Fresh()}, When: After(10 * ms)},
		{Name: "bump", In: Arcs{pB}, Bump: true, Out: And(pKept.Fresh()), Action: func(f *Firing) {
			pKept.Put(f, &chunk{gen: f.Gen()})
		}}}}
	w := play(t, n)
	w.inject(4*ms, pB.Token(Unit{}))
	return w.until(20 * ms)
}

// secret is a colour that must not be recorded.
type secret string

func (s secret) Size() int { return len(s) }
func (secret) Secret()     {}

// talk is a colour with a size.
type talk string

func (s talk) Size() int { return len(s) }

func colourSentences() []sentence {
	return []sentence{
		{"4.1", "one_colour", func(t *testing.T) {
			p := Place[fmt.Stringer]("any")
			n := &Net{Name: "n", Env: append(env(pA, pText), Env{Place: p}), Sinks: []AnyPlace{pA, pText, p}}
			w := play(t, n)
			for place, v := range map[string]any{"a": "text", "text": 7, "any": "no stringer"} {
				if err := w.m.Inject(0, Token{place: place, value: v}); !errors.Is(err, ErrColour) {
					t.Errorf("%T at %s: %v", v, place, err)
				}
			}
			w.inject(0, p.Token(time.Second))
			same(t, "an interface takes what implements it", w.marking(), "any")
			err := w.m.Inject(0, Place[int]("text").Token(7))
			same(t, "text", err.Error(), `petri: inject at "text": the token has the wrong colour (int, not string)`)
		}},
		{"4.2", "guards_are_tabulated", func(t *testing.T) {
			calls := 0
			count := func(k *Keys) int { calls++; return int(pEdge.Key(k)) }
			n := &Net{Name: "n", Env: env(pEdge), Out: []Output{{Place: pHeld}}, Transitions: []Transition{
				{Name: "route", In: Arcs{pEdge}, Guard: func(k *Keys) bool { return count(k) >= 0 },
					Out: Xor(Arcs{pHeld.KeyBy(func(k *Keys) Key { return Key(count(k)) })}, Arcs{}).By(count)}}}
			w := play(t, n)
			before := calls
			w.inject(0, pEdge.Token(start), pEdge.Token(stop), pEdge.Token(start))
			w.until(0)
			same(t, "calls while it runs", calls-before, 0)
			same(t, "modes", len(w.p.Transitions()[0].Modes), 2)
			same(t, "outputs", fmt.Sprint(w.outs), "[held=0 held=0]")
		}},
		{"4.3", "declared_keys", func(t *testing.T) {
			x, y := Place[edge]("x"), Place[edge]("y")
			other := func(k *Keys) Key { return 1 - pEdge.Key(k) }
			n := &Net{Name: "n", Env: env(pEdge), Sinks: []AnyPlace{pHeld, x, y}, Transitions: []Transition{
				{Name: "copy", In: Arcs{pEdge}, Out: And(pHeld.Is(start), x, y.KeyBy(other))}}}
			w := play(t, n)
			w.inject(0, pEdge.Token(stop))
			same(t, "marking", w.marking(), "held[start] x[stop] y[start]")
		}},
		{"4.4", "xor", func(t *testing.T) {
			n := &Net{Name: "n", Env: env(pEdge), Sinks: []AnyPlace{pA, pB}, Transitions: []Transition{
				{Name: "route", In: Arcs{pEdge}, Out: Xor(Arcs{pA}, Arcs{pB.Exactly(2)}, Arcs{}).By(func(k *Keys) int {
					return int(pEdge.Key(k))
				})}}}
			w := play(t, n)
			w.inject(0, pEdge.Token(stop), pEdge.Token(start))
			same(t, "trace", w.until(0), "0s route (edge[stop]) branch 1, 0s route (edge[start]) branch 0")
			same(t, "marking", w.marking(), "a b*2")
		}},
		{"4.5", "free", func(t *testing.T) {
			n := &Net{Name: "n", Env: env(pText), Sinks: []AnyPlace{pA, pB}, Transitions: []Transition{
				{Name: "route", In: Arcs{pText}, Out: Free(Arcs{pA}, Arcs{pB}), Action: func(f *Firing) {
					same(t, "before Choose", f.Branch(), -1)
					f.Choose(len(pText.Get(f)) % 2)
				}}}}
			w := play(t, n)
			same(t, "for a proof", w.p.Transitions()[0].Modes[0].Choice(), -1)
			w.inject(0, pText.Token("odd"), pText.Token("even"), pText.Token("x"))
			same(t, "marking", w.marking(), "a b*2")
		}},
		{"4.6", "payloads_decide_nothing", func(t *testing.T) {
			run := func(x, y string) string {
				w := play(t, tick())
				w.inject(4*ms, pText.Token(x))
				w.inject(15*ms, pText.Token(y))
				w.until(40 * ms)
				return fmt.Sprint(w.events)
			}
			same(t, "events", run("one", "two"), run("three", ""))
		}},
		{"4.7", "events_carry_no_payload", func(t *testing.T) {
			card, said := Place[secret]("card"), Place[talk]("said")
			n := &Net{Name: "n", Env: env(card, said, pEdge), Sinks: []AnyPlace{card, said, pEdge}}
			w := play(t, n)
			w.inject(ms, card.Token("4111"), said.Token("hello"), pEdge.Token(stop))
			w.until(ms)
			var got []string
			for _, e := range w.events {
				got = append(got, w.p.Describe(e))
			}
			same(t, "events", strings.Join(got, ", "),
				"0s started, 1ms injected card, 1ms injected said size 5, 1ms injected edge[stop]")
			for i, e := 0, reflect.TypeOf(Event{}); i < e.NumField(); i++ {
				if k := e.Field(i).Type.Kind(); k < reflect.Int || k > reflect.Uint64 {
					t.Errorf("an event has room for a payload: %s", e.Field(i).Name)
				}
			}
		}},
		{"4.8", "initial_payloads_of_ones_own", initialPayloads},
	}
}

// counted is a payload that actions change.
type counted struct {
	n    int
	list []int
}

// initialPayloads checks that each machine starts with its own copy of what the net declares, and
// that Compile refuses a payload that a copy would still share.
func initialPayloads(t *testing.T) {
	count := Place[*counted]("count")
	p, err := Compile(&Net{Name: "n", Init: []Token{count.Token(&counted{n: 1})}, Env: env(pA),
		Out: []Output{{Place: pOut}}, Transitions: []Transition{{Name: "add", In: Arcs{pA}, Read: Arcs{count},
			Out: And(pOut), Action: func(f *Firing) {
				c := count.Get(f)
				c.n, c.list = c.n+1, append(c.list, c.n)
				pOut.Put(f, fmt.Sprint(c.n, c.list))
			}}}})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		m := p.Start()
		if err := m.Inject(0, pA.Token(Unit{})); err != nil {
			t.Fatal(err)
		}
		same(t, "out", fmt.Sprint(m.Advance(0).Out[0].Value()), "2 [1]")
	}
	type named map[string]int
	for _, c := range []struct {
		what AnyPlace
		tok  Token
		bad  string
	}{
		{count, count.Token(nil), ""},
		{count, count.Token(&counted{list: []int{}}), ""},
		{count, count.Token(&counted{list: make([]int, 1)}), "[]int"},
		{Place[[]int]("p"), Place[[]int]("p").Token([]int{1}), "[]int"},
		{Place[named]("p"), Place[named]("p").Token(named{}), "petri.named"},
		{Place[[1]func()]("p"), Place[[1]func()]("p").Token([1]func(){func() {}}), "func()"},
		{Place[**int]("p"), Place[**int]("p").Token(new(*int)), ""},
		{Place[**counted]("p"), Place[**counted]("p").Token(new(&counted{})), "*petri.counted"},
		{Place[fmt.Stringer]("p"), Place[fmt.Stringer]("p").Token(time.Second), ""},
		{Place[fmt.Stringer]("p"), Place[fmt.Stringer]("p").Token(new(strings.Builder)), ""},
		{Place[*any]("p"), Place[*any]("p").Token(new(any(&counted{}))), "*petri.counted"},
	} {
		want := "<nil>"
		if c.bad != "" {
			want = fmt.Sprintf("petri: initial token at %q: machines would share its %s", c.what, c.bad)
		}
		_, err := Compile(&Net{Name: "n", Init: []Token{c.tok}, Sinks: []AnyPlace{c.what}})
		same(t, "refusal", fmt.Sprint(err), want)
	}
}

func generationSentences() []sentence {
	turns := func() *Net {
		return &Net{Name: "n", Env: env(pIn, pA, pB), Sinks: []AnyPlace{pKept}, Out: []Output{{Place: pOut}},
			Transitions: []Transition{
				{Name: "bump", In: Arcs{pA}, Bump: true},
				{Name: "keep", In: Arcs{pIn}, Out: And(pKept)},
				{Name: "fresh", In: Arcs{pB, pKept.Fresh()}, Out: And(pOut), Action: func(f *Firing) { pOut.Put(f, "fresh") }},
				{Name: "stale", In: Arcs{pB, pKept.Stale()}, Out: And(pOut), Priority: -1,
					Action: func(f *Firing) { pOut.Put(f, "stale") }},
			}}
	}
	return []sentence{
		{"5.1", "current_generation", func(t *testing.T) {
			w := play(t, turns())
			same(t, "at the start", w.m.Gen(), 0)
			w.inject(0, pIn.Token(&chunk{}))
			same(t, "no bump", w.m.Gen(), 0)
			w.inject(0, pA.Token(Unit{}), pA.Token(Unit{}))
			same(t, "two bumps", w.m.Gen(), 2)
		}},
		{"5.2", "fresh_and_stale", func(t *testing.T) {
			w := play(t, turns())
			w.inject(0, pIn.Token(&chunk{}), pIn.Token(&chunk{}), pA.Token(Unit{}), pIn.Token(&chunk{gen: 1}))
			same(t, "one bump", w.marking(), "kept[fresh] kept[stale]*2")
			w.inject(0, pA.Token(Unit{}))
			same(t, "two bumps", w.marking(), "kept[stale]*3")
		}},
		{"5.3", "never_fresh_again", func(t *testing.T) {
			w := play(t, turns())
			err := w.m.Inject(0, pIn.Token(&chunk{gen: 1}))
			same(t, "refused", fmt.Sprint(err),
				`petri: inject at "in": the token has the wrong colour (its generation is 1, but the current one is 0)`)
			w.inject(0, pA.Token(Unit{}))
			w.inject(0, pIn.Token(&chunk{gen: 0}))
			same(t, "marking", w.marking(), "kept[stale]")
			w.inject(0, pA.Token(Unit{}), pA.Token(Unit{}))
			same(t, "still", w.marking(), "kept[stale]")
		}},
		{"5.4", "passing_on_keeps_it", func(t *testing.T) {
			w := play(t, turns())
			w.inject(0, pIn.Token(&chunk{}), pA.Token(Unit{}), pB.Token(Unit{}), pIn.Token(&chunk{gen: 1}), pB.Token(Unit{}))
			w.until(0)
			same(t, "outputs", fmt.Sprint(w.outs), "[out=stale out=fresh]")
		}},
	}
}

// counterPart counts the tokens of in by moving them to a private place.
func counterPart(name string, in, out Place[Unit]) *Net {
	const seen = Place[Unit]("seen")
	return &Net{Name: name, Ports: []AnyPlace{in, out}, Transitions: []Transition{
		{Name: "count", In: Arcs{in}, Out: And(seen)},
		{Name: "report", In: Arcs{seen.Exactly(2)}, Out: And(out)}}}
}

func compositionSentences() []sentence {
	compose := func(t *testing.T, name string, parts ...*Net) *Net {
		n, err := Compose(name, parts...)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	return []sentence{
		{"6.1", "private_places", func(t *testing.T) {
			n := compose(t, "n", counterPart("x", pA, pB), counterPart("y", pB, pC))
			n.Env, n.Sinks = env(pA), []AnyPlace{pC}
			w := play(t, n)
			w.inject(0, pA.Token(Unit{}), pA.Token(Unit{}), pA.Token(Unit{}))
			same(t, "marking", w.marking(), "x/seen y/seen")
			same(t, "no such place", w.p.Place("seen"), -1)
		}},
		{"6.2", "ports_fuse", func(t *testing.T) {
			n := compose(t, "n", counterPart("x", pA, pB), counterPart("y", pB, pC))
			outer := &Net{Name: "outer", Nets: []*Net{n}, Env: env(pA), Transitions: []Transition{{Name: "end", In: Arcs{pC}}}}
			w := play(t, outer)
			for range 4 {
				w.inject(0, pA.Token(Unit{}))
			}
			same(t, "trace", w.until(0), "0s n/x/count, 0s n/x/count, 0s n/x/report, 0s n/y/count, "+
				"0s n/x/count, 0s n/x/count, 0s n/x/report, 0s n/y/count, 0s n/y/report, 0s end")
			same(t, "marking", w.marking(), "")
		}},
		{"6.3", "types_differ", func(t *testing.T) {
			part := counterPart("x", pA, pB)
			other := &Net{Name: "y", Ports: []AnyPlace{Place[string]("b")}}
			_, err := Compose("n", part, other)
			same(t, "error", fmt.Sprint(err),
				`petri: compose n: port "b" is unit in net "x" but string in net "y"; give both the same colour or rename one`)
		}},
		{"6.4", "instances", func(t *testing.T) {
			_, err := Compose("n", counterPart("x", pA, pB), counterPart("x", pA, pB))
			same(t, "error", fmt.Sprint(err), `petri: compose n: two parts are named "x"; give each instance a name of its own`)
			n := compose(t, "n", counterPart("x", pA, pB), counterPart("y", pA, pB))
			n.Env, n.Sinks = env(pA), []AnyPlace{pB}
			w := play(t, n)
			w.inject(0, pA.Token(Unit{}), pA.Token(Unit{}))
			same(t, "marking", w.marking(), "b")
			same(t, "own places", w.p.Place("x/seen") >= 0 && w.p.Place("y/seen") >= 0, true)
		}},
		{"6.5", "capacities_agree", func(t *testing.T) {
			x, y := counterPart("x", pA, pB), counterPart("y", pA, pB)
			x.Caps, y.Caps = []Cap{{pA, 1}}, []Cap{{pA, 2}}
			n := compose(t, "n", x, y)
			n.Init, n.Sinks = units(pA), []AnyPlace{pB}
			_, err := Compile(n)
			same(t, "error", fmt.Sprint(err), `petri: place "a" has capacity 1 and 2; fused places need one`)
			y.Caps[0].Max = 1
			if _, err := Compile(n); err != nil {
				t.Error(err)
			}
		}},
		{"6.6", "flat_result", func(t *testing.T) {
			outer := &Net{Name: "outer", Env: env(pA), Nets: []*Net{counterPart("x", pA, pB)},
				Transitions: []Transition{{Name: "end", In: Arcs{pB}}}}
			seen := Place[Unit]("x/seen")
			flat := &Net{Name: "flat", Env: env(pA), Transitions: []Transition{{Name: "end", In: Arcs{pB}},
				{Name: "x/count", In: Arcs{pA}, Out: And(seen)}, {Name: "x/report", In: Arcs{seen.Exactly(2)}, Out: And(pB)}}}
			a, b := play(t, outer), play(t, flat)
			for i := range 6 {
				a.inject(time.Duration(i), pA.Token(Unit{}))
				b.inject(time.Duration(i), pA.Token(Unit{}))
			}
			same(t, "trace", a.until(ms), b.until(ms))
		}},
	}
}

func environmentSentences() []sentence {
	return []sentence{
		{"7.1", "one_way_in", func(t *testing.T) {
			w := play(t, tick())
			for _, tok := range []Token{pA.Token(Unit{}), pOut.Token("x"), pB.Token(Unit{}), {}} {
				if err := w.m.Inject(0, tok); !errors.Is(err, ErrPlace) {
					t.Errorf("%v: %v", tok, err)
				}
			}
			err := w.m.Inject(0, pOut.Token("x"))
			same(t, "error", err.Error(), `petri: inject at "out": not an environment place of this net (net tick)`)
		}},
		{"7.2", "refuse", func(t *testing.T) {
			w := play(t, &Net{Name: "n", Env: []Env{{Place: pText, Capacity: 2}}, Sinks: []AnyPlace{pText}})
			w.inject(0, pText.Token("x"), pText.Token("y"))
			err := w.m.Inject(ms, pText.Token("z"))
			same(t, "error", fmt.Sprint(err), `petri: inject at "text": the place is full (capacity 2)`)
			same(t, "errors.Is", errors.Is(err, ErrFull), true)
			same(t, "event", w.until(ms), "1ms refused text")
			same(t, "marking", w.marking(), "text*2")
		}},
		{"7.3", "drop_and_coalesce", func(t *testing.T) {
			for policy, want := range map[Policy]string{DropOldest: "[out=y out=z]", Coalesce: "[out=x out=z]"} {
				n := framed(func(t *Transition) { t.Read = Arcs{pC} })
				n.Init, n.Env = nil, []Env{{Place: pText, Capacity: 2, Policy: policy}, {Place: pC}}
				w := play(t, n)
				w.inject(0, pText.Token("x"), pText.Token("y"), pText.Token("z"))
				same(t, policy.String(), w.until(0), "0s dropped text")
				w.inject(0, pC.Token(Unit{}))
				w.until(0)
				same(t, policy.String(), fmt.Sprint(w.outs), want)
			}
		}},
		{"7.4", "payload_places_decide_nothing", func(t *testing.T) {
			ok := framed(func(t *Transition) { t.Read, t.Inhibit = Arcs{pC}, Arcs{pText.AtLeast(4)} })
			if p, err := Compile(ok); err != nil || !p.Transitions()[0].Frame {
				t.Errorf("a frame may be read beside and held back: %v", err)
			}
			for _, r := range protocolRefusals()[:8] {
				if _, err := Compile(r.net()); err == nil {
					t.Errorf("%s: not refused", r.name)
				}
			}
		}},
		{"7.5", "capacity_of_a_place", func(t *testing.T) {
			w := play(t, &Net{Name: "n", Env: []Env{{Place: pEdge, Capacity: 2}}, Sinks: []AnyPlace{pEdge}})
			w.inject(0, pEdge.Token(start), pEdge.Token(stop))
			if err := w.m.Inject(0, pEdge.Token(stop)); !errors.Is(err, ErrFull) {
				t.Errorf("third: %v", err)
			}
		}},
		{"7.6", "outputs_leave", func(t *testing.T) {
			w := play(t, tick())
			w.inject(0, pText.Token("x"), pText.Token("y"))
			w.until(0)
			same(t, "outputs", fmt.Sprint(w.outs), "[out=x out=y]")
			same(t, "marking", w.marking(), "a")
			same(t, "slots", w.p.Places()[w.p.Place("out")].Slots, 0)
		}},
		{"7.7", "outputs_know_their_event", func(t *testing.T) {
			w := play(t, tick())
			w.inject(15*ms, pText.Token("x"))
			r := w.m.Advance(15 * ms)
			e := r.Events[r.Out[0].Seq()-1]
			same(t, "event", w.p.Describe(e), "15ms fired say")
			same(t, "number", e.Seq, r.Out[0].Seq())
		}},
		{"7.8", "capacity_is_a_promise", func(t *testing.T) {
			n := one(func(t *Transition) { t.Out = And(pB.Exactly(3)) })
			n.Caps = []Cap{{pB, 2}}
			p := compiled(t, n)
			same(t, "fault", fault(func() { p.Start() }),
				"petri: net n: transition move: place b: it holds 3 tokens; its capacity is 2")
		}},
	}
}

func taskSentences() []sentence {
	// Work starts at once, and may be dropped or time out after 50 ms. The slot is free when the
	// result has come.
	ask := func() *Net {
		n := worker(func(*Net) {})
		n.Env = env(pC)
		const draining = Place[Unit]("draining")
		n.Transitions = append(n.Transitions,
			Transition{Name: "drop", In: Arcs{pC, pB}, Out: And(draining)},
			Transition{Name: "time_out", In: Arcs{pB}, Out: And(draining), When: After(50 * ms)},
			Transition{Name: "drained", In: Arcs{pDone, draining}, Out: And(pA)})
		return n
	}
	return []sentence{
		{"8.1", "start", func(t *testing.T) {
			w := play(t, ask())
			same(t, "trace", w.until(0), "0s begin")
			same(t, "out", fmt.Sprint(w.outs), "[out=x]")
			same(t, "marking", w.marking(), "b")
			for _, r := range protocolRefusals()[12:15] {
				if _, err := Compile(r.net()); err == nil {
					t.Errorf("%s: not refused", r.name)
				}
			}
		}},
		{"8.2", "cancel", func(t *testing.T) {
			w := play(t, ask())
			w.until(0)
			w.inject(ms, pC.Token(Unit{}))
			r := w.m.Advance(ms)
			same(t, "trace", w.trace(r.Events), "1ms drop, 1ms cancelled b")
			same(t, "token", r.Out[0].Cancel() && r.Out[0].Place() == "b" && r.Out[0].Value() == nil, true)
			if _, ok := pB.From(r.Out[0]); ok {
				t.Error("a cancellation carries no value")
			}
			w = play(t, ask())
			w.until(0)
			w.inject(ms, pDone.Token(Result[string]{}))
			same(t, "a result cancels nothing", w.until(ms), "1ms finish (done[succeeded]), 1ms begin")
		}},
		{"8.3", "result", func(t *testing.T) {
			w := play(t, ask())
			info := w.p.Places()[w.p.Place("done")]
			same(t, "keys", strings.Join(info.Keys, " "), "succeeded failed cancelled")
			same(t, "place", info.Env && info.Max == 1 && info.Policy == Refuse, true)
			same(t, "outcome", fmt.Sprint(Result[int]{Outcome: Failed}.Outcome), "failed")
		}},
		{"8.4", "time_out", func(t *testing.T) {
			w := play(t, ask())
			same(t, "trace", w.until(60*ms), "0s begin, 50ms time_out, 50ms cancelled b")
			w.inject(70*ms, pDone.Token(Result[string]{Outcome: Succeeded, Value: "too late"}))
			same(t, "late", w.until(70*ms), "70ms drained (done[succeeded]), 70ms begin")
			same(t, "marking", w.marking(), "b")
		}},
	}
}

func endSentences() []sentence {
	return []sentence{
		{"9.1", "final_place", func(t *testing.T) {
			n := tick()
			n.Env, n.Final = append(n.Env, Env{Place: pC}), pC
			w := play(t, n)
			w.inject(15*ms, pC.Token(Unit{}))
			same(t, "trace", w.until(50*ms), "10ms tick, 15ms ended")
			if err := w.m.Inject(60*ms, pText.Token("x")); !errors.Is(err, ErrEnded) || !w.m.Ended() {
				t.Errorf("after the end: %v", err)
			}
			same(t, "wake", w.m.Wake(), Forever)
			n.Init = append(n.Init, pC.Token(Unit{}))
			same(t, "marked at the start", play(t, n).until(50*ms), "0s ended")
			n = one(func(*Transition) {})
			n.Final = pB
			same(t, "marked by a firing", play(t, n).until(0), "0s move, 0s ended")
		}},
		{"9.2", "fault", func(t *testing.T) {
			n := tick()
			n.Transitions[1].Action = func(*Firing) { panic(&Fault{Net: "x", Transition: "y", Place: "z", Problem: "w"}) }
			w := play(t, n)
			same(t, "text", fault(func() { w.inject(0, pText.Token("x")) }), "petri: net x: transition y: place z: w")
			if err := w.m.Inject(0, pText.Token("x")); !errors.Is(err, ErrFaulted) {
				t.Errorf("inject: %v", err)
			}
			if r := w.m.Advance(ms); len(r.Events)+len(r.Out) > 0 || r.Wake != Forever {
				t.Errorf("advance: %+v", r)
			}
			r := w.m.Fault()
			same(t, "last event", r.Events[len(r.Events)-1].Kind, Faulted)
		}},
		{"9.3", "limits", func(t *testing.T) {
			full := &Net{Name: "n", Init: units(pA), Sinks: []AnyPlace{pB}, Transitions: []Transition{
				{Name: "pour", In: Arcs{pA}, Out: And(pB.Exactly(MaxTokens), pC)}, {Name: "more", In: Arcs{pC}, Out: And(pB)}}}
			p := compiled(t, full)
			same(t, "tokens", fault(func() { p.Start() }),
				"petri: net n: transition more: place b: it holds 65537 tokens; its capacity is 65536")
			same(t, "keys, combinations, branches", fmt.Sprint(maxKeys, maxModes, maxBranches), "32 1024 256")
		}},
		{"9.4", "events_in_order", func(t *testing.T) {
			w := play(t, tick())
			for i := range 40 {
				w.inject(time.Duration(i)*3*ms, pText.Token("x"))
				if i%3 == 0 {
					w.until(time.Duration(i) * 3 * ms)
				}
			}
			w.until(time.Second)
			for i, e := range w.events {
				if e.Seq != uint64(i+1) || i > 0 && e.At < w.events[i-1].At {
					t.Fatalf("event %d: %+v", i, e)
				}
			}
			same(t, "events", len(w.events), 1+40*2+100)
		}},
		{"9.5", "same_again", sameAgain},
		{"9.6", "silence_changes_nothing", func(t *testing.T) {
			loud, quiet := play(t, tick()), play(t, tick())
			quiet.m.Silent(true)
			for _, w := range []*world{loud, quiet} {
				w.inject(15*ms, pText.Token("x"))
				w.until(95 * ms)
			}
			same(t, "outputs", fmt.Sprint(quiet.outs), fmt.Sprint(loud.outs))
			same(t, "number", quiet.m.seq, loud.m.seq)
			same(t, "events", len(quiet.events), 1)
		}},
	}
}

func snapshotSentences() []sentence {
	return []sentence{
		{"10.1", "goes_on", TestSnapshotGoesOn},
		{"10.2", "refused", func(t *testing.T) { TestSnapshotRefused(t); TestRestoreDamaged(t) }},
		{"10.3", "work_is_known", TestSnapshotWorking},
	}
}

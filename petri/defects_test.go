package petri

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestDefects runs nets on which another engine failed, under the numbers that the tests of package
// verify use too.
func TestDefects(t *testing.T) {
	for _, d := range slices.Concat(orderDefects(), countDefects(), timeDefects()) {
		t.Run(d.id+"_"+d.name, d.test)
	}
}

func orderDefects() []sentence {
	w, y := Place[Unit]("W"), Place[Unit]("y")
	return []sentence{
		{"R01", "race_inhibitor", func(t *testing.T) {
			n := &Net{Name: "n", Init: units(pA, pB), Sinks: []AnyPlace{w}, Transitions: []Transition{
				{Name: "commit_a", In: Arcs{pA}, Inhibit: Arcs{w}, Out: And(w)},
				{Name: "commit_b", In: Arcs{pB}, Inhibit: Arcs{w}, Out: And(w)}}}
			p := play(t, n)
			same(t, "an inhibitor is exact", p.marking(), "W b")
		}},
		{"R03", "ring_inhibited", func(t *testing.T) {
			n := &Net{Name: "n", Init: units(pA, y), Transitions: []Transition{
				{Name: "there", In: Arcs{pA}, Inhibit: Arcs{y}, Out: And(pB)}, {Name: "back", In: Arcs{pB}, Out: And(pA)}}}
			same(t, "dead at the start", play(t, n).until(time.Hour), "")
		}},
		{"R04", "ring_exactly_2", func(t *testing.T) {
			n := &Net{Name: "n", Init: units(pA), Transitions: []Transition{
				{Name: "there", In: Arcs{pA}, Out: And(pB)}, {Name: "back", In: Arcs{pB.Exactly(2)}, Out: And(pA)}}}
			same(t, "dead after one", play(t, n).until(time.Hour), "0s there")
		}},
		{"R05", "ring_controls", func(t *testing.T) {
			n := &Net{Name: "n", Init: units(pA), Env: env(y), Transitions: []Transition{
				{Name: "there", In: Arcs{pA}, Read: Arcs{y}, Out: And(pB)}, {Name: "back", In: Arcs{pB}, Out: And(pA)}}}
			same(t, "dead without the read token", play(t, n).until(time.Hour), "")
			n = &Net{Name: "n", Init: units(pA), Transitions: []Transition{
				{Name: "there", In: Arcs{pA}, Out: And(pB), When: After(ms)},
				{Name: "back", In: Arcs{pB}, Reset: Arcs{pB}, Out: And(pA)}}}
			same(t, "live", play(t, n).until(2*ms), "1ms there, 1ms back, 2ms there, 2ms back")
		}},
		{"R07", "env_modes", func(t *testing.T) {
			speaking, s, d := Place[Unit]("speaking"), Place[Unit]("sent"), Place[Unit]("dropped")
			n := &Net{Name: "n", Env: env(pA, speaking), Sinks: []AnyPlace{s, d}, Transitions: []Transition{
				{Name: "send", In: Arcs{pA}, Read: Arcs{speaking}, Out: And(s)},
				{Name: "discard", In: Arcs{pA}, Inhibit: Arcs{speaking}, Out: And(d)}}}
			p := play(t, n)
			for _, m := range [][]int32{{1, 0, 0, 0}, {1, 1, 0, 0}} {
				tr := p.p.Transitions()
				same(t, fmt.Sprint("one of two in ", m), tr[0].Enabled(m) != tr[1].Enabled(m), true)
			}
			p.inject(0, pA.Token(Unit{}), speaking.Token(Unit{}), pA.Token(Unit{}))
			same(t, "trace", p.until(0), "0s discard, 0s send")
		}},
	}
}

func countDefects() []sentence {
	return []sentence{
		{"R08", "unit_output", func(t *testing.T) {
			n := one(func(t *Transition) { t.Out = And(pB.Exactly(4)) })
			same(t, "declared count", play(t, n).marking(), "b*4")
			n = one(func(t *Transition) {
				t.Out, t.Action = And(pText), func(f *Firing) {
					for range 4 {
						pText.Put(f, "x")
					}
				}
			})
			n.Sinks = []AnyPlace{pText}
			p := compiled(t, n)
			same(t, "undeclared count", fault(func() { p.Start() }),
				"petri: net n: transition move: place text: the action produced 4 tokens; 1 are declared")
		}},
		{"R09", "budget_overlap", func(t *testing.T) {
			same(t, "one more than the budget", budgetOverlap(t, false), "BUDGET*5 OUT RESP*2")
			same(t, "repaired", budgetOverlap(t, true), "BUDGET*4 RESP*2")
		}},
		{"R10", "drain_all", func(t *testing.T) {
			n := one(func(t *Transition) { t.In = Arcs{pA.All()} })
			n.Init = units(pA, pA, pA)
			same(t, "marking", play(t, n).marking(), "b")
		}},
		{"R11", "two_arcs", refused("two input arcs")},
		{"R14", "failure", func(t *testing.T) {
			failed := Place[Unit]("failed")
			n := worker(func(n *Net) {
				n.Sinks = []AnyPlace{failed, pC}
				n.Transitions[1] = Transition{Name: "finish", In: Arcs{pDone, pB},
					Out: Xor(Arcs{pC}, Arcs{failed}).By(func(k *Keys) int { return min(int(pDone.Key(k)), 1) })}
			})
			w := play(t, n)
			w.inject(0, pDone.Token(Result[string]{Outcome: Failed, Reason: "no"}))
			same(t, "nothing is lost", w.marking(), "failed")
		}},
		{"R18", "place_31", func(t *testing.T) {
			for _, n := range []int{30, 31, 32, 33, 34, 63, 64, 65, 127, 128, 129, 4063, 4064, 4065, 4066, 10_000} {
				w := play(t, chainNet[Unit](n, nil))
				w.inject(0, Place[Unit]("p0").Token(Unit{}))
				w.m.Advance(time.Second)
				same(t, fmt.Sprint(n, " firings"), w.m.seq, uint64(n+2))
				same(t, "left", w.marking(), "")
			}
		}},
	}
}

// budgetOverlap starts a second request while a chunk of the first is on its way.
func budgetOverlap(t *testing.T, repaired bool) string {
	req, internal, budget := Place[Unit]("REQ"), Place[Unit]("INT"), Place[Unit]("BUDGET")
	chunk, emitting, out, resp := Place[Unit]("CHUNK"), Place[Unit]("EMITTING"), Place[Unit]("OUT"), Place[Unit]("RESP")
	begin := Transition{Name: "begin", In: Arcs{req}, Reset: Arcs{budget}, Out: And(internal, budget.Exactly(4))}
	if repaired {
		begin.Reset = append(begin.Reset, emitting)
	}
	n := &Net{Name: "n", Env: env(req, chunk), Sinks: []AnyPlace{resp, out}, Transitions: []Transition{
		begin, {Name: "call", In: Arcs{internal}, Out: And(resp)},
		{Name: "emit", In: Arcs{chunk, budget}, Out: And(emitting)},
		{Name: "emitted", In: Arcs{emitting}, Out: And(out, budget), When: After(10 * ms)}}}
	w := play(t, n)
	w.inject(0, req.Token(Unit{}), chunk.Token(Unit{}))
	w.inject(5*ms, req.Token(Unit{}))
	w.until(20 * ms)
	return w.marking()
}

func timeDefects() []sentence {
	place := func(s string) Place[Unit] { return Place[Unit](s) }
	return []sentence{
		{"R02", "zone_merge", func(t *testing.T) {
			n := &Net{Name: "n", Init: units("S"), Sinks: []AnyPlace{place("q2"), place("q3")}, Transitions: []Transition{
				{Name: "go_a", In: Arcs{place("S")}, Out: And(place("p1"), place("w"))},
				{Name: "t1", In: Arcs{place("p1")}, Out: And(place("p3")), When: After(3 * time.Second)},
				{Name: "t2", In: Arcs{place("p2")}, Out: And(place("q2")), When: After(5 * time.Second)},
				{Name: "t3", In: Arcs{place("p3")}, Out: And(place("q3")), When: After(3 * time.Second)},
				{Name: "y", In: Arcs{place("w")}, Out: And(place("p2")), When: After(2900 * ms)}}}
			w := play(t, n)
			same(t, "trace", w.until(7*time.Second), "0s go_a, 2.9s y, 3s t1, 6s t3")
			same(t, "reached", w.marking(), "p2 q3")
		}},
		{"R06", "urgency", func(t *testing.T) {
			for _, first := range []Interval{{}, After(time.Second)} {
				n := &Net{Name: "n", Init: units("p1", "p2"), Transitions: []Transition{
					{Name: "t1", In: Arcs{place("p1")}, When: first},
					{Name: "t2", In: Arcs{place("p2")}, When: After(3 * time.Second)}}}
				trace := play(t, n).until(time.Hour)
				same(t, trace, strings.HasSuffix(trace, " t1, 3s t2"), true)
			}
		}},
		{"R15", "reap", func(t *testing.T) {
			n := &Net{Name: "n", Init: units("p"), Sinks: []AnyPlace{place("q")}, Transitions: []Transition{
				{Name: "move", In: Arcs{place("p")}, Out: And(place("q")), When: After(60 * ms)}}}
			w := play(t, n)
			same(t, "a late caller changes nothing", w.until(260*ms), "60ms move")
			same(t, "marking", w.marking(), "q")
		}},
		{"R16", "self_refill", func(t *testing.T) {
			n := &Net{Name: "n", Init: units("p"), Sinks: []AnyPlace{place("q")}, Transitions: []Transition{
				{Name: "t1", In: Arcs{place("p")}, Out: And(place("p")), When: After(200 * ms)},
				{Name: "t2", In: Arcs{place("p")}, Out: And(place("q")), When: After(300 * ms)}}}
			trace := play(t, n).until(1500 * ms)
			same(t, "t1", strings.Count(trace, "t1"), 7)
			same(t, "t2", strings.Count(trace, "t2"), 0)
		}},
		{"R17", "reset_refill", func(t *testing.T) {
			n := &Net{Name: "n", Init: units("p", "r"), Sinks: []AnyPlace{place("q")}, Transitions: []Transition{
				{Name: "t1", In: Arcs{place("r")}, Reset: Arcs{place("p")}, Out: And(place("r"), place("p")),
					When: After(200 * ms)},
				{Name: "t2", In: Arcs{place("p")}, Out: And(place("q")), When: After(300 * ms)}}}
			trace := play(t, n).until(1500 * ms)
			same(t, "t1", strings.Count(trace, "t1"), 7)
			same(t, "t2", strings.Count(trace, "t2"), 0)
		}},
	}
}

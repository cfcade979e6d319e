package stateclass

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify/expr"
	"github.com/voicegw/voicegw/verify/netmodel"
)

type unit = petri.Place[petri.Unit]

// arcs reads "a b*2": places with weights.
func arcs(text string) petri.Arcs {
	var out petri.Arcs
	for _, f := range strings.Fields(text) {
		name, count, weighted := strings.Cut(f, "*")
		n := 1
		if weighted {
			fmt.Sscan(count, &n)
		}
		out = append(out, unit(name).Exactly(n))
	}
	return out
}

// tokens reads "a b*2": places with counts.
func tokens(text string) []petri.Token {
	var out []petri.Token
	for _, f := range strings.Fields(text) {
		name, count, many := strings.Cut(f, "*")
		n := 1
		if many {
			fmt.Sscan(count, &n)
		}
		for range n {
			out = append(out, unit(name).Token(petri.Unit{}))
		}
	}
	return out
}

func and(text string) petri.Split {
	var out []petri.AnyArc
	for _, a := range arcs(text) {
		out = append(out, a)
	}
	if out == nil {
		return petri.Split{}
	}
	return petri.And(out...)
}

// tr makes a transition from "in -> out".
func tr(name string, when petri.Interval, flow string) petri.Transition {
	in, out, _ := strings.Cut(flow, "->")
	return petri.Transition{Name: name, In: arcs(in), Out: and(out), When: when}
}

func read(t petri.Transition, names string) petri.Transition    { t.Read = arcs(names); return t }
func inhibit(t petri.Transition, names string) petri.Transition { t.Inhibit = arcs(names); return t }
func reset(t petri.Transition, names string) petri.Transition   { t.Reset = arcs(names); return t }

func between(a, b int) petri.Interval {
	return petri.Between(time.Duration(a)*time.Millisecond, time.Duration(b)*time.Millisecond)
}

func from(a int) petri.Interval {
	return petri.Interval{Earliest: time.Duration(a) * time.Millisecond, Latest: petri.Forever}
}

func imported(init string, ts ...petri.Transition) *petri.Net {
	return &petri.Net{Name: "net", Imported: true, Init: tokens(init), Transitions: ts}
}

func modelOf(t testing.TB, n *petri.Net, sem netmodel.Semantics) *netmodel.Model {
	t.Helper()
	p, err := petri.Compile(n)
	if err != nil {
		t.Fatal(err)
	}
	return netmodel.New(p, sem)
}

func exploreNet(t testing.TB, n *petri.Net, sem netmodel.Semantics, o Options) *Graph {
	t.Helper()
	g, err := Explore(context.Background(), modelOf(t, n, sem), o)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// crossing is the level crossing with n trains (Berthomieu and Vernadat).
func crossing(n int) *petri.Net {
	init := fmt.Sprintf("open cfar*%d", n)
	var ts []petri.Transition
	for i := 1; i <= n; i++ {
		name := func(s string) string { return strings.ReplaceAll(s, "#", fmt.Sprint(i)) }
		init += name(" far_#")
		rest := ""
		if n > 1 {
			rest = fmt.Sprintf("cfar*%d", n-1)
		}
		ts = append(ts, tr(name("AppFirst_#"), petri.Anytime(), name(fmt.Sprintf("far_# cfar*%d -> close_# cin coming %s", n,
			rest))))
		if n > 1 {
			ts = append(ts, tr(name("AppNext_#"), petri.Anytime(), name("far_# cfar cin -> close_# cin*2")),
				tr(name("ExitNext_#"), petri.Interval{}, name("left_# cin*2 -> far_# cin cfar")))
		}
		ts = append(ts, tr(name("In_#"), between(3, 5), name("close_# -> on_#")), tr(name("Ex_#"), between(2, 4),
			name("on_# -> left_#")),
			tr(name("ExitLast_#"), petri.Interval{}, name(fmt.Sprintf("left_# cin %s -> far_# cfar*%d leaving", rest, n))))
	}
	ts = append(ts, tr("DownOpen", petri.Interval{}, "coming open -> lowering"),
		tr("DownRaising", petri.Interval{}, "coming raising -> lowering"), tr("L", between(1, 2), "lowering -> closed"),
		tr("Up", petri.Interval{}, "leaving closed -> raising"), tr("R", between(1, 2), "raising -> open"))
	return imported(init, ts...)
}

// reference is a net with published or computed counts.
type reference struct {
	name                string
	net                 *petri.Net
	classes, edges      int // by equality
	markings, dead      int // markings 0: not stated
	inClasses, inEdges  int // by inclusion; 0: not stated
	never, marked, idle string
}

func references() []reference {
	ms := between
	return append(voiceNets(), []reference{
		{name: "crossing_1", net: crossing(1), classes: 11, edges: 14, markings: 10, inClasses: 10, inEdges: 13},
		{name: "crossing_2", net: crossing(2), classes: 123, edges: 218, markings: 30, inClasses: 37, inEdges: 74},
		{name: "crossing_3", net: crossing(3), classes: 3101, edges: 7754, markings: 94, inClasses: 172, inEdges: 492},
		{name: "key_net", net: imported("a b c", tr("t0", ms(2, 5), "c -> b"), tr("t1", ms(0, 3), "b -> c"), tr("t2", ms(0,
			1), "a -> c")),
			classes: 13, edges: 20, markings: 6, inClasses: 6, inEdges: 9, marked: "b >= 3"},
		{name: "self_loop", net: imported("p", tr("t1", ms(2, 2), "p -> p"), tr("t2", ms(3, 3), "p -> q")),
			classes: 1, edges: 1, never: "q", idle: "t2"},
		{name: "read_arc", net: imported("p r", read(tr("t1", ms(2, 2), "r -> r"), "p"), tr("t2", ms(3, 3), "p -> q")),
			classes: 3, edges: 2, dead: 1},
		{name: "debounce", net: imported("p r", reset(tr("t1", ms(2, 2), "r -> r p"), "p"), tr("t2", ms(3, 3), "p -> q")),
			classes: 1, edges: 1, never: "q", idle: "t2"},
		{name: "two_stage_silence", net: silence(), classes: 7, edges: 10, markings: 6, inClasses: 6, inEdges: 9},
		{name: "budget", net: imported("P C FREE*2", tr("p", ms(2, 3), "P FREE -> P BUF"), tr("c", ms(3, 5),
			"C BUF -> C FREE")),
			classes: 4, edges: 5, markings: 3},
		{name: "loops_100_300", net: loops(100, 300), classes: 5, edges: 6},
		{name: "loops_20_60", net: loops(20, 60), classes: 5, edges: 6},
		{name: "loops_1000_3000", net: loops(1000, 3000), classes: 5, edges: 6},
		{name: "loops_7_11_13", net: loops(7, 11, 13), classes: 343, edges: 376},
		{name: "tie", net: imported("p", tr("t1", ms(2, 3), "p -> q"), tr("t2", ms(3, 5), "p -> r")), classes: 3, edges: 2,
			dead: 2},
		{name: "no_tie", net: imported("p", tr("t1", ms(2, 3), "p -> q"), tr("t2", ms(4, 5), "p -> r")), classes: 2,
			edges: 1, dead: 1,
			idle: "t2"},
		{name: "urgency_at_once", net: urgency(petri.Interval{}, from(3000)), classes: 3, edges: 2, dead: 1,
			never: "q2 && p1"},
		{name: "urgency_1_3", net: urgency(ms(1000, 3000), ms(4000, 5000)), classes: 3, edges: 2, dead: 1, never: "q2 && p1"},
		{name: "urgency_1_5", net: urgency(ms(1000, 1000), ms(5000, 5000)), classes: 3, edges: 2, dead: 1, never: "q2 && p1"},
		{name: "urgency_0_1", net: urgency(ms(0, 1000), from(3000)), classes: 3, edges: 2, dead: 1, never: "q2 && p1"},
		{name: "late", net: imported("a p", tr("block", petri.Interval{}, "a ->"), tr("go", ms(20, 60), "p -> q")),
			classes: 3, edges: 2, dead: 1, marked: "q"},
		{name: "zone_merge_a", net: merging(true, false), classes: 9, edges: 10, markings: 8, dead: 1, marked: "q3 && p2"},
		{name: "zone_merge_b", net: merging(false, true), classes: 7, edges: 7, markings: 6, dead: 1, never: "q3 && p2",
			idle: "Y"},
		{name: "zone_merge", net: merging(true, true), classes: 12, edges: 15, markings: 8, dead: 1, marked: "q3 && p2"},
		{name: "budget_overlap", net: overlap(false), classes: 22, edges: 33, dead: 2, marked: "BUDGET == 5",
			never: "BUDGET > 5"},
		{name: "budget_repaired", net: overlap(true), classes: 19, edges: 28, dead: 2, marked: "BUDGET == 4",
			never: "BUDGET > 4"},
		{name: "latency_4_0", net: latency(4, 0, 15), classes: 49, edges: 91, markings: 16, dead: 1, inClasses: 18,
			inEdges: 28, idle: "deadline"},
	}...)
}

func silence() *petri.Net {
	return imported("WAIT QUIET", tr("speech_on", petri.Anytime(), "QUIET -> VAD"), tr("speech_off", from(200),
		"VAD -> QUIET"),
		inhibit(tr("silence1", between(4000, 4000), "WAIT -> REC1"), "VAD"),
		inhibit(tr("silence2", between(8000, 8000), "REC1 -> REC2"), "VAD"), tr("recover", between(0, 50), "REC2 -> WAIT"))
}

func loops(waits ...int) *petri.Net {
	init := ""
	var ts []petri.Transition
	for i, w := range waits {
		p := fmt.Sprintf("p%d", i)
		init += " " + p
		ts = append(ts, tr("t"+p, between(w, w), p+"->"+p))
	}
	return imported(init, ts...)
}

func urgency(a, b petri.Interval) *petri.Net {
	return imported("p1 p2", tr("T1", a, "p1 -> q1"), tr("T2", b, "p2 -> q2"))
}

func merging(a, b bool) *petri.Net {
	var ts []petri.Transition
	if a {
		ts = append(ts, tr("goA", petri.Interval{}, "S -> p1 w"))
	}
	if b {
		ts = append(ts, tr("goB", petri.Interval{}, "S -> p1 p2"))
	}
	return imported("S", append(ts, tr("T1", between(3000, 3000), "p1 -> p3"), tr("T2", between(0, 5000), "p2 -> q2"),
		tr("T3", between(3000, 4000), "p3 -> q3"), tr("Y", between(0, 2900), "w -> p2"))...)
}

func overlap(repaired bool) *petri.Net {
	start := reset(tr("Start", petri.Interval{}, "REQ -> INT BUDGET*4"), "BUDGET")
	if repaired {
		start = reset(start, "BUDGET EMITTING")
	}
	return imported("REQ*2 CHUNK", start, tr("Call", petri.Interval{}, "INT -> RESP"),
		tr("EmitStart", petri.Anytime(), "CHUNK BUDGET -> EMITTING"), tr("EmitDone", petri.Anytime(),
			"EMITTING -> OUT BUDGET"))
}

// latency is barge-in to clear with a budget of k chunks and j ms of jitter, observed for x ms.
func latency(k, j, x int) *petri.Net {
	n := bargeIn(k, j, 25)
	for i := range n.Transitions {
		switch t := &n.Transitions[i]; t.Name {
		case "vad_edge":
			t.Out = and("BARGEREQ OBS")
		case "flushed":
			t.In = arcs("FLUSHING OBS")
		}
	}
	n.Transitions = append(n.Transitions, tr("deadline", between(x, x), "OBS -> OVERDUE"))
	return n
}

func bargeIn(k, j, played int) *petri.Net {
	return imported(fmt.Sprintf("SPEAK BUDGET*%d", k), read(tr("chunk", between(20, 20+j), "BUDGET -> INFLIGHT"), "SPEAK"),
		read(tr("played", between(20, played+j), "INFLIGHT -> BUDGET"), "SPEAK"), tr("vad_edge", petri.Anytime(),
			"SPEAK -> BARGEREQ"),
		tr("dispatch", between(0, 5+j), "BARGEREQ -> FLUSHING"), tr("flush1", between(0, 2+j),
			"FLUSHING INFLIGHT -> FLUSHING BUDGET"),
		inhibit(tr("flushed", between(0, 1+j), "FLUSHING -> DONE"), "INFLIGHT"))
}

// seven and twelve are the voice nets of a peer whose proofs were wrong, with waits as the peer
// reads them (weak) and as they are meant (strong).
func seven(weak bool) []petri.Transition {
	now, wait := petri.Interval{}, between(3000, 3000)
	if weak {
		now, wait = petri.Anytime(), from(3000)
	}
	return []petri.Transition{
		reset(tr("SeedAndStart", now, "LLM_REQUEST -> LLM_REQUEST_INTERNAL CHUNK_BUDGET*4"), "CHUNK_BUDGET"),
		tr("LlmCallStream", now, "LLM_REQUEST_INTERNAL -> LLM_RESPONSE"),
		tr("EmitChunk", now, "CHUNK CHUNK_BUDGET -> EVENT_OUT CHUNK_BUDGET"),
		read(tr("SendBargeIn", now, "interrupted -> bargeInSent"), "VAO"),
		inhibit(tr("DiscardInterrupt", now, "interrupted -> interruptDiscarded"), "VAO"),
		inhibit(tr("Nudge", wait, "responseAwaited -> nudgeNeeded recoveryPending"), "modelActive"),
		inhibit(tr("Recover", wait, "recoveryPending -> reconnectNeeded"), "modelActive"),
	}
}

func twelve(weak bool) []petri.Transition {
	now := petri.Interval{}
	if weak {
		now = petri.Anytime()
	}
	return append(seven(weak),
		inhibit(tr("OpenWindow", now, "speechStarted -> VAO"), "VAO"),
		read(tr("IgnoreRedundantStart", now, "speechStarted -> speechEdgeIgnored"), "VAO"),
		tr("CloseWindow", now, "speechStopped VAO -> utteranceEnded"),
		inhibit(tr("IgnoreRedundantStop", now, "speechStopped -> speechEdgeIgnored"), "VAO"),
		tr("StartStream", now, "USER_IN -> LLM_REQUEST"))
}

func voiceNets() []reference {
	const v3 = "USER_IN CHUNK interrupted speechStarted speechStopped responseAwaited"
	const five = "EmitChunk SendBargeIn DiscardInterrupt Nudge Recover"
	twice := strings.ReplaceAll(v3, " ", "*2 ") + "*2"
	return []reference{
		{name: "V1_weak", net: imported("LLM_REQUEST", seven(true)...), classes: 3, edges: 2, markings: 3, dead: 1,
			idle: five},
		{name: "V1_strong", net: imported("LLM_REQUEST", seven(false)...), classes: 3, edges: 2, markings: 3, dead: 1,
			idle: five},
		{name: "V2_weak", net: imported("LLM_REQUEST CHUNK interrupted VAO responseAwaited", seven(true)...),
			classes: 39, edges: 87, markings: 30, dead: 1, idle: "DiscardInterrupt"},
		{name: "V2_strong", net: imported("LLM_REQUEST CHUNK interrupted VAO responseAwaited", seven(false)...),
			classes: 12, edges: 17, markings: 12, dead: 1, idle: "DiscardInterrupt"},
		{name: "V3_weak", net: imported(v3, twelve(true)...), classes: 311, edges: 877, markings: 234, dead: 4,
			idle: "IgnoreRedundantStart", never: "VAO > 1"},
		{name: "V3_strong", net: imported(v3, twelve(false)...), classes: 86, edges: 170, markings: 86, dead: 4,
			idle: "IgnoreRedundantStart", never: "VAO > 1"},
		{name: "V4_weak", net: imported(twice, twelve(true)...), classes: 16702, edges: 73357, markings: 12528, dead: 12,
			never: "VAO > 1"},
		{name: "V4_strong", net: imported(twice, twelve(false)...), classes: 2148, edges: 6894, markings: 2148, dead: 12,
			never: "VAO > 1"},
	}
}

// TestReferenceCounts: nets of the field have [0,0] interleave.
func TestReferenceCounts(t *testing.T) {
	for _, r := range references() {
		t.Run(r.name, func(t *testing.T) {
			g := exploreNet(t, r.net, netmodel.Interleave, Options{Merge: Equality})
			if !g.Complete || g.Classes() != r.classes || g.Edges() != r.edges || deadMarkings(g) != r.dead ||
				r.markings > 0 && g.Markings() != r.markings {
				t.Errorf("%d classes, %d edges, %d markings, %d dead; want %d, %d, %d, %d",
					g.Classes(), g.Edges(), g.Markings(), deadMarkings(g), r.classes, r.edges, r.markings, r.dead)
			}
			in := exploreNet(t, r.net, netmodel.Interleave, Options{})
			if r.inClasses > 0 && (in.Classes() != r.inClasses || in.Edges() != r.inEdges) {
				t.Errorf("inclusion: %d classes, %d edges; want %d, %d", in.Classes(), in.Edges(), r.inClasses, r.inEdges)
			}
			if in.Markings() != g.Markings() || in.Classes() > g.Classes() {
				t.Errorf("inclusion: %d markings in %d classes, equality %d in %d", in.Markings(), in.Classes(), g.Markings(),
					g.Classes())
			}
			for _, g := range []*Graph{g, in} {
				r.questions(t, g)
			}
		})
	}
}

func deadMarkings(g *Graph) int {
	seen := map[uint32]bool{}
	for _, c := range g.Dead() {
		seen[g.classes[c].marking] = true
	}
	return len(seen)
}

func (r *reference) questions(t *testing.T, g *Graph) {
	t.Helper()
	if r.never != "" && satisfies(t, g, r.never) {
		t.Errorf("%s is reachable", r.never)
	}
	if r.marked != "" && !satisfies(t, g, r.marked) {
		t.Errorf("%s is not reachable", r.marked)
	}
	var idle []string
	for _, i := range g.Idle() {
		idle = append(idle, g.Model.Transition(i))
	}
	if have := strings.Join(idle, " "); have != r.idle {
		t.Errorf("never fires: %q, want %q", have, r.idle)
	}
}

func satisfies(t *testing.T, g *Graph, text string) bool {
	t.Helper()
	e, err := expr.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	c, err := g.Model.BindExpr(e)
	if err != nil {
		t.Fatal(err)
	}
	found := false
	g.Each(func(_ int, m []int32) bool {
		found = c.Holds(m)
		return !found
	})
	return found
}

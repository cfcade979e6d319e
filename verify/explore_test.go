package verify

import (
	"context"
	"fmt"
	"testing"

	"github.com/voicegw/voicegw/petri"
)

type unit = petri.Place[petri.Unit]

func tokens(names ...string) []petri.Token {
	var out []petri.Token
	for _, n := range names {
		out = append(out, unit(n).Token(petri.Unit{}))
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

func arcs(names ...string) petri.Arcs {
	var out petri.Arcs
	for _, n := range names {
		out = append(out, unit(n))
	}
	return out
}

func outs(names ...string) petri.Split { return petri.And(arcs(names...)...) }

func compile(t testing.TB, n *petri.Net) *petri.Program {
	t.Helper()
	p, err := petri.Compile(n)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func explore(t testing.TB, n *petri.Net, o Options) *Graph {
	t.Helper()
	g, err := Explore(context.Background(), compile(t, n), o)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// calibration is an untimed voice net with a budget of k chunks.
func calibration(k int, newUtterance bool) *petri.Net {
	any := petri.Anytime()
	n := &petri.Net{Name: "voice", Imported: true, Init: append(many("BUDGET", k), tokens("IDLE")...)}
	n.Transitions = []petri.Transition{
		{Name: "utt_start", In: arcs("IDLE"), Inhibit: arcs("VAD_OPEN"), Out: outs("LISTEN", "VAD_OPEN"), When: any},
		{Name: "utt_end", In: arcs("LISTEN", "VAD_OPEN"), Out: outs("THINK"), When: any},
		{Name: "model_start", In: arcs("THINK"), Out: outs("SPEAK"), When: any},
		{Name: "model_tool", In: arcs("THINK"), Out: outs("TOOL"), When: any},
		{Name: "tool_done", In: arcs("TOOL"), Out: outs("THINK"), When: any},
		{Name: "chunk", In: arcs("BUDGET"), Read: arcs("SPEAK"), Inhibit: arcs("BARGE"), Out: outs("INFLIGHT"), When: any},
		{Name: "played", In: arcs("INFLIGHT"), Out: outs("BUDGET"), When: any},
		{Name: "turn_complete", In: arcs("SPEAK"), Inhibit: arcs("INFLIGHT"), Out: outs("IDLE"), When: any},
		{Name: "barge_in", In: arcs("SPEAK"), Inhibit: arcs("BARGE", "VAD_OPEN"), Out: outs("BARGE", "VAD_OPEN"), When: any},
		{Name: "flush", In: arcs("BARGE", "INFLIGHT"), Out: outs("BARGE", "BUDGET"), When: any},
		{Name: "barge_done", In: arcs("BARGE"), Inhibit: arcs("INFLIGHT"), Out: outs("LISTEN"), When: any},
		{Name: "silence1", In: arcs("THINK"), Out: outs("REC1"), When: any},
		{Name: "rec1_ok", In: arcs("REC1"), Out: outs("THINK"), When: any},
		{Name: "silence2", In: arcs("REC1"), Out: outs("REC2"), When: any},
		{Name: "rec2", In: arcs("REC2"), Out: outs("IDLE"), When: any},
	}
	if newUtterance {
		n.Transitions = append(n.Transitions, petri.Transition{
			Name: "new_utt", In: arcs("THINK"), Inhibit: arcs("VAD_OPEN"), Reset: arcs("TOOL", "REC1", "REC2", "VAD_OPEN"),
			Out: outs("LISTEN", "VAD_OPEN"), When: any,
		})
	}
	return n
}

func TestExploreCounts(t *testing.T) {
	for _, c := range []struct{ k, states, edges, without int }{{1, 10, 18, 17}, {4, 16, 33, 32}, {16, 40, 93, 92}} {
		t.Run(fmt.Sprint(c.k), func(t *testing.T) {
			g := explore(t, calibration(c.k, true), Options{})
			if g.States() != c.states || g.Edges() != c.edges || !g.Complete || len(g.Dead()) != 0 {
				t.Errorf("%d states, %d edges, complete %v, dead %v; want %d, %d", g.States(), g.Edges(), g.Complete, g.Dead(),
					c.states, c.edges)
			}
			if g := explore(t, calibration(c.k, false), Options{}); g.Edges() != c.without {
				t.Errorf("without new_utt: %d edges, want %d", g.Edges(), c.without)
			}
		})
	}
}

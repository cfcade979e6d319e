package explore

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify/nettest"
)

func exploreNet(t testing.TB, n *petri.Net, o Options) *Graph {
	t.Helper()
	g, err := Explore(context.Background(), nettest.Compile(t, n), o)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestExploreCounts(t *testing.T) {
	for _, c := range []struct{ k, states, edges, without int }{{1, 10, 18, 17}, {4, 16, 33, 32}, {16, 40, 93, 92}} {
		t.Run(fmt.Sprint(c.k), func(t *testing.T) {
			g := exploreNet(t, nettest.Calibration(c.k, true), Options{})
			if g.States() != c.states || g.Edges() != c.edges || !g.Complete || len(g.Dead()) != 0 {
				t.Errorf("%d states, %d edges, complete %v, dead %v; want %d, %d", g.States(), g.Edges(), g.Complete, g.Dead(),
					c.states, c.edges)
			}
			if g := exploreNet(t, nettest.Calibration(c.k, false), Options{}); g.Edges() != c.without {
				t.Errorf("without new_utt: %d edges, want %d", g.Edges(), c.without)
			}
		})
	}
}

// TestIdle: the transitions of a net whose environment never acts are listed.
func TestIdle(t *testing.T) {
	arcs, classic := nettest.Arcs, nettest.Classic
	g := exploreNet(t, nettest.Imported(nettest.Tokens("R"),
		classic("a", arcs("R"), arcs("S")), classic("b", arcs("X"), arcs("S"))),
		Options{})
	if have := g.Idle(); !slices.Equal(have, []int32{1}) {
		t.Errorf("idle %v, want [1]", have)
	}
}

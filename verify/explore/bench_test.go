package explore

import (
	"context"
	"fmt"
	"testing"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify/netmodel"
	"github.com/voicegw/voicegw/verify/nettest"
)

// philosophers is a ring of n at a table: 4 places and 3 firings each.
func philosophers(n int) *petri.Net {
	arcs, classic := nettest.Arcs, nettest.Classic
	net := &petri.Net{Name: "philosophers", Imported: true}
	for i := range n {
		p := func(s string, i int) string { return fmt.Sprintf("%s_%d", s, i%n) }
		net.Init = append(net.Init, nettest.Tokens(p("thinks", i), p("fork", i))...)
		net.Transitions = append(net.Transitions,
			classic(p("left", i), arcs(p("thinks", i), p("fork", i)), arcs(p("waits", i))),
			classic(p("right", i), arcs(p("waits", i), p("fork", i+1)), arcs(p("eats", i))),
			classic(p("leave", i), arcs(p("eats", i)), arcs(p("thinks", i), p("fork", i), p("fork", i+1))))
	}
	return net
}

// diners are philosophers that wash up before they think again: 5 places and 4 firings each.
func diners(n int) *petri.Net {
	arcs, classic := nettest.Arcs, nettest.Classic
	net := philosophers(n)
	for i := range net.Transitions {
		if t := &net.Transitions[i]; i%3 == 2 { // leave
			p := func(s string, i int) string { return fmt.Sprintf("%s_%d", s, i%n) }
			*t = classic(t.Name, arcs(p("eats", i/3)), arcs(p("washes", i/3), p("fork", i/3), p("fork", i/3+1)))
			net.Transitions = append(net.Transitions, classic(p("dry", i/3), arcs(p("washes", i/3)), arcs(p("thinks", i/3))))
		}
	}
	return net
}

// TestPhilosophers: the ring has as many markings as the Pell-Lucas numbers say, and exactly one
// deadlock.
func TestPhilosophers(t *testing.T) {
	for n, want := range map[int]int{2: 6, 3: 14, 4: 34, 5: 82, 6: 198, 10: 6726} {
		if g := exploreNet(t, philosophers(n), Options{}); g.States() != want || len(g.Dead()) != 1 {
			t.Errorf("%d: %d markings, %d dead; want %d, 1", n, g.States(), len(g.Dead()), want)
		}
	}
}

func benchmarkExplore(b *testing.B, n *petri.Net) {
	m := netmodel.New(nettest.Compile(b, n), netmodel.RunToCompletion)
	b.ReportAllocs()
	states := 0
	for b.Loop() {
		g, err := ExploreModel(context.Background(), m, Options{Max: 1 << 22})
		if err != nil || !g.Complete {
			b.Fatal(err)
		}
		states += g.States()
	}
	b.ReportMetric(float64(states)/b.Elapsed().Seconds(), "markings/s")
	b.ReportMetric(float64(m.Slots()), "places")
	b.ReportMetric(float64(states)/float64(b.N), "markings")
}

func BenchmarkExplore20Places(b *testing.B) { benchmarkExplore(b, philosophers(5)) }

func BenchmarkExplore40Places(b *testing.B) { benchmarkExplore(b, philosophers(10)) }

func BenchmarkExplore50Places(b *testing.B) { benchmarkExplore(b, diners(10)) }

func BenchmarkExploreVoice(b *testing.B) { benchmarkExplore(b, nettest.Calibration(1000, true)) }

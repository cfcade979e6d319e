package verify

import (
	"strings"
	"testing"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify/explore"
)

type defect struct {
	name   string
	net    *petri.Net
	states int
	edges  int
	dead   int
	path   string // firings to the first deadlock; "-" for none
	bounds map[string]int
}

// defects are small nets on which tools of the field proved what is false.
func defects() []defect {
	const a, b = unit("A"), unit("B")
	return []defect{
		{name: "race_inhibitor", states: 3, edges: 2, dead: 2, path: "commitA", bounds: map[string]int{"W": 1},
			net: imported(tokens("A", "B"),
				inhibit(classic("commitA", arcs("A"), arcs("W")), "W"), inhibit(classic("commitB", arcs("B"), arcs("W")), "W"))},
		{name: "ring_inhibited", states: 1, dead: 1, net: imported(tokens("A", "X"),
			inhibit(classic("ab", arcs("A"), arcs("B")), "X"), classic("ba", arcs("B"), arcs("A")))},
		{name: "ring_exactly_2", states: 2, edges: 1, dead: 1, path: "ab", net: imported(tokens("A"),
			classic("ab", arcs("A"), arcs("B")), classic("ba", petri.Arcs{b.Exactly(2)}, arcs("A")))},
		{name: "ring_read", states: 1, dead: 1, net: imported(tokens("A"),
			read(classic("ab", arcs("A"), arcs("B")), "Y"), classic("ba", arcs("B"), arcs("A")))},
		{name: "ring_reset", states: 2, edges: 2, net: imported(tokens("A"),
			classic("ab", arcs("A"), arcs("B")), reset(classic("ba", arcs("B"), arcs("A")), "B"))},
		{name: "unit_output", states: 2, edges: 1, dead: 1, path: "ab", bounds: map[string]int{"B": 4},
			net: imported(tokens("A"), classic("ab", arcs("A"), petri.Arcs{b.Exactly(4)}))},
		{name: "drain_all", states: 2, edges: 1, dead: 1, path: "ab", bounds: map[string]int{"B": 1},
			net: imported(many("A", 3), classic("ab", petri.Arcs{a.All()}, arcs("B")))},
		{name: "sink_excuse", states: 1, dead: 1, net: &petri.Net{Name: "net", Imported: true, Init: tokens("A", "S"),
			Sinks: []petri.AnyPlace{unit("S")}, Transitions: []petri.Transition{classic("as", arcs("A", "Z"), arcs("S"))}}},
		{name: "mutual_inhibition", states: 1, dead: 1, net: imported(tokens("A", "B"),
			inhibit(classic("t1", arcs("A"), arcs("A")), "B"), inhibit(classic("t2", arcs("B"), arcs("B")), "A"))},
		{name: "reset_breaks_flow", states: 3, edges: 4, dead: 1, path: "t3", bounds: map[string]int{"D": 1},
			net: imported(tokens("A", "C"), classic("t1", arcs("A"), arcs("B")), classic("t2", arcs("B"), arcs("A")),
				reset(classic("t3", arcs("C"), arcs("D")), "A", "B"))},
		{name: "two_to_one", states: 1, dead: 1, net: imported(tokens("A"), classic("u", petri.Arcs{a.Exactly(2)},
			arcs("A")))},
		{name: "read_empty", states: 1, dead: 1, net: imported(tokens("A"), read(classic("t", arcs("A"), arcs("A")), "B"))},
		{name: "mutex", states: 3, edges: 4, net: imported(tokens("W1", "W2", "S"),
			classic("e1", arcs("W1", "S"), arcs("C1")), classic("x1", arcs("C1"), arcs("W1", "S")),
			classic("e2", arcs("W2", "S"), arcs("C2")), classic("x2", arcs("C2"), arcs("W2", "S")))},
	}
}

func TestDefects(t *testing.T) {
	for _, d := range defects() {
		t.Run(d.name, func(t *testing.T) {
			g := exploreNet(t, d.net, explore.Options{})
			dead := g.Deadlocks()
			if !g.Complete || g.States() != d.states || g.Edges() != d.edges || len(dead) != d.dead {
				t.Fatalf("%d states, %d edges, dead %v; want %d, %d, %d", g.States(), g.Edges(), dead, d.states, d.edges, d.dead)
			}
			if len(dead) > 0 {
				if have := names(g, g.PathTo(dead[0])); have != d.path {
					t.Errorf("path to the deadlock %q, want %q", have, d.path)
				}
			}
			for name, want := range d.bounds {
				if have := g.Bounds()[g.Model.Program().Place(name)]; have != want {
					t.Errorf("%s holds at most %d, want %d", name, have, want)
				}
			}
		})
	}
}

func names(g *explore.Graph, p explore.Path) string {
	var out []string
	for _, s := range p.Steps {
		out = append(out, g.Model.Name(s))
	}
	return strings.Join(out, " ")
}

// TestGuardFalse: a guard that refuses everything is refused by Compile, so no proof can be about
// it.
func TestGuardFalse(t *testing.T) {
	u := classic("u", arcs("A"), arcs("A"))
	u.Guard = func(*petri.Keys) bool { return false }
	if _, err := petri.Compile(imported(tokens("A"), u)); err == nil || !strings.Contains(err.Error(), "guard") {
		t.Errorf("Compile: %v; want a refusal that names the guard", err)
	}
}

// TestTwoArcs: two input arcs on one place are refused with their names.
func TestTwoArcs(t *testing.T) {
	_, err := petri.Compile(imported(tokens("A"), classic("u", arcs("A", "A"), arcs("B"))))
	if err == nil || !strings.Contains(err.Error(), `"u"`) || !strings.Contains(err.Error(), `"A"`) {
		t.Errorf("Compile: %v; want a refusal that names transition and place", err)
	}
}

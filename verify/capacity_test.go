package verify

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify/explore"
	"github.com/voicegw/voicegw/verify/nettest"
	"github.com/voicegw/voicegw/verify/slice"
	"github.com/voicegw/voicegw/verify/structure"
	"github.com/voicegw/voicegw/verify/walk"
)

// desk is a net of one place that matters, in, which holds two, and an environment that fills it.
func desk(ts ...petri.Transition) *petri.Net {
	return &petri.Net{Name: "desk", Imported: true, Init: tokens("idle"),
		Env:         []petri.Env{{Place: unit("in"), Capacity: 2}},
		Transitions: append(ts, classic("begin", arcs("idle"), arcs("busy")), classic("end", arcs("busy"), arcs("idle")))}
}

// TestAnswered: what the structure shows of a token that comes, and what it does not.
func TestAnswered(t *testing.T) {
	read := func(t petri.Transition, p string) petri.Transition { t.Read = arcs(p); return t }
	held := func(t petri.Transition, p string) petri.Transition { t.Inhibit = arcs(p); return t }
	take := func(name string) petri.Transition { return atOnce(name, arcs("in"), nil) }
	two := atOnce("two", petri.Arcs{unit("in").Exactly(2)}, nil)
	for _, c := range []struct {
		name   string
		net    *petri.Net
		except []string
		want   Outcome
	}{
		{"taken", desk(take("take")), nil, Proved},
		{"taken in time", desk(classic("take", arcs("in"), nil)), nil, Unknown},
		{"never", desk(classic("take", arcs("in", "busy"), nil)), nil, Unknown},
		{"by two at a time", desk(two), nil, Unknown},
		{"busy or idle, by a flow", desk(read(take("a"), "busy"), read(take("b"), "idle")), nil, Proved},
		{"busy alone", desk(read(take("a"), "busy")), nil, Unknown},
		{"busy alone, excepted", desk(read(take("a"), "busy")), []string{"in"}, Proved},
		{"busy or not", desk(read(take("a"), "busy"), held(take("b"), "busy")), nil, Proved},
		{"busy, or neither", desk(read(take("a"), "busy"), held(held(take("b"), "busy"), "idle")), nil, Unknown},
		{"two or one", desk(two, take("one")), nil, Proved},
	} {
		r, err := Run(context.Background(), compile(t, c.net), Config{}, Answered(c.except...))
		if err != nil {
			t.Fatal(err)
		}
		if v := r.Results[0]; v.Outcome != c.want {
			t.Errorf("%s: %s, %s; want %s", c.name, v.Outcome, v.Reason, c.want)
		}
	}
}

// TestMayOverflow: for which deliveries the structure shows that there is room.
func TestMayOverflow(t *testing.T) {
	full := func(t petri.Transition, n int) petri.Transition {
		t.Inhibit = petri.Arcs{unit("box").AtLeast(n)}
		return t
	}
	put := func(n int) petri.Transition { return classic("put", nil, petri.Arcs{unit("box").Exactly(n)}) }
	swap := classic("put", petri.Arcs{unit("box").Exactly(2)}, petri.Arcs{unit("box").Exactly(2)})
	grow := classic("put", arcs("box"), petri.Arcs{unit("box").Exactly(2)})
	empty := func(n int) petri.Transition { return reset(put(n), "box") }
	all := classic("put", petri.Arcs{unit("box").All()}, petri.Arcs{unit("box").Exactly(2)})
	first := func(name string, priority int) petri.Transition {
		t := atOnce(name, arcs("box"), nil)
		t.Priority = priority
		return t
	}
	later := atOnce("put", arcs("go"), petri.Arcs{unit("box").Exactly(2)})
	start := classic("start", nil, arcs("go", "box"))
	start.Inhibit = arcs("go")
	for _, c := range []struct {
		name string
		ts   []petri.Transition
		room bool
	}{
		{"nothing", []petri.Transition{put(1)}, false},
		{"waits for room", []petri.Transition{full(put(1), 2)}, true},
		{"waits for too little room", []petri.Transition{full(put(2), 2)}, false},
		{"waits for none", []petri.Transition{full(put(2), 1)}, true},
		{"takes as much", []petri.Transition{swap}, true},
		{"takes less", []petri.Transition{grow}, false},
		{"empties", []petri.Transition{empty(2)}, true},
		{"empties, and puts too much", []petri.Transition{empty(3)}, false},
		{"takes all", []petri.Transition{all}, true},
		{"emptied before", []petri.Transition{first("drop", 1), later, start}, true},
		{"emptied at rest", []petri.Transition{first("drop", 0), put(2)}, true},
		{"emptied afterwards", []petri.Transition{later, first("drop", 0), start}, false},
		{"by a flow", []petri.Transition{classic("put", arcs("idle"), arcs("box")), classic("back", arcs("box"),
			arcs("idle"))}, true},
		{"by a flow of too many", []petri.Transition{classic("put", arcs("idle"), petri.Arcs{unit("box").Exactly(2)}),
			classic("back", petri.Arcs{unit("box").Exactly(2)}, arcs("idle"))}, false},
	} {
		n := imported(append(tokens("idle"), many("box", 1)...), append(c.ts, classic("rest", arcs("idle"), arcs("idle")))...)
		n.Caps = []petri.Cap{{Place: unit("box"), Max: 2}, {Place: unit("go"), Max: 1}}
		if c.name == "by a flow" {
			n.Init = tokens("idle")
		}
		p, err := petri.Compile(n)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		overflows := slices.Contains(slice.MayOverflow(p), "put to box")
		if overflows == c.room {
			t.Errorf("%s: overflows %v, room %v", c.name, overflows, c.room)
		}
		g, err := explore.Explore(context.Background(), p, explore.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if faults(g)["put to box"] != overflows {
			t.Errorf("%s: exploration finds the faults %v", c.name, faults(g))
		}
	}
}

// faults are the deliveries that exceed a capacity, as MayOverflow names them.
func faults(g *explore.Graph) map[string]bool {
	out := map[string]bool{}
	for _, f := range g.Faults {
		if f.Kind == walk.Overfull {
			out[g.Model.Transitions[f.Step.Transition].Name+" to "+g.Model.Places[f.Place].Name] = true
		}
	}
	return out
}

// TestMayOverflowAgrees: on random nets no delivery for which there is room exceeds a capacity, and
// no place that is always emptied holds a token when the net rests.
func TestMayOverflowAgrees(t *testing.T) {
	ctx := context.Background()
	roomy, overflows, emptied, kept := 0, 0, 0, 0
	for seed := range uint64(1500) {
		k := nettest.Weaver{Rand: rand.New(rand.NewPCG(seed, 7))}
		p := k.Program()
		g, err := explore.Explore(ctx, p, explore.Options{Max: woven})
		if err != nil {
			t.Fatal(err)
		}
		narrow := slice.MayOverflow(p)
		bad := faults(g)
		for _, tr := range p.Transitions() {
			for _, a := range tr.Arcs {
				d := delivered(p, tr.Name, a)
				switch {
				case d == "" || p.Places()[a.Place].Out:
				case !slices.Contains(narrow, d):
					roomy++
					if bad[d] {
						t.Fatalf("seed %d: %s exceeds a capacity, and is not listed", seed, d)
					}
				case bad[d]:
					overflows++
				}
			}
		}
		r := structure.NewCapacities(g.Model)
		for i := range g.Model.Places {
			pl := &g.Model.Places[i]
			if !r.AlwaysEmptied(pl, int32(len(g.Model.Order))) {
				kept++
				continue
			}
			emptied++
			g.Each(func(s int, m []int32) bool {
				if !g.Model.Ended(m) && g.Model.Marked(i, m) > 0 {
					t.Fatalf("seed %d: %s keeps a token: %s\n%s", seed, pl.Name, g.Model.Format(m), g.Format(g.PathTo(s)))
				}
				return true
			})
		}
	}
	t.Logf("%d deliveries with room, %d that exceed; %d places emptied, %d not", roomy, overflows, emptied, kept)
	if roomy < 1000 || overflows < 400 || emptied < 300 || kept < 1000 {
		t.Error("the nets are too easy or too hard")
	}
}

// delivered is how Uncovered names what a transition puts at a place; "" for other arcs.
func delivered(p *petri.Program, transition string, a petri.ArcInfo) string {
	if a.Kind != petri.OutArc {
		return ""
	}
	return transition + " to " + p.Places()[a.Place].Name
}

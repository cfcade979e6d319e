package stateclass

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/verify/explore"
	"github.com/voicegw/voicegw/verify/netmodel"
	"github.com/voicegw/voicegw/verify/witness"
)

// TestTimersFirst: of random nets with an environment, a machine rests only in the graph of ties as
// it takes them, and takes the way to every class of it.
func TestTimersFirst(t *testing.T) {
	nets, stops, ways, fewer := 0, 0, 0, 0
	for seed := uint64(1); nets < 120 && seed < 20000; seed++ {
		k := maker{rand.New(rand.NewPCG(seed, 17))}
		core := k.coloured()
		open, err := petri.Compile(core)
		if err != nil || open.Runnable() != nil {
			continue
		}
		p, err := closeWith(core, hand())
		if err != nil {
			continue
		}
		m := netmodel.New(p, netmodel.RunToCompletion)
		g, err := Explore(context.Background(), m, Options{Max: 1500})
		if err != nil || !g.Complete || len(g.Faults) > 0 {
			continue
		}
		first, err := Explore(context.Background(), m, Options{Max: 3000, TimersFirst: true})
		if err != nil || !first.Complete {
			continue
		}
		nets++
		if first.Markings() < g.Markings() {
			fewer++
		}
		first.Each(func(_ int, marking []int32) bool {
			if _, ok := g.set.Find(marking); !ok {
				t.Errorf("seed %d: %s is reached only if ties are as a machine takes them", seed, m.Format(marking))
			}
			return !t.Failed()
		})
		ways += replays(t, seed, first, open)
		for try := range 4 {
			w := &world{t: t, seed: seed, open: open, r: rand.New(rand.NewPCG(seed, uint64(try)))}
			w.allow(first, &explore.Graph{})
			stops += w.run()
		}
		if t.Failed() {
			return
		}
	}
	if nets < 120 || stops < 1000 || ways < 1000 || fewer < 10 {
		t.Errorf("only %d nets, %d stops, %d ways, %d graphs that are smaller", nets, stops, ways, fewer)
	}
}

// replays takes a machine along the ways to classes, and counts them.
func replays(t *testing.T, seed uint64, g *Graph, open *petri.Program) int {
	n := 0
	g.Each(func(class int, marking []int32) bool {
		v := g.refute(g.PathTo(class), "here")
		if v.Outcome != verify.Refuted {
			t.Errorf("seed %d: no timing leads to %s", seed, g.Model.Format(marking))
		} else if err := witness.Replay(g.Model, v.Witness, open); err != nil {
			t.Errorf("seed %d: %v\n%s", seed, err, v.Witness.Story)
		}
		n++
		return n < 40 && !t.Failed()
	})
	return n
}

// race is a lamp that goes out after 10 ms unless it is pressed within that time: at 10 ms it is
// too late.
func race() (core, finger *petri.Net) {
	core = &petri.Net{Name: "lamp", Init: tokens("on"), Sinks: []petri.AnyPlace{unit("kept"), unit("missed")},
		Ports: []petri.AnyPlace{unit("press")}, Env: []petri.Env{{Place: unit("press")}}, Transitions: []petri.Transition{
			tr("expire", petri.After(10*time.Millisecond), "on -> off"),
			tr("stay", petri.Interval{}, "press on -> kept"),
			tr("late", petri.Interval{}, "press off -> missed"),
		}}
	finger = &petri.Net{Name: "finger", Init: tokens("may"), Ports: []petri.AnyPlace{unit("press")},
		Transitions: []petri.Transition{
			tr("push", petri.Between(10*time.Millisecond, 20*time.Millisecond), "may -> press")}}
	return core, finger
}

// TestTieIsNoRefutation: what only the other way at a tie allows is not refuted, and not proved
// either.
func TestTieIsNoRefutation(t *testing.T) {
	core, finger := race()
	open, err := petri.Compile(core)
	if err != nil {
		t.Fatal(err)
	}
	p, err := closeWith(core, finger)
	if err != nil {
		t.Fatal(err)
	}
	r, err := verify.Run(context.Background(), p, verify.Config{Open: open},
		Sharpen(Options{}, verify.Never("kept"), verify.Never("missed"), verify.Never("on && kept"))...)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []verify.Outcome{verify.Unknown, verify.Refuted, verify.Proved} {
		if v := r.Results[i]; v.Outcome != want || want == verify.Refuted && !v.Witness.Replayed {
			t.Errorf("%s: %s, want %s: %s", v.Property.Name, v.Outcome, want, v.Reason)
		}
	}
}

// TestRelaxedRefutation: where relaxed waits lead astray, all waits are looked at for a run that
// the machine takes.
func TestRelaxedRefutation(t *testing.T) {
	ms := time.Millisecond
	n := imported("p", tr("never_first", petri.After(10*ms), "p -> q"), tr("first", petri.After(3*ms), "p -> s"),
		tr("after_q", petri.After(ms), "q -> r"), tr("after_s", petri.After(ms), "s -> r"))
	o := Options{Relax: true, Keep: []string{"after_q", "after_s"}}
	r, err := verify.Run(context.Background(), modelOf(t, n, netmodel.RunToCompletion).Program(), verify.Config{},
		NotBefore("+q +s", "+r", 2*ms, o), NotBefore("+q +s", "+r", ms, o))
	if err != nil {
		t.Fatal(err)
	}
	if v := r.Results[0]; v.Outcome != verify.Refuted || !v.Witness.Replayed {
		t.Errorf("%s: %s", v.Outcome, v.Reason)
	}
	if v := r.Results[1]; v.Outcome != verify.Proved {
		t.Errorf("%s: %s", v.Outcome, v.Reason)
	}
}

package verify

import (
	"strings"
	"testing"
	"time"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify/netmodel"
	"github.com/voicegw/voicegw/verify/witness"
)

// keyed is an open net whose tokens have keys and generations, and which chooses freely.
func keyed() *petri.Net {
	const in, held = petri.Place[word]("in"), petri.Place[turn]("held")
	return &petri.Net{Name: "core", Ports: []petri.AnyPlace{in}, Imported: true, Env: []petri.Env{{Place: in,
		Capacity: 4}},
		Init: tokens("idle"), Transitions: []petri.Transition{
			{Name: "yes", In: petri.Arcs{in.Is(word(0)), unit("idle")}, Out: petri.And(held.Fresh()),
				Action: func(f *petri.Firing) { held.Put(f, turn(f.Gen())) }},
			{Name: "no", In: petri.Arcs{in.Is(word(1))}, Out: petri.Free(arcs("left"), arcs("right")), Bump: true,
				Action: func(f *petri.Firing) { f.Choose(1) }},
			{Name: "commit", In: petri.Arcs{held.Fresh()}, Out: outs("idle"), When: petri.After(time.Second)},
			{Name: "drop", In: petri.Arcs{held.Stale()}, Out: outs("idle")},
			{Name: "rest", In: petri.Arcs{in.Is(word(0))}, Read: petri.Arcs{held}},
		}}
}

func talker() *petri.Net {
	const in = petri.Place[word]("in")
	return &petri.Net{Name: "talker", Ports: []petri.AnyPlace{in}, Init: many("credit", 3),
		Transitions: []petri.Transition{
			{Name: "say_yes", In: arcs("credit"), Out: petri.And(in.Is(word(0))), When: petri.Anytime()},
			{Name: "say_no", In: arcs("credit"), Out: petri.And(in.Is(word(1))),
				When: petri.Between(time.Second, 2*time.Second)},
		}}
}

// TestReplayOpen: the witnesses of a closed net with keys, generations and free choices are runs of
// a machine of the open net.
func TestReplayOpen(t *testing.T) {
	n, err := petri.Close("closed", keyed(), talker())
	if err != nil {
		t.Fatal(err)
	}
	c := Config{Open: compile(t, keyed())}
	for _, expr := range []string{"left >= 2", "left && right", "held", "right == 3", "credit == 0 && idle && left == 2"} {
		r := checkNet(t, n, c, Never(expr))
		if v := r.Results[0]; v.Outcome != Refuted || !v.Witness.Replayed {
			t.Errorf("%s: %s, %s", expr, v.Outcome, v.Reason)
		}
	}
	r := checkNet(t, n, c, Never("held[fresh] && held[stale]"), Never("held >= 2"), DeadlockFree())
	for i, want := range []Outcome{Proved, Proved, Refuted} {
		if v := r.Results[i]; v.Outcome != want {
			t.Errorf("%s: %s, %s", v.Property.Name, v.Outcome, v.Reason)
		}
	}
}

// TestReplayRefuses: a witness that is not a run is not taken.
func TestReplayRefuses(t *testing.T) {
	n := imported(tokens("A", "B"), petri.Transition{Name: "a", In: arcs("A"), Out: outs("C"),
		When: petri.After(time.Second)},
		petri.Transition{Name: "b", In: arcs("B"), Read: arcs("C"), Out: outs("D"), When: petri.After(time.Second)},
		petri.Transition{Name: "d", In: arcs("D"), Out: outs("E")})
	driven := imported(n.Init, n.Transitions...)
	driven.Transitions = append([]petri.Transition(nil), n.Transitions...)
	driven.Transitions[0].When = petri.Between(0, time.Second)
	for name, n := range map[string]*petri.Net{"machine": n, "driven": driven} {
		t.Run(name, func(t *testing.T) {
			v := checkNet(t, n, Config{}, Never("E")).Results[0]
			if v.Outcome != Refuted || !v.Witness.Replayed || story(v.Witness) != "a b d" {
				t.Fatalf("%s %s", v.Outcome, v.Reason)
			}
			m := netmodel.New(compile(t, n), netmodel.RunToCompletion)
			for what, change := range map[string]func(w *witness.Witness){
				"order":      func(w *witness.Witness) { w.Firings[0], w.Firings[1] = w.Firings[1], w.Firings[0] },
				"left out":   func(w *witness.Witness) { w.Firings = w.Firings[1:] },
				"cut short":  func(w *witness.Witness) { w.Firings = w.Firings[:2] },
				"no times":   func(w *witness.Witness) { w.Timed = false },
				"same twice": func(w *witness.Witness) { w.Firings = append(w.Firings[:1:1], w.Firings...) },
			} {
				w := *v.Witness
				w.Firings = append([]witness.Firing(nil), w.Firings...)
				change(&w)
				if err := witness.Replay(m, &w, nil); err == nil {
					t.Errorf("%s: the machine takes it", what)
				}
			}
		})
	}
}

// TestTiesThatNoMachineTakes: the order of timers that fall due together is open in a proof and
// settled in a machine, so the wrong one is Unknown.
func TestTiesThatNoMachineTakes(t *testing.T) {
	n := imported(tokens("P"), petri.Transition{Name: "first", In: arcs("P"), Out: outs("Q"), When: petri.After(5)},
		petri.Transition{Name: "second", In: arcs("P"), Out: outs("R"), When: petri.After(5)})
	r := checkNet(t, n, Config{}, Never("Q"), Never("R"))
	if v := r.Results[0]; v.Outcome != Refuted || !v.Witness.Replayed {
		t.Errorf("Q: %s %s", v.Outcome, v.Reason)
	}
	if v := r.Results[1]; v.Outcome != Unknown || v.Cause != Spurious || !strings.Contains(v.Reason, "the machine") {
		t.Errorf("R: %s %s", v.Outcome, v.Reason)
	}
}

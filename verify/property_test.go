package verify

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify/explore"
	"github.com/voicegw/voicegw/verify/netmodel"
	"github.com/voicegw/voicegw/verify/walk"
	"github.com/voicegw/voicegw/verify/witness"
)

func checkNet(t testing.TB, n *petri.Net, c Config, props ...*Property) *Report {
	t.Helper()
	r, err := Run(context.Background(), compile(t, n), c, props...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func story(w *witness.Witness) string {
	if w == nil {
		return ""
	}
	var out []string
	for _, f := range w.Firings {
		out = append(out, f.Name)
	}
	return strings.Join(out, " ")
}

func TestProperties(t *testing.T) {
	voice := calibration(4, true)
	reset := imported(tokens("A", "C"), classic("t1", arcs("A"), arcs("B")), classic("t2", arcs("B"), arcs("A")),
		petri.Transition{Name: "t3", In: arcs("C"), Reset: arcs("A", "B"), Out: outs("D"), When: petri.Anytime()})
	for _, c := range []struct {
		name string
		net  *petri.Net
		prop *Property
		want Outcome
		run  string // witness
	}{
		{"voice", voice, DeadlockFree(), Proved, ""},
		{"voice", voice, Mutex("SPEAK", "BARGE"), Proved, ""},
		{"voice", voice, Bounded("INFLIGHT", 4), Proved, ""},
		{"voice", voice, Bounded("INFLIGHT", 3), Refuted, "utt_start utt_end model_start chunk chunk chunk chunk"},
		{"voice", voice, Fires(), Proved, ""},
		{"voice", voice, Reach("BARGE && INFLIGHT >= 4"), Proved,
			"utt_start utt_end model_start chunk chunk chunk chunk barge_in"},
		{"voice", voice, Reach("BARGE && INFLIGHT >= 5"), Refuted, ""},
		{"voice", voice, Never("VAD_OPEN >= 2"), Proved, ""},
		{"voice", voice, LeadsTo("BARGE", "LISTEN"), Proved, ""},
		{"voice", voice, LeadsTo("LISTEN", "BARGE"), Proved, ""},
		{"voice", voice, AfterNever("SPEAK", "IDLE"), Refuted, "utt_start utt_end model_start turn_complete"},
		{"reset", reset, DeadlockFree(), Refuted, "t3"},
		{"reset", reset, Never("D"), Refuted, "t3"},
		{"reset", reset, AfterNever("D", "A || B"), Proved, ""},
		{"reset", reset, LeadsTo("A", "B"), Refuted, "t3"},
		{"reset", reset, LeadsTo("C", "D"), Proved, ""},
	} {
		t.Run(c.name+"/"+c.prop.Name, func(t *testing.T) {
			v := checkNet(t, c.net, Config{}, c.prop).Results[0]
			if v.Outcome != c.want || story(v.Witness) != c.run {
				t.Errorf("%s (%s) %q; want %s %q", v.Outcome, v.Reason, story(v.Witness), c.want, c.run)
			}
			if v.Witness != nil && !v.Witness.Replayed {
				t.Error("the witness was not replayed")
			}
		})
	}
}

func TestEachPropertyHasItsVerdict(t *testing.T) {
	r := checkNet(t, imported(tokens("A"), classic("ab", arcs("A"), arcs("B"))), Config{}, Bounded("B", 0),
		Bounded("B", 1))
	if r.Results[0].Outcome != Refuted || r.Results[1].Outcome != Proved || r.Outcome() != Refuted {
		t.Errorf("%s", r)
	}
}

func TestUnknown(t *testing.T) {
	grows := imported(tokens("A"), classic("more", arcs("A"), arcs("A", "B")))
	v := checkNet(t, grows, Config{Max: 100}, Bounded("B", 1000)).Results[0]
	if v.Outcome != Unknown || v.Cause != Capped {
		t.Errorf("at the cap: %s %s", v.Outcome, v.Cause)
	}
	if v := checkNet(t, grows, Config{Max: 100}, Bounded("B", 10)).Results[0]; v.Outcome != Refuted {
		t.Errorf("found below the cap: %s", v.Outcome)
	}
	open := &petri.Net{Name: "open", Env: []petri.Env{{Place: unit("in")}}, Out: []petri.Output{{Place: unit("out")}},
		Init:        tokens("A"),
		Transitions: []petri.Transition{{Name: "t", In: arcs("in"), Read: arcs("A"), Out: outs("out")}}}
	v = checkNet(t, open, Config{}, Never("A == 0")).Results[0]
	if v.Outcome != Unknown || v.Cause != OpenEnv || !strings.Contains(v.Reason, "in") {
		t.Errorf("environment left out: %s %s %s", v.Outcome, v.Cause, v.Reason)
	}
	needs := Never("B >= 5")
	needs.Requires = []*Property{Fires()}
	vacuous := imported(tokens("A"), classic("ab", arcs("A"), arcs("C")), classic("never", arcs("X"), arcs("B")))
	if v := checkNet(t, vacuous, Config{}, needs).Results[0]; v.Outcome != Unknown || v.Cause != Unproved {
		t.Errorf("vacuous: %s %s %s", v.Outcome, v.Cause, v.Reason)
	}
}

func TestWrongQuestions(t *testing.T) {
	p := compile(t, imported(tokens("A"), classic("ab", arcs("A"), arcs("B"))))
	loop := Never("B >= 5")
	loop.Requires = []*Property{loop}
	for _, prop := range []*Property{Never("C"), Never("A >"), Bounded("nowhere", 1), Fires("nothing"), LeadsTo("A", "C"),
		loop} {
		if _, err := Run(context.Background(), p, Config{}, prop); err == nil {
			t.Errorf("%s: no error", prop.Name)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Run(ctx, p, Config{}, DeadlockFree()); err == nil {
		t.Error("Run with an ended context: no error")
	}
}

// TestTimeForbids: what only exists without time is neither proved nor refuted here, and what time
// does not matter for is.
func TestTimeForbids(t *testing.T) {
	race := imported(tokens("P1", "P2"),
		petri.Transition{Name: "fast", In: arcs("P1"), Inhibit: arcs("Q2"), Out: outs("Q1"), When: petri.Between(1, 3)},
		petri.Transition{Name: "slow", In: arcs("P2"), Out: outs("Q2"), When: petri.Between(4, 5)})
	r := checkNet(t, race, Config{}, Never("Q2 && P1"), Never("Q1 && Q2"), Never("Q1 >= 2"), Fires())
	// slow fires at the start only without time, and after fast with it.
	for i, want := range []Outcome{Unknown, Refuted, Proved, Proved} {
		if have := r.Results[i].Outcome; have != want {
			t.Errorf("%s: %s (%s), want %s", r.Results[i].Property.Name, have, r.Results[i].Reason, want)
		}
	}
	w := r.Results[1].Witness
	if !w.Timed || w.Firings[0].At != 1 || w.Firings[1].At != 4 {
		t.Errorf("times of the witness: %+v", w.Firings)
	}
	race.Transitions = append(race.Transitions, petri.Transition{Name: "overtake", In: arcs("P1"), Read: arcs("Q2"),
		Out: outs("Q3")}, petri.Transition{Name: "after", In: arcs("Q3"), Out: outs("Q4"), When: petri.Between(1, 1)})
	v := checkNet(t, race, Config{}, Fires()).Results[0]
	if v.Outcome != Unknown || !strings.Contains(v.Reason, "overtake") || !strings.Contains(v.Reason, "after") {
		t.Errorf("what fires only without time: %s (%s)", v.Outcome, v.Reason)
	}
}

// TestScheduleUrgency: a clock that must fire first forbids a sequence, and one that is restarted
// by consuming and refilling does not.
func TestScheduleUrgency(t *testing.T) {
	n := imported(tokens("P"), petri.Transition{Name: "again", In: arcs("P"), Out: outs("P"), When: petri.After(2)},
		petri.Transition{Name: "out", In: arcs("P"), Out: outs("Q"), When: petri.After(3)})
	m := netmodel.New(compile(t, n), netmodel.RunToCompletion)
	again, out := netmodel.Step{Transition: 0, Mode: 0, Branch: 0}, netmodel.Step{Transition: 1, Mode: 0, Branch: 0}
	if at, ok := walk.Schedule(m, []netmodel.Step{again, again}); !ok || at[1] != 4 {
		t.Errorf("again again: %v %v", at, ok)
	}
	for _, s := range [][]netmodel.Step{{out}, {again, out}} {
		if at, ok := walk.Schedule(m, s); ok {
			t.Errorf("%v has a schedule: %v", s, at)
		}
	}
}

// TestRunToCompletion: at-once firings follow priority and declaration, so an order that would be
// possible in any interleaving does not exist.
func TestRunToCompletion(t *testing.T) {
	n := imported(tokens("A"),
		petri.Transition{Name: "go", In: arcs("A"), Out: outs("B", "C"), When: petri.After(time.Second)},
		petri.Transition{Name: "second", In: arcs("B"), Out: outs("D")},
		petri.Transition{Name: "third", In: arcs("C"), Inhibit: arcs("D"), Out: outs("E")},
		petri.Transition{Name: "first", In: arcs("C"), Read: arcs("B"), Out: outs("F"), Priority: 1})
	g := exploreNet(t, n, explore.Options{})
	if g.States() != 2 || g.Edges() != 1 || g.Chain != 2 {
		t.Fatalf("%d states, %d edges, chain %d; want 2, 1, 2", g.States(), g.Edges(), g.Chain)
	}
	if have := names(g, g.PathTo(1)); have != "go first second" {
		t.Errorf("path %q", have)
	}
	if g.Fires(2) {
		t.Error("third fires")
	}
}

func TestFreeChoice(t *testing.T) {
	n := imported(tokens("A"),
		petri.Transition{Name: "go", In: arcs("A"), Out: petri.Free(arcs("B"), arcs("C"), arcs("B")), When: petri.After(1)},
		petri.Transition{Name: "again", In: arcs("C"), Out: petri.Free(arcs("D"), arcs("E"))})
	g := exploreNet(t, n, explore.Options{})
	if g.States() != 4 || g.Edges() != 4 {
		t.Errorf("%d states, %d edges; want 4, 4", g.States(), g.Edges())
	}
	if i := g.Find(markingOf(g, "E")); i < 0 || names(g, g.PathTo(i)) != "go branch 1 again branch 1" {
		t.Errorf("path to E: state %d", i)
	}
}

func markingOf(g *explore.Graph, places ...string) []int32 {
	m := make([]int32, g.Model.Program().Slots())
	for _, p := range places {
		m[g.Model.Program().Places()[g.Model.Program().Place(p)].Slot]++
	}
	return m
}

func TestFaults(t *testing.T) {
	capped := &petri.Net{Name: "capped", Imported: true, Init: tokens("A"), Caps: []petri.Cap{{Place: unit("B"), Max: 2}},
		Transitions: []petri.Transition{classic("more", arcs("A"), arcs("A", "B"))}}
	endless := imported(tokens("A"), classic("go", arcs("A"), arcs("B")),
		petri.Transition{Name: "ping", In: arcs("B"), Out: outs("C")}, petri.Transition{Name: "pong", In: arcs("C"),
			Out: outs("B")})
	choice := imported(tokens("A"), classic("go", arcs("A"), arcs("B")),
		petri.Transition{Name: "loop", In: arcs("B"), Out: petri.Free(arcs("B"), arcs("C"))})
	for _, c := range []struct {
		net *petri.Net
		run string
	}{{capped, "more more more"}, {endless, "go ping"}, {choice, "go loop branch 0"}} {
		v := checkNet(t, c.net, Config{}, WithinCapacity()).Results[0]
		if v.Outcome != Refuted || !strings.HasPrefix(story(v.Witness), c.run) {
			t.Errorf("%s: %s %q", v.Reason, v.Outcome, story(v.Witness))
		} else if !v.Witness.Replayed {
			t.Errorf("%s: not replayed", v.Reason)
		}
	}
}

// worker is an open net that takes orders, one at a time.
func worker() *petri.Net {
	return &petri.Net{Name: "core", Ports: []petri.AnyPlace{unit("in"), unit("out")},
		Env: []petri.Env{{Place: unit("in"), Capacity: 2}}, Out: []petri.Output{{Place: unit("out")}}, Init: tokens("idle"),
		Transitions: []petri.Transition{
			{Name: "work", In: arcs("in", "idle"), Out: outs("busy")},
			{Name: "done", In: arcs("busy"), Out: outs("idle", "out"), When: petri.After(time.Second)},
		}}
}

// sender sends orders while it has credit.
func sender(credit int) *petri.Net {
	return &petri.Net{Name: "peer", Ports: []petri.AnyPlace{unit("in"), unit("out")}, Init: many("credit", credit),
		Transitions: []petri.Transition{
			{Name: "send", In: arcs("credit"), Out: outs("in"), When: petri.Anytime()},
			{Name: "hear", In: arcs("out"), Out: outs("credit")},
		}}
}

// TestRefusal: in a closed net a full environment place turns the automaton's token away, and that
// is reported, not a fault.
func TestRefusal(t *testing.T) {
	open := worker()
	for _, c := range []struct {
		credit int
		want   Outcome
	}{{3, Proved}, {4, Refuted}} {
		n, err := petri.Close("closed", open, sender(c.credit))
		if err != nil {
			t.Fatal(err)
		}
		v := checkNet(t, n, Config{Open: compile(t, open)}, WithinCapacity()).Results[0]
		if v.Outcome != c.want {
			t.Errorf("credit %d: %s (%s)", c.credit, v.Outcome, v.Reason)
		}
		if c.want == Refuted && !v.Witness.Replayed {
			t.Error("not replayed")
		}
		if c.want == Refuted && (!strings.Contains(v.Reason, "in is full") || story(v.Witness) == "") {
			t.Errorf("credit %d: %q %q", c.credit, v.Reason, story(v.Witness))
		}
	}
}

// TestNeverFires: what one closure leaves out another may do.
func TestNeverFires(t *testing.T) {
	closed := func(credit int) *explore.Graph {
		n, err := petri.Close("closed", worker(), sender(credit))
		if err != nil {
			t.Fatal(err)
		}
		return exploreNet(t, n, explore.Options{})
	}
	if have := explore.NeverFires(closed(0)); !slices.Equal(have, []string{"core/work", "core/done"}) {
		t.Errorf("without credit never fire: %q", have)
	}
	if have := explore.NeverFires(closed(0), closed(1)); len(have) > 0 {
		t.Errorf("with credit in one closure never fire: %q", have)
	}
}

func TestFinal(t *testing.T) {
	n := imported(tokens("A", "X"), classic("end", arcs("A"), arcs("Z")), classic("x", arcs("X"), arcs("Y")),
		petri.Transition{Name: "never", In: arcs("Y", "Z"), Out: outs("W")})
	n.Final = unit("Z")
	g := exploreNet(t, n, explore.Options{})
	if g.States() != 4 || len(g.Dead()) != 0 || g.Fires(2) {
		t.Errorf("%d states, dead %v, never fires %v", g.States(), g.Dead(), g.Fires(2))
	}
}

func TestFrames(t *testing.T) {
	const in, out = petri.Place[petri.Unit]("frame"), petri.Place[petri.Unit]("up")
	n := &petri.Net{Name: "frames", Imported: true, Init: tokens("talk"), Out: []petri.Output{{Place: out}},
		Env: []petri.Env{{Place: in, Capacity: 4, Policy: petri.DropOldest}},
		Transitions: []petri.Transition{
			classic("hold", arcs("talk"), arcs("held")), classic("unhold", arcs("held"), arcs("talk")),
			{Name: "send", In: petri.Arcs{in}, Inhibit: arcs("held"), Out: petri.And(out)},
			{Name: "drop", In: petri.Arcs{in}},
			{Name: "masked", In: petri.Arcs{in}, Read: arcs("talk")},
		}}
	r := checkNet(t, n, Config{}, Never("held && can(send)"), Never("talk && can(send)"), Never("talk && can(drop)"),
		Fires())
	for i, want := range []Outcome{Proved, Refuted, Proved, Refuted} {
		if have := r.Results[i].Outcome; have != want {
			t.Errorf("%s: %s (%s), want %s", r.Results[i].Property.Name, have, r.Results[i].Reason, want)
		}
	}
	if reason := r.Results[3].Reason; reason != "never fires: masked" {
		t.Errorf("fires: %s", reason)
	}
}

// TestGenerations: a bump makes every fresh token stale, and nothing makes it fresh again.
func TestGenerations(t *testing.T) {
	const held = petri.Place[turn]("held")
	n := imported([]petri.Token{held.Token(0), unit("turn").Token(petri.Unit{})},
		petri.Transition{Name: "bump", In: arcs("turn"), Out: outs("turn"), Bump: true, When: petri.Anytime()},
		petri.Transition{Name: "commit", In: petri.Arcs{held.Fresh()}, Out: outs("done"), When: petri.Anytime()},
		petri.Transition{Name: "drop", In: petri.Arcs{held.Stale()}, When: petri.Anytime()})
	r := checkNet(t, n, Config{}, AfterNever("held[stale]", "done"), Never("held[fresh] && held[stale]"), Fires(),
		Reach("held == 0 && done"))
	if r.Outcome() != Proved {
		t.Errorf("%s", r)
	}
}

type turn petri.Gen

func (g turn) Generation() petri.Gen { return petri.Gen(g) }

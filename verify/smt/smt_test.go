package smt

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify"
)

// proofs are the questions whose answers are known.
func proofs() []struct {
	name string
	net  *petri.Net
	prop *verify.Property
	want verify.Outcome
} {
	all := budget()
	return []struct {
		name string
		net  *petri.Net
		prop *verify.Property
		want verify.Outcome
	}{
		{"budget for every K", voice(1), all.Bound("INFLIGHT", "K"), verify.Proved},
		{"sum for every K", voice(1), all.Never("BUDGET + INFLIGHT != K"), verify.Proved},
		{"no deadlock for every K", voice(1), all.Never("dead"), verify.Proved},
		{"one less for every K", voice(1), all.Never("INFLIGHT + 1 > K"), verify.Unknown},
		{"mutex for every K", voice(1), all.Never("SPEAK && BARGE"), verify.Proved},
		{"window for every K", playout(3), window().Bound("unacked", "K"), verify.Proved},
		{"window exceeded", playout(3), window().Never("unacked + 1 > K"), verify.Unknown},
		{"taken back", playout(3), window().Bound("unplayed", "K"), verify.Proved},
		{"both for every K", playout(3), window().Never("unacked + unplayed > K"), verify.Proved},
		{"window of 3", playout(3), Never("unacked > 3"), verify.Proved},
		{"old results, any number of turns", freshness(true), Never("old"), verify.Proved},
		{"old results if what was picked stays", freshness(false), Never("old"), verify.Refuted},
		{"wrong bound", voice(2), Bound("INFLIGHT", 1), verify.Refuted},
		{"right bound", voice(2), Bound("INFLIGHT", 2), verify.Proved},
	}
}

func TestProofs(t *testing.T) {
	needSolvers(t)
	for _, c := range proofs() {
		t.Run(c.name, func(t *testing.T) {
			r := run(t, compile(t, c.net), c.prop)
			if r.Outcome != c.want {
				t.Errorf("%s: %s", r.Outcome, r.Reason)
			}
			if want := "explicit"; (r.Outcome == verify.Refuted) != (r.Method == want && r.Witness != nil) {
				t.Errorf("%s by %s, witness %v: only a run refutes", r.Outcome, r.Method, r.Witness)
			}
			t.Log(r.Reason)
		})
	}
}

// patient waits for solvers on a machine that others use too.
func patient() Config { return Config{Timeout: 2 * time.Minute} }

// TestCalibration: the solver and the explicit search agree on a net with resets, whatever its
// budget.
func TestCalibration(t *testing.T) {
	needSolvers(t)
	for _, k := range []int{1, 4, 16} {
		p := compile(t, voice(k))
		for expr, reached := range map[string]bool{
			"dead": false, "SPEAK && BARGE": false, fmt.Sprintf("INFLIGHT > %d", k): false, "VAD_OPEN > 1": false,
			"BARGE && INFLIGHT >= " + fmt.Sprint(k): true, "LISTEN && TOOL": false,
		} {
			if reached && k > 4 {
				continue // that takes long
			}
			want := verify.Proved
			if reached {
				want = verify.Refuted
			}
			have, explicit := run(t, p, patient().Never(expr)), run(t, p, verify.Never(expr))
			if have.Outcome != want || explicit.Outcome != want {
				t.Errorf("K=%d: never %s: %s (%s); explicit: %s; want %s",
					k, expr, have.Outcome, have.Reason, explicit.Outcome, want)
			}
		}
	}
}

// TestAlike: a parameter that is marked everywhere makes programs that were compiled with other
// values alike; one that was forgotten somewhere does not.
func TestAlike(t *testing.T) {
	forgot := window()
	forgot.Params[0].Thresholds = forgot.Params[0].Thresholds[:1]
	for _, c := range []struct {
		name string
		c    Config
		net  func(int) *petri.Net
		expr string
		want bool
	}{
		{"window", window(), playout, "unacked > K", true},
		{"one threshold forgotten", forgot, playout, "unacked > K", false},
		{"no parameter", Config{}, playout, "unacked > 9", false},
		{"budget", budget(), voice, "INFLIGHT > K", true},
	} {
		for _, k := range []int{1, 2, 17} {
			have, err := c.c.Alike(compile(t, c.net(3)), compile(t, c.net(k)), c.expr)
			if err != nil || have != c.want {
				t.Errorf("%s: alike with %d: %v, %v; want %v", c.name, k, have, err, c.want)
			}
		}
	}
}

// TestTime: what time forbids and nothing else is no refutation.
func TestTime(t *testing.T) {
	needSolvers(t)
	n := &petri.Net{Name: "tie", Imported: true, Init: many("p", 1), Transitions: []petri.Transition{
		{Name: "early", In: arcs("p"), Out: petri.And(unit("q")), When: petri.Between(2, 3)},
		{Name: "late", In: arcs("p"), Out: petri.And(unit("r")), When: petri.Between(4, 5)},
	}}
	r := run(t, compile(t, n), Never("r"))
	if r.Outcome != verify.Unknown || r.Cause != verify.Spurious {
		t.Errorf("%s, %s: %s; want unknown, spurious", r.Outcome, r.Cause, r.Reason)
	}
}

// TestOpen: nothing is proved of a net whose environment was left out.
func TestOpen(t *testing.T) {
	n := &petri.Net{Name: "open", Env: []petri.Env{{Place: unit("in")}}, Transitions: []petri.Transition{
		{Name: "take", In: arcs("in"), Out: petri.And(unit("out"))}, {Name: "go", In: arcs("out"), When: petri.After(1)}}}
	r := run(t, compile(t, n), Never("out > 1"))
	if r.Outcome != verify.Unknown || r.Cause != verify.OpenEnv {
		t.Errorf("%s, %s: %s", r.Outcome, r.Cause, r.Reason)
	}
}

// closed is a net whose environment puts up to n tokens at a time into a place that holds limit of
// them, and turns the rest away.
func closed(t *testing.T, n, limit int) *petri.Program {
	t.Helper()
	const in, out = unit("in"), unit("out")
	open := &petri.Net{Name: "open", Ports: []petri.AnyPlace{in}, Env: []petri.Env{{Place: in, Capacity: limit}},
		Transitions: []petri.Transition{{Name: "take", In: petri.Arcs{in}, When: petri.After(1)}}}
	world := &petri.Net{Name: "world", Ports: []petri.AnyPlace{in},
		Transitions: []petri.Transition{anytime("push", nil, petri.Arcs{in.Exactly(n)})}}
	net, err := petri.Close("closed", open, world)
	if err != nil {
		t.Fatal(err)
	}
	return compile(t, net)
}

// TestRefusal: what a full environment place turns away never is in it, also where its capacity is
// a parameter.
func TestRefusal(t *testing.T) {
	needSolvers(t)
	every := Config{Params: []Param{{Name: "C", Min: 1, Capacities: []string{"in"}}}}
	for _, n := range []int{1, 3} {
		for _, c := range []struct {
			prop *verify.Property
			want verify.Outcome
		}{
			{Bound("in", 5), verify.Proved}, {Bound("in", 4), verify.Refuted},
			{every.Bound("in", "C"), verify.Proved}, {every.Never("in + 1 > C"), verify.Unknown},
		} {
			if r := run(t, closed(t, n, 5), c.prop); r.Outcome != c.want {
				t.Errorf("%d at a time: %s: %s, want %s: %s", n, r.Property.Name, r.Outcome, c.want, r.Reason)
			}
		}
	}
}

// TestAtOnce: what fires at once fires before anything else and by priority, and what passes
// through on the way is not where the net rests.
func TestAtOnce(t *testing.T) {
	needSolvers(t)
	net := func(priority int) *petri.Net {
		return &petri.Net{Name: "chain", Imported: true, Init: many("a", 1), Transitions: []petri.Transition{
			anytime("start", arcs("a"), arcs("b", "b2")),
			anytime("never_in_time", arcs("b"), arcs("bad")),
			{Name: "wrong", In: arcs("b"), Out: petri.And(unit("bad"))},
			{Name: "right", In: arcs("b"), Out: petri.And(unit("good")), Priority: priority},
		}}
	}
	for _, c := range []struct {
		priority int
		expr     string
		want     verify.Outcome
	}{
		{1, "bad", verify.Proved}, {-1, "bad", verify.Refuted}, {1, "b", verify.Proved}, {1, "good", verify.Refuted},
		{1, "can(start) && b2", verify.Proved}, {1, "can(start)", verify.Refuted}, {1, "dead && !b2", verify.Proved},
	} {
		if r := run(t, compile(t, net(c.priority)), Never(c.expr)); r.Outcome != c.want {
			t.Errorf("priority %d: never %s: %s, want %s: %s", c.priority, c.expr, r.Outcome, c.want, r.Reason)
		}
	}
}

// TestArcs: what each kind of arc does to a count, where only it decides.
func TestArcs(t *testing.T) {
	needSolvers(t)
	const a = unit("a")
	two := func(ts ...petri.Transition) *petri.Net {
		ts = append(ts, reading(anytime("look", arcs("go"), arcs("go")), a))
		return &petri.Net{Name: "arcs", Imported: true, Init: append(many("a", 2), many("go", 1)...), Transitions: ts}
	}
	ends := two(anytime("end", arcs("go"), arcs("over", "q")), anytime("after", arcs("q"), arcs("bad")))
	ends.Final = unit("over")
	for _, c := range []struct {
		name  string
		net   *petri.Net
		never string
		want  verify.Outcome
	}{
		{"nothing fires after the end", ends, "bad", verify.Proved},
		{"the end is reached", ends, "over && q", verify.Refuted},
		{"a reset empties", two(reset(anytime("t", arcs("go"), arcs("r")), a)), "r && a", verify.Proved},
		{"without a reset", two(anytime("t", arcs("go"), arcs("r"))), "r && a", verify.Refuted},
		{"an input of all empties", two(anytime("t", petri.Arcs{unit("go"), a.All()}, arcs("r"))), "r && a", verify.Proved},
		{"an input of one does not", two(anytime("t", arcs("go", "a"), arcs("r"))), "r && a", verify.Refuted},
		{"all of three", two(anytime("t", petri.Arcs{unit("go"), a.AtLeast(3)}, arcs("r"))), "r", verify.Proved},
		{"a read of three", two(reading(anytime("t", arcs("go"), arcs("r")), a.AtLeast(3))), "r", verify.Proved},
		{"a read of two", two(reading(anytime("t", arcs("go"), arcs("r")), a.AtLeast(2))), "r", verify.Refuted},
		{"inhibited at two", two(inhibit(anytime("t", arcs("go"), arcs("r")), a.AtLeast(2))), "r", verify.Proved},
		{"not inhibited at three", two(inhibit(anytime("t", arcs("go"), arcs("r")), a.AtLeast(3))), "r", verify.Refuted},
	} {
		if r := run(t, compile(t, c.net), Never(c.never)); r.Outcome != c.want {
			t.Errorf("%s: %s, want %s: %s", c.name, r.Outcome, c.want, r.Reason)
		}
	}
}

// TestFrames: whether a frame would move is what the explicit search says it is, also where
// transitions compete for it or look at how many wait.
func TestFrames(t *testing.T) {
	needSolvers(t)
	const frames, sent = petri.Place[*int]("frames"), petri.Place[*int]("sent")
	toggle := func(name string) []petri.Transition {
		return []petri.Transition{
			inhibit(anytime(name+"_on", nil, arcs(name)), unit(name)), anytime(name+"_off", arcs(name), nil)}
	}
	n := &petri.Net{Name: "frames", Env: []petri.Env{{Place: frames, Capacity: 5, Policy: petri.DropOldest}},
		Out: []petri.Output{{Place: sent}}, Init: many("start", 1), Final: unit("over"),
		Transitions: append(append(toggle("talking"), toggle("muted")...),
			petri.Transition{Name: "drop", In: petri.Arcs{frames}, Read: arcs("muted")},
			petri.Transition{Name: "send", In: petri.Arcs{frames}, Read: arcs("talking"), Out: petri.And(sent.Passing(frames))},
			petri.Transition{Name: "trim", In: petri.Arcs{frames}, Read: petri.Arcs{frames.AtLeast(3)}},
			anytime("hang_up", arcs("start"), arcs("over")))}
	p := compile(t, n)
	for _, expr := range []string{
		"can(send)", "can(send) && muted", "can(send) && !talking", "can(drop) && !muted", "can(drop) && talking",
		"can(trim)", "can(trim) && muted", "can(trim) && talking", "can(trim) && !muted && !talking",
		"can(send) && over", "can(trim) && over", "!can(send) && talking && !muted && !over", "!can(trim) && !over",
		"!can(drop) && muted && !over",
	} {
		have, want := run(t, p, Never(expr)), run(t, p, verify.Never(expr))
		if have.Outcome != want.Outcome || want.Outcome == verify.Unknown {
			t.Errorf("never %s: %s (%s); explicit: %s (%s)", expr, have.Outcome, have.Reason, want.Outcome, want.Reason)
		}
	}
}

// TestWrongQuestions: errors name what is wrong.
func TestWrongQuestions(t *testing.T) {
	param := func(p Param) Config { return Config{Params: []Param{p}} }
	at := func(transition, place string) Config {
		return param(Param{Name: "K", Thresholds: []Threshold{{transition, place}}})
	}
	for _, c := range []struct {
		name string
		c    Config
		expr string
		want string
	}{
		{"text", Config{}, "unacked >", "column"},
		{"place", Config{}, "unaked", "unacked"},
		{"transition", Config{}, "can(pley)", "played"},
		{"at once", Config{}, "can(send)", "at once"},
		{"nowhere", param(Param{Name: "K"}), "unacked", "does not use it"},
		{"no name", param(Param{Initial: []string{"pause"}}), "unacked", "name"},
		{"name of a place", param(Param{Name: "pause", Initial: []string{"pause"}}), "unacked", "a place has this name"},
		{"negative", param(Param{Name: "K", Min: -1, Initial: []string{"pause"}}), "unacked", "least value"},
		{"inner capacity", param(Param{Name: "K", Capacities: []string{"unacked"}}), "unacked", "inner"},
		{"two kinds", param(Param{Name: "K", Initial: []string{"unacked"}}), "unacked", "2 kinds"},
		{"unknown transition", at("sent", "unacked"), "unacked", "send"},
		{"unknown place", at("send", "unaked"), "unacked", "unacked"},
		{"input arc", at("played", "unacked"), "unacked", "inhibitor"},
	} {
		_, err := verify.Run(context.Background(), compile(t, playout(2)), verify.Config{}, c.c.Never(c.expr))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want %q", c.name, err, c.want)
		}
	}
}

// TestCancelled: the end of the context is an error, not a verdict.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := verify.Run(ctx, compile(t, voice(1)), verify.Config{}, Never("SPEAK && BARGE"))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v; want %v", err, context.Canceled)
	}
}

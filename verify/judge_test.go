package verify

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify/claim"
	"github.com/voicegw/voicegw/verify/netmodel"
	"github.com/voicegw/voicegw/verify/slice"
	"github.com/voicegw/voicegw/verify/structure"
	"github.com/voicegw/voicegw/verify/witness"
)

// TestJudged: a run that does not show what a verdict says makes it unknown, for each kind of
// property.
func TestJudged(t *testing.T) {
	n := imported(tokens("a"), classic("go", arcs("a"), arcs("b")), classic("on", arcs("b"), arcs("c")))
	for _, prop := range []*Property{Never("c"), Reach("c"), DeadlockFree(), Bounded("c", 0), Mutex("c", "c"),
		AfterNever("b", "c"), LeadsTo("b", "a"), WithinCapacity(),
		EachMove(claim.Move{Name: "on", On: []string{"on"}, Then: "b"})} {
		lies := *prop
		breaks, err := witness.Judge(prop.Claim, netmodel.New(compile(t, n), netmodel.Interleave))
		if err != nil || breaks == nil {
			t.Fatalf("%s is not judged: %v", prop.Name, err)
		}
		lies.Check = func(_ context.Context, pass *Pass) (Verdict, error) {
			m := pass.Model()
			steps := m.Steps(0, m.Initial(), nil)
			if prop.Name == "capacity" || strings.HasPrefix(prop.Name, "b leads") {
				steps = nil
			}
			return Refute(m, explicit, steps, 1, "so it is said"), nil
		}
		v := checkNet(t, n, Config{Semantics: netmodel.Interleave}, &lies).Results[0]
		if v.Outcome != Unknown || v.Cause != Spurious || !strings.Contains(v.Reason, "does not show it") {
			t.Errorf("%s: %s: %s", prop.Name, v.Outcome, v.Reason)
		}
	}
}

// TestStoryEnds: a story ends where the property breaks, though the witness goes on until the net
// rests.
func TestStoryEnds(t *testing.T) {
	full, err := petri.Close("closed", worker(), sender(4))
	if err != nil {
		t.Fatal(err)
	}
	v := checkNet(t, full, Config{}, WithinCapacity()).Results[0]
	if v.Outcome != Refuted || !strings.HasSuffix(v.Witness.Story, "refused)\n") {
		t.Errorf("%s: %s\n%s", v.Outcome, v.Reason, v.Witness.Story)
	}
	long := imported(tokens("a"), classic("go", arcs("a"), arcs("b")), classic("on", arcs("b"), arcs("c")))
	lies := Never("b")
	lies.Check = func(_ context.Context, pass *Pass) (Verdict, error) {
		m := pass.Model()
		return Refute(m, explicit, []netmodel.Step{{}, {Transition: 1}}, 1, "b"), nil
	}
	v = checkNet(t, long, Config{Semantics: netmodel.Interleave}, lies).Results[0]
	if v.Outcome != Refuted || v.Witness.Story != "start: a\n  1 go: b\n" {
		t.Errorf("%s\n%s", v.Outcome, v.Witness.Story)
	}
}

// TestOpenDeadlock: what an open net does not do by itself says nothing.
func TestOpenDeadlock(t *testing.T) {
	p := compile(t, worker())
	if open := structure.OpenPlaces(netmodel.New(p, netmodel.RunToCompletion)); len(open) == 0 {
		t.Fatal("the worker is closed")
	}
	for _, prop := range []*Property{DeadlockFree(), Fires(), Reach("false()")} {
		v := checkNet(t, worker(), Config{}, prop).Results[0]
		if v.Outcome != Unknown || v.Cause != OpenEnv {
			t.Errorf("%s: %s: %s", prop.Name, v.Outcome, v.Reason)
		}
	}
}

// bell rings for one kind of push and rests for the other.
func bell() *petri.Net {
	const push = petri.Place[word]("push")
	return &petri.Net{Name: "bell", Ports: []petri.AnyPlace{push}, Init: tokens("on"), Env: []petri.Env{{Place: push}},
		Transitions: []petri.Transition{
			{Name: "ring", In: petri.Arcs{push.Is(word(0))}, Read: arcs("on")},
			{Name: "rest", In: petri.Arcs{push.Is(word(1))}, Read: arcs("on")},
		}}
}

// TestOpenKinds: a place is open as long as the environment does not send each kind of token that
// the net waits for; what the net puts there itself is none.
func TestOpenKinds(t *testing.T) {
	const push = petri.Place[petri.Unit]("push")
	self := &petri.Net{Name: "self", Env: []petri.Env{{Place: push}}, Transitions: []petri.Transition{
		{Name: "take", In: petri.Arcs{push}, Out: outs("b")},
		{Name: "again", In: arcs("b"), Out: petri.And(push), When: petri.Anytime()}}}
	open := structure.OpenPlaces(netmodel.New(compile(t, self), netmodel.RunToCompletion))
	if !slices.Equal(open, []string{"push"}) {
		t.Errorf("filled by the net alone: %q", open)
	}
}

// TestOpenAdvice: after Close the advice is about ports, and names the place that was meant.
func TestOpenAdvice(t *testing.T) {
	const push = petri.Place[word]("push")
	one := &petri.Net{Name: "hand", Ports: []petri.AnyPlace{push}, Transitions: []petri.Transition{
		{Name: "press", Out: petri.And(push.Is(word(0))), When: petri.Anytime()}}}
	lone := &petri.Net{Name: "hand", Init: tokens("strength"), Transitions: []petri.Transition{
		{Name: "press", In: arcs("strength"), Out: petri.And(push.Is(word(0))), When: petri.Anytime()}}}
	for _, c := range []struct {
		hand *petri.Net
		want []string
	}{
		{one, []string{"fills push[no]", "every kind of token"}},
		{lone, []string{"fills push", "Ports of both", "hand/push is not push"}},
	} {
		n, err := petri.Close("closed", bell(), c.hand)
		if err != nil {
			t.Fatal(err)
		}
		v := checkNet(t, n, Config{}, Never("on >= 2")).Results[0]
		for _, want := range c.want {
			if v.Outcome != Unknown || v.Cause != OpenEnv || !strings.Contains(v.Reason, want) {
				t.Errorf("%s: %s; want %q", v.Outcome, v.Reason, want)
			}
		}
	}
}

// TestRefusalBehindChoice: a refusal is found on each of several ways to one marking in the midst
// of a chain, not on the first alone.
func TestRefusalBehindChoice(t *testing.T) {
	const in = petri.Place[petri.Unit]("in")
	net := &petri.Net{Name: "net", Ports: []petri.AnyPlace{in}, Env: []petri.Env{{Place: in, Capacity: 1}},
		Transitions: []petri.Transition{{Name: "take", In: petri.Arcs{in}, When: petri.After(time.Second)}}}
	pick := func(f *petri.Firing) { f.Choose(0) }
	hand := &petri.Net{Name: "hand", Ports: []petri.AnyPlace{in}, Init: tokens("h"), Transitions: []petri.Transition{
		classic("push", arcs("h"), arcs("x")),
		{Name: "choose", In: arcs("x"), Out: petri.Free(arcs("w"), arcs("y")), Action: pick, Priority: 5},
		{Name: "one", In: arcs("w"), Out: petri.And(in, unit("v")), Priority: 5},
		{Name: "two", In: arcs("y"), Out: petri.And(in.Exactly(2), unit("v")), Priority: 5},
		{Name: "go_on", In: arcs("v"), Out: petri.Free(arcs("p"), arcs("q")), Action: pick, Priority: 5},
	}}
	n, err := petri.Close("closed", net, hand)
	if err != nil {
		t.Fatal(err)
	}
	v := checkNet(t, n, Config{Open: compile(t, net)}, WithinCapacity()).Results[0]
	if v.Outcome != Refuted || !v.Witness.Replayed || !strings.Contains(v.Witness.Story, "two: ") {
		t.Errorf("%s: %s", v.Outcome, v.Reason)
	}
}

// TestChainAcrossSlices: a chain that is endless, though not in any slice, is no proof of capacity.
func TestChainAcrossSlices(t *testing.T) {
	const ping, pong, press = unit("ping"), unit("pong"), unit("press")
	left := &petri.Net{Name: "left", Ports: []petri.AnyPlace{ping, pong, press}, Env: []petri.Env{{Place: press}},
		Caps: []petri.Cap{{Place: ping, Max: 1}}, Transitions: []petri.Transition{
			{Name: "begin", In: petri.Arcs{press}, Inhibit: petri.Arcs{ping, pong}, Out: petri.And(ping), Priority: 2},
			{Name: "ignore", In: petri.Arcs{press}, Priority: 1},
			{Name: "there", In: petri.Arcs{ping}, Inhibit: petri.Arcs{pong}, Out: petri.And(pong)}}}
	right := &petri.Net{Name: "right", Ports: []petri.AnyPlace{ping, pong}, Caps: []petri.Cap{{Place: pong, Max: 1}},
		Transitions: []petri.Transition{
			{Name: "back", In: petri.Arcs{pong}, Inhibit: petri.Arcs{ping}, Out: petri.And(ping)}}}
	open, err := petri.Compose("net", left, right)
	if err != nil {
		t.Fatal(err)
	}
	hand := &petri.Net{Name: "hand", Ports: []petri.AnyPlace{press},
		Transitions: []petri.Transition{{Name: "press", Out: petri.And(press), When: petri.Anytime()}}}
	n, err := petri.Close("closed", open, hand)
	if err != nil {
		t.Fatal(err)
	}
	p, capacity := compile(t, n), WithinCapacity()
	if u := structure.Unending(p); len(u) != 2 {
		t.Errorf("unending: %q", u)
	}
	parts := []Part{{Slice: slice.Slice{Name: "ping", Places: []string{"ping", "press"}}},
		{Slice: slice.Slice{Name: "pong", Places: []string{"pong"}}}}
	r, err := RunParts(context.Background(), p, Config{}, []*Property{capacity}, parts...)
	if err != nil {
		t.Fatal(err)
	}
	if v := r.Results[0]; v.Outcome != Unknown {
		t.Errorf("%s: %s; may overflow %q", v.Outcome, v.Reason, r.MayOverflow)
	}
	if u := structure.Unending(lamps(t, 3)); len(u) > 0 {
		t.Errorf("chains of lamps end, but %q", u)
	}
}

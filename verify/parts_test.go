package verify

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify/slice"
)

// lamps is a net of a switch and n lamps that follow it, closed with a hand that presses: the
// switch tells each lamp what to do, and so a lamp is lit only while the switch is on.
func lamps(t testing.TB, n int) *petri.Program {
	t.Helper()
	const press = unit("press")
	box := &petri.Net{Name: "switch", Ports: []petri.AnyPlace{press, unit("on")},
		Env: []petri.Env{{Place: press}}, Init: tokens("off"),
		Caps: []petri.Cap{{Place: unit("on"), Max: 1}},
		Transitions: []petri.Transition{
			{Name: "turn_on", In: arcs("press", "off"), Out: outs("on"), Priority: 1},
			{Name: "turn_off", In: arcs("press", "on"), Out: outs("off"), Priority: 1},
		}}
	parts := []*petri.Net{box}
	for i := range n {
		parts = append(parts, &petri.Net{Name: "lamp" + string(rune('1'+i)), Ports: []petri.AnyPlace{unit("on")},
			Init: tokens("dark"), Caps: []petri.Cap{{Place: unit("lit"), Max: 1}},
			Transitions: []petri.Transition{
				{Name: "light", In: arcs("dark"), Read: arcs("on"), Out: outs("lit")},
				{Name: "darken", In: arcs("lit"), Inhibit: arcs("on"), Out: outs("dark")},
			}})
	}
	open, err := petri.Compose("room", parts...)
	if err != nil {
		t.Fatal(err)
	}
	hand := &petri.Net{Name: "hand", Ports: []petri.AnyPlace{press},
		Transitions: []petri.Transition{{Name: "press", Out: petri.And(press), When: petri.Anytime()}}}
	n2, err := petri.Close("closed", open, hand)
	if err != nil {
		t.Fatal(err)
	}
	return compile(t, n2)
}

func lampPart(name string, props ...*Property) Part {
	return Part{Slice: slice.Slice{Name: name, Keep: []string{name}, Places: []string{name + "/lit"}}, Props: props}
}

func switchPart() Part {
	return Part{Slice: slice.Slice{Name: "switch", Keep: []string{"switch", "hand"},
		Places: []string{"on", "off", "press"}}}
}

func TestRunParts(t *testing.T) {
	p := lamps(t, 3)
	capacity := WithinCapacity()
	follows := Never("lamp2/lit && !on")
	parts := []Part{switchPart(), lampPart("lamp1"), lampPart("lamp2", follows), lampPart("lamp3")}
	r, err := RunParts(context.Background(), p, Config{Certify: true}, []*Property{capacity}, parts...)
	if err != nil {
		t.Fatal(err)
	}
	if r.Outcome() != Proved || len(r.Uncovered) > 0 || len(r.Results) != 2 {
		t.Fatalf("%v\nuncovered %q", r, r.Uncovered)
	}
	for i, part := range parts {
		m, err := part.Model(p, capacity)
		if err != nil {
			t.Fatal(err)
		}
		c := r.Parts[i].Certificate
		claims := Claims(append(part.Props, capacity)...)
		if c == nil || c.Check(context.Background(), m, claims...) != nil || m.Hash() != c.Hash {
			t.Errorf("part %s: no certificate that stands", part.Name)
		}
	}
	if r, err = RunParts(context.Background(), p, Config{}, []*Property{capacity}, parts[1:]...); err != nil {
		t.Fatal(err)
	}
	want := []string{"room/switch/turn_on", "room/switch/turn_off", "hand/press"}
	if v := r.Results[0]; v.Outcome != Proved || len(r.MayOverflow) > 0 {
		t.Errorf("without the switch, whose places are bounded by a flow: %s, %s", v.Outcome, v.Reason)
	}
	if !slices.Equal(r.Uncovered, want) {
		t.Errorf("%q is uncovered; want %q", r.Uncovered, want)
	}
	switchOnly := switchPart()
	switchOnly.Places = []string{"on"}
	if r, err = RunParts(context.Background(), p, Config{}, []*Property{capacity}, switchOnly); err != nil {
		t.Fatal(err)
	}
	if want := "room/lamp1/light"; len(r.Uncovered) == 0 || r.Uncovered[0] != want {
		t.Errorf("%q is uncovered; want %s first", r.Uncovered, want)
	}
}

// TestPartsDoubt: what a slice cannot tell is Unknown, with the reason.
func TestPartsDoubt(t *testing.T) {
	p := lamps(t, 2)
	never := Never("lamp1/lit && lamp2/dark") // true of the whole at rest, and of a slice that has both lamps
	one := lampPart("lamp1", never)
	for _, c := range []struct {
		name   string
		part   Part
		want   Outcome
		reason string
	}{
		{"both", Part{Slice: slice.Slice{Name: "both", Places: []string{"on"}}, Props: []*Property{never}}, Proved,
			"none of"},
		{"refuted", Part{Slice: slice.Slice{Name: "blind"}, Props: []*Property{never}}, Unknown,
			"in the slice closed/blind, which may do more than closed: reached"},
		{"blamed", Part{Slice: slice.Slice{Name: "blind"}, Props: []*Property{never}}, Unknown,
			"these may move: room/lamp1/light* (without room/lamp1/dark on)"},
		{"given", Part{Slice: slice.Slice{Name: "blind"}, Props: []*Property{never}, Given: []*Property{Never("lamp1/lit")}},
			Unknown, "it rests on never lamp1/lit, which no part before proves"},
		{"deadlock", lampPart("lamp1", DeadlockFree()), Unknown, "says nothing about closed"},
		{"reach", lampPart("lamp1", Reach("lamp1/lit")), Unknown, "says nothing about closed"},
		{"local", lampPart("lamp1", WithinCapacity()), Unknown, "ask every part"},
	} {
		r, err := RunParts(context.Background(), p, Config{Certify: true, Max: 1000}, nil, c.part)
		if err != nil {
			t.Fatal(err)
		}
		if v := r.Results[0]; v.Outcome != c.want || !strings.Contains(v.Reason, c.reason) {
			t.Errorf("%s: %s, %s; want %s, %s", c.name, v.Outcome, v.Reason, c.want, c.reason)
		}
	}
	lemma := Never("lamp1/lit && !on || lamp2/dark && on")
	blind := Part{Slice: slice.Slice{Name: "blind"}, Props: []*Property{never}, Given: []*Property{lemma}}
	both := Part{Slice: slice.Slice{Name: "both"}, Props: []*Property{lemma}}
	r, err := RunParts(context.Background(), p, Config{Certify: true, Max: 1000}, nil, both, blind)
	if err != nil {
		t.Fatal(err)
	}
	if r.Outcome() != Proved || r.Parts[1].Certificate == nil {
		t.Errorf("with a lemma: %v", r)
	}
	m, err := blind.Model(p)
	if err != nil {
		t.Fatal(err)
	}
	if err = r.Parts[1].Certificate.Check(context.Background(), m, never.Claim); err != nil {
		t.Error(err)
	}
	blind.Given = nil
	if m, err = blind.Model(p); err != nil {
		t.Fatal(err)
	}
	if r.Parts[1].Certificate.Check(context.Background(), m, never.Claim) == nil {
		t.Error("the certificate stands without what it was given")
	}
	one.Keep = []string{"lamp9"}
	if _, err = one.Of(p); err == nil || !strings.Contains(err.Error(), "lamp9") {
		t.Errorf("a subnet that is not there: %v", err)
	}
}

// TestSliceAsks: properties are refused what a slice does not have.
func TestSliceAsks(t *testing.T) {
	p := lamps(t, 2)
	part, err := slice.Slice{Name: "one", Places: []string{"lamp1/lit"}}.Of(p)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		prop *Property
		want string
	}{
		{Never("lamp2/lit"), `place "lamp2/lit" does not exist`},
		{Never("dead"), "says nothing in a slice"},
		{Never("can(\"room/lamp1/light*\")"), "is not part of the slice"},
		{Fires("room/lamp1/light*"), "is not part of the slice"},
	} {
		_, err := Run(context.Background(), part, Config{}, c.prop)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want %s", c.prop.Name, err, c.want)
		}
	}
	if _, err = part.Slice(petri.Cut{Name: "again"}); err == nil {
		t.Error("a slice of a slice")
	}
	if part.Runnable() == nil || !part.Closed() {
		t.Error("a slice that runs, or is not closed")
	}
	open, err := slice.Slice{Name: "one", Places: []string{"lit"}}.Of(compile(t, &petri.Net{
		Name: "open", Init: tokens("dark"),
		Env: []petri.Env{{Place: unit("press")}}, Sinks: []petri.AnyPlace{unit("lit")},
		Transitions: []petri.Transition{{Name: "light", In: arcs("press", "dark"), Out: outs("lit")}}}))
	if err != nil {
		t.Fatal(err)
	}
	r, err := Run(context.Background(), open, Config{Max: 100}, Never("lit > 100000"))
	if err != nil || r.Results[0].Outcome != Unknown {
		t.Errorf("%v, %v: a slice of an open net proves something", r, err)
	}
}

package mutate_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/verify/mutate"
)

type unit = petri.Place[petri.Unit]

// lamp is a lamp that a button turns on and a timer off.
func lamp() *petri.Net {
	const press, off, on = unit("press"), unit("off"), unit("on")
	return &petri.Net{Name: "lamp", Ports: []petri.AnyPlace{press}, Env: []petri.Env{{Place: press, Capacity: 2}},
		Init: []petri.Token{off.Token(petri.Unit{})}, Transitions: []petri.Transition{
			{Name: "light", In: petri.Arcs{press, off}, Out: petri.And(on)},
			{Name: "ignore", In: petri.Arcs{press}, Read: petri.Arcs{on}},
			{Name: "darken", In: petri.Arcs{on}, Out: petri.And(off), When: petri.After(time.Second)},
		}}
}

func finger() *petri.Net {
	return &petri.Net{Name: "finger", Ports: []petri.AnyPlace{unit("press")}, Transitions: []petri.Transition{
		{Name: "push", Out: petri.And(unit("press")), When: petri.Anytime()}}}
}

func closure() mutate.Closure {
	return mutate.Closure{Name: "any", Close: func(n *petri.Net) (*petri.Net, error) {
		return petri.Close("closed", n,
			finger())
	}}
}

func TestMutants(t *testing.T) {
	var names []string
	for _, m := range mutate.Mutants(lamp()) {
		names = append(names, strings.TrimPrefix(m.Name, "lamp/"))
	}
	want := []string{
		"light: without input 0", "light: input 0 takes 2", "light: without input 1", "light: input 1 takes 2",
		"light: without output 0.0",
		"ignore: without input 0", "ignore: input 0 takes 2", "ignore: without read 0", "ignore: read 0 takes 2",
		"darken: without input 0", "darken: input 0 takes 2", "darken: without output 0.0",
		"darken: at once", "darken: any time", "darken: half the wait", "darken: double the wait",
	}
	if !slices.Equal(names, want) {
		t.Errorf("%q", names)
	}
}

func TestScore(t *testing.T) {
	props := []*verify.Property{verify.Never("on && off || !on && !off"), verify.Never("on >= 2 || off >= 2"),
		verify.Never("press"), verify.WithinCapacity()}
	score, err := mutate.Run(context.Background(), lamp(), mutate.Config{Max: 2000, Closures: []mutate.Closure{closure()},
		Properties: props, Basic: []string{"capacity"}})
	if err != nil {
		t.Fatal(err)
	}
	if score.Mutants != score.Killed+len(score.Survivors) || score.Rate() < 0.5 {
		t.Errorf("%d of %d killed", score.Killed, score.Mutants)
	}
	if len(score.KilledBy["lamp/darken: without output 0.0"]) == 0 || score.Refused != 2 || score.Equal != 1 {
		t.Errorf("%+v", score)
	}
	if len(score.Survivors) == 0 || !slices.Contains(score.Survivors, "lamp/darken: half the wait") {
		t.Error("no property is about the wait, so its half survives")
	}
	if want := []string{"lamp/darken: input 0 takes 2", "lamp/darken: at once"}; !slices.Equal(score.Idle, want) {
		t.Errorf("%q fire less, want %q", score.Idle, want)
	}
	if score.Strong > score.Killed || score.StrongRate() > score.Rate() {
		t.Errorf("%d killed without capacity, %d with", score.Strong, score.Killed)
	}
	weak, err := mutate.Run(context.Background(), lamp(), mutate.Config{Max: 2000, Closures: []mutate.Closure{closure()},
		Properties: props[1:2]})
	if err != nil || weak.Killed >= score.Killed {
		t.Errorf("%v: a weaker property kills %d, all %d", err, weak.Killed, score.Killed)
	}
}

func TestScoreNeedsAProof(t *testing.T) {
	_, err := mutate.Run(context.Background(), lamp(), mutate.Config{Max: 2000, Closures: []mutate.Closure{closure()},
		Properties: []*verify.Property{verify.Never("on")}})
	if err == nil || !strings.Contains(err.Error(), "never on") {
		t.Errorf("a net that does not keep its properties: %v", err)
	}
}

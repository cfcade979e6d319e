package mutate_test

import (
	"context"
	"errors"
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

// TestPick: closures that have none of the transitions that are changed are left out, and whoever
// waits hears of each mutant.
func TestPick(t *testing.T) {
	closed := closure()
	closed.Has = func(transition string) bool { return transition == "darken" }
	other := mutate.Closure{Name: "broken", Has: func(transition string) bool { return transition == "ignore" },
		Close: func(*petri.Net) (*petri.Net, error) { return nil, errors.New("it is asked") }}
	var seen [][3]int
	config := mutate.Config{Max: 2000, Closures: []mutate.Closure{closed, other},
		Properties: []*verify.Property{verify.Never("on && off || !on && !off")},
		Pick: func(m mutate.Mutant) bool {
			return strings.HasPrefix(m.Name, "lamp/darken: without") || m.Name == "lamp/darken: half the wait"
		},
		Progress: func(done, killed, of int) { seen = append(seen, [3]int{done, killed, of}) }}
	score, err := mutate.Run(context.Background(), lamp(), config)
	if err != nil {
		t.Fatal(err)
	}
	if want := [][3]int{{1, 1, 3}, {2, 2, 3}, {3, 2, 3}}; !slices.Equal(seen, want) || score.Killed != 2 {
		t.Errorf("%v, want %v; %+v", seen, want, score)
	}
	config.Pick = func(mutate.Mutant) bool { return false }
	if none, err := mutate.Run(context.Background(), lamp(), config); err != nil || none.Rate() != 1 {
		t.Errorf("of nothing: %+v, %v", none, err)
	}
	config.Pick = nil
	_, err = mutate.Run(context.Background(), lamp(), config)
	if err == nil || !strings.Contains(err.Error(), "it is asked") {
		t.Errorf("all closures are asked, but %v", err)
	}
}

func TestScoreNeedsAProof(t *testing.T) {
	_, err := mutate.Run(context.Background(), lamp(), mutate.Config{Max: 2000, Closures: []mutate.Closure{closure()},
		Properties: []*verify.Property{verify.Never("on")}})
	if err == nil || !strings.Contains(err.Error(), "never on") {
		t.Errorf("a net that does not keep its properties: %v", err)
	}
}

// TestRefuses: a judge of one's own decides what is killed; of the rest the closures tell whether
// they are equal.
func TestRefuses(t *testing.T) {
	asked := 0
	s, err := mutate.Run(t.Context(), lamp(), mutate.Config{Closures: []mutate.Closure{closure()},
		Refuses: func(_ context.Context, n *petri.Net) ([]string, bool, error) {
			asked++
			i := slices.IndexFunc(n.Transitions, func(t petri.Transition) bool { return t.Name == "darken" })
			if n.Transitions[i].When != petri.After(time.Second) {
				return []string{"darken after 1s"}, false, nil
			}
			return nil, len(n.Transitions[i].Out.Arcs()) == 0, nil
		}})
	if err != nil {
		t.Fatal(err)
	}
	if asked == 0 || s.Killed == 0 || s.Killed == s.Mutants || s.Refused == 0 || len(s.Survivors) == 0 {
		t.Errorf("%d asked: %+v", asked, s)
	}
	for name, by := range s.KilledBy {
		if !strings.HasPrefix(name, "lamp/darken") || !slices.Equal(by, []string{"darken after 1s"}) {
			t.Errorf("%s is killed by %q", name, by)
		}
	}
	failed := errors.New("no more")
	_, err = mutate.Run(t.Context(), lamp(), mutate.Config{Closures: []mutate.Closure{closure()},
		Refuses: func(context.Context, *petri.Net) ([]string, bool, error) { return nil, false, failed }})
	if !errors.Is(err, failed) {
		t.Errorf("the judge fails with %v", err)
	}
}

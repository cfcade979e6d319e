package mutate_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/verify/mutate"
	"github.com/voicegw/voicegw/verify/stateclass"
)

// TestTimedProperties: what is said of a wait kills the mutants of the wait.
func TestTimedProperties(t *testing.T) {
	c := mutate.Config{Max: 2000, Closures: []mutate.Closure{closure()}, Basic: []string{"capacity"},
		Properties: []*verify.Property{verify.Never("on && off || !on && !off"), verify.Never("press"),
			verify.WithinCapacity()},
		Timed: []*verify.Property{stateclass.Within("light", "darken", time.Second, stateclass.Options{}),
			stateclass.NotBefore("light", "darken", time.Second, stateclass.Options{})}}
	one, err := mutate.Run(context.Background(), lamp(), c)
	if err != nil {
		t.Fatal(err)
	}
	for name, by := range map[string]string{
		"at once": "darken not before 1s of light", "half the wait": "darken not before 1s of light",
		"any time": "darken within 1s of light", "double the wait": "darken within 1s of light",
		"input 0 takes 2": "darken within 1s of light",
	} {
		if got := one.KilledBy["lamp/darken: "+name]; !slices.Contains(got, by) {
			t.Errorf("%s is killed by %q, not by %s", name, got, by)
		}
	}
	if want := []string{"lamp/light: without input 0"}; !slices.Equal(one.Survivors, want) || one.Rate() < 0.9 {
		t.Errorf("survivors %q, want %q; %+v", one.Survivors, want, one)
	}
	c.Workers = 3
	if three, err := mutate.Run(context.Background(), lamp(), c); err != nil || !reflect.DeepEqual(one, three) {
		t.Errorf("%v: three workers score %+v, one %+v", err, three, one)
	}
}

// slow is a net whose second timer never comes first.
func slow() *petri.Net {
	return &petri.Net{Name: "slow", Init: []petri.Token{unit("p").Token(petri.Unit{})}, Sinks: []petri.AnyPlace{unit("q"),
		unit("r")}, Out: []petri.Output{{Place: unit("told")}}, Transitions: []petri.Transition{
		{Name: "first", In: petri.Arcs{unit("p")}, Out: petri.And(unit("q"), unit("told")), When: petri.After(time.Second)},
		{Name: "second", In: petri.Arcs{unit("p")}, Out: petri.And(unit("r"), unit("q"), unit("told")),
			When: petri.After(2 * time.Second)},
	}}
}

// TestEqual: a mutant is equal only if nothing tells it from the net, what it tells others
// included; what waits never allow makes no difference.
func TestEqual(t *testing.T) {
	s, err := mutate.Run(context.Background(), slow(), mutate.Config{Properties: []*verify.Property{
		stateclass.Never("r", stateclass.Options{}), verify.WithinCapacity()}})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"first: without output 0.1", "first: without output 0.0", "first: half the wait",
		"second: half the wait"} {
		if _, killed := s.KilledBy["slow/"+name]; !killed && !slices.Contains(s.Survivors, "slow/"+name) {
			t.Errorf("%s is taken for equal", name)
		}
	}
	for _, name := range []string{"second: without output 0.0", "second: without output 0.1",
		"second: without output 0.2"} {
		if _, killed := s.KilledBy["slow/"+name]; killed || slices.Contains(s.Survivors, "slow/"+name) {
			t.Errorf("%s differs only after 2 s, which never pass", name)
		}
	}
	// At 1 s both are due, and the machine takes the first.
	if !slices.Contains(s.Survivors, "slow/second: half the wait") {
		t.Errorf("killed by %q", s.KilledBy["slow/second: half the wait"])
	}
}

// random is a small net of five transitions, driven from outside.
func random(r *rand.Rand) *petri.Net {
	places := []petri.Place[petri.Unit]{"a", "b", "c", "d"}
	some := func(n int) petri.Arcs {
		var out petri.Arcs
		for _, i := range r.Perm(len(places))[:r.IntN(n+1)] {
			out = append(out, places[i])
		}
		return out
	}
	n := &petri.Net{Name: "random", Ports: []petri.AnyPlace{unit("push")},
		Env: []petri.Env{{Place: unit("push"), Capacity: 1}},
		Out: []petri.Output{{Place: unit("out")}}, Sinks: []petri.AnyPlace{places[0], places[1], places[2], places[3]}}
	for _, p := range places {
		n.Caps = append(n.Caps, petri.Cap{Place: p, Max: 2})
		if r.IntN(2) == 0 {
			n.Init = append(n.Init, p.Token(petri.Unit{}))
		}
	}
	n.Transitions = []petri.Transition{{Name: "take", In: append(some(1), unit("push")), Out: petri.And(some(1)...)},
		{Name: "drop", In: petri.Arcs{unit("push")}, Priority: -1}}
	for i := range 4 {
		t := petri.Transition{Name: fmt.Sprint("t", i), In: append(some(1), places[r.IntN(4)]), Read: some(1),
			Inhibit: some(1), Reset: some(1), Out: petri.And(some(2)...),
			When: petri.After(time.Duration(r.IntN(4)) * time.Millisecond)}
		if r.IntN(3) == 0 {
			t.Out = petri.And(append(t.Out.Arcs(), unit("out"))...)
		}
		n.Transitions = append(n.Transitions, t)
	}
	return n
}

// history is what a machine does when it is pushed at random times.
func history(t *testing.T, p *petri.Program, seed uint64) (log []string) {
	defer func() {
		if f := recover(); f != nil {
			log = append(log, fmt.Sprint(f))
		}
	}()
	r := rand.New(rand.NewPCG(seed, 1))
	m := p.Start()
	at := time.Duration(0)
	note := func(ready petri.Ready) {
		for _, e := range ready.Events {
			log = append(log, fmt.Sprintf("%v %s", e.At, p.Describe(e)))
		}
	}
	note(m.Advance(0))
	for range 30 {
		at += time.Duration(r.IntN(5)) * time.Millisecond
		note(m.Advance(at))
		if err := m.Inject(at, unit("push").Token(petri.Unit{})); err != nil {
			t.Fatal(err)
		}
		note(m.Advance(at))
	}
	return log
}

// TestEqualRandom: machines of equal mutants do the same, firing by firing.
func TestEqualRandom(t *testing.T) {
	equal, differ := 0, 0
	for seed := uint64(1); seed < 120; seed++ {
		n := random(rand.New(rand.NewPCG(seed, 3)))
		c := mutate.Config{Max: 200, Closures: []mutate.Closure{{Name: "any", Close: func(n *petri.Net) (*petri.Net, error) {
			return petri.Close("closed", n, finger())
		}}}}
		s, err := mutate.Run(context.Background(), n, c)
		if err != nil {
			continue
		}
		original, err := petri.Compile(n)
		if err != nil {
			continue
		}
		for _, m := range mutate.Mutants(n) {
			p, err := petri.Compile(m.Net)
			if err != nil || p.Runnable() != nil {
				continue
			}
			survives := slices.Contains(s.Survivors, m.Name)
			for try := range uint64(4) {
				same := slices.Equal(history(t, original, try), history(t, p, try))
				switch {
				case !same && !survives:
					t.Fatalf("seed %d: %s is taken for equal", seed, m.Name)
				case !same:
					differ++
				case !survives:
					equal++
				}
			}
		}
	}
	if equal < 300 || differ < 300 {
		t.Errorf("only %d runs of equal mutants, %d of others that differ", equal, differ)
	}
}

// TestHunt: where Max leaves the net itself open, its mutants are still hunted.
func TestHunt(t *testing.T) {
	n := lamp()
	n.Transitions = append(n.Transitions, petri.Transition{Name: "count", In: petri.Arcs{unit("tick")},
		Out: petri.And(unit("tick"), unit("ticks")), When: petri.After(time.Hour)})
	n.Init = append(n.Init, unit("tick").Token(petri.Unit{}))
	n.Sinks = append(n.Sinks, unit("ticks"))
	c := mutate.Config{Max: 300, Closures: []mutate.Closure{closure()},
		Properties: []*verify.Property{verify.Never("on && off || !on && !off")}}
	if _, err := mutate.Run(context.Background(), n, c); err == nil {
		t.Error("a net that Max leaves open is taken for proved")
	}
	c.Hunt = true
	s, err := mutate.Run(context.Background(), n, c)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.KilledBy["lamp/darken: without output 0.0"]) == 0 || s.Equal > 0 ||
		s.Why["lamp/darken: half the wait"] == "" {
		t.Errorf("%+v", s)
	}
}

// TestParts: a mutant of which a closure sees nothing costs nothing there, and Idle names those in
// which a transition fires no more.
func TestParts(t *testing.T) {
	alone := func(n *petri.Net) (*petri.Net, error) {
		part := *n
		part.Transitions = append(slices.Clone(n.Transitions[2:]), petri.Transition{Name: "again",
			In: petri.Arcs{unit("off")}, Out: petri.And(unit("on")), When: petri.After(time.Minute)})
		part.Init = []petri.Token{unit("on").Token(petri.Unit{})}
		part.Ports, part.Env = nil, nil
		return &part, nil
	}
	s, err := mutate.Run(context.Background(), lamp(), mutate.Config{Closures: []mutate.Closure{{Name: "alone",
		Close: alone, Open: alone,
		Timed: []*verify.Property{stateclass.Within("start +on", "darken", time.Second, stateclass.Options{})}}}})
	if err != nil {
		t.Fatal(err)
	}
	if got := s.KilledBy["lamp/darken: double the wait"]; len(got) != 1 || s.Mutants+s.Refused != 7 || s.Equal != 9 {
		t.Errorf("%q, %+v", got, s)
	}
	if len(s.Idle) > 0 {
		t.Errorf("%q fire less", s.Idle)
	}
}

package smt

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/verify/explore"
	"github.com/voicegw/voicegw/verify/slice"
)

// amidst is a net of which a slice without r tells that q may come before take takes p: what fires
// at once in the net before take fires amidst a chain.
func amidst() *petri.Net {
	return &petri.Net{Name: "amidst", Init: many("s", 1), Transitions: []petri.Transition{
		anytime("start", arcs("s"), arcs("p", "r")),
		{Name: "mark", In: arcs("r"), Read: arcs("p"), Out: petri.And(unit("q"))},
		inhibit(petri.Transition{Name: "take", In: arcs("p")}, unit("q")),
	}}
}

// TestSliceAmidst: a projected move waits for those alone that its original waits for. If it waited
// for all, the slice would keep what the net breaks.
func TestSliceAmidst(t *testing.T) {
	needSolvers(t)
	whole := compile(t, amidst())
	s, err := slice.Slice{Name: "taken", Keep: []string{"start", "take"}}.Of(whole)
	if err != nil {
		t.Fatal(err)
	}
	for expr, want := range map[string][2]verify.Outcome{
		"p && q":  {verify.Refuted, verify.Unknown},
		"p && !q": {verify.Proved, verify.Proved},
		"p > 1":   {verify.Proved, verify.Proved},
		"q > 1":   {verify.Proved, verify.Unknown}, // the slice does not have r
	} {
		for i, p := range []*petri.Program{whole, s} {
			if r := run(t, p, Never(expr)); r.Outcome != want[i] {
				t.Errorf("%s: never %s: %s: %s; want %s", p.Name(), expr, r.Outcome, r.Reason, want[i])
			}
		}
	}
}

// TestRandomSlices: of random nets, what a solver proves of a slice no marking of the whole breaks,
// and none of the slice.
func TestRandomSlices(t *testing.T) {
	needSolvers(t)
	ctx := context.Background()
	z3, err := Config{Timeout: time.Second}.z3(ctx)
	if err != nil {
		t.Fatal(err)
	}
	var safe, reached, moved int
	for seed := range uint64(80) {
		k := maker{rand.New(rand.NewPCG(seed, 4))}
		p := k.program()
		whole, err := explore.Explore(ctx, p, explore.Options{Max: 400})
		if err != nil {
			t.Fatal(err)
		}
		part, err := k.slice(p)
		if err != nil {
			t.Fatal(err)
		}
		g, err := explore.Explore(ctx, part, explore.Options{Max: 2000})
		if err != nil {
			t.Fatal(err)
		}
		slot := func() string { return fmt.Sprintf("%q >= %d", part.SlotName(k.IntN(part.Slots())), 1+k.IntN(2)) }
		expr := slot() + " && !(" + slot() + ")"
		s := encode(t, g.Model, expr, true)
		a, _, err := s.decide(ctx, z3)
		if quiet := (*silence)(nil); errors.As(err, &quiet) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if !a.safe() {
			reached++
			continue
		}
		safe++
		if !g.Model.Layered() {
			moved++
		}
		for _, g := range []*explore.Graph{whole, g} {
			if found, _ := truth(t, g, expr); found {
				t.Errorf("seed %d: never %s is proved of a slice, and reached in %s", seed, expr, g.Model.Program().Name())
			}
		}
	}
	t.Logf("%d safe, %d of them with moves in the midst of chains, %d reached", safe, moved, reached)
	if safe < 20 || reached < 15 || moved < 3 {
		t.Error("the nets are too easy or too hard")
	}
}

// slice is a random slice of a random net.
func (k maker) slice(p *petri.Program) (*petri.Program, error) {
	s := slice.Slice{Name: "part"}
	if ts := p.Transitions(); k.IntN(2) == 0 {
		s.Keep = []string{ts[k.IntN(len(ts))].Name, ts[k.IntN(len(ts))].Name}
	} else {
		ps := p.Places()
		s.Places = []string{ps[k.IntN(len(ps))].Name, ps[k.IntN(len(ps))].Name}
	}
	return s.Of(p)
}

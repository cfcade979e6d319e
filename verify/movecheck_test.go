package verify_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify"
)

// moves are claims about the lamp: whether they hold, and whether they say
// anything.
var moves = []struct {
	move        verify.Move
	holds, says bool
}{
	{verify.Move{On: []string{"light"}, From: "off", Says: []string{"+told", "!darken"}, Then: "on && !off"}, true, true},
	{verify.Move{On: []string{"darken"}, Then: "on"}, false, true},
	{verify.Move{On: []string{"light"}, From: "on"}, false, true},
	{verify.Move{On: []string{"light"}, Says: []string{"!+told"}}, false, true},
	{verify.Move{Changed: "on", Says: []string{"+told"}}, false, true},
	{verify.Move{When: "on", Keeps: []string{"off"}}, false, true},
	{verify.Move{When: "on && off", Then: "nowhere"}, true, false},
	{verify.Move{On: []string{"explode"}, Then: "nowhere"}, true, false},
}

// TestMovesAreChecked: the checker of certificates decides about claims about
// moves by itself, and tells those that say nothing.
func TestMovesAreChecked(t *testing.T) {
	ctx, m := context.Background(), verify.NewModel(lampNet(t), verify.RunToCompletion)
	g, err := verify.ExploreModel(ctx, m, verify.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range moves {
		c.move.Name = "claim"
		p := c.move.Property()
		cert, err := g.Certify(p) // which does not look whether it holds
		if err != nil {
			t.Fatal(err)
		}
		read, err := verify.ReadCertificate(cert.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		says, err := read.Says(ctx, m, p)
		if holds := err == nil; holds != c.holds || err != nil && !errors.Is(err, verify.ErrCertificate) {
			t.Errorf("%s: %v", p.Claim, err)
		} else if holds && says[0] != c.says {
			t.Errorf("%s says something: %v", p.Claim, says)
		}
		again, err := g.Confirm(ctx, p)
		if holds := err == nil; holds != c.holds || holds && !slices.Equal(again, says) {
			t.Errorf("confirmed, %s: %v, %v", p.Claim, again, err)
		}
		if other := (verify.Move{Name: "claim", On: []string{"darken"}, Then: "off"}).Property(); read.Check(ctx, m,
			other) == nil {
			t.Errorf("a certificate of %q serves for %q", p.Claim, other.Claim)
		}
	}
}

// TestMovesOfSlices: a slice moves where the whole does not, so nothing is
// certified of its moves.
func TestMovesOfSlices(t *testing.T) {
	n := composed(t)
	m, err := verify.Part{Slice: verify.Slice{Name: "half", Places: []string{"on"}}}.Model(n)
	if err != nil {
		t.Fatal(err)
	}
	g, err := verify.ExploreModel(context.Background(), m, verify.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p := (verify.Move{Name: "claim", Then: "on || !on"}).Property()
	if _, err := g.Confirm(context.Background(), p); !errors.Is(err, verify.ErrCertificate) {
		t.Errorf("the moves of a slice are confirmed: %v", err)
	}
}

// composed is two lamps.
func composed(t *testing.T) *petri.Program {
	t.Helper()
	on, off, lit := petri.Place[petri.Unit]("on"), petri.Place[petri.Unit]("off"), petri.Place[petri.Unit]("lit")
	p, err := petri.Compile(&petri.Net{Name: "lamps", Init: []petri.Token{off.Token(petri.Unit{})},
		Transitions: []petri.Transition{
			{Name: "light", In: petri.Arcs{off}, When: petri.Anytime(), Out: petri.And(on, lit)},
			{Name: "darken", In: petri.Arcs{on, lit}, When: petri.Anytime(), Out: petri.And(off)},
		}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

package verify_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/verify/check"
	"github.com/voicegw/voicegw/verify/claim"
	"github.com/voicegw/voicegw/verify/explore"
	"github.com/voicegw/voicegw/verify/netmodel"
	"github.com/voicegw/voicegw/verify/slice"
)

// moves are claims about the lamp: whether they hold, and whether they say anything.
var moves = []struct {
	move           claim.Move
	holds, applied bool
}{
	{claim.Move{On: []string{"light"}, From: "off", Does: []string{"+told", "!darken"}, Then: "on && !off"}, true, true},
	{claim.Move{On: []string{"darken"}, Then: "on"}, false, true},
	{claim.Move{On: []string{"light"}, From: "on"}, false, true},
	{claim.Move{On: []string{"light"}, Does: []string{"!+told"}}, false, true},
	{claim.Move{Changed: "on", Does: []string{"+told"}}, false, true},
	{claim.Move{When: "on", Keeps: []string{"off"}}, false, true},
	{claim.Move{When: "on && off", Then: "nowhere"}, true, false},
	{claim.Move{On: []string{"explode"}, Then: "nowhere"}, true, false},
}

// TestMovesAreChecked: the checker of certificates decides about claims about moves by itself, and
// tells those that say nothing.
func TestMovesAreChecked(t *testing.T) {
	ctx, m := context.Background(), netmodel.New(lampNet(t), netmodel.RunToCompletion)
	g, err := explore.ExploreModel(ctx, m, explore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range moves {
		c.move.Name = "claim"
		p := verify.EachMove(c.move)
		cert, err := g.Certify(p.Claim) // which does not look whether it holds
		if err != nil {
			t.Fatal(err)
		}
		read, err := check.ReadCertificate(cert.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		applied, err := read.Applied(ctx, m, p.Claim)
		if holds := err == nil; holds != c.holds || err != nil && !errors.Is(err, check.ErrCertificate) {
			t.Errorf("%s: %v", p.Claim.Text(), err)
		} else if holds && applied[0] != c.applied {
			t.Errorf("%s applied: %v", p.Claim.Text(), applied)
		}
		again, err := g.Confirm(ctx, p.Claim)
		if holds := err == nil; holds != c.holds || holds && !slices.Equal(again, applied) {
			t.Errorf("confirmed, %s: %v, %v", p.Claim.Text(), again, err)
		}
		if other := verify.EachMove((claim.Move{Name: "claim", On: []string{"darken"}, Then: "off"})); read.Check(ctx, m,
			other.Claim) == nil {
			t.Errorf("a certificate of %q serves for %q", p.Claim.Text(), other.Claim.Text())
		}
	}
}

// TestMovesOfSlices: a slice moves where the whole does not, so nothing is certified of its moves.
func TestMovesOfSlices(t *testing.T) {
	n := composed(t)
	m, err := verify.Part{Slice: slice.Slice{Name: "half", Places: []string{"on"}}}.Model(n)
	if err != nil {
		t.Fatal(err)
	}
	g, err := explore.ExploreModel(context.Background(), m, explore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p := verify.EachMove((claim.Move{Name: "claim", Then: "on || !on"}))
	if _, err := g.Confirm(context.Background(), p.Claim); !errors.Is(err, check.ErrCertificate) {
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

package verify

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/voicegw/voicegw/verify/claim"
	"github.com/voicegw/voicegw/verify/explore"
	"github.com/voicegw/voicegw/verify/netmodel"
	"github.com/voicegw/voicegw/verify/nettest"
)

// TestGivenAgrees: of random nets, what a slice proves with the help of what is true of the whole
// is true of the whole, and its certificate stands; without that help it does not.
func TestGivenAgrees(t *testing.T) {
	ctx := context.Background()
	looked, proved, helped := 0, 0, 0
	for seed := range uint64(1700) {
		k := nettest.Weaver{Rand: rand.New(rand.NewPCG(seed, 8))}
		p := k.Program()
		whole, err := explore.Explore(ctx, p, explore.Options{Max: woven})
		if err != nil {
			t.Fatal(err)
		}
		if !whole.Complete {
			continue
		}
		part := k.Slice(t, p)
		lemma, goal := Never(about(k, part.Slots(), part.SlotName)), Never(about(k, part.Slots(), part.SlotName))
		m, err := claim.Given(netmodel.New(part, netmodel.RunToCompletion), lemma.Claim)
		if err != nil {
			t.Fatal(err)
		}
		if reaches(t, whole, claim.ExprOf(lemma.Claim)) {
			continue // it is not true
		}
		looked++
		r, err := Run(ctx, part, Config{Max: 4 * woven, Certify: true, Given: []*Property{lemma}}, goal)
		if err != nil {
			t.Fatal(err)
		}
		v := &r.Results[0]
		if v.Outcome != Proved {
			continue
		}
		proved++
		if reaches(t, whole, claim.ExprOf(goal.Claim)) {
			t.Fatalf("seed %d: given %s the slice %v proves %s, which the whole reaches", seed, lemma.Name,
				transitionsOf(part), goal.Name)
		}
		if err := v.Certificate.Check(ctx, m, goal.Claim); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		plain, err := Run(ctx, part, Config{Max: 4 * woven}, goal)
		if err != nil {
			t.Fatal(err)
		}
		if plain.Results[0].Outcome != Proved {
			helped++
		}
		if v.Certificate.Check(ctx, netmodel.New(part, netmodel.RunToCompletion), goal.Claim) == nil {
			t.Fatalf("seed %d: the certificate stands without what was given", seed)
		}
	}
	t.Logf("%d slices, %d proofs, %d of them with help", looked, proved, helped)
	if looked < 300 || proved < 100 || helped < 10 {
		t.Error("the nets are too easy or too hard")
	}
}

// about is a random expression over slots that are named.
func about(k nettest.Weaver, slots int, name func(int) string) string {
	one := func() string {
		return fmt.Sprintf("%q %s %d", name(k.IntN(slots)), []string{">=", "==", "<"}[k.IntN(3)], 1+k.IntN(2))
	}
	return one() + " && " + one()
}

// reaches reports whether the net rests in a marking that satisfies an expression.
func reaches(t *testing.T, g *explore.Graph, expr string) bool {
	t.Helper()
	found := false
	c, err := g.Model.Bind(expr)
	if err != nil {
		t.Fatal(err)
	}
	g.Each(func(_ int, m []int32) bool {
		found = found || c.Holds(m)
		return !found
	})
	return found
}

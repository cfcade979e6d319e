package verify

import (
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify/check"
	"github.com/voicegw/voicegw/verify/explore"
	"github.com/voicegw/voicegw/verify/nettest"
)

const woven = 4000 // markings of a whole net, and of its slices, at most

// TestSlicesSimulate: of random nets, every marking at which the whole rests is, on the places of a
// slice, one at which the slice rests.
func TestSlicesSimulate(t *testing.T) {
	ctx := context.Background()
	looked, interrupted, smaller := 0, 0, 0
	for seed := range uint64(3000) {
		k := nettest.Weaver{Rand: rand.New(rand.NewPCG(seed, 1))}
		p := k.Program()
		whole, err := explore.Explore(ctx, p, explore.Options{Max: woven})
		if err != nil {
			t.Fatal(err)
		}
		part := k.Slice(t, p)
		g, err := explore.Explore(ctx, part, explore.Options{Max: 4 * woven})
		if err != nil {
			t.Fatal(err)
		}
		if !g.Complete {
			continue
		}
		looked++
		if !g.Model.Layered() {
			interrupted++
		}
		if g.States() < whole.States() {
			smaller++
		}
		rests := make([]bool, g.States())
		g.Each(func(i int, _ []int32) bool { rests[i] = true; return true })
		whole.Each(func(i int, m []int32) bool {
			at := nettest.Projection(p, part, m)
			if j := g.Find(at); j < 0 || !rests[j] {
				t.Errorf("seed %d: %s is not reached in the slice %v\n%s", seed, g.Model.Format(at), transitionsOf(part),
					whole.Format(whole.PathTo(i)))
				return false
			}
			return true
		})
		if t.Failed() {
			return
		}
		if seed%10 == 0 {
			certifySlice(t, g)
		}
	}
	t.Logf("%d slices, %d with moves in the midst of chains, %d smaller than the whole", looked, interrupted, smaller)
	if looked < 1000 || interrupted < 300 || smaller < 200 {
		t.Errorf("only %d slices, %d with moves in the midst of chains, %d smaller", looked, interrupted, smaller)
	}
}

func transitionsOf(p *petri.Program) string {
	var out []string
	for _, t := range p.Transitions() {
		out = append(out, t.Name)
	}
	return strings.Join(out, " ")
}

// certifySlice: the checker agrees with the graph of a slice, and misses each marking that is not
// listed.
func certifySlice(t *testing.T, g *explore.Graph) {
	t.Helper()
	prop := Never("false")
	c, err := g.Certify(prop.Claim)
	if err != nil {
		t.Fatal(err)
	}
	if err = c.Check(context.Background(), g.Model, prop.Claim); err != nil && len(g.Faults) == 0 {
		t.Fatal(err)
	}
	if len(g.Faults) > 0 || g.States() < 2 {
		return
	}
	skip := 1 + g.States()/2
	var rows []string
	for i := range g.States() {
		var row []byte
		for _, n := range g.Marking(i, nil) {
			row = binary.AppendUvarint(row, uint64(n))
		}
		if i != skip%g.States() {
			rows = append(rows, string(row))
		}
	}
	if c, err = check.ListMarkings(g.Model, rows, prop.Claim); err == nil {
		err = c.Check(context.Background(), g.Model, prop.Claim)
	}
	if !errors.Is(err, check.ErrCertificate) {
		t.Fatalf("a list without one marking: %v", err)
	}
}

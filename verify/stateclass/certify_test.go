package stateclass

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/verify/check"
	"github.com/voicegw/voicegw/verify/netmodel"
)

// TestCertify: the classes of every reference net, and of random nets, are a certificate that the
// checker accepts; with a class left out they are none.
func TestCertify(t *testing.T) {
	ctx := context.Background()
	never := verify.Never("false")
	for _, r := range references() {
		for _, o := range []Options{{}, {Relax: true}} {
			o.Max = 400
			g := exploreNet(t, r.net, netmodel.Interleave, o)
			if !g.Complete {
				continue
			}
			c, err := g.Certify(never.Claim)
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Check(ctx, g.Model, never.Claim); err != nil {
				t.Errorf("%s: %v", r.name, err)
			}
		}
	}
	g := exploreNet(t, crossing(2), netmodel.Interleave, Options{})
	safe := verify.Never("on_1 && open")
	c, err := g.Certify(safe.Claim)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Check(ctx, g.Model, safe.Claim); err != nil {
		t.Error(err)
	}
	unsafe := verify.Never("on_1 && on_2")
	if c, err = g.Certify(unsafe.Claim); err != nil {
		t.Fatal(err)
	}
	if err := c.Check(ctx, g.Model, unsafe.Claim); !errors.Is(err, check.ErrCertificate) {
		t.Errorf("a claim that is false: %v", err)
	}
}

func TestCertifyRandom(t *testing.T) {
	never := verify.Never("false")
	done := 0
	for seed := uint64(1); done < 60 && seed < 3000; seed++ {
		p, err := petri.Compile(maker{rand.New(rand.NewPCG(seed, 7))}.net(false))
		if err != nil {
			continue
		}
		for _, sem := range []netmodel.Semantics{netmodel.RunToCompletion, netmodel.Interleave} {
			m := netmodel.New(p, sem)
			g, err := Explore(context.Background(), m, Options{Max: 300})
			if err != nil || !g.Complete || len(g.Faults) > 0 {
				continue
			}
			done++
			c, err := g.Certify(never.Claim)
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Check(context.Background(), m, never.Claim); err != nil {
				t.Errorf("seed %d: %v", seed, err)
			}
			for i := range g.classes {
				if g.classes[i].rep == uint32(i) && lacking(t, g, i).Check(context.Background(), m, never.Claim) == nil {
					t.Errorf("seed %d: nothing is missed without class %d of %d", seed, i, g.Classes())
				}
			}
		}
	}
	if done < 60 {
		t.Errorf("only %d nets", done)
	}
}

// lacking is a certificate without one class.
func lacking(t *testing.T, g *Graph, out int) *check.Certificate {
	t.Helper()
	short := *g
	short.classes = append([]class(nil), g.classes...)
	short.classes[out].rep = uint32(out + 1)
	short.alive--
	c, err := short.Certify(verify.Never("false").Claim)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestCertifiedRun: with Certify each proof about classes carries its certificate, checked.
func TestCertifiedRun(t *testing.T) {
	p, err := petri.Compile(crossing(2))
	if err != nil {
		t.Fatal(err)
	}
	c := verify.Config{Semantics: netmodel.Interleave, Certify: true}
	props := []*verify.Property{DeadlockFree(Options{}), Never("on_1 && open", Options{}), WithinCapacity(Options{}),
		Bounded("cin", 2, Options{})}
	r, err := verify.Run(context.Background(), p, c, props...)
	if err != nil {
		t.Fatal(err)
	}
	for i := range r.Results {
		if v := &r.Results[i]; v.Outcome != verify.Proved || v.Certificate == nil {
			t.Errorf("%s: %s (%s), certificate %v", v.Property.Name, v.Outcome, v.Reason, v.Certificate != nil)
		}
	}
}

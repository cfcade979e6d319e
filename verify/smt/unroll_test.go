package smt

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/verify/check"
	"github.com/voicegw/voicegw/verify/explore"
	"github.com/voicegw/voicegw/verify/netmodel"
)

// stepped is the certificate of a proof by induction, true or not, over all places of a net.
func stepped(t testing.TB, p *petri.Program, expr, invariant string, steps int) *Certificate {
	t.Helper()
	pass, err := verify.NewPass(p, verify.Config{})
	if err != nil {
		t.Fatal(err)
	}
	e, err := newEncoder(pass.Model(), netmodel.RunToCompletion, nil)
	if err != nil {
		t.Fatal(err)
	}
	e.keepAll()
	s, err := e.system(expr)
	if err != nil {
		t.Fatal(err)
	}
	found := proof{s.invariants(), steps}
	if invariant != "" {
		if found.invariant, err = readInvariant(s, invariant); err != nil {
			t.Fatal(err)
		}
	}
	return newCertificate(pass, e, s, expr, found)
}

// TestSteppedCertificates: a proof by induction is written, read and checked by either solver, and
// one that takes fewer steps than it must is refused.
func TestSteppedCertificates(t *testing.T) {
	needSolvers(t)
	p := compile(t, voice(2))
	for _, c := range []struct {
		expr, invariant string
		steps           int
		want            bool
	}{
		{"dead", "", 4, true}, {"dead", "", 1, false}, {"dead", "", 0, false}, {"dead", "", -1, false},
		{"dead", "", inductionMax + 1, false}, {"dead", "false", 4, false}, {"dead", "(<= m0 1)", 4, false},
		{"INFLIGHT > 2", "", 1, true}, {"INFLIGHT > 2", "true", 1, false},
		{"INFLIGHT > 1", "", 1, false}, {"INFLIGHT > 1", "", 9, false},
	} {
		b, err := stepped(t, p, c.expr, c.invariant, c.steps).Marshal()
		if err != nil {
			t.Fatal(err)
		}
		cert, err := ReadCertificate(b)
		if err != nil {
			t.Fatal(err)
		}
		for _, cvc5 := range []string{"", "none"} {
			err := checkCert(t, Config{CVC5: cvc5, Timeout: time.Minute}, p, c.expr, cert)
			if c.want && err != nil || !c.want && !errors.Is(err, check.ErrCertificate) {
				t.Errorf("never %s in %d steps, given %q: %v", c.expr, c.steps, c.invariant, err)
			}
		}
		if err := checkCert(t, Config{Z3: "none", CVC5: "none"}, p, c.expr, cert); err == nil {
			t.Errorf("never %s in %d steps is confirmed by nobody", c.expr, c.steps)
		}
	}
}

// TestNoFalseInduction: of random nets that reach what is forbidden, no number of steps is taken
// for a proof.
func TestNoFalseInduction(t *testing.T) {
	needSolvers(t)
	looked, proved := 0, 0
	for seed := range uint64(40) {
		k := maker{rand.New(rand.NewPCG(seed, 9))}
		p := k.program()
		g, err := explore.Explore(context.Background(), p, explore.Options{Max: 400})
		if err != nil {
			t.Fatal(err)
		}
		if !g.Complete || len(g.Faults) > 0 {
			continue
		}
		expr := k.expr(0)
		reached, _ := truth(t, g, expr)
		for _, steps := range []int{1, 3} {
			err := checkCert(t, Config{}, p, expr, stepped(t, p, expr, "", steps))
			switch {
			case errors.Is(err, ErrNotChecked):
				continue
			case err == nil && reached:
				t.Errorf("seed %d: never %s is proved in %d steps, and reached", seed, expr, steps)
			case err == nil:
				proved++
			}
			looked++
		}
	}
	t.Logf("%d certificates, %d of them proofs", looked, proved)
	if looked < 30 || proved < 10 {
		t.Errorf("only %d certificates, %d of them proofs", looked, proved)
	}
}

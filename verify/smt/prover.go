package smt

import (
	"context"
	"errors"
	"strings"

	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/verify/check"
)

// prover looks for a proof of one property: on the places that the property names, then on those
// that decide about them and so on, and at last on all places.
type prover struct {
	Config
	pass *verify.Pass
	enc  *encoder
	expr string
}

// slicesMax is how many slices are tried before the whole net.
const slicesMax = 6

func (p *prover) prove(ctx context.Context) (verify.Verdict, error) {
	z3, err := p.z3(ctx)
	if err != nil {
		return verify.Verdict{}, err
	}
	var last error // why there was no answer
	for try := 0; ; try++ {
		s, err := p.enc.system(p.expr)
		if err != nil {
			return verify.Verdict{}, err
		}
		whole := len(s.slots) == p.enc.prog.Slots()
		a, invariant, err := s.decide(ctx, z3)
		quiet := (*silence)(nil)
		switch {
		case errors.As(err, &quiet):
			last = err
		case err != nil:
			return verify.Verdict{}, err
		case a.safe():
			return p.proved(ctx, s, invariant, z3)
		case whole && a.reached():
			return p.reached(ctx)
		}
		if whole {
			return verify.Verdict{}, last
		}
		// If a slice takes too long, a slightly larger one would too.
		p.grow(s, last != nil || try >= slicesMax)
	}
}

// grow adds the places that decide about the slice; if there are none, it adds all places.
func (p *prover) grow(s *system, everything bool) {
	if len(s.grows) == 0 || everything {
		p.enc.keepAll()
	}
	for _, place := range s.grows {
		p.enc.keep[place] = true
	}
}

func (e *encoder) keepAll() {
	for i := range e.keep {
		e.keep[i] = true
	}
}

// decide reports whether the bad states are reached, and if not, returns an invariant. The property
// may be inductive by itself, with the flows; otherwise z3 looks for an invariant.
func (s *system) decide(ctx context.Context, z3 *solver) (answer, term, error) {
	simple := conj(s.invariants(), negate(s.bad))
	err := s.check(ctx, z3, simple)
	if err == nil {
		return sat, simple, nil
	}
	if !errors.Is(err, check.ErrCertificate) { // the solver does not even decide this
		return noAnswer, term{}, err
	}
	r, err := z3.ask(ctx, s.horn()+"(get-model)\n")
	if err != nil {
		return noAnswer, term{}, err
	}
	a, model, err := z3.hornAnswer(r)
	if err != nil || !a.safe() {
		return a, term{}, err
	}
	found, err := readModel(s, model)
	if err != nil {
		return noAnswer, term{}, silent("%s: %v", z3.name, err)
	}
	return a, conj(s.invariants(), found), nil
}

// proved returns a verdict only if another solver agrees.
func (p *prover) proved(ctx context.Context, s *system, invariant term, z3 *solver) (verify.Verdict, error) {
	found := proof{invariant: invariant}
	by, err := p.recheck(ctx, s, found)
	if err != nil {
		if ctx.Err() != nil {
			return verify.Verdict{}, err
		}
		return verify.Solver.By(Method, 0, "%s found an invariant that was not confirmed: %v", z3.name, err), nil
	}
	cert := p.certify(s, found, z3.name, by)
	return verify.Proved.By(Method, 0, "an inductive invariant over %d of %d places, found by %s, checked by %s%s",
		len(cert.Places), len(p.enc.keep), z3.name, by, p.forAll()), nil
}

// certify makes the certificate of a proof and passes it to Keep.
func (p *prover) certify(s *system, found proof, by, checkedBy string) *Certificate {
	cert := newCertificate(p.pass, p.enc, s, p.expr, found)
	cert.Solver, cert.CheckedBy = by, checkedBy
	if p.Keep != nil {
		p.Keep(cert)
	}
	return cert
}

// forAll lists the parameters that the proof leaves open.
func (p *prover) forAll() string {
	var names []string
	for _, k := range p.Params {
		names = append(names, k.Name)
	}
	if len(names) == 0 {
		return ""
	}
	return ", for all " + strings.Join(names, ", ")
}

// reached has the explicit search look for a run that a solver says exists, since only a run is a
// refutation.
func (p *prover) reached(ctx context.Context) (verify.Verdict, error) {
	if len(p.Params) > 0 {
		return verify.Spurious.By(Method, 0, "it does not hold%s if time is ignored", p.forAll()), nil
	}
	v, err := verify.Never(p.expr).Check(ctx, p.pass)
	if err != nil || v.Outcome == verify.Refuted {
		return v, err
	}
	return verify.Spurious.By(Method, v.States,
		"it can be reached if time is ignored; the explicit search says: %s (%s)", v.Reason, v.Outcome), nil
}

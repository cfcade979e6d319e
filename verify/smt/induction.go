//go:build z3

package smt

import (
	"context"
	"errors"
	"fmt"

	"github.com/voicegw/voicegw/verify"
)

// Induction is Never by another method, which needs the library of z3 (build tag z3): no run of
// fewer than k firings reaches a forbidden marking, and no k firings that avoid forbidden markings
// lead to one, for some k up to depth, 1 to 64. A process of cvc5 or z3 must confirm it. The
// certificate states the number of steps.
func (c Config) Induction(expr string, depth int) *verify.Property {
	p := c.Never(expr)
	p.Check = func(ctx context.Context, pass *verify.Pass) (verify.Verdict, error) {
		if depth < 1 || depth > inductionMax {
			return verify.Verdict{}, fmt.Errorf("smt: induction over %d steps: 1 to %d", depth, inductionMax)
		}
		return c.ask(pass, expr, induction, func(p *prover) (verify.Verdict, error) {
			return p.induce(ctx, depth)
		})
	}
	return p
}

// induce tries the slices of the net, as prove does.
func (p *prover) induce(ctx context.Context, depth int) (verify.Verdict, error) {
	for try := 0; ; try++ {
		s, err := p.enc.system(p.expr)
		if err != nil {
			return verify.Verdict{}, err
		}
		whole := len(s.slots) == p.enc.prog.Slots()
		var found outcome
		err = p.inProcess(ctx, func(l *library) error { return l.induce(s, depth, &found) })
		quiet := (*silence)(nil)
		switch late := errors.As(err, &quiet); {
		case err != nil && (whole || !late):
			return verify.Verdict{}, err
		case found.k > 0:
			return p.induced(ctx, s, found.k)
		case found.reached && whole:
			v, err := p.reached(ctx)
			if v.Outcome == verify.Unknown {
				v.Method = induction
			}
			return v, err
		case whole:
			return verify.Solver.By(induction, 0, "%d steps are not enough", depth), nil
		default:
			p.grow(s, late || try >= slicesMax)
		}
	}
}

// outcome is what induction found: the number of steps that it needs, 0 if it did not succeed; or
// that the bad states are reached.
type outcome struct {
	k       int
	reached bool
}

// induce looks for the number of steps. It first proves the known invariants.
func (l *library) induce(s *system, depth int, found *outcome) error {
	known := s.invariants()
	if err := l.obligations(s, s.kept(), known); err != nil {
		return silent("%v", err)
	}
	for k := 1; k <= depth; k++ {
		vars := l.variables(s.unrolled(k))
		base, err := l.check(vars, s.base(k-1))
		switch {
		case err != nil:
			return err
		case base.fails():
			found.reached = true
			return nil
		}
		step, err := l.check(vars, s.step(k, known))
		if err != nil {
			return err
		}
		if step.holds() {
			found.k = k
			return nil
		}
	}
	return nil
}

// induced returns a verdict only if another solver agrees.
func (p *prover) induced(ctx context.Context, s *system, k int) (verify.Verdict, error) {
	found := proof{s.invariants(), k}
	by, err := p.second(ctx)
	if err == nil {
		err = by.confirm(ctx, s, found)
	}
	if err != nil {
		if ctx.Err() != nil {
			return verify.Verdict{}, err
		}
		return verify.Solver.By(induction, 0, "%d steps are enough, but that was not confirmed: %v", k, err), nil
	}
	p.certify(s, found, libraryName, by.name)
	return verify.Proved.By(induction, 0, "induction over %d steps, on %d of %d counts, by %s, checked by %s%s",
		k, len(s.slots), p.enc.prog.Slots(), libraryName, by.name, p.forAll()), nil
}

// unrolled decides the base and the step of a proof over several firings.
func (l *library) unrolled(s *system, found proof) error {
	vars := l.variables(s.unrolled(found.steps))
	for _, q := range s.induction(found) {
		a, err := l.check(vars, q.where)
		switch {
		case err != nil:
			return err
		case a.fails():
			return refusal("the proof does not hold: %s", q.name)
		case !a.holds():
			return silent("%s does not decide %s", libraryName, q.name)
		}
	}
	return nil
}

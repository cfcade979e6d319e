//go:build z3

package smt

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/voicegw/voicegw/verify"
)

const (
	induction    = "k-induction"
	inductionMax = 64 // steps
)

// Induction is Never by another method, for which the library of z3 must be
// built in (build tag z3): no run of fewer than k firings reaches what is
// forbidden, and no k firings that avoid it lead there, for some k up to depth,
// 1 to 64. A process of cvc5 or z3 must confirm it.
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
			return verify.Doubt(induction, verify.Solver, 0, "%d steps are not enough", depth), nil
		default:
			p.grow(s, late || try >= slicesMax)
		}
	}
}

// outcome is what induction found: the number of steps that it takes, 0 if it
// did not succeed; or that the bad states are reached.
type outcome struct {
	k       int
	reached bool
}

// induce looks for the number of steps. What is known of every marking is
// proved first.
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
		step, err := l.check(vars, s.step(k))
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

// kept are the obligations but for the last: what is known is an invariant,
// whether or not it is enough.
func (s *system) kept() []obligation {
	todo := s.obligations()
	return todo[:len(todo)-1]
}

// induced is a verdict only if somebody else agrees.
func (p *prover) induced(ctx context.Context, s *system, k int) (verify.Verdict, error) {
	by, err := p.second(ctx)
	if err == nil {
		script, names := s.script(s.kept(), s.invariants())
		err = by.refute(ctx, script, names)
	}
	if err == nil {
		script, names := s.unroll(k)
		err = by.refute(ctx, script, names)
	}
	if err != nil {
		if ctx.Err() != nil {
			return verify.Verdict{}, err
		}
		return verify.Doubt(induction, verify.Solver, 0, "%d steps are enough, but that was not confirmed: %v", k, err), nil
	}
	return verify.Prove(induction, 0, "induction over %d steps, on %d of %d counts, by %s, checked by %s%s",
		k, len(s.slots), p.enc.prog.Slots(), libraryName, by.name, p.forAll()), nil
}

// unroll is the proof for k steps as questions to a process, none of which may
// have an answer.
func (s *system) unroll(k int) (script string, names []string) {
	var b strings.Builder
	b.WriteString("(set-logic QF_LIA)\n")
	for _, v := range s.unrolled(k) {
		fmt.Fprintf(&b, "(declare-fun %s () Int)\n", v)
	}
	question := func(name string, t term) {
		names = append(names, name)
		fmt.Fprintf(&b, "(push 1)\n(assert %s)\n(check-sat)\n(pop 1)\n", t)
	}
	for i := range k {
		question(fmt.Sprintf("after %d firings", i), s.base(i))
	}
	question(fmt.Sprintf("after %d more", k), s.step(k))
	return b.String(), names
}

// base says that i firings from the start lead to a bad state.
func (s *system) base(i int) term {
	ts := []term{s.at(0, s.init)}
	for j := range i {
		ts = append(ts, s.fires(j))
	}
	return conj(append(ts, s.at(i, s.bad))...)
}

// step says that k firings from some state lead to the first bad one.
func (s *system) step(k int) term {
	ts := []term{s.at(k, s.bad), s.at(k, s.invariants())}
	for i := range k {
		ts = append(ts, s.at(i, s.invariants()), s.at(i, negate(s.bad)), s.fires(i))
	}
	return conj(ts...)
}

// fires says that one firing leads from the marking of step i to the next.
func (s *system) fires(i int) term {
	var ways []term
	for _, r := range s.rules {
		ts := []term{s.at(i, r.guard)}
		for j, v := range s.vars() {
			ts = append(ts, app("=", s.at(i+1, v), s.at(i, r.next[j])))
		}
		ways = append(ways, conj(ts...))
	}
	return disj(ways...)
}

// at writes a formula about the marking of step i.
func (s *system) at(i int, t term) term {
	names := map[string]term{}
	for _, v := range s.vars() {
		names[v.atom] = sym(fmt.Sprintf("%s_%d", v.atom, i))
	}
	return rename(t, names)
}

// unrolled are the variables of the markings of steps 0 to k.
func (s *system) unrolled(k int) []term {
	var out []term
	for i := range k + 1 {
		for _, v := range s.vars() {
			out = append(out, s.at(i, v))
		}
	}
	return out
}

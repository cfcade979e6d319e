package main

import (
	"context"
	"fmt"

	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/verify/smt"
)

// unbounded gives properties of nets that no exploration exhausts to solvers, and keeps their proofs.
type unbounded struct {
	proofs map[*verify.Property]*smt.Certificate
	config smt.Config
}

func newUnbounded() *unbounded {
	return &unbounded{proofs: map[*verify.Property]*smt.Certificate{}}
}

// never lets solvers look for an invariant that excludes an expression, where an exploration that p is decided by did
// not visit everything. The solvers' model has no capacities, no time and no priorities, so what it never reaches is
// never reached.
func (u *unbounded) never(p *verify.Property, expr string) *verify.Property {
	return u.ask(p, expr, func(v verify.Verdict) verify.Verdict { return v })
}

// reach is the same for a property that claims that the expression is reached: only a run proves that.
func (u *unbounded) reach(p *verify.Property, expr string) *verify.Property {
	return u.ask(p, expr, func(v verify.Verdict) verify.Verdict {
		switch v.Outcome {
		case verify.Proved:
			v.Outcome = verify.Refuted
		case verify.Refuted:
			v.Outcome = verify.Proved
		}
		return v
	})
}

func (u *unbounded) ask(p *verify.Property, expr string, read func(verify.Verdict) verify.Verdict) *verify.Property {
	q := *p
	q.Requires = nil // of a proof by exploration, below; one for all sizes ignores time
	q.Check = func(ctx context.Context, pass *verify.Pass) (verify.Verdict, error) {
		v, err := p.Check(ctx, pass)
		if err == nil && v.Outcome == verify.Proved {
			return rest(ctx, pass, v, p.Requires)
		}
		if err != nil || v.Outcome != verify.Unknown || v.Cause != verify.Capped && v.Cause != verify.Faulty {
			return v, err
		}
		c := u.config
		c.Keep = func(cert *smt.Certificate) { u.proofs[&q] = cert }
		again, err := c.Never(expr).Check(ctx, pass)
		if err != nil {
			return v, err
		}
		if again.Outcome == verify.Unknown {
			v.Reason = fmt.Sprintf("%s; for all sizes: %s", v.Reason, again.Reason)
			return v, nil
		}
		again.States = v.States
		return read(again), nil
	}
	return &q
}

// rest holds a proof to what it needs.
func rest(ctx context.Context, pass *verify.Pass, v verify.Verdict, needs []*verify.Property) (verify.Verdict, error) {
	for _, need := range needs {
		got, err := need.Check(ctx, pass)
		if err != nil {
			return v, err
		}
		if got.Outcome != verify.Proved {
			return verify.Unproved.By(v.Method, v.States, "it needs %s, which is %s: %s", need.Name, got.Outcome,
				got.Reason), nil
		}
	}
	return v, nil
}

// certified says what proof was checked again, or nil. The certificate of an invariant counts no states.
func (u *unbounded) certified(p *verify.Property) *certified {
	c := u.proofs[p]
	if c == nil {
		return nil
	}
	sealed := *c
	if data, err := c.Marshal(); err == nil {
		if again, err := smt.ReadCertificate(data); err == nil {
			sealed = *again
		}
	}
	return &certified{Method: "invariant", NetHash: sealed.Net, Digest: sealed.Sum}
}

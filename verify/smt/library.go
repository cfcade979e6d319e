//go:build z3

package smt

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/aclements/go-z3/z3"

	"github.com/voicegw/voicegw/verify/netmodel"
)

const libraryName = "the library of z3"

// library is a context of z3 in this process with the one solver that it may have. It stays with
// the goroutine that called inProcess, because contexts of z3 support only one. The library ignores
// MemoryMB; it usually takes about 20 MB, which the garbage collector frees.
type library struct {
	ctx    *z3.Context
	solver *z3.Solver
	run    context.Context // when to stop
}

// inProcess calls work with the library, within the timeout for all of its questions together. An
// exception of z3 becomes a silence.
func (c Config) inProcess(ctx context.Context, work func(*library) error) (err error) {
	limit := c.Timeout
	if limit <= 0 {
		limit = defaultTimeout
	}
	timed, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	defer func() {
		if r := recover(); r != nil {
			err = silent("%s: %v", libraryName, r)
		}
		if ctx.Err() != nil {
			err = fmt.Errorf("smt: ask %s: %w", libraryName, ctx.Err())
		}
	}()
	// z3 gets the timeout as well, because it may miss an interruption between two questions.
	ms := min(limit/time.Millisecond+1, math.MaxInt32)
	l := &library{ctx: z3.NewContext(z3.NewContextConfig().SetUint("timeout", uint(ms))), run: timed}
	l.solver = z3.NewSolver(l.ctx)
	interrupted := make(chan struct{})
	stop := context.AfterFunc(timed, func() {
		defer close(interrupted)
		l.ctx.Interrupt()
	})
	defer func() {
		if !stop() {
			<-interrupted
		}
	}()
	return work(l)
}

// check asks whether formulas can be true together, and then forgets them. vars holds their names.
// Variables of the same name in different questions are the same.
func (l *library) check(vars map[string]z3.Value, formulas ...term) (answer, error) {
	if l.run.Err() != nil {
		return noAnswer, silent("%s found no answer in time", libraryName)
	}
	l.solver.Push()
	defer l.solver.Pop()
	for _, f := range formulas {
		b, err := l.formula(vars, f)
		if err != nil {
			return noAnswer, err
		}
		l.solver.Assert(b)
	}
	return l.decide()
}

// decide asks about the asserted formulas.
func (l *library) decide() (answer, error) {
	found, err := l.solver.Check()
	switch {
	case err != nil:
		return noAnswer, silent("%s: %v", libraryName, err)
	case found:
		return sat, nil
	}
	return unsat, nil
}

// variables are unknown integers of these names.
func (l *library) variables(names []term) map[string]z3.Value {
	out := map[string]z3.Value{}
	for _, n := range names {
		out[n.atom] = l.ctx.IntConst(n.atom)
	}
	return out
}

// third has the library decide the obligations too. It returns the library's name for a
// certificate, or "" if the library had no answer.
func (c Config) third(ctx context.Context, s *system, found proof) (string, error) {
	err := c.inProcess(ctx, func(l *library) error { return l.confirm(s, found) })
	if quiet := (*silence)(nil); errors.As(err, &quiet) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return ", " + libraryName, nil
}

// confirm decides everything that a proof rests on. Its errors are those of obligations.
func (l *library) confirm(s *system, found proof) error {
	if found.steps == 0 {
		return l.obligations(s, s.obligations(), found.invariant)
	}
	if err := l.obligations(s, s.kept(), found.invariant); err != nil {
		return err
	}
	return l.unrolled(s, found)
}

// obligations decides each of todo. Its error is a refusal if one fails, and a silence without an
// answer.
func (l *library) obligations(s *system, todo []obligation, invariant term) error {
	vars := l.variables(s.vars())
	for _, o := range todo {
		a, err := l.obligation(s, vars, o, invariant)
		switch {
		case err != nil:
			return err
		case a.fails():
			return refusal("the proof does not hold: %s", o.name)
		case !a.holds():
			return silent("%s does not decide %s", libraryName, o.name)
		}
	}
	return nil
}

// obligation asks for a violation of one obligation.
func (l *library) obligation(s *system, vars map[string]z3.Value, o obligation, invariant term) (answer, error) {
	l.solver.Push()
	defer l.solver.Pop()
	if o.then != nil {
		after := map[string]z3.Value{}
		for i, v := range s.vars() {
			var err error
			if after[v.atom], err = l.value(vars, o.then[i]); err != nil {
				return noAnswer, err
			}
		}
		kept, err := l.formula(after, invariant)
		if err != nil {
			return noAnswer, err
		}
		l.solver.Assert(kept.Not())
	}
	if o.assumed {
		return l.check(vars, invariant, o.where)
	}
	return l.check(vars, o.where)
}

// CheckInProcess checks a certificate against a closed net as Check does, but only with the library
// of z3, which needs the build tag z3. Its errors are those of Check.
func CheckInProcess(
	ctx context.Context, c Config, m *netmodel.Model, sem netmodel.Semantics, expr string, cert *Certificate,
) error {
	return c.against(m, sem, expr, cert, func(s *system, found proof) error {
		return c.inProcess(ctx, func(l *library) error { return l.confirm(s, found) })
	})
}

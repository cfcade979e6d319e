package smt

import (
	"context"
	"errors"
	"fmt"

	"github.com/voicegw/voicegw/verify"
)

// Method is what verdicts of this package call it.
const Method = "horn"

// Never says, as verify.Never does, that no marking in which the net rests
// satisfies an expression; the proof is an inductive invariant.
func Never(expr string) *verify.Property { return Config{}.Never(expr) }

// Bound says that a place never holds more than n tokens.
func Bound(place string, n int) *verify.Property { return Config{}.Bound(place, fmt.Sprint(n)) }

// Bound says that a place never holds more tokens than limit, a number or a
// parameter of c.
func (c Config) Bound(place, limit string) *verify.Property {
	p := c.Never(fmt.Sprintf("%q > %s", place, limit))
	p.Name = fmt.Sprintf("bound %s <= %s", place, limit)
	p.Doc = fmt.Sprintf("%s never holds more than %s tokens", place, limit)
	return p
}

// Never says that no marking satisfies an expression, for any value of the
// parameters of c, which the expression may name.
func (c Config) Never(expr string) *verify.Property {
	return &verify.Property{
		Name: "never " + expr, Doc: "no marking satisfies " + expr, Safety: true,
		Check: func(ctx context.Context, pass *verify.Pass) (verify.Verdict, error) {
			return c.check(ctx, pass, expr)
		},
	}
}

func (c Config) check(ctx context.Context, pass *verify.Pass, expr string) (verify.Verdict, error) {
	return c.ask(pass, expr, Method, func(p *prover) (verify.Verdict, error) { return p.prove(ctx) })
}

// ask refuses questions that are wrong or of which nothing can be said, and
// makes a silence a verdict.
func (c Config) ask(
	pass *verify.Pass, expr, method string, prove func(*prover) (verify.Verdict, error),
) (verify.Verdict, error) {
	e, err := newEncoder(pass.Model(), pass.Config.Semantics, c.Params)
	if err != nil {
		return verify.Verdict{}, err
	}
	if _, err := e.system(expr); err != nil {
		return verify.Verdict{}, err
	}
	if len(pass.Model().OpenPlaces()) > 0 {
		return verify.Doubt(method, verify.OpenEnv, 0, "the net is open: close it with automata of its environment"), nil
	}
	v, err := prove(&prover{Config: c, pass: pass, enc: e, expr: expr})
	if quiet := (*silence)(nil); errors.As(err, &quiet) {
		return verify.Doubt(method, verify.Solver, 0, "%s", quiet.why), nil
	}
	return v, err
}

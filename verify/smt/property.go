package smt

import (
	"context"
	"errors"
	"fmt"

	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/verify/claim"
	"github.com/voicegw/voicegw/verify/structure"
)

// Method names the method of this package in verdicts.
const Method = "horn"

// Never claims, as verify.Never does, that no marking in which the net rests satisfies an
// expression. The proof is an inductive invariant.
func Never(expr string) *verify.Property { return Config{}.Never(expr) }

// Bound claims that a place never holds more than n tokens.
func Bound(place string, n int) *verify.Property { return Config{}.Bound(place, fmt.Sprint(n)) }

// Bound claims that a place never holds more tokens than limit, which is a number or a parameter of
// c.
func (c Config) Bound(place, limit string) *verify.Property {
	p := c.Never(fmt.Sprintf("%q > %s", place, limit))
	p.Name = fmt.Sprintf("bound %s <= %s", place, limit)
	p.Doc = fmt.Sprintf("%s never holds more than %s tokens", place, limit)
	return p
}

// Never claims that no marking satisfies an expression, for any value of the parameters of c. The
// expression may name the parameters.
func (c Config) Never(expr string) *verify.Property {
	return &verify.Property{
		Name: "never " + expr, Doc: "no marking satisfies " + expr, Claim: claim.Parametric{Expr: expr},
		Check: func(ctx context.Context, pass *verify.Pass) (verify.Verdict, error) {
			return c.check(ctx, pass, expr)
		},
	}
}

func (c Config) check(ctx context.Context, pass *verify.Pass, expr string) (verify.Verdict, error) {
	return c.ask(pass, expr, Method, func(p *prover) (verify.Verdict, error) { return p.prove(ctx) })
}

// ask refuses questions that are invalid or that this method cannot answer, and turns a silence
// into a verdict.
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
	if len(structure.OpenPlaces(pass.Model())) > 0 {
		return verify.OpenEnv.By(method, 0, "the net is open: close it with automata of its environment"), nil
	}
	v, err := prove(&prover{Config: c, pass: pass, enc: e, expr: expr})
	if quiet := (*silence)(nil); errors.As(err, &quiet) {
		return verify.Solver.By(method, 0, "%s", quiet.why), nil
	}
	return v, err
}

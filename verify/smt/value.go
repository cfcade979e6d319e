//go:build z3

package smt

import (
	"maps"
	"math/big"

	"github.com/aclements/go-z3/z3"
)

// formula turns a term into a formula of z3.
func (l *library) formula(vars map[string]z3.Value, t term) (z3.Bool, error) {
	v, err := l.value(vars, t)
	if err != nil {
		return z3.Bool{}, err
	}
	b, ok := v.(z3.Bool)
	if !ok {
		return z3.Bool{}, misfit(t)
	}
	return b, nil
}

// misfit refuses a term without a meaning, as a solver in a process of its own would.
func misfit(t term) error { return refusal("%s is no formula", firstLine(t.String())) }

// value turns a term into a value of z3; vars holds the values of names.
func (l *library) value(vars map[string]z3.Value, t term) (z3.Value, error) {
	switch {
	case t.atom != "":
		return l.atom(vars, t)
	case t.head() == "let":
		return l.let(vars, t)
	case len(t.list) < 2:
		return nil, misfit(t)
	}
	var args []z3.Value
	for _, s := range t.list[1:] {
		v, err := l.value(vars, s)
		if err != nil {
			return nil, err
		}
		args = append(args, v)
	}
	if v := l.apply(t.head(), args); v != nil {
		return v, nil
	}
	return nil, misfit(t)
}

func (l *library) atom(vars map[string]z3.Value, t term) (z3.Value, error) {
	if v, ok := vars[t.atom]; ok {
		return v, nil
	}
	if t.atom == "true" || t.atom == "false" {
		return l.ctx.FromBool(t.atom == "true"), nil
	}
	if n, ok := new(big.Int).SetString(t.atom, 10); ok && isInteger(t.atom) {
		return l.ctx.FromBigInt(n, l.ctx.IntSort()), nil
	}
	return nil, misfit(t)
}

// let binds names; their values cannot refer to one another.
func (l *library) let(vars map[string]z3.Value, t term) (z3.Value, error) {
	if len(t.list) != 3 {
		return nil, misfit(t)
	}
	inner := maps.Clone(vars)
	for _, b := range t.list[1].list {
		if len(b.list) != 2 {
			return nil, misfit(t)
		}
		v, err := l.value(vars, b.list[1])
		if err != nil {
			return nil, err
		}
		inner[b.list[0].atom] = v
	}
	return l.value(inner, t.list[2])
}

// apply applies an operator of checkFormula to values. It returns nil if the values do not fit the
// operator.
func (l *library) apply(op string, args []z3.Value) z3.Value {
	if bools, ok := all[z3.Bool](args); ok {
		if v := logic(op, bools); v != nil {
			return v
		}
	}
	if ints, ok := all[z3.Int](args); ok {
		if v := arithmetic(op, ints); v != nil {
			return v
		}
	}
	switch {
	case op == "ite" && len(args) == 3:
		return choice(args)
	case op == "distinct" && alike(args):
		return l.ctx.Distinct(args...)
	}
	return nil
}

// all returns the values as one kind, and false if they are not all of that kind.
func all[T z3.Value](args []z3.Value) ([]T, bool) {
	var out []T
	for _, a := range args {
		v, ok := a.(T)
		if !ok {
			return nil, false
		}
		out = append(out, v)
	}
	return out, true
}

func alike(args []z3.Value) bool {
	_, bools := all[z3.Bool](args)
	_, ints := all[z3.Int](args)
	return bools || ints
}

func choice(args []z3.Value) z3.Value {
	cond, ok := args[0].(z3.Bool)
	if !ok || !alike(args[1:]) {
		return nil
	}
	return cond.IfThenElse(args[1], args[2])
}

func logic(op string, b []z3.Bool) z3.Value {
	switch {
	case op == "and":
		return b[0].And(b[1:]...)
	case op == "or":
		return b[0].Or(b[1:]...)
	case op == "not" && len(b) == 1:
		return b[0].Not()
	case len(b) < 2:
		return nil
	case op == "=":
		return chain(b, z3.Bool.Iff)
	case op == "xor":
		out := b[0]
		for _, x := range b[1:] {
			out = out.Xor(x)
		}
		return out
	case op == "=>": // grouped from the right
		out := b[len(b)-1]
		for i := len(b) - 2; i >= 0; i-- {
			out = b[i].Implies(out)
		}
		return out
	}
	return nil
}

func arithmetic(op string, n []z3.Int) z3.Value {
	switch {
	case op == "-" && len(n) == 1:
		return n[0].Neg()
	case len(n) < 2:
		return nil
	}
	switch op {
	case "+":
		return n[0].Add(n[1:]...)
	case "-":
		return n[0].Sub(n[1:]...)
	case "*":
		return n[0].Mul(n[1:]...)
	case "=":
		return chain(n, z3.Int.Eq)
	case "<":
		return chain(n, z3.Int.LT)
	case "<=":
		return chain(n, z3.Int.LE)
	case ">":
		return chain(n, z3.Int.GT)
	case ">=":
		return chain(n, z3.Int.GE)
	}
	return nil
}

// chain compares neighbours: (< a b c) is a < b and b < c.
func chain[T z3.Value](v []T, compare func(T, T) z3.Bool) z3.Value {
	out := compare(v[0], v[1])
	for i := 2; i < len(v); i++ {
		out = out.And(compare(v[i-1], v[i]))
	}
	return out
}

package smt

import (
	"fmt"
	"strings"
)

// readInvariant reads the formula of a certificate. It accepts only operators, variables and
// integers, which have no effects.
func readInvariant(s *system, text string) (term, error) {
	ts, err := parseTerms(text)
	if err != nil {
		return term{}, err
	}
	if len(ts) != 1 {
		return term{}, fmt.Errorf("smt: read an invariant: %d formulas, not one", len(ts))
	}
	return ts[0], checkFormula(ts[0], s.known())
}

// known lists the names that a formula may use.
func (s *system) known() map[string]bool {
	out := map[string]bool{}
	for _, v := range s.vars() {
		out[v.atom] = true
	}
	return out
}

// readModel finds the relation R in a model and writes its body over the variables of the system.
func readModel(s *system, text string) (term, error) {
	ts, err := parseTerms(text)
	if err != nil {
		return term{}, err
	}
	if len(ts) == 1 && ts[0].head() != "define-fun" {
		ts = ts[0].list
	}
	if len(ts) > 0 && ts[0].atom == "model" { // older versions
		ts = ts[1:]
	}
	if len(ts) != 1 || len(ts[0].list) != 5 || ts[0].head() != "define-fun" || ts[0].list[1].atom != "R" {
		return term{}, fmt.Errorf("smt: read a model: it is not the one definition of R")
	}
	vars, params := s.vars(), ts[0].list[2].list
	if len(vars) != len(params) {
		return term{}, fmt.Errorf("smt: read a model: R has %d arguments, not %d", len(params), len(vars))
	}
	names := map[string]term{}
	for i, p := range params {
		if len(p.list) != 2 || p.list[0].atom == "" || p.list[1].atom != "Int" {
			return term{}, fmt.Errorf("smt: read a model: argument %d of R is %s", i, p)
		}
		names[p.list[0].atom] = vars[i]
	}
	body := rename(ts[0].list[4], names)
	return body, checkFormula(body, s.known())
}

// rename replaces atoms. The arguments of R are x!0, x!1 and so on; a let binds a!1, a!2 and so on.
func rename(t term, names map[string]term) term {
	if t.atom != "" {
		if v, ok := names[t.atom]; ok {
			return v
		}
		return t
	}
	out := make([]term, len(t.list))
	for i, s := range t.list {
		out[i] = rename(s, names)
	}
	return term{list: out}
}

// operators are those a formula may use: linear arithmetic and logic.
const operators = " and or not => xor = distinct < <= > >= + - * ite "

// checkFormula refuses everything but variables, integers, operators and let.
func checkFormula(t term, known map[string]bool) error {
	switch {
	case t.atom != "":
		if known[t.atom] || t.atom == "true" || t.atom == "false" || isInteger(t.atom) {
			return nil
		}
		return fmt.Errorf("smt: read a formula: the name %q is not known", t.atom)
	case t.head() == "let":
		return checkLet(t, known)
	case t.head() == "" || len(t.list) < 2 || !strings.Contains(operators, " "+t.head()+" "):
		return fmt.Errorf("smt: read a formula: %s is not understood", firstLine(t.String()))
	}
	for _, s := range t.list[1:] {
		if err := checkFormula(s, known); err != nil {
			return err
		}
	}
	return nil
}

func checkLet(t term, known map[string]bool) error {
	if len(t.list) != 3 {
		return fmt.Errorf("smt: read a formula: %s is not understood", firstLine(t.String()))
	}
	inner := map[string]bool{}
	for name := range known {
		inner[name] = true
	}
	for _, b := range t.list[1].list {
		if len(b.list) != 2 || !isBound(b.list[0].atom) || known[b.list[0].atom] {
			return fmt.Errorf("smt: read a formula: %s binds nothing new", firstLine(b.String()))
		}
		if err := checkFormula(b.list[1], known); err != nil {
			return err
		}
		inner[b.list[0].atom] = true
	}
	return checkFormula(t.list[2], inner)
}

// isBound reports whether a name is one that z3 gives to what it binds: a!1 and so on.
func isBound(s string) bool {
	number, ok := strings.CutPrefix(s, "a!")
	return ok && isInteger(number)
}

func isInteger(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

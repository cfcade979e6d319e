package smt

import (
	"fmt"
	"strconv"
	"strings"
)

// term is an S-expression: an atom, or a list if atom is "".
type term struct {
	atom string
	list []term
}

func sym(name string) term { return term{atom: name} }

// num is an integer in the syntax of SMT-LIB: negative ones as (- n).
func num(n int64) term {
	if n < 0 {
		return app("-", sym(strings.TrimPrefix(strconv.FormatInt(n, 10), "-")))
	}
	return sym(strconv.FormatInt(n, 10))
}

func app(op string, args ...term) term { return term{list: append([]term{sym(op)}, args...)} }

func list(items ...term) term { return term{list: items} }

// conj is the conjunction of terms, without those that are true.
func conj(ts ...term) term { return join("and", "true", "false", ts) }

// disj is the disjunction of terms, without those that are false.
func disj(ts ...term) term { return join("or", "false", "true", ts) }

func join(op, neutral, zero string, ts []term) term {
	var args []term
	for _, t := range ts {
		switch t.atom {
		case neutral:
		case zero:
			return t
		default:
			args = append(args, t)
		}
	}
	switch len(args) {
	case 0:
		return sym(neutral)
	case 1:
		return args[0]
	}
	return app(op, args...)
}

func negate(t term) term {
	switch t.atom {
	case "true":
		return sym("false")
	case "false":
		return sym("true")
	}
	return app("not", t)
}

// plus is a sum.
func plus(ts ...term) term {
	var args []term
	for _, t := range ts {
		if t.atom != "0" {
			args = append(args, t)
		}
	}
	switch len(args) {
	case 0:
		return sym("0")
	case 1:
		return args[0]
	}
	return app("+", args...)
}

// String is the SMT-LIB text.
func (t term) String() string {
	var b strings.Builder
	t.write(&b)
	return b.String()
}

func (t term) write(b *strings.Builder) {
	if t.atom != "" {
		b.WriteString(t.atom)
		return
	}
	b.WriteByte('(')
	for i, s := range t.list {
		if i > 0 {
			b.WriteByte(' ')
		}
		s.write(b)
	}
	b.WriteByte(')')
}

// head is the operator of an application, and "" for anything else.
func (t term) head() string {
	if len(t.list) == 0 {
		return ""
	}
	return t.list[0].atom
}

// Limits on what is read from a solver or a certificate.
const (
	termBytesMax = 4 << 20
	termDepthMax = 2000
)

// parseTerms reads S-expressions of symbols and numbers. Strings, comments and quoted symbols are
// errors, because no expected answer contains them.
func parseTerms(text string) ([]term, error) {
	if len(text) > termBytesMax {
		return nil, fmt.Errorf("smt: read a formula: %d bytes; at most %d are read", len(text), termBytesMax)
	}
	open := [][]term{nil}
	for i := 0; i < len(text); {
		top := len(open) - 1
		switch c := text[i]; {
		case strings.IndexByte(" \t\r\n", c) >= 0:
			i++
		case c == '(':
			if len(open) > termDepthMax {
				return nil, fmt.Errorf("smt: read a formula: more than %d levels", termDepthMax)
			}
			open = append(open, []term{})
			i++
		case c == ')':
			if top == 0 {
				return nil, fmt.Errorf("smt: read a formula: byte %d closes what was never opened", i)
			}
			open[top-1] = append(open[top-1], term{list: open[top]})
			open = open[:top]
			i++
		default:
			n := atomLen(text[i:])
			if n == 0 {
				return nil, fmt.Errorf("smt: read a formula: byte %d is %q", i, c)
			}
			open[top] = append(open[top], sym(text[i:i+n]))
			i += n
		}
	}
	if len(open) > 1 {
		return nil, fmt.Errorf("smt: read a formula: %d parentheses are not closed", len(open)-1)
	}
	return open[0], nil
}

// atomLen is the length of the symbol or number that a text begins with.
func atomLen(s string) int {
	for i := range len(s) {
		c := s[i]
		if (c|0x20 < 'a' || c|0x20 > 'z') && (c < '0' || c > '9') && strings.IndexByte("!<>=+-*_.", c) < 0 {
			return i
		}
	}
	return len(s)
}

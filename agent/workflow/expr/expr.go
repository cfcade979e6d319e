package expr

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"go.starlark.net/syntax"

	"github.com/voicegw/voicegw/internal/spelling"
)

// Limits of an expression.
const (
	// TextMax is the longest text, in bytes.
	TextMax = 8 << 10
	// CostMax is what one Eval may cost. A step costs 1; an element of a list that is made or read costs 1, an
	// entry of a dict 4, 16 bytes of a string 1. So one Eval holds at most about 32 MiB.
	CostMax = 1 << 20
	// depthMax is how deep values may be nested.
	depthMax = 64
)

// Error is what is wrong with an expression, or with what it computes.
type Error struct {
	Line, Column int // in the text, from 1; a column is a character
	Message      string
	Unknown      string // the unknown name, if one is the error; else ""
}

// Error returns the position and the message.
func (e *Error) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Message)
}

// Expr is a compiled expression. It is immutable, and safe for concurrent use.
type Expr struct {
	root  syntax.Expr
	names []string
}

// Compile reads an expression. keys are the names that it may read; a key that is no identifier cannot be
// named. The error is an *Error.
func Compile(text string, keys []string) (*Expr, error) {
	if len(text) > TextMax {
		return nil, &Error{Line: 1, Column: 1,
			Message: fmt.Sprintf("the expression has %d bytes; at most %d are allowed", len(text), TextMax)}
	}
	if !utf8.ValidString(text) {
		return nil, &Error{Line: 1, Column: 1, Message: "the expression is not valid UTF-8"}
	}
	root, err := (&syntax.FileOptions{}).ParseExpr("expression", strings.TrimRight(text, " \t\r\n"), 0)
	if err != nil {
		return nil, syntaxError(text, err)
	}
	c := &checker{keys: keys, scope: map[string]int{}, names: map[string]bool{}}
	if c.expr(root); c.err != nil {
		return nil, c.err
	}
	return &Expr{root: root, names: slices.Sorted(maps.Keys(c.names))}, nil
}

// Names are the keys that the expression reads, sorted.
func (e *Expr) Names() []string { return slices.Clone(e.names) }

// Eval computes the value. values must have every name that the expression reads; they are JSON values, integers
// of Go included. The result is a JSON value as encoding/json decodes it, its numbers float64. An error is an
// *Error, or ctx's.
func (e *Expr) Eval(ctx context.Context, values map[string]any) (any, error) {
	m := &machine{ctx: ctx, left: CostMax, values: values, known: map[string]any{}}
	v := m.eval(e.root)
	if m.err == nil {
		v = m.export(e.root, v, 0)
	}
	if m.err != nil {
		return nil, m.err
	}
	return v, nil
}

// syntaxError says what to write instead of what Python has and this language has not. The texts are those of
// go.starlark.net/syntax, whose Error has a position and a text but no code; TestFaults pins them.
func syntaxError(text string, err error) error {
	var s syntax.Error
	if !errors.As(err, &s) {
		return &Error{Line: 1, Column: 1, Message: err.Error()}
	}
	words := strings.TrimPrefix(s.Msg, "syntax error: ")
	for part, hint := range map[string]string{
		"does not associate": "; Python's a < b < c is (a < b) and (b < c) here",
		"got for":            "; a generator needs brackets, as in any([x > 1 for x in xs]), and there are no sets",
		"got is":             "; write == None or != None",
		"got '*'":            "; there is no power",
		"got '**'":           "; there is no power",
		"got '&'":            "; write and",
		"got '|'":            "; write or",
		"'!'":                "; write not",
		"got string literal": "; there are no f-strings: join strings with +",
	} {
		if strings.Contains(words, part) {
			words += hint
			break
		}
	}
	if strings.Contains(words, "without else") && strings.Contains(text, " is ") {
		words = "there is no is; write == None or != None"
	}
	return &Error{Line: max(1, int(s.Pos.Line)), Column: max(1, int(s.Pos.Col)), Message: words}
}

// checker finds at compile time what no value could make right: unknown names, and syntax without a meaning here.
type checker struct {
	keys  []string
	scope map[string]int  // variables of comprehensions, and how often each is bound
	names map[string]bool // keys that are read
	err   error
}

func (c *checker) fail(n syntax.Node, format string, args ...any) {
	if c.err == nil {
		c.err = errorAt(n, format, args...)
	}
}

// unknown fails because no key has this name, and suggests one.
func (c *checker) unknown(x *syntax.Ident, hint string, args ...any) {
	if c.err == nil {
		e := errorAt(x, "there is no name %q", x.Name)
		e.Message += fmt.Sprintf(hint, args...)
		e.Unknown = x.Name
		c.err = e
	}
}

func errorAt(n syntax.Node, format string, args ...any) *Error {
	at, _ := n.Span()
	switch n := n.(type) {
	case *syntax.BinaryExpr:
		at = n.OpPos
	case *syntax.DotExpr:
		at = n.Name.NamePos
	}
	return &Error{Line: int(at.Line), Column: int(at.Col), Message: fmt.Sprintf(format, args...)}
}

func (c *checker) all(list ...syntax.Expr) {
	for _, x := range list {
		if x != nil {
			c.expr(x)
		}
	}
}

func (c *checker) expr(x syntax.Expr) {
	switch x := x.(type) {
	case *syntax.Ident:
		c.name(x)
	case *syntax.Literal:
		if _, err := literal(x); err != nil {
			c.fail(x, "%v", err)
		}
	case *syntax.ParenExpr:
		c.expr(x.X)
	case *syntax.CallExpr:
		c.call(x)
	case *syntax.DotExpr:
		c.expr(x.X)
	case *syntax.Comprehension:
		c.comprehension(x)
	case *syntax.DictExpr:
		c.all(x.List...)
	case *syntax.DictEntry:
		c.all(x.Key, x.Value)
	case *syntax.ListExpr:
		c.all(x.List...)
	case *syntax.TupleExpr:
		c.all(x.List...)
	case *syntax.CondExpr:
		c.all(x.Cond, x.True, x.False)
	case *syntax.UnaryExpr:
		if x.X == nil || x.Op != syntax.NOT && x.Op != syntax.MINUS && x.Op != syntax.PLUS {
			c.fail(x, "the operator %v is not supported", x.Op)
			return
		}
		c.expr(x.X)
	case *syntax.BinaryExpr:
		if !operators[x.Op] {
			c.fail(x, "the operator %v is not supported", x.Op)
		}
		c.all(x.X, x.Y)
	case *syntax.SliceExpr:
		c.all(x.X, x.Lo, x.Hi, x.Step)
	case *syntax.IndexExpr:
		c.all(x.X, x.Y)
	case *syntax.LambdaExpr:
		c.fail(x, "lambda is not supported; a comprehension computes something for each element")
	default:
		c.fail(x, "this is not supported")
	}
}

func (c *checker) name(x *syntax.Ident) {
	if _, ok := constants[x.Name]; ok || c.scope[x.Name] > 0 {
		return
	}
	if slices.Contains(c.keys, x.Name) {
		c.names[x.Name] = true
		return
	}
	known := append(slices.Clone(c.keys), slices.Sorted(maps.Keys(c.scope))...)
	switch near := spelling.Nearest(x.Name, known); {
	case functions[x.Name].call != nil:
		c.fail(x, "%s is a function; call it: %s(...)", x.Name, x.Name)
	case near != "":
		c.unknown(x, "; did you mean %q?", near)
	case len(c.keys) == 0:
		c.unknown(x, ": the expression has no names")
	default:
		c.unknown(x, "; the names are: %s", strings.Join(c.keys, ", "))
	}
}

func (c *checker) call(x *syntax.CallExpr) {
	name, table := "", functions
	switch fn := x.Fn.(type) {
	case *syntax.Ident:
		name = fn.Name
	case *syntax.DotExpr:
		name, table = fn.Name.Name, methods
		c.expr(fn.X)
	}
	f, ok := table[name]
	if !ok {
		known := slices.Sorted(maps.Keys(table))
		hint := "they are: " + strings.Join(known, ", ")
		if near := spelling.Nearest(name, known); near != "" {
			hint = fmt.Sprintf("did you mean %q?", near)
		}
		c.fail(x.Fn, "there is no function %q; %s", name, hint)
		return
	}
	if len(x.Args) < f.min || len(x.Args) > f.max {
		c.fail(x.Fn, "%s takes %s, not %d", name, f.takes(), len(x.Args))
	}
	for _, a := range x.Args {
		switch a := a.(type) {
		case *syntax.UnaryExpr:
			if a.Op == syntax.STAR || a.Op == syntax.STARSTAR {
				c.fail(a, "%s takes no arguments with %v", name, a.Op)
			}
		case *syntax.BinaryExpr:
			if a.Op == syntax.EQ {
				c.fail(a, "%s takes no arguments by name", name)
			}
		}
		c.expr(a)
	}
}

func (c *checker) comprehension(x *syntax.Comprehension) {
	var bound []string
	for _, clause := range x.Clauses {
		switch clause := clause.(type) {
		case *syntax.ForClause:
			c.expr(clause.X)
			vars, err := variables(clause.Vars)
			if err != nil {
				c.fail(clause.Vars, "%v", err)
				return
			}
			for _, v := range vars {
				c.scope[v]++
				bound = append(bound, v)
			}
		case *syntax.IfClause:
			c.expr(clause.Cond)
		}
	}
	c.expr(x.Body)
	for _, v := range bound {
		if c.scope[v]--; c.scope[v] == 0 {
			delete(c.scope, v)
		}
	}
}

// variables are the names that a for clause binds: one, or several in a tuple.
func variables(x syntax.Expr) ([]string, error) {
	list := []syntax.Expr{x}
	if p, ok := x.(*syntax.ParenExpr); ok {
		list[0] = p.X
	}
	if t, ok := list[0].(*syntax.TupleExpr); ok {
		list = t.List
	}
	var names []string
	for _, one := range list {
		id, ok := one.(*syntax.Ident)
		if !ok {
			return nil, errors.New("a comprehension binds names: for x in xs, or for k, v in d.items()")
		}
		if _, taken := constants[id.Name]; taken {
			return nil, fmt.Errorf("%s is no name for a variable", id.Name)
		}
		names = append(names, id.Name)
	}
	return names, nil
}

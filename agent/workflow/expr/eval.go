package expr

import (
	"context"
	"math"
	"slices"
	"strings"

	"go.starlark.net/syntax"
)

// machine evaluates one expression once. Its first error sticks: after it, every step returns at once.
type machine struct {
	ctx    context.Context
	left   int
	steps  int
	values map[string]any
	known  map[string]any   // values that were loaded
	bound  map[string][]any // variables of comprehensions, the innermost last
	err    error
}

// fail keeps the first error. It returns nil, as the value of what failed.
func (m *machine) fail(at syntax.Node, format string, args ...any) any {
	if m.err == nil {
		m.err = errorAt(at, format, args...)
	}
	return nil
}

// spend pays for work before it is done, and reports whether to do it.
func (m *machine) spend(at syntax.Node, cost int) bool {
	if m.err != nil {
		return false
	}
	if m.steps++; m.steps&1023 == 0 && m.ctx.Err() != nil {
		m.err = m.ctx.Err()
		return false
	}
	if cost > m.left {
		m.fail(at, "the expression costs too much: it takes more than %d steps, elements and pieces of text; compute less",
			CostMax)
		return false
	}
	m.left -= cost
	return true
}

func (m *machine) eval(x syntax.Expr) any {
	if !m.spend(x, 1) {
		return nil
	}
	switch x := x.(type) {
	case *syntax.Ident:
		return m.name(x)
	case *syntax.Literal:
		v, _ := literal(x) // the checker has seen it
		return v
	case *syntax.ParenExpr:
		return m.eval(x.X)
	case *syntax.CallExpr:
		return m.call(x)
	case *syntax.DotExpr:
		return m.index(x, m.eval(x.X), x.Name.Name)
	case *syntax.IndexExpr:
		v := m.eval(x.X)
		return m.index(x, v, m.eval(x.Y))
	case *syntax.SliceExpr:
		return m.slice(x)
	case *syntax.Comprehension:
		return m.comprehension(x)
	case *syntax.DictExpr:
		d := map[string]any{}
		for _, e := range x.List {
			m.put(d, e.(*syntax.DictEntry))
		}
		return d
	case *syntax.ListExpr:
		return m.list(x.List)
	case *syntax.TupleExpr:
		return m.list(x.List)
	case *syntax.CondExpr:
		if truth(m.eval(x.Cond)) {
			return m.eval(x.True)
		}
		return m.eval(x.False)
	case *syntax.UnaryExpr:
		return m.unary(x)
	case *syntax.BinaryExpr:
		return m.binary(x)
	}
	return m.fail(x, "this is not supported")
}

func (m *machine) list(list []syntax.Expr) any {
	out := make([]any, 0, len(list))
	for _, e := range list {
		out = append(out, m.eval(e))
	}
	return out
}

func (m *machine) put(d map[string]any, e *syntax.DictEntry) {
	k, v := m.eval(e.Key), m.eval(e.Value)
	if !m.spend(e, 4) {
		return
	}
	key, ok := k.(string)
	if !ok {
		m.fail(e.Key, "the key of a dict must be a string, not a %s; str(...) makes one", typeName(k))
		return
	}
	d[key] = v
}

func (m *machine) name(x *syntax.Ident) any {
	if list := m.bound[x.Name]; len(list) > 0 {
		return list[len(list)-1]
	}
	if v, ok := constants[x.Name]; ok {
		return v
	}
	if v, ok := m.known[x.Name]; ok {
		return v
	}
	v, ok := m.values[x.Name]
	if !ok {
		return m.fail(x, "there is no value for %q", x.Name)
	}
	loaded := m.load(x, v, 0)
	m.known[x.Name] = loaded
	return loaded
}

// index is v[key], or v.key of a dict.
func (m *machine) index(at syntax.Node, v, key any) any {
	if m.err != nil {
		return nil
	}
	switch k := key.(type) {
	case string:
		d, ok := v.(map[string]any)
		if !ok {
			return m.fail(at, "a %s has no keys, so not %.40q", typeName(v), k)
		}
		one, ok := d[k]
		if !ok {
			return m.fail(at, "the dict has no key %.40q; get(%.40q) is None without one", k, k)
		}
		return one
	case int64:
		n := 0
		list, isList := v.([]any)
		s, isText := v.(string)
		if !isList && !isText {
			return m.fail(at, "a %s has no elements by number", typeName(v))
		}
		var runes []rune
		if n = len(list); isText && m.spend(at, len(s)/4) {
			runes = []rune(s)
			n = len(runes)
		}
		i := k
		if i < 0 {
			i += int64(n)
		}
		if m.err != nil || i < 0 || i >= int64(n) {
			return m.fail(at, "there is no element %d: there are %d", k, n)
		}
		if isText {
			return string(runes[i])
		}
		return list[i]
	}
	return m.fail(at, "an index must be an integer or a string, not a %s", typeName(key))
}

// slice is x[lo:hi:step] with Python's rules.
func (m *machine) slice(x *syntax.SliceExpr) any {
	v := m.eval(x.X)
	list, ok := v.([]any)
	s, isText := v.(string)
	if m.err == nil && !ok && !isText {
		return m.fail(x, "a %s cannot be sliced", typeName(v))
	}
	if isText {
		if !m.spend(x, len(s)) {
			return nil
		}
		for _, r := range s {
			list = append(list, string(r))
		}
	}
	n := int64(len(list))
	bound := func(e syntax.Expr, def, lo, hi int64) int64 {
		if e == nil {
			return def
		}
		v := m.eval(e)
		i, ok := v.(int64)
		switch {
		case v == nil:
			return def
		case !ok:
			m.fail(e, "a slice takes integers, not a %s", typeName(v))
		case i < 0:
			i += n
		}
		return min(max(i, lo), hi)
	}
	step := int64(1)
	if x.Step != nil {
		i, ok := m.eval(x.Step).(int64)
		if !ok || i == 0 {
			return m.fail(x.Step, "the step of a slice must be an integer other than 0")
		}
		step = i
	}
	lo, hi := bound(x.Lo, 0, 0, n), bound(x.Hi, n, 0, n)
	if step < 0 {
		lo, hi = bound(x.Lo, n-1, -1, n-1), bound(x.Hi, -1, -1, n-1)
	}
	if !m.spend(x, len(list)) {
		return nil
	}
	out := []any{}
	for i := lo; step > 0 && i < hi || step < 0 && i > hi; i += step {
		out = append(out, list[i])
	}
	if !isText {
		return out
	}
	var b strings.Builder
	for _, one := range out {
		b.WriteString(one.(string))
	}
	return b.String()
}

func (m *machine) comprehension(x *syntax.Comprehension) any {
	list, dict := []any{}, map[string]any{}
	m.clauses(x.Clauses, func() {
		if e, ok := x.Body.(*syntax.DictEntry); ok {
			m.put(dict, e)
		} else if v := m.eval(x.Body); m.spend(x, 1) {
			list = append(list, v)
		}
	})
	if x.Curly {
		return dict
	}
	return list
}

// clauses runs body for each combination of the clauses.
func (m *machine) clauses(list []syntax.Node, body func()) {
	if m.err != nil {
		return
	}
	if len(list) == 0 {
		body()
		return
	}
	if c, ok := list[0].(*syntax.IfClause); ok {
		if truth(m.eval(c.Cond)) {
			m.clauses(list[1:], body)
		}
		return
	}
	c := list[0].(*syntax.ForClause)
	vars, _ := variables(c.Vars) // the checker has seen them
	if m.bound == nil {
		m.bound = map[string][]any{}
	}
	for _, one := range m.elements(c.X, m.eval(c.X)) {
		values := []any{one}
		if _, single := c.Vars.(*syntax.Ident); !single {
			if values, single = one.([]any); !single || len(values) != len(vars) {
				m.fail(c.Vars, "each element must be a list of %d; this is a %s", len(vars), typeName(one))
			}
		}
		if !m.spend(c.X, 1) {
			return
		}
		for i, name := range vars {
			m.bound[name] = append(m.bound[name], values[i])
		}
		m.clauses(list[1:], body)
		for _, name := range vars {
			m.bound[name] = m.bound[name][:len(m.bound[name])-1]
		}
	}
}

// elements are what a loop sees of a value: elements of a list, keys of a dict, characters of a string.
func (m *machine) elements(at syntax.Node, v any) []any {
	if m.err != nil {
		return nil
	}
	switch v := v.(type) {
	case []any:
		return v
	case map[string]any:
		return m.keys(at, v)
	case string:
		if !m.spend(at, len(v)) {
			return nil
		}
		var list []any
		for _, r := range v {
			list = append(list, string(r))
		}
		return list
	}
	m.fail(at, "a %s has no elements", typeName(v))
	return nil
}

func (m *machine) unary(x *syntax.UnaryExpr) any {
	v := m.eval(x.X)
	if x.Op == syntax.NOT {
		return !truth(v)
	}
	sign := map[syntax.Token]int64{syntax.MINUS: -1, syntax.PLUS: 1}[x.Op]
	switch v := v.(type) {
	case int64:
		return sign * v
	case float64:
		return float64(sign) * v
	}
	return m.fail(x, "%v takes a number, not a %s", x.Op, typeName(v))
}

// operators are the binary operators.
var operators = map[syntax.Token]bool{syntax.AND: true, syntax.OR: true, syntax.EQL: true, syntax.NEQ: true,
	syntax.LT: true, syntax.LE: true, syntax.GT: true, syntax.GE: true, syntax.IN: true, syntax.NOT_IN: true,
	syntax.PLUS: true, syntax.MINUS: true, syntax.STAR: true, syntax.SLASH: true, syntax.SLASHSLASH: true,
	syntax.PERCENT: true}

func (m *machine) binary(x *syntax.BinaryExpr) any {
	a := m.eval(x.X)
	if x.Op == syntax.AND && !truth(a) || x.Op == syntax.OR && truth(a) {
		return a
	}
	b := m.eval(x.Y)
	if m.err != nil || x.Op == syntax.AND || x.Op == syntax.OR {
		return b
	}
	switch x.Op {
	case syntax.EQL:
		return m.equal(x, a, b)
	case syntax.NEQ:
		return !m.equal(x, a, b)
	case syntax.LT:
		return m.compare(x, a, b) < 0
	case syntax.LE:
		return m.compare(x, a, b) <= 0
	case syntax.GT:
		return m.compare(x, a, b) > 0
	case syntax.GE:
		return m.compare(x, a, b) >= 0
	case syntax.IN:
		return m.contains(x, b, a)
	case syntax.NOT_IN:
		return !m.contains(x, b, a)
	}
	if p, q, ints, ok := numbers(a, b); ok {
		return m.arithmetic(x, p, q, ints)
	}
	return m.join(x, a, b)
}

func (m *machine) contains(at syntax.Node, in, v any) bool {
	switch in := in.(type) {
	case string:
		s, ok := v.(string)
		if !ok {
			m.fail(at, "a str contains no %s", typeName(v))
		}
		return ok && m.spend(at, (len(in)+len(s))/16) && strings.Contains(in, s)
	case []any:
		return slices.ContainsFunc(in, func(one any) bool { return m.equal(at, one, v) })
	case map[string]any:
		s, ok := v.(string)
		_, has := in[s]
		return ok && has
	}
	m.fail(at, "a %s contains nothing", typeName(in))
	return false
}

// arithmetic computes with numbers. Integers below 2^53 are exact as floats, and so is each result within it.
func (m *machine) arithmetic(x *syntax.BinaryExpr, a, b float64, ints bool) any {
	var f float64
	switch x.Op {
	case syntax.PLUS:
		f = a + b
	case syntax.MINUS:
		f = a - b
	case syntax.STAR:
		f = a * b
	default:
		if b == 0 {
			return m.fail(x, "division by zero")
		}
		switch x.Op {
		case syntax.SLASH:
			return m.float(x, a/b)
		case syntax.SLASHSLASH:
			f = math.Floor(a / b)
		default: // %: the sign is that of b, as in Python
			if f = math.Mod(a, b); f != 0 && (f < 0) != (b < 0) {
				f += b
			}
		}
	}
	if !ints {
		return m.float(x, f)
	}
	if math.Abs(f) > intMax {
		return m.fail(x, "%v", errTooLarge)
	}
	return int64(f)
}

// join adds strings and lists, and repeats them.
func (m *machine) join(x *syntax.BinaryExpr, a, b any) any {
	if _, first := a.(int64); first && x.Op == syntax.STAR {
		a, b = b, a
	}
	n, times := b.(int64)
	switch a := a.(type) {
	case string:
		if t, ok := b.(string); ok && x.Op == syntax.PLUS && m.spend(x, (len(a)+len(t))/16) {
			return a + t
		}
		if times && x.Op == syntax.STAR && m.afford(x, len(a), n, 16) {
			return strings.Repeat(a, int(max(n, 0)))
		}
	case []any:
		if t, ok := b.([]any); ok && x.Op == syntax.PLUS && m.spend(x, len(a)+len(t)) {
			return slices.Concat(a, t)
		}
		if times && x.Op == syntax.STAR && m.afford(x, len(a), n, 1) {
			return slices.Repeat(a, int(max(n, 0)))
		}
	}
	return m.fail(x, "%v does not work on a %s and a %s", x.Op, typeName(a), typeName(b))
}

// afford pays for n copies of something of a size, per elements or bytes of which cost 1.
func (m *machine) afford(at syntax.Node, size int, n int64, per int) bool {
	if size == 0 || n <= 0 {
		return m.err == nil
	}
	return m.spend(at, int(min(n, int64(CostMax)*16)*int64(size)/int64(per))+1)
}

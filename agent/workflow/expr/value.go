package expr

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"go.starlark.net/syntax"
)

// intMax is the largest integer that a JSON number holds exactly while it holds no other one: 2^53 + 1 becomes 2^53.
const intMax = 1<<53 - 1

// constants are the names of values, in Python's spelling and in JSON's.
var constants = map[string]any{"None": nil, "True": true, "False": false, "null": nil, "true": true, "false": false}

// literal is the value of a literal.
func literal(x *syntax.Literal) (any, error) {
	switch v := x.Value.(type) {
	case int64:
		if v > intMax {
			return nil, errTooLarge
		}
		return v, nil
	case *big.Int:
		return nil, errTooLarge
	case float64, string:
		if x.Token == syntax.BYTES {
			return nil, errors.New("there are no bytes; write a string")
		}
		return v, nil
	}
	return nil, fmt.Errorf("the literal %s is not supported", x.Raw)
}

var errTooLarge = errors.New("the integer exceeds 2^53-1, which JSON cannot hold exactly; compute with floats, " +
	"such as 1e20")

// load makes a value from outside one of this language: nil, bool, int64, float64, string, []any, map[string]any.
// A float without a fraction is an integer, because JSON has one kind of number.
func (m *machine) load(at syntax.Node, v any, depth int) any {
	if depth > depthMax {
		return m.fail(at, "the value is nested more than %d levels deep", depthMax)
	}
	switch v := v.(type) {
	case nil, bool:
		return v
	case string:
		m.spend(at, len(v)/16)
		return v
	case float64:
		return m.number(at, v)
	case float32:
		return m.number(at, float64(v))
	case int:
		return m.whole(at, int64(v))
	case int32:
		return m.whole(at, int64(v))
	case int64:
		return m.whole(at, v)
	case json.Number:
		f, err := v.Float64()
		if err != nil {
			return m.fail(at, "the number %.20q is out of range", v)
		}
		return m.number(at, f)
	case []any:
		m.spend(at, len(v))
		list := make([]any, 0, len(v))
		for i := 0; i < len(v) && m.err == nil; i++ {
			list = append(list, m.load(at, v[i], depth+1))
		}
		return list
	case map[string]any:
		m.spend(at, 4*len(v))
		dict := make(map[string]any, len(v))
		for _, k := range slices.Sorted(maps.Keys(v)) {
			if !m.spend(at, len(k)/16) {
				return nil
			}
			dict[k] = m.load(at, v[k], depth+1)
		}
		return dict
	}
	return m.fail(at, "a %T is no JSON value", v)
}

func (m *machine) number(at syntax.Node, f float64) any {
	if f == math.Trunc(f) && math.Abs(f) <= intMax {
		return int64(f)
	}
	return m.float(at, f)
}

// export makes a value one that encoding/json would have decoded, and counts what it holds: a part that the value
// has twice is counted twice.
func (m *machine) export(at syntax.Node, v any, depth int) any {
	if depth > depthMax {
		return m.fail(at, "the result is nested more than %d levels deep", depthMax)
	}
	switch v := v.(type) {
	case int64:
		return float64(v)
	case string:
		m.spend(at, len(v)/16)
	case []any:
		m.spend(at, len(v))
		list := make([]any, 0, len(v))
		for i := 0; i < len(v) && m.err == nil; i++ {
			list = append(list, m.export(at, v[i], depth+1))
		}
		return list
	case map[string]any:
		m.spend(at, 4*len(v))
		dict := make(map[string]any, len(v))
		for _, k := range slices.Sorted(maps.Keys(v)) {
			if !m.spend(at, len(k)/16) {
				return nil
			}
			dict[k] = m.export(at, v[k], depth+1)
		}
		return dict
	}
	return v
}

// whole is an integer within the limits.
func (m *machine) whole(at syntax.Node, i int64) any {
	if i > intMax || i < -intMax {
		return m.fail(at, "%v", errTooLarge)
	}
	return i
}

// float is a float that JSON can hold.
func (m *machine) float(at syntax.Node, f float64) any {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return m.fail(at, "the result is no finite number")
	}
	return f
}

// typeName is what Python calls the type of a value.
func typeName(v any) string {
	switch v.(type) {
	case nil:
		return "None"
	case bool:
		return "bool"
	case int64:
		return "int"
	case float64:
		return "float"
	case string:
		return "str"
	case []any:
		return "list"
	}
	return "dict"
}

// Truth is whether Python takes a JSON value for true.
func Truth(v any) bool { return truth(v) }

// truth is whether Python takes a value for true.
func truth(v any) bool {
	switch v := v.(type) {
	case nil:
		return false
	case bool:
		return v
	case int64:
		return v != 0
	case float64:
		return v != 0
	case string:
		return v != ""
	case []any:
		return len(v) > 0
	case map[string]any:
		return len(v) > 0
	}
	return true
}

// numbers returns two values as numbers of one kind.
func numbers(a, b any) (x, y float64, ints, ok bool) {
	i, aInt := a.(int64)
	j, bInt := b.(int64)
	if x, ok = a.(float64); aInt {
		x, ok = float64(i), true
	}
	if !ok {
		return 0, 0, false, false
	}
	if y, ok = b.(float64); bInt {
		y, ok = float64(j), true
	}
	return x, y, aInt && bInt, ok
}

// equal compares two values. Numbers are equal whatever their kind is; a boolean equals no number.
func (m *machine) equal(at syntax.Node, a, b any) bool {
	if !m.spend(at, 1) {
		return false
	}
	if x, y, _, ok := numbers(a, b); ok {
		return x == y
	}
	switch a := a.(type) {
	case nil, bool:
		return a == b
	case string:
		t, ok := b.(string)
		return ok && m.spend(at, min(len(a), len(t))/16) && a == t
	case []any:
		t, ok := b.([]any)
		return ok && slices.EqualFunc(a, t, func(p, q any) bool { return m.equal(at, p, q) })
	case map[string]any:
		t, ok := b.(map[string]any)
		return ok && len(a) == len(t) && !slices.ContainsFunc(m.keys(at, a), func(k any) bool {
			other, has := t[k.(string)]
			return !has || !m.equal(at, a[k.(string)], other)
		})
	}
	return false
}

// compare orders two numbers, two strings or two lists.
func (m *machine) compare(at syntax.Node, a, b any) int {
	if !m.spend(at, 1) {
		return 0
	}
	if x, y, _, ok := numbers(a, b); ok {
		return cmp.Compare(x, y)
	}
	switch p := a.(type) {
	case string:
		if q, ok := b.(string); ok {
			m.spend(at, min(len(p), len(q))/16)
			return strings.Compare(p, q)
		}
	case []any:
		if q, ok := b.([]any); ok {
			return slices.CompareFunc(p, q, func(x, y any) int { return m.compare(at, x, y) })
		}
	}
	m.fail(at, "a %s and a %s have no order", typeName(a), typeName(b))
	return 0
}

// text is what str makes of a value: a string itself, the rest as Python would print it.
func (m *machine) text(at syntax.Node, v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	var b strings.Builder
	m.print(at, &b, v)
	return b.String()
}

func (m *machine) print(at syntax.Node, b *strings.Builder, v any) {
	if !m.spend(at, 2) {
		return
	}
	switch v := v.(type) {
	case nil:
		b.WriteString("None")
	case bool:
		b.WriteString(map[bool]string{true: "True", false: "False"}[v])
	case int64:
		b.WriteString(strconv.FormatInt(v, 10))
	case float64:
		s := strconv.FormatFloat(v, 'g', -1, 64)
		if !strings.ContainsAny(s, ".e") {
			s += ".0"
		}
		b.WriteString(s)
	case string:
		if m.spend(at, len(v)/4) {
			b.WriteString(quote(v))
		}
	case []any:
		m.printAll(b, "[]", len(v), func(i int) { m.print(at, b, v[i]) })
	case map[string]any:
		keys := m.keys(at, v)
		m.printAll(b, "{}", len(keys), func(i int) {
			m.print(at, b, keys[i])
			b.WriteString(": ")
			m.print(at, b, v[keys[i].(string)])
		})
	}
}

func (m *machine) printAll(b *strings.Builder, brackets string, n int, one func(i int)) {
	b.WriteByte(brackets[0])
	for i := 0; i < n && m.err == nil; i++ {
		if i > 0 {
			b.WriteString(", ")
		}
		one(i)
	}
	b.WriteByte(brackets[1])
}

// quote is a string in single quotes.
func quote(s string) string {
	q := strconv.Quote(s)
	return "'" + strings.ReplaceAll(strings.ReplaceAll(q[1:len(q)-1], `\"`, `"`), "'", `\'`) + "'"
}

// keys are the keys of a dict, sorted: a JSON object has no order.
func (m *machine) keys(at syntax.Node, d map[string]any) []any {
	m.spend(at, 4*len(d))
	if m.err != nil {
		return nil
	}
	list := make([]any, 0, len(d))
	for _, k := range slices.Sorted(maps.Keys(d)) {
		list = append(list, k)
	}
	return list
}

package expr

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"go.starlark.net/syntax"
)

// function is a function or a method that expressions may call. The first argument of a method is its object.
type function struct {
	min, max int // arguments; the object of a method does not count
	call     func(m *machine, at *syntax.CallExpr, args []any) any
}

const many = TextMax // arguments

func (f function) takes() string {
	switch {
	case f.max == many:
		return fmt.Sprintf("%d or more arguments", f.min)
	case f.min == f.max:
		return fmt.Sprintf("%d argument(s)", f.min)
	}
	return fmt.Sprintf("%d to %d arguments", f.min, f.max)
}

func (m *machine) call(x *syntax.CallExpr) any {
	var f function
	var args []any
	switch fn := x.Fn.(type) {
	case *syntax.Ident:
		f = functions[fn.Name]
	case *syntax.DotExpr:
		f, args = methods[fn.Name.Name], []any{m.eval(fn.X)}
	}
	for _, a := range x.Args {
		args = append(args, m.eval(a))
	}
	if m.err != nil {
		return nil
	}
	return f.call(m, x, args)
}

// functions are Python's, with its results.
var functions = map[string]function{
	"abs": {1, 1, func(m *machine, at *syntax.CallExpr, a []any) any {
		switch v := a[0].(type) {
		case int64:
			return max(v, -v)
		case float64:
			return math.Abs(v)
		}
		return m.fail(at, "abs takes a number, not a %s", typeName(a[0]))
	}},
	"all": {1, 1, func(m *machine, at *syntax.CallExpr, a []any) any {
		return !slices.ContainsFunc(m.elements(at, a[0]), func(v any) bool { return !m.spend(at, 1) || !truth(v) })
	}},
	"any": {1, 1, func(m *machine, at *syntax.CallExpr, a []any) any {
		return slices.ContainsFunc(m.elements(at, a[0]), func(v any) bool { return m.spend(at, 1) && truth(v) })
	}},
	"bool":  {1, 1, func(_ *machine, _ *syntax.CallExpr, a []any) any { return truth(a[0]) }},
	"float": {1, 1, func(m *machine, at *syntax.CallExpr, a []any) any { return m.toFloat(at, a[0]) }},
	"int":   {1, 1, func(m *machine, at *syntax.CallExpr, a []any) any { return m.toInt(at, a[0]) }},
	"len": {1, 1, func(m *machine, at *syntax.CallExpr, a []any) any {
		switch v := a[0].(type) {
		case string:
			m.spend(at, len(v)/16)
			return int64(len([]rune(v)))
		case []any:
			return int64(len(v))
		case map[string]any:
			return int64(len(v))
		}
		return m.fail(at, "len takes a str, a list or a dict, not a %s", typeName(a[0]))
	}},
	"list":  {1, 1, copied},
	"tuple": {1, 1, copied},
	"max":   {1, many, func(m *machine, at *syntax.CallExpr, a []any) any { return m.extreme(at, a, 1) }},
	"min":   {1, many, func(m *machine, at *syntax.CallExpr, a []any) any { return m.extreme(at, a, -1) }},
	"round": {1, 2, round},
	"sorted": {1, 1, func(m *machine, at *syntax.CallExpr, a []any) any {
		list := slices.Clone(m.elements(at, a[0]))
		if !m.spend(at, len(list)) {
			return nil
		}
		slices.SortStableFunc(list, func(x, y any) int { return m.compare(at, x, y) })
		return list
	}},
	"str": {1, 1, func(m *machine, at *syntax.CallExpr, a []any) any { return m.text(at, a[0]) }},
	"sum": {1, 1, func(m *machine, at *syntax.CallExpr, a []any) any {
		total := any(int64(0))
		for _, v := range m.elements(at, a[0]) {
			x, y, ints, ok := numbers(total, v)
			if !ok || !m.spend(at, 1) {
				return m.fail(at, "sum takes numbers, not a %s", typeName(v))
			}
			total = m.arithmetic(&syntax.BinaryExpr{X: at, Op: syntax.PLUS, OpPos: at.Lparen, Y: at}, x, y, ints)
		}
		return total
	}},
}

// methods are those of strings and dicts.
var methods = map[string]function{
	"lower":      {0, 0, onText(func(s string, _ []string) any { return strings.ToLower(s) })},
	"upper":      {0, 0, onText(func(s string, _ []string) any { return strings.ToUpper(s) })},
	"strip":      {0, 0, onText(func(s string, _ []string) any { return strings.TrimSpace(s) })},
	"startswith": {1, 1, onText(func(s string, a []string) any { return strings.HasPrefix(s, a[0]) })},
	"endswith":   {1, 1, onText(func(s string, a []string) any { return strings.HasSuffix(s, a[0]) })},
	"split": {0, 1, func(m *machine, at *syntax.CallExpr, a []any) any {
		s, ok := a[0].(string)
		sep, isText := any(nil), true
		if len(a) > 1 {
			sep = a[1]
			_, isText = sep.(string)
		}
		if !ok || !isText || sep == "" {
			return m.fail(at, "split works on a str, with a str that is not empty")
		}
		if !m.spend(at, len(s)) {
			return nil
		}
		parts := strings.Fields(s)
		if sep != nil {
			parts = strings.Split(s, sep.(string))
		}
		list := make([]any, len(parts))
		for i, p := range parts {
			list[i] = p
		}
		return list
	}},
	"replace": {2, 2, func(m *machine, at *syntax.CallExpr, a []any) any {
		s, ok1 := a[0].(string)
		from, ok2 := a[1].(string)
		to, ok3 := a[2].(string)
		if !ok1 || !ok2 || !ok3 {
			return m.fail(at, "replace works on a str, with two strs")
		}
		if !m.spend(at, len(s)/16) || !m.afford(at, len(to)+1, int64(strings.Count(s, from)), 16) {
			return nil
		}
		return strings.ReplaceAll(s, from, to)
	}},
	"join": {1, 1, func(m *machine, at *syntax.CallExpr, a []any) any {
		sep, ok := a[0].(string)
		var b strings.Builder
		for i, v := range m.elements(at, a[1]) {
			s, isText := v.(string)
			if !ok || !isText || !m.spend(at, 1+(len(s)+len(sep))/16) {
				return m.fail(at, "join works on a str, with a list of strs, not with a %s", typeName(v))
			}
			if i > 0 {
				b.WriteString(sep)
			}
			b.WriteString(s)
		}
		return b.String()
	}},
	"get": {1, 2, func(m *machine, at *syntax.CallExpr, a []any) any {
		d, ok := a[0].(map[string]any)
		k, isText := a[1].(string)
		if !ok || !isText {
			return m.fail(at, "get works on a dict, with a str; this is a %s with a %s", typeName(a[0]), typeName(a[1]))
		}
		if v, has := d[k]; has || len(a) == 2 {
			return v
		}
		return a[2]
	}},
	"keys":   {0, 0, onDict(func(k, _ any) any { return k })},
	"values": {0, 0, onDict(func(_, v any) any { return v })},
	"items":  {0, 0, onDict(func(k, v any) any { return []any{k, v} })},
}

// onText makes a method of a string whose arguments are strings.
func onText(f func(s string, args []string) any) func(*machine, *syntax.CallExpr, []any) any {
	return func(m *machine, at *syntax.CallExpr, a []any) any {
		var list []string
		for _, v := range a {
			s, ok := v.(string)
			if !ok || !m.spend(at, len(s)/8) {
				return m.fail(at, "the method works on strs, not on a %s", typeName(v))
			}
			list = append(list, s)
		}
		return f(list[0], list[1:])
	}
}

// onDict makes a method of a dict that lists something of each entry.
func onDict(f func(k, v any) any) func(*machine, *syntax.CallExpr, []any) any {
	return func(m *machine, at *syntax.CallExpr, a []any) any {
		d, ok := a[0].(map[string]any)
		if !ok {
			return m.fail(at, "the method works on a dict, not on a %s", typeName(a[0]))
		}
		list := m.keys(at, d)
		for i, k := range list {
			list[i] = f(k, d[k.(string)])
		}
		return list
	}
}

func copied(m *machine, at *syntax.CallExpr, a []any) any {
	list := m.elements(at, a[0])
	if !m.spend(at, len(list)) {
		return nil
	}
	return append([]any{}, list...)
}

// extreme is the largest or the smallest of the arguments, or of the elements of a single one.
func (m *machine) extreme(at *syntax.CallExpr, list []any, sign int) any {
	if len(list) == 1 {
		list = m.elements(at, list[0])
	}
	if len(list) == 0 {
		return m.fail(at, "there is no element to choose")
	}
	best := list[0]
	for _, v := range list[1:] {
		if sign*m.compare(at, v, best) > 0 {
			best = v
		}
	}
	return best
}

func (m *machine) toFloat(at syntax.Node, v any) any {
	switch v := v.(type) {
	case int64:
		return float64(v)
	case float64:
		return v
	case bool:
		return map[bool]float64{true: 1}[v]
	case string:
		m.spend(at, len(v)/16)
		if f, err := strconv.ParseFloat(strings.TrimSpace(v), 64); err == nil && len(v) < 400 {
			return m.float(at, f)
		}
		return m.fail(at, "%.40q is no number", v)
	}
	return m.fail(at, "a %s is no number", typeName(v))
}

func (m *machine) toInt(at syntax.Node, v any) any {
	switch v := v.(type) {
	case int64:
		return v
	case bool:
		return map[bool]int64{true: 1}[v]
	case float64:
		if math.Abs(v) > intMax {
			return m.fail(at, "%v", errTooLarge)
		}
		return int64(v)
	case string:
		m.spend(at, len(v)/16)
		if i, err := strconv.ParseInt(strings.TrimSpace(v), 10, 64); err == nil {
			return m.whole(at, i)
		}
		return m.fail(at, "%.40q is no integer", v)
	}
	return m.fail(at, "a %s is no integer", typeName(v))
}

// round rounds halves to even, as Python does: to an integer, or to a number of decimals.
func round(m *machine, at *syntax.CallExpr, a []any) any {
	v, isFloat := a[0].(float64)
	if i, ok := a[0].(int64); ok && len(a) == 1 {
		return i
	} else if ok {
		v, isFloat = float64(i), true
	}
	switch {
	case !isFloat:
		return m.fail(at, "round takes a number, not a %s", typeName(a[0]))
	case len(a) == 1:
		return m.toInt(at, math.RoundToEven(v))
	}
	n, ok := a[1].(int64)
	if !ok || n < 0 || n > 20 {
		return m.fail(at, "round takes 0 to 20 decimals")
	}
	f, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'f', int(n), 64), 64)
	if _, whole := a[0].(int64); whole {
		return a[0]
	}
	return f
}

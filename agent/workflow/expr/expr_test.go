package expr

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// values are what the expressions of the tests read.
func values() map[string]any {
	var v map[string]any
	err := json.Unmarshal([]byte(`{"n": 7, "f": 2.5, "s": "Grüße", "t": true, "nothing": null, "xs": [3, 1, 2],
		"d": {"b": 2, "a": {"deep": [10, 20]}, "get": "key"}, "items": [{"price": 2.5}, {"price": 4}], "empty": []}`), &v)
	if err != nil {
		panic(err)
	}
	v["int"] = 41
	return v
}

func run(t *testing.T, text string) (any, error) {
	t.Helper()
	v := values()
	names := make([]string, 0, len(v))
	for name := range v {
		names = append(names, name)
	}
	slices.Sort(names)
	e, err := Compile(text, names)
	if err != nil {
		return nil, err
	}
	return e.Eval(t.Context(), v)
}

// TestValues holds results to those of Python, as JSON.
func TestValues(t *testing.T) {
	for text, want := range map[string]string{
		"1 + 2 * 3": "7", "7 / 2": "3.5", "-7 // 2": "-4", "-7 % 3": "2", "7 % -3": "-2", "n + f": "9.5",
		"2 * 'ab'": `"abab"`,
		"[1] * 3":  "[1,1,1]", "'a' + \"b\"": `"ab"`, "[1] + xs": "[1,3,1,2]", "not n": "false", "n > 3 and f < 3": "true",
		"0 or 'x'": `"x"`, "nothing == None": "true", "nothing == null": "true", "1 == 1.0": "true", "t == 1": "false",
		"'a' < 'b'": "true", "[1, 2] < [1, 3]": "true", "'rü' in s": "true", "4 not in xs": "true", "'a' in d": "true",
		"s[2]": `"ü"`, "s[-1]": `"e"`, "s[1:3]": `"rü"`, "xs[::-1]": "[2,1,3]", "xs[-2:]": "[1,2]", "xs[5:]": "[]",
		"d.a.deep[1]": "20", "d['b']": "2", "d.get('x', 5)": "5", "d.get('x')": "null", "d.get": `"key"`,
		"'yes' if n > 5 else 'no'": `"yes"`, "[x * 2 for x in xs if x > 1]": "[6,4]",
		"[a + b for a in xs for b in xs if a < b]": "[4,3,5]", "{str(x): x for x in xs}": `{"1":1,"2":2,"3":3}`,
		"[k for k, v in d.items() if v == 2]": `["b"]`, "{'a': 1}": `{"a":1}`, "(1, 'x')": `[1,"x"]`, "()": "[]",
		"abs(-3)": "3", "all(xs)": "true", "any([x > 2 for x in xs])": "true", "bool('')": "false", "float('1.5')": "1.5",
		"int('12')": "12", "int(-2.9)": "-2", "len(s)": "5", "len(d)": "3", "list('ab')": `["a","b"]`, "max(xs)": "3",
		"min(4, 2)": "2", "round(2.5)": "2", "round(2.675, 2)": "2.67", "round(3)": "3", "sorted(xs)": "[1,2,3]",
		"sorted(d)": `["a","b","get"]`, "sum([i.price for i in items])": "6.5", "tuple(xs)": "[3,1,2]", "str(1)": `"1"`,
		"str([1, 'it\\'s', None, True, 2.5])": `"[1, 'it\\'s', None, True, 2.5]"`, "str(2.0)": `"2.0"`,
		"' a b '.strip().upper()": `"A B"`, "'a-b'.split('-')": `["a","b"]`, "', '.join(['a', 'b'])": `"a, b"`,
		"'aXb'.replace('X', 'yy').lower()": `"ayyb"`, "s.startswith('Gr') and s.endswith('e')": "true",
		"d.keys()": `["a","b","get"]`, "d.values()[1]": "2", "int + 1": "42", "\n 1 +\n 2": "", "(1 +\n 2)": "3",
	} {
		got, err := run(t, text)
		if want == "" {
			if err == nil {
				t.Errorf("%s: it is accepted", text)
			}
			continue
		}
		b, _ := json.Marshal(got)
		if err != nil || string(b) != want {
			t.Errorf("%s is %s, %v; want %s", text, b, err, want)
		}
		var again any
		if err := json.Unmarshal(b, &again); err != nil || !reflect.DeepEqual(got, again) {
			t.Errorf("%s is %#v, which is not what JSON reads: %#v", text, got, again)
		}
	}
}

// TestFaults holds errors to their position and words.
func TestFaults(t *testing.T) {
	for text, want := range map[string]string{
		"n +\\\n  missing":         `line 2, column 3: there is no name "missing"; the names are:`,
		"n + itms":                 `line 1, column 5: there is no name "itms"; did you mean "items"?`,
		"lenn(xs)":                 `line 1, column 1: there is no function "lenn"; did you mean "len"?`,
		"xs.sort()":                `line 1, column 4: there is no function "sort"`,
		"len":                      "line 1, column 1: len is a function; call it",
		"len()":                    "line 1, column 1: len takes 1 argument(s), not 0",
		"sorted(xs, reverse=True)": "sorted takes 1 argument(s), not 2",
		"max(xs, key=1)":           "max takes no arguments by name",
		"max(*xs)":                 "max takes no arguments with *",
		"[y for x in xs] + [x]":    "column 2: there is no name \"y\"",
		"[x for x in xs] + [x]":    "column 20: there is no name \"x\"",
		"lambda: 1":                "lambda is not supported",
		"1 < n < 3":                "(a < b) and (b < c)",
		"any(x for x in xs)":       "a generator needs brackets",
		"n is None":                "write == None",
		"2 ** 3":                   "there is no power",
		"n && t":                   "write and",
		"n || t":                   "write or",
		"f'{n}'":                   "no f-strings",
		"n ^ 1":                    "the operator ^ is not supported",
		"{x for x in xs}":          "there are no sets",
		"b'x'":                     "there are no bytes",
		"9007199254740993":         "exceeds 2^53-1",
		"9007199254740991 + 2":     "exceeds 2^53-1",
		"-9007199254740991 - 1":    "exceeds 2^53-1",
		"n +":                      "line 1, column 4: got end of file",
		"":                         "line 1, column 1: ",
		"1 / 0":                    "line 1, column 3: division by zero",
		"s + 1":                    "line 1, column 3: + does not work on a str and a int",
		"d.zz":                     `line 1, column 3: the dict has no key "zz"`,
		"xs[3]":                    "line 1, column 1: there is no element 3: there are 3",
		"n.x":                      `a int has no keys`,
		"9007199254740991 + 1.0 * 0 + 9007199254740991 * 1000": "exceeds 2^53-1",
		"1e308 * 10":         "no finite number",
		"[1] < ['a']":        "a int and a str have no order",
		"{1: 2}":             "the key of a dict must be a string, not a int",
		"[a for a, b in xs]": "each element must be a list of 2; this is a int",
		"max([])":            "there is no element to choose",
		"int('x')":           `"x" is no integer`,
		"\"" + strings.Repeat("a", TextMax) + "\"": "the expression has 8194 bytes; at most 8192",
	} {
		_, err := run(t, text)
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), want) || e.Line < 1 || e.Column < 1 {
			t.Errorf("%.60s: the error is %v; want %s", text, err, want)
		}
		if e != nil && (e.Unknown != "") != strings.Contains(want, "there is no name") {
			t.Errorf("%.60s: the unknown name is %q in %v", text, e.Unknown, err)
		}
	}
	e, err := Compile("a", []string{"a"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Eval(t.Context(), nil); err == nil || !strings.Contains(err.Error(), `no value for "a"`) {
		t.Errorf("the error is %v", err)
	}
	if _, err := e.Eval(t.Context(), map[string]any{"a": struct{}{}}); err == nil {
		t.Error("a struct is a value")
	}
}

// bombs would take all time or memory if nothing stopped them.
func bombs() []string {
	chain := func(start, step string, n int) string {
		for range n {
			start = fmt.Sprintf(step, start)
		}
		return start
	}
	return []string{
		"[0] * 10000000000", "'x' * 9007199254740991", "len([0] * 3000000)", "9007199254740991 * [1]",
		chain("['xxxxxxxx']", "[a + a for a in %s]", 60), chain("xs", "[[a, a] for a in %s]", 60),
		chain("[xs]", "[[a, a] for a in %s]", 25) + " == " + chain("[xs]", "[[a, a] for a in %s]", 25),
		"str(" + chain("[xs]", "[[a, a] for a in %s]", 30) + ")", chain("[xs]", "[a + a for a in %s]", 60),
		"[1 for a in ys for b in ys for c in ys for d in ys]",
		"all([all([all([x > 0 for x in ys]) for y in ys]) for z in ys])",
		chain("['ab']", "[a.replace('', a) for a in %s]", 30), chain("['ab']", "[a.join([a, a, a]) for a in %s]", 60),
		chain("[{'a': 1}]", "[{'a': a, 'b': a} for a in %s]", 40), "[sorted(ys) for a in ys for b in ys]",
		"[ys[::-1] for a in ys for b in ys]", "[list(big) for a in ys for b in ys]", "[big.upper() for a in ys for b in ys]",
		"[big in big for a in ys for b in ys for c in ys]", "[ys in [ys] for a in ys for b in ys]",
		"sum([sum(ys) for a in ys for b in ys])", "[max(ys) for a in ys for b in ys]",
		"[len(big) for a in ys for b in ys for c in ys]",
		"[big == big for a in ys for b in ys]", "(big + big + big).replace('', big + big + big)",
		"[big[1] for a in ys for b in ys]", "[big.split('b') for a in ys for b in ys]",
		"[big == big + '' for a in ys for b in ys]",
		"[str(ys) for a in ys for b in ys]", "[d.items() for a in ys for b in ys for c in ys]",
		"[1 in ys for a in ys for b in ys]",
	}
}

// bombValues are lists and texts that make bombs large.
func bombValues() map[string]any {
	ys := make([]any, 300)
	for i := range ys {
		ys[i] = float64(i + 2)
	}
	return map[string]any{"xs": []any{1.0, 2.0}, "ys": ys, "big": strings.Repeat("ab", 5000),
		"d": map[string]any{"a": 1.0, "b": 2.0}}
}

// allocated is how many bytes f allocates, freed ones included.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// allocMax is what one Eval may allocate in all; what it holds at a time is less.
const allocMax = 160 << 20

func TestBombs(t *testing.T) {
	for _, text := range bombs() {
		e, err := Compile(text, []string{"xs", "ys", "big", "d"})
		if err != nil {
			t.Errorf("%.80s: %v", text, err)
			continue
		}
		bytes := allocated(func() { _, err = e.Eval(t.Context(), bombValues()) })
		if err == nil || !strings.Contains(err.Error(), "costs too much") &&
			!strings.Contains(err.Error(), "nested more than") {
			t.Errorf("%.80s: the error is %v", text, err)
		}
		if bytes > allocMax {
			t.Errorf("%.80s: it allocates %d MiB", text, bytes>>20)
		}
	}
	deep := strings.Repeat("(", 4000) + "1" + strings.Repeat(")", 4000)
	for _, text := range []string{deep, strings.Repeat("-", 8000) + "1", strings.Repeat("not ", 2000) + "1",
		"1" + strings.Repeat("+1", 4000), strings.Repeat("[", 4000) + strings.Repeat("]", 4000)} {
		if e, err := Compile(text, nil); err == nil {
			_, _ = e.Eval(t.Context(), nil) // it must come back
		}
	}
}

// TestStops ends with its context.
func TestStops(t *testing.T) {
	e, err := Compile("[1 for a in ys for b in ys]", []string{"ys"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.Eval(ctx, bombValues()); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
	if got := e.Names(); !slices.Equal(got, []string{"ys"}) {
		t.Errorf("the names are %q", got)
	}
}

// TestInputStays leaves the values as they are, and shares none with the result.
func TestInputStays(t *testing.T) {
	in := map[string]any{"xs": []any{1.0, map[string]any{"a": 1.0}}}
	e, err := Compile("xs", []string{"xs"})
	if err != nil {
		t.Fatal(err)
	}
	got, err := e.Eval(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	got.([]any)[1].(map[string]any)["a"] = 2.0
	if in["xs"].([]any)[1].(map[string]any)["a"] != 1.0 {
		t.Error("a change of the result changes the input")
	}
}

// FuzzExpr holds that no text panics, costs more than the limit, or gives two results.
func FuzzExpr(f *testing.F) {
	for _, text := range append(bombs()[:8], "1 + 2", "d.a.get('x')", "[x for x in xs if x]", "'%s' % 1",
		"(a, b)", "s[1:2:3]",
		"round(1.5, 2)", "1if 1else 2", "\"\\x00\"", "big.split()", "{'a': [1]}['a']", "-big", "0x1F", "1e999") {
		f.Add(text)
	}
	keys := []string{"xs", "ys", "big", "d"}
	f.Fuzz(func(t *testing.T, text string) {
		e, err := Compile(text, keys)
		if err != nil {
			var at *Error
			if !errors.As(err, &at) || at.Line < 1 || at.Column < 1 || at.Message == "" {
				t.Errorf("the error is %#v", err)
			}
			return
		}
		var first, second any
		var err1, err2 error
		if bytes := allocated(func() { first, err1 = e.Eval(t.Context(), bombValues()) }); bytes > allocMax {
			t.Errorf("it allocates %d MiB", bytes>>20)
		}
		second, err2 = e.Eval(t.Context(), bombValues())
		if !reflect.DeepEqual(first, second) || fmt.Sprint(err1) != fmt.Sprint(err2) {
			t.Errorf("%v, %v and then %v, %v", first, err1, second, err2)
		}
		if err1 == nil {
			if _, err := json.Marshal(first); err != nil {
				t.Errorf("the result %v is no JSON: %v", first, err)
			}
		}
	})
}

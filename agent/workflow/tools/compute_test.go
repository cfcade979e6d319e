package tools

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestTransform(t *testing.T) {
	k := newKit(t, Config{})
	const in = `{"items": [{"n": "a", "p": 5}, {"n": "b", "p": 15}, {"n": "c", "p": 25}], "none": null}`
	var value any
	if err := json.Unmarshal([]byte(in), &value); err != nil {
		t.Fatal(err)
	}
	for _, input := range []any{in, value} {
		for path, want := range map[string]string{
			"$.items[?@.p > 10].n": `["b","c"] 2`, "$.items[?@.p > 20].n": `"c" 1`, "$.items[?@.p > 99]": "null 0",
			"$.none": "null 1", "$..p": "[5,15,25] 3", "$.items[0]": `{"n":"a","p":5} 1`, "$.items[:1].n": `"a" 1`,
		} {
			r := k.call(t, "transform", map[string]any{"input_data": input, "expression": path})
			b, _ := json.Marshal(r["result"])
			if got := fmt.Sprint(string(b), " ", r["count"]); got != want || r["status"] != "success" {
				t.Errorf("%s: %s, %v; want %s", path, got, r, want)
			}
		}
	}
	for _, null := range []any{nil, "null"} {
		if r := k.call(t, "transform", map[string]any{"input_data": null, "expression": "$"}); r["count"] != 1.0 ||
			r["result"] != nil {
			t.Errorf("null is %v", r)
		}
	}
	k.fails(t, "transform", map[string]any{"input_data": `{"a": `, "expression": "$"}, "input_data is no JSON")
	k.fails(t, "transform", map[string]any{"input_data": "{}", "expression": "items["}, "the expression is no JSONPath")
	k.fails(t, "transform", map[string]any{"input_data": "{}", "expression": "$" + strings.Repeat(".a", pathMax)}, "1024")
	k.fails(t, "transform", map[string]any{"input_data": `"` + strings.Repeat("a", inputMax) + `"`, "expression": "$"},
		"input_data has 1048578 bytes")
	k.fails(t, "transform", map[string]any{"expression": "$",
		"input_data": strings.Repeat("[", 66) + strings.Repeat("]", 66)}, "nested 65 levels deep; at most 64")
}

// pathBombs visit far more values than there are.
func pathBombs() []string {
	return []string{"$..*..*..*..*", "$" + strings.Repeat("..[*,*]", 20), "$" + strings.Repeat("[0,0]", 40),
		"$..[?@..[?@..[?@..x]]]", "$[?$[?$[?$[?$..x]]]]", "$..[?match(@, '(a*)*b') || search(@, '" +
			strings.Repeat("a?", 300) +
			"')]", "$..*"}
}

// bombInput is nested and wide.
func bombInput(n int) any {
	var v any = strings.Repeat("a", 5)
	for range 30 {
		v = []any{v, v}
		if len(v.([]any)) > 1 && size(v, n) > n {
			return v
		}
	}
	return v
}

func TestTransformBombs(t *testing.T) {
	k := newKit(t, Config{})
	for _, path := range pathBombs() {
		began := time.Now()
		r := k.call(t, "transform", map[string]any{"input_data": bombInput(60_000), "expression": path})
		why, _ := r["error"].(string)
		if r["status"] != "error" || !strings.Contains(why, "too many values") &&
			!strings.Contains(why, "matches; at most") &&
			!(searches(path) > 0 && strings.Contains(why, "65536 with match or search")) {
			t.Errorf("%.50s: %.200v", path, r)
		}
		if took := time.Since(began); took > time.Minute {
			t.Errorf("%.50s took %v", path, took)
		}
	}
}

func TestCondition(t *testing.T) {
	k := newKit(t, Config{})
	for _, values := range []any{`{"total": 120, "tags": []}`, map[string]any{"total": 120.0, "tags": []any{}}} {
		for text, want := range map[string]bool{"total > 100": true, "tags": false, "total > 100 and not tags": true,
			"''":    false,
			"total": true, "None": false, "total - 120": false} {
			r := k.call(t, "condition", map[string]any{"expression": text, "values": values})
			if r["status"] != "success" || r["result"] != want {
				t.Errorf("%s: %v", text, r)
			}
		}
	}
	for text, want := range map[string]string{"totl > 1": `no name "totl"; did you mean "total"?`,
		"1 / 0":             "division by zero",
		"[0] * 10000000000": "costs too much", "total >": "line 1, column 8"} {
		k.fails(t, "condition", map[string]any{"expression": text, "values": `{"total": 1}`}, want)
		r := k.call(t, "condition", map[string]any{"expression": text, "values": `{"total": 1}`})
		if _, has := r["result"]; has {
			t.Errorf("%s: an error has a result: %v", text, r)
		}
	}
}

// FuzzTransform holds that no path and no input panics, or takes more than the bound.
func FuzzTransform(f *testing.F) {
	for _, path := range append(pathBombs(), "$.a", "$[?@.a == $.b]", "$['a','b'][::2]", "$[?length(@) > 1]") {
		f.Add(path, `{"a": [1, {"b": "c"}, [[]]], "b": 1}`)
	}
	k := newKit(f, Config{})
	f.Fuzz(func(t *testing.T, path, input string) {
		r := k.call(t, "transform", map[string]any{"input_data": input, "expression": path})
		if _, err := json.Marshal(r); err != nil {
			t.Errorf("the result is no JSON: %v", err)
		}
	})
}

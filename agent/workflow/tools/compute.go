package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/theory/jsonpath"

	"github.com/voicegw/voicegw/agent/managed"
	"github.com/voicegw/voicegw/agent/workflow/expr"
)

// condition evaluates an expression. An expression without a value is an error, not false.
func condition(ctx context.Context, c managed.ToolCall) (map[string]any, error) {
	values, _ := c.Args["values"].(map[string]any)
	source, _ := c.Args["expression"].(string)
	e, err := expr.Compile(source, slices.Sorted(maps.Keys(values)))
	if err != nil {
		return nil, err
	}
	v, err := e.Eval(ctx, values)
	if err != nil {
		return nil, err
	}
	return map[string]any{"result": expr.Truth(v)}, nil
}

// Limits of transform.
const (
	inputMax   = 1 << 20 // bytes of JSON
	depthMax   = 64      // levels of the input
	searchMax  = 1 << 16 // bytes of the input of a path with a regular expression
	pathMax    = 1 << 10 // bytes
	matchesMax = 10_000
	visitsMax  = 4_000_000 // of values, by the bound that visits computes
)

func transform(_ context.Context, c managed.ToolCall) (map[string]any, error) {
	source, _ := c.Args["expression"].(string)
	if len(source) > pathMax {
		return nil, fmt.Errorf("the expression has %d bytes; at most %d are allowed", len(source), pathMax)
	}
	in := c.Args["input_data"]
	s, isText := in.(string)
	if !isText {
		b, err := json.Marshal(in)
		if err != nil {
			return nil, fmt.Errorf("input_data: %w", err)
		}
		s = string(b)
	}
	most := inputMax
	if searches(source) > 0 {
		most = searchMax
	}
	if len(s) > most {
		return nil, fmt.Errorf("input_data has %d bytes; at most %d are allowed, %d with match or search", len(s), inputMax,
			searchMax)
	}
	if isText {
		var err error
		if in, err = decode("input_data", s); err != nil {
			return nil, err
		}
	}
	if d := depth(in); d > depthMax {
		return nil, fmt.Errorf("input_data is nested %d levels deep; at most %d are allowed", d, depthMax)
	}
	path, err := jsonpath.Parse(source)
	if err != nil {
		return nil, fmt.Errorf("the expression is no JSONPath: %w", err)
	}
	if n := visits(source, size(in, visitsMax)); n > visitsMax {
		return nil, errors.New("the expression may visit too many values: use fewer of \"..\", \"[a, b]\" and filters, or " +
			"less input")
	}
	found := path.Select(in)
	if len(found) > matchesMax {
		return nil, fmt.Errorf("there are %d matches; at most %d are allowed", len(found), matchesMax)
	}
	var result any
	switch len(found) {
	case 0:
	case 1:
		result = found[0]
	default:
		result = []any(found)
	}
	return map[string]any{"result": result, "count": float64(len(found))}, nil
}

// searches is how many regular expressions a path has, at most.
func searches(path string) int { return strings.Count(path, "match(") + strings.Count(path, "search(") }

// depth is how deep a value is nested.
func depth(v any) int {
	most := 0
	switch v := v.(type) {
	case []any:
		for _, one := range v {
			most = max(most, depth(one)+1)
		}
	case map[string]any:
		for _, one := range v {
			most = max(most, depth(one)+1)
		}
	}
	return most
}

// size counts the values in a value, up to a limit.
func size(v any, most int) int {
	n := 1
	switch v := v.(type) {
	case []any:
		for _, one := range v {
			if n += size(one, most-n); n > most {
				return n
			}
		}
	case map[string]any:
		for _, one := range v {
			if n += size(one, most-n); n > most {
				return n
			}
		}
	}
	return n
}

// visits bounds how many values a path visits among n: each further "..", and each query from the root in a filter,
// may visit all values for each value; each further selector of a segment doubles the work at worst; a regular
// expression costs a hundred values. It counts characters, also those in quotes, so it may bound too high.
func visits(path string, n int) int {
	total := n + 1
	grow := func(times, by int) {
		for range times {
			total = min(total*by, visitsMax+1)
		}
	}
	grow(strings.Count(path, "..")-1, n+1)
	grow(strings.Count(path, "$")-1, n+1)
	grow(strings.Count(path, ","), 2)
	grow(searches(path), 100)
	grow(strings.Count(path, "==")+strings.Count(path, "!="), depthMax)
	if steps := strings.Count(path, ".") + strings.Count(path, "["); steps > 1 { // each may pass on all values
		total = min(total*steps, visitsMax+1)
	}
	return total
}

package provider

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"google.golang.org/genai"
)

// referenceSchema has what tools of other systems have: a dialect, a constant, conditions, and
// properties whose names are keywords.
const referenceSchema = `{"$schema": "https://json-schema.org/draft/2020-12/schema", "properties": {
	"day": {"type": "string", "format": "hostname"}, "when": {"type": "string", "format": "date-time"},
	"kind": {"const": "lunch"}, "if": {"type": "string"}, "$schema": {"type": "integer", "minimum": 1, "maximum": 9},
	"nested": {"properties": {"a": {"enum": ["x", "y"]}}, "additionalProperties": false},
	"tags": {"type": "array", "items": {"type": "string", "format": "ipv4"}},
	"ref": {"$ref": "#/$defs/r"}, "either": {"anyOf": [{"const": 1}, {"type": ["string", "null"]}]},
	"data": {"type": "object", "default": {"const": 1, "if": 2, "format": "x"}}}, "required": ["day"],
	"if": {"required": ["kind"]}, "then": {}, "else": {}, "$defs": {"r": {"const": null}}}`

const (
	plainSchema = `{"$defs":{"r":{"enum":[null]}},"properties":{"$schema":{"maximum":9,"minimum":1,"type":"integer"},` +
		`"data":{"default":{"const":1,"format":"x","if":2},"type":"object"},"day":{"type":"string"},` +
		`"either":{"anyOf":[{"enum":[1]},{"type":["string","null"]}]},"if":{"type":"string"},"kind":{"enum":["lunch"]},` +
		`"nested":{"additionalProperties":false,"properties":{"a":{"enum":["x","y"]}},"type":"object"},` +
		`"ref":{"$ref":"#/$defs/r"},"tags":{"items":{"type":"string"},"type":"array"},` +
		`"when":{"format":"date-time","type":"string"}},"required":["day"],"type":"object"}`
	keptSchema = `{"$defs":{"r":{"const":null}},"properties":{"$schema":{"maximum":9,"minimum":1,"type":"integer"},` +
		`"data":{"default":{"const":1,"format":"x","if":2},"type":"object"},"day":{"format":"hostname","type":"string"},` +
		`"either":{"anyOf":[{"const":1},{"type":["string","null"]}]},"if":{"type":"string"},"kind":{"const":"lunch"},` +
		`"nested":{"additionalProperties":false,"properties":{"a":{"enum":["x","y"]}},"type":"object"},` +
		`"ref":{"$ref":"#/$defs/r"},"tags":{"items":{"format":"ipv4","type":"string"},"type":"array"},` +
		`"when":{"format":"date-time","type":"string"}},"required":["day"],"type":"object"}`
)

// TestNormalise compares the schemas that each provider gets.
func TestNormalise(t *testing.T) {
	typed := &genai.Schema{Type: genai.TypeObject, PropertyOrdering: []string{"a"}, Properties: map[string]*genai.Schema{
		"a": {Type: genai.TypeString, Nullable: ptr(true), Format: "enum", Enum: []string{"x"}, Example: "x"},
		"b": {Type: genai.TypeArray, Items: &genai.Schema{Type: genai.TypeInteger, Minimum: ptr(1.0)},
			MinItems: ptr(int64(2))},
	}}
	for _, c := range []struct {
		d    dialect
		in   any
		want string
	}{
		{dialect{}, json.RawMessage(referenceSchema), plainSchema},
		{dialect{keeps: true}, json.RawMessage(referenceSchema), keptSchema},
		{dialect{}, typed, `{"properties":{"a":{"enum":["x",null],"examples":["x"],"type":["string","null"]},` +
			`"b":{"items":{"minimum":1,"type":"integer"},"minItems":2,"type":"array"}},"type":"object"}`},
	} {
		s, err := c.d.normalise(c.in)
		got, _ := json.Marshal(s)
		if err != nil || string(got) != c.want {
			t.Errorf("%v\n%s\nwant\n%s", err, got, c.want)
		}
	}
}

func TestNormaliseRefuses(t *testing.T) {
	for _, c := range []struct {
		in   any
		want string
	}{
		{"x", "must be a JSON object"}, {nil, "must be a JSON object"}, {[]int{1}, "must be a JSON object"},
		{make(chan int), "is no JSON"}, {map[string]any{"description": strings.Repeat("x", schemaBytesMax)}, "bytes"},
		{json.RawMessage(strings.Repeat(`{"items":`, 70) + "{}" + strings.Repeat("}", 70)), "64 levels"},
	} {
		if _, err := (dialect{}).normalise(c.in); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.40v: %v; want %s", c.in, err, c.want)
		}
	}
}

// TestStrict closes the schemas that stay the same when they are closed, and no others.
func TestStrict(t *testing.T) {
	for _, c := range []struct {
		in   string
		want bool
	}{
		{`{"type":"object","properties":{}}`, true},
		{`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`, true},
		{`{"type":"object","properties":{"a":{"type":"string"}}}`, false},
		{`{"type":"object"}`, false}, {`{"type":"array","items":{"type":"string"}}`, false},
		{`{"type":"object","properties":{},"additionalProperties":true}`, false},
		{`{"type":"object","properties":{"a":{"type":"object","properties":{"b":{}}}},"required":["a"]}`, false},
		{`{"type":"object","properties":{"a":{"oneOf":[{"type":"string"}]}},"required":["a"]}`, false},
	} {
		var s, before map[string]any
		json.Unmarshal([]byte(c.in), &s)
		json.Unmarshal([]byte(c.in), &before)
		if got := strict(s); got != c.want {
			t.Errorf("%s: %v", c.in, got)
		}
		if closed := s["additionalProperties"] == false; closed != c.want || !c.want && !reflect.DeepEqual(s, before) {
			t.Errorf("%s became %v", c.in, s)
		}
	}
}

func FuzzNormalise(f *testing.F) {
	f.Add([]byte(referenceSchema), true)
	f.Add([]byte(plainSchema), false)
	f.Fuzz(func(t *testing.T, b []byte, keeps bool) {
		d := dialect{keeps: keeps}
		s, err := d.normalise(json.RawMessage(b))
		if err != nil {
			return
		}
		first, _ := json.Marshal(s)
		again, err := d.normalise(s)
		if err != nil {
			t.Fatal(err)
		}
		second, _ := json.Marshal(again)
		if string(first) != string(second) {
			t.Errorf("not the same again:\n%s\n%s", first, second)
		}
		var fault error
		walkSchema(s, 0, &fault, func(s map[string]any) {
			for _, key := range []string{"$schema", "if", "then", "else"} {
				if _, ok := s[key]; ok {
					t.Errorf("%s is left in %s", key, first)
				}
			}
			if s["properties"] != nil && s["type"] == nil {
				t.Errorf("an object has no type in %s", first)
			}
		})
		strict(s)
	})
}

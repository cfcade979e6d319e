package provider

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/genai"
)

// Limits of a schema.
const (
	schemaBytesMax = 1 << 20
	schemaDepthMax = 64
)

// dialect is what a provider takes of JSON Schema.
type dialect struct{ keeps bool } // const and every format; the others get enum, and the formats of formats()

// formats are the formats that all providers take.
func formats() []string {
	return []string{"date-time", "date", "time", "email", "uri", "uuid", "int32", "int64", "float", "double"}
}

// normalise returns a copy of a schema that the provider takes: without "$schema" and conditions, with a
// type beside properties. It refuses what is no JSON object.
func (d dialect) normalise(v any) (map[string]any, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("the schema is no JSON: %w", err)
	}
	if len(b) > schemaBytesMax {
		return nil, fmt.Errorf("the schema has %d bytes, more than %d", len(b), schemaBytesMax)
	}
	var s map[string]any
	if err := json.Unmarshal(b, &s); err != nil || s == nil {
		return nil, fmt.Errorf("the schema must be a JSON object, not %.20s", b)
	}
	_, typed := v.(*genai.Schema)
	var fault error
	walkSchema(s, 0, &fault, func(s map[string]any) {
		if typed {
			fromGenai(s)
		}
		d.tidy(s)
	})
	return s, fault
}

// tidy normalises one level.
func (d dialect) tidy(s map[string]any) {
	for _, key := range []string{"$schema", "if", "then", "else"} {
		delete(s, key)
	}
	if s["properties"] != nil && s["type"] == nil {
		s["type"] = "object"
	}
	if d.keeps {
		return
	}
	if c, ok := s["const"]; ok {
		delete(s, "const")
		s["enum"] = []any{c}
	}
	if f, ok := s["format"].(string); ok && !slices.Contains(formats(), f) {
		delete(s, "format")
	}
}

// fromGenai turns one level of Gemini's own schemas into JSON Schema.
func fromGenai(s map[string]any) {
	t, _ := s["type"].(string)
	if t = strings.ToLower(t); t == "type_unspecified" {
		delete(s, "type")
	} else if t != "" {
		s["type"] = t
	}
	if s["nullable"] == true && t != "" {
		s["type"] = []any{t, "null"}
		if list, ok := s["enum"].([]any); ok {
			s["enum"] = append(list, nil)
		}
	}
	if e, ok := s["example"]; ok {
		s["examples"] = []any{e}
	}
	if s["format"] == "enum" {
		delete(s, "format")
	}
	for _, key := range []string{"nullable", "example", "propertyOrdering"} {
		delete(s, key)
	}
}

// walkSchema calls f with a schema and all schemas in it. What is data, such as a default, is left alone.
func walkSchema(s map[string]any, depth int, fault *error, f func(map[string]any)) {
	if depth > schemaDepthMax {
		*fault = fmt.Errorf("the schema has more than %d levels", schemaDepthMax)
		return
	}
	f(s)
	for key, v := range s {
		switch key {
		case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas":
			if m, ok := v.(map[string]any); ok {
				for _, one := range m {
					walkAny(one, depth+1, fault, f)
				}
			}
		case "items", "prefixItems", "anyOf", "oneOf", "allOf", "not", "contains", "propertyNames", "additionalProperties",
			"additionalItems", "unevaluatedItems", "unevaluatedProperties":
			walkAny(v, depth+1, fault, f)
		}
	}
}

// walkAny walks a schema, or a list of them.
func walkAny(v any, depth int, fault *error, f func(map[string]any)) {
	switch v := v.(type) {
	case map[string]any:
		walkSchema(v, depth, fault, f)
	case []any:
		for _, one := range v {
			if m, ok := one.(map[string]any); ok {
				walkSchema(m, depth, fault, f)
			}
		}
	}
}

// strict closes every object of a schema, if it stays the same schema: each property is required and no
// keyword is outside the subset that OpenAI enforces. It returns false, and changes nothing, otherwise.
func strict(s map[string]any) bool {
	ok := s["type"] == "object"
	var fault error
	walkSchema(s, 0, &fault, func(s map[string]any) {
		for _, key := range []string{"allOf", "oneOf", "not", "patternProperties", "propertyNames", "dependentSchemas",
			"dependentRequired", "contains", "prefixItems", "unevaluatedItems", "unevaluatedProperties", "uniqueItems",
			"minProperties", "maxProperties", "default"} {
			ok = ok && s[key] == nil
		}
		if !isObject(s) {
			return
		}
		open := s["additionalProperties"]
		required, _ := s["required"].([]any)
		properties, _ := s["properties"].(map[string]any)
		ok = ok && (open == nil || open == false) && properties != nil
		for name := range properties {
			ok = ok && slices.Contains(required, any(name))
		}
	})
	if ok {
		closeObjects(s)
		if s["required"] == nil {
			s["required"] = []any{}
		}
	}
	return ok
}

// closeObjects refuses properties that a schema does not name.
func closeObjects(s map[string]any) {
	var fault error
	walkSchema(s, 0, &fault, func(s map[string]any) {
		if isObject(s) && s["additionalProperties"] == nil {
			s["additionalProperties"] = false
		}
	})
}

func isObject(s map[string]any) bool {
	list, _ := s["type"].([]any)
	return s["type"] == "object" || slices.Contains(list, any("object"))
}

// nameMax is the longest name of a tool that every provider takes, in bytes.
const nameMax = 64

// names maps the names of tools to those on the wire and back.
type names struct{ onWire, back map[string]string }

// declare adds the name of a tool. It refuses two that are the same on the wire.
func (n *names) declare(name string) error {
	wire := n.wire(name)
	if other, ok := n.back[wire]; ok {
		return fmt.Errorf("the tools %q and %q are both %q to the provider; rename one", other, name, wire)
	}
	if n.back == nil {
		n.onWire, n.back = map[string]string{}, map[string]string{}
	}
	n.onWire[name], n.back[wire] = wire, name
	return nil
}

// wire returns a name as the provider takes it: of letters, digits, "_" and "-", and cut.
func (n *names) wire(name string) string {
	if w, ok := n.onWire[name]; ok {
		return w
	}
	return wireName(name, nameMax)
}

// wireName returns a name or an id as every provider takes it.
func wireName(name string, limit int) string {
	w := []byte(name)[:min(len(name), limit)]
	for i, c := range w {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-') {
			w[i] = '_'
		}
	}
	return string(w)
}

// real returns the name of the tool that a name on the wire stands for.
func (n *names) real(wire string) string { return firstOf(n.back[wire], wire) }

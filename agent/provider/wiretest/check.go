package wiretest

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
)

// at follows a path of keys and indices in JSON.
func at(v any, path ...any) any {
	for _, step := range path {
		switch step := step.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[step]
		case int:
			l, _ := v.([]any)
			if step >= len(l) {
				return nil
			}
			v = l[step]
		}
	}
	return v
}

// each calls f with every element of a list of objects until it objects.
func each(v any, f func(m map[string]any) string) string {
	l, _ := v.([]any)
	for _, one := range l {
		m, _ := one.(map[string]any)
		if why := f(m); why != "" {
			return why
		}
	}
	return ""
}

// fields refuses a body with fields that the API does not have, or without those that it needs.
func fields(body map[string]any, needs []string, may ...string) string {
	for _, n := range needs {
		if body[n] == nil {
			return "missing field: " + n
		}
	}
	for key := range body {
		if !slices.Contains(needs, key) && !slices.Contains(may, key) {
			return "unknown field: " + key
		}
	}
	return ""
}

var toolName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// checkTool refuses a tool whose name or schema a provider refuses. Keywords that it does not know are
// in refused.
func checkTool(name, schema any, refused ...string) string {
	text, _ := name.(string)
	if !toolName.MatchString(text) {
		return fmt.Sprintf("invalid tool name %q", text)
	}
	m, ok := schema.(map[string]any)
	if !ok || m["type"] != "object" {
		return fmt.Sprintf("invalid schema for function %q: schema must be a JSON Schema of 'type: \"object\"'", text)
	}
	if why := checkSchema(m, refused); why != "" {
		return fmt.Sprintf("invalid schema for function %q: %s", text, why)
	}
	return ""
}

func checkSchema(s map[string]any, refused []string) string {
	for _, key := range append(refused, "$schema", "if", "then", "else") {
		if _, ok := s[key]; ok {
			return fmt.Sprintf("%q is not permitted", key)
		}
	}
	if t, ok := s["type"].(string); ok && t != "object" && !slices.Contains([]string{"string", "number", "integer",
		"boolean", "array", "null"}, t) {
		return fmt.Sprintf("%q is not a type", t)
	}
	if s["properties"] != nil && s["type"] == nil {
		return "an object needs a type"
	}
	if f, ok := s["format"].(string); ok && slices.Contains(refused, "const") && !slices.Contains([]string{"date-time",
		"date", "time", "email", "uri", "uuid", "int32", "int64", "float", "double"}, f) {
		return fmt.Sprintf("%q is not a format", f)
	}
	properties, _ := s["properties"].(map[string]any)
	for _, p := range properties {
		if m, ok := p.(map[string]any); ok {
			if why := checkSchema(m, refused); why != "" {
				return why
			}
		}
	}
	if items, ok := s["items"].(map[string]any); ok {
		return checkSchema(items, refused)
	}
	return ""
}

// checkStrict refuses a schema that OpenAI's strict mode refuses.
func checkStrict(s any) string {
	m, _ := s.(map[string]any)
	properties, _ := m["properties"].(map[string]any)
	if m["type"] == "object" {
		required, _ := m["required"].([]any)
		if m["additionalProperties"] != false || len(required) != len(properties) {
			return "'additionalProperties' is required to be false, and all properties to be required"
		}
	}
	for _, p := range properties {
		if why := checkStrict(p); why != "" {
			return why
		}
	}
	if m["items"] != nil {
		return checkStrict(m["items"])
	}
	return ""
}

// exchange checks that each call has an id of its own, and that results follow them.
type exchange struct {
	seen map[string]bool
	open []string
}

func (e *exchange) call(id any) string {
	text, _ := id.(string)
	if text == "" || len(text) > 64 || e.seen[text] {
		return fmt.Sprintf("the id %q of a call is empty, too long, or used twice", text)
	}
	if e.seen == nil {
		e.seen = map[string]bool{}
	}
	e.seen[text] = true
	e.open = append(e.open, text)
	return ""
}

func (e *exchange) result(id any) string {
	i := slices.IndexFunc(e.open, func(open string) bool { return open == id })
	if i < 0 {
		return fmt.Sprintf("no tool call found for function call output with call_id %v", id)
	}
	e.open = slices.Delete(e.open, i, i+1)
	return ""
}

// others refuses a message while results are missing.
func (e *exchange) others() string {
	if len(e.open) > 0 {
		return fmt.Sprintf("no tool output found for function calls %q", e.open)
	}
	return ""
}

// isJSON refuses arguments that are not the text of a JSON object.
func isJSON(v any) string {
	text, ok := v.(string)
	var m map[string]any
	if !ok || json.Unmarshal([]byte(text), &m) != nil {
		return fmt.Sprintf("arguments must be the text of a JSON object, not %v", v)
	}
	return ""
}

// first returns the first objection.
func first(list ...string) string {
	for _, s := range list {
		if s != "" {
			return s
		}
	}
	return ""
}

package sim

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// reasonBytesMax is the longest reason of a close frame, in bytes (RFC 6455 section 5.5).
const reasonBytesMax = 123

// refusal is a close with a reason.
type refusal struct {
	code   int
	reason string
}

func invalid(format string, args ...any) *refusal {
	return refuse(1007, format, args...)
}

func refuse(code int, format string, args ...any) *refusal {
	reason := fmt.Sprintf(format, args...)
	if len(reason) > reasonBytesMax {
		reason = strings.ToValidUTF8(reason[:reasonBytesMax], "")
	}
	return &refusal{code: code, reason: reason}
}

// value is a checked JSON value: nil, string, bool, json.Number, []byte (a blob), []value or
// map[string]value.
type value any

// check compares v with n. As in the JSON of protocol buffers, names may be camelCase or
// snake_case, and null means absent. The result has only camelCase names. check visits names in
// sorted order.
func (n *node) check(v any, path string) (value, *refusal) {
	if v == nil {
		return nil, nil
	}
	switch n.kind {
	case message:
		return n.checkMessage(v, path)
	case list:
		return n.checkList(v, path)
	case blob:
		return checkBlob(v, path)
	case text:
		return checkLeaf[string](v, path, "TYPE_STRING")
	case boolean:
		return checkLeaf[bool](v, path, "TYPE_BOOL")
	case number:
		return checkNumber(v, path)
	}
	return v, nil
}

func (n *node) checkMessage(v any, path string) (value, *refusal) {
	members, ok := v.(map[string]any)
	if !ok {
		return nil, badValue(v, path, "TYPE_MESSAGE")
	}
	out := make(map[string]value, len(members))
	for _, name := range sortedNames(members) {
		field, known := n.fields[camel(name)]
		if !known {
			return nil, unknownName(name, path)
		}
		child, refused := field.check(members[name], join(path, snake(name)))
		if refused != nil {
			return nil, refused
		}
		if members[name] != nil {
			out[camel(name)] = child
		}
	}
	return out, nil
}

func (n *node) checkList(v any, path string) (value, *refusal) {
	items, ok := v.([]any)
	if !ok {
		return nil, badValue(v, path, "TYPE_MESSAGE")
	}
	out := make([]value, len(items))
	for i, item := range items {
		child, refused := n.elem.check(item, fmt.Sprintf("%s[%d]", path, i))
		if refused != nil {
			return nil, refused
		}
		out[i] = child
	}
	return out, nil
}

func checkLeaf[T any](v any, path, want string) (value, *refusal) {
	if t, ok := v.(T); ok {
		return t, nil
	}
	return nil, badValue(v, path, want)
}

// checkNumber also accepts numbers in quotes, the JSON form of 64-bit numbers.
func checkNumber(v any, path string) (value, *refusal) {
	switch t := v.(type) {
	case json.Number:
		return t, nil
	case string:
		if _, err := strconv.ParseFloat(t, 64); err == nil {
			return json.Number(t), nil
		}
	}
	return nil, badValue(v, path, "TYPE_INT64")
}

func checkBlob(v any, path string) (value, *refusal) {
	s, ok := v.(string)
	if ok {
		if data, err := base64.StdEncoding.DecodeString(s); err == nil {
			return data, nil
		}
		if data, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(s, "=")); err == nil {
			return data, nil
		}
		v = "..."
	}
	return nil, badValue(v, path, "TYPE_BYTES")
}

func unknownName(name, path string) *refusal {
	if path == "" {
		return invalid("Invalid JSON payload received. Unknown name %.40q: Cannot find field.", name)
	}
	return invalid("Invalid JSON payload received. Unknown name %.40q at '%s': Cannot find field.", name, path)
}

func badValue(v any, path, want string) *refusal {
	shown, _ := json.Marshal(v)
	return invalid("Invalid value at '%s' (%s), %.40s", path, want, shown)
}

func sortedNames(m map[string]any) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// camel turns snake_case into camelCase. It does not change camelCase.
func camel(name string) string {
	if !strings.Contains(name, "_") {
		return name
	}
	var b strings.Builder
	up := false
	for _, r := range name {
		if r == '_' {
			up = true
			continue
		}
		if up {
			r = unicode.ToUpper(r)
		}
		up = false
		b.WriteRune(r)
	}
	return b.String()
}

// snake turns camelCase into snake_case.
func snake(name string) string {
	var b strings.Builder
	for _, r := range name {
		if unicode.IsUpper(r) {
			b.WriteByte('_')
			r = unicode.ToLower(r)
		}
		b.WriteRune(r)
	}
	return b.String()
}

package workflow

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// JSONSchema returns the JSON Schema (draft 2020-12) of the format, for editors. It is made from the
// tables that Load checks a file with. It says nothing about how names refer to each other: Load does.
func JSONSchema() []byte {
	defs := map[string]any{}
	all := format()
	for object, fields := range all {
		defs[object] = objectSchema(object, fields)
	}
	root := map[string]any{"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "voicegw workflow",
		"$ref": "#/$defs/workflow", "$defs": defs}
	b, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		panic(err) // the tables hold only texts and numbers
	}
	return append(b, '\n')
}

// objectSchema is the schema of one object. Keys that only some types have are allowed and required by
// type.
func objectSchema(object string, fields []field) map[string]any {
	props := map[string]any{}
	var required []string
	byType := map[string][]string{}
	var types []string
	for i := range fields {
		f := &fields[i]
		if f.kind == retired {
			continue
		}
		props[f.key] = fieldSchema(f)
		if f.key == "type" {
			types = f.enum
		}
		for _, t := range f.types {
			byType[t] = append(byType[t], f.key)
		}
		if f.required && f.types == nil {
			required = append(required, f.key)
		}
	}
	s := map[string]any{"type": "object", "properties": props, "additionalProperties": false}
	if len(required) > 0 {
		s["required"] = required
	}
	var when []any
	for _, t := range types {
		when = append(when, typeSchema(t, fields))
	}
	if len(when) > 0 {
		s["allOf"] = when
	}
	return s
}

// typeSchema says what an object of one type has.
func typeSchema(typ string, fields []field) map[string]any {
	barred, needed := map[string]any{}, []string{}
	for i := range fields {
		f := &fields[i]
		switch {
		case f.kind == retired:
		case !f.has(typ):
			barred[f.key] = false
		case f.required && f.types != nil:
			needed = append(needed, f.key)
		}
	}
	then := map[string]any{}
	if len(barred) > 0 {
		then["properties"] = barred
	}
	if len(needed) > 0 {
		then["required"] = needed
	}
	return map[string]any{"if": map[string]any{"properties": map[string]any{"type": map[string]any{"const": typ}}},
		"then": then}
}

// fieldSchema is the schema of one key.
func fieldSchema(f *field) map[string]any {
	s := map[string]any{"description": f.doc}
	list := func(items map[string]any) {
		s["type"], s["items"] = "array", items
		if f.min > 0 {
			s["minItems"] = f.min
		}
		if f.max > 0 {
			s["maxItems"] = f.max
		}
	}
	str := map[string]any{"type": "string"}
	switch f.kind {
	case object:
		return map[string]any{"$ref": "#/$defs/" + f.of, "description": f.doc}
	case objects:
		list(map[string]any{"$ref": "#/$defs/" + f.of})
	case refs, names, keys:
		list(str)
	case toolList, confirming:
		list(map[string]any{"anyOf": []any{str, map[string]any{"type": "object", "minProperties": 1, "maxProperties": 1,
			"additionalProperties": map[string]any{"type": "array", "items": str}}}})
		if f.kind == confirming {
			s["type"] = []string{"boolean", "array"}
		}
	case number, whole:
		s["type"] = string(f.kind)
		s["minimum"] = f.min
		if f.max > 0 {
			s["maximum"] = f.max
		}
	case yesNo:
		s["type"] = "boolean"
	case anyMap, schema:
		s["type"] = "object"
	case texts:
		s["type"], s["additionalProperties"] = "object", str
	default:
		s["type"] = "string"
	}
	if f.enum != nil {
		s["enum"] = f.enum
	}
	if f.def != "" {
		s["default"] = defaultOf(f)
	}
	return s
}

// defaultOf is the default of a key as JSON.
func defaultOf(f *field) any {
	var v any
	if (f.kind == number || f.kind == whole || f.kind == refs) && json.Unmarshal([]byte(f.def), &v) == nil {
		return v
	}
	return f.def
}

// Keys returns the table of an object of the format, for documentation: a line for each key, with its
// type, its default, and what it is for.
func Keys(object string) [][4]string {
	var list [][4]string
	for _, f := range format()[object] {
		if f.kind == retired {
			continue
		}
		doc := f.doc
		if f.enum != nil {
			doc += ": " + strings.Join(f.enum, ", ")
		}
		list = append(list, [4]string{f.key, string(f.kind), f.def, doc})
	}
	return list
}

// Objects returns the names of the objects of the format.
func Objects() []string { return slices.Sorted(maps.Keys(format())) }

package openapi

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// schemaMax is how many values the schemas of one tool may have, those they refer to included. nestMax is how deep
// they are described.
const (
	schemaMax = 2000
	nestMax   = 24
)

// inliner makes JSON Schemas without references, which not all models read.
type inliner struct {
	doc    *openapi3.T
	values int
}

// schema is a schema as JSON Schema. A part that contains itself is described once.
func (in *inliner) schema(s *openapi3.SchemaRef) (map[string]any, error) {
	if s == nil {
		return map[string]any{}, nil
	}
	v, err := generic(s)
	if err != nil {
		return nil, err
	}
	if v, err = in.inline(v, nil, 0); err != nil {
		return nil, err
	}
	d, _ := v.(map[string]any)
	return d, nil
}

func generic(s *openapi3.SchemaRef) (v any, err error) {
	b, err := json.Marshal(s)
	if err == nil {
		err = json.Unmarshal(b, &v)
	}
	return v, err
}

func (in *inliner) inline(v any, open []string, depth int) (any, error) {
	if in.values++; in.values > schemaMax {
		return nil, fmt.Errorf("its schemas have more than %d values; leave the operation out with tool_filter", schemaMax)
	}
	if depth > nestMax {
		return map[string]any{}, nil
	}
	switch v := v.(type) {
	case []any:
		for i := range v {
			var err error
			if v[i], err = in.inline(v[i], open, depth+1); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		if ref, ok := v["$ref"].(string); ok {
			return in.follow(ref, open, depth)
		}
		adapt(v)
		for _, k := range slices.Sorted(maps.Keys(v)) {
			if k == "enum" || k == "const" || k == "default" {
				continue
			}
			var err error
			if v[k], err = in.inline(v[k], open, depth+1); err != nil {
				return nil, err
			}
		}
	}
	return v, nil
}

func (in *inliner) follow(ref string, open []string, depth int) (any, error) {
	name, ok := strings.CutPrefix(ref, "#/components/schemas/")
	name = strings.NewReplacer("~1", "/", "~0", "~").Replace(name)
	if !ok || in.doc.Components == nil || in.doc.Components.Schemas[name] == nil {
		return nil, fmt.Errorf("the reference %.80q leads to no schema in components/schemas", ref)
	}
	if slices.Contains(open, name) {
		return map[string]any{"description": "another " + name}, nil
	}
	target, err := generic(in.doc.Components.Schemas[name])
	if err != nil {
		return nil, err
	}
	return in.inline(target, append(slices.Clip(open), name), depth+1)
}

// adapt makes one level of a schema of OpenAPI one of JSON Schema, for a request.
func adapt(s map[string]any) {
	for _, k := range []string{"example", "examples", "xml", "externalDocs", "discriminator", "deprecated", "$schema"} {
		if _, isSchema := s[k].(map[string]any); !isSchema || s["type"] != nil {
			delete(s, k)
		}
	}
	for _, k := range []string{"exclusiveMinimum", "exclusiveMaximum"} {
		if _, old := s[k].(bool); old {
			delete(s, k)
		}
	}
	if t, ok := s["type"].(string); ok && s["nullable"] == true {
		s["type"] = []any{t, "null"}
	}
	if _, flag := s["nullable"].(bool); flag {
		delete(s, "nullable")
	}
	props, _ := s["properties"].(map[string]any)
	required, _ := s["required"].([]any)
	for name, p := range props {
		if one, _ := p.(map[string]any); one["readOnly"] == true { // only responses have it
			delete(props, name)
			required = slices.DeleteFunc(required, func(v any) bool { return v == name })
			s["required"] = required
		}
	}
}

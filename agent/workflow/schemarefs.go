package workflow

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// visitsMax bounds how many parts of a schema are applied to one value, counted as often as they are referred to.
const visitsMax = 10_000

// checkRefs refuses schemas whose check of a value may not end, or takes too long: the package jsonschema follows
// references without a limit. A reference below properties or items is applied to a part of the value, so it ends.
func checkRefs(schema map[string]any) error {
	r := &schemaRefs{root: schema, words: schemaWords(), visits: map[string]int{}}
	_, err := r.count("#", schema)
	return err
}

// schemaRefs follows the references of a schema. A part is known by its JSON pointer.
type schemaRefs struct {
	root   map[string]any
	words  map[string]string
	visits map[string]int // by part; 0 while it is counted
}

// count is how many parts are applied to a value together with the part node, itself included. It looks into all
// parts below node, too.
func (r *schemaRefs) count(at string, node any) (int, error) {
	schema, ok := node.(map[string]any)
	if !ok {
		return 0, nil
	}
	if n, ok := r.visits[at]; ok && n > 0 {
		return n, nil
	} else if ok {
		return 0, fmt.Errorf("%s refers to itself for the same value; refer to it below properties or items", at)
	}
	if _, ok := schema["$id"]; ok && at != "#" || schema["$dynamicRef"] != nil {
		return 0, fmt.Errorf("%s has $id or $dynamicRef; write $ref with a path within the schema, such as #/$defs/name", at)
	}
	r.visits[at] = 0
	n := 1
	same := func(at string, part any) error {
		more, err := r.count(at, part)
		if n += more; err == nil && n > visitsMax {
			err = fmt.Errorf("%s applies more than %d parts to one value; refer less often", at, visitsMax)
		}
		return err
	}
	if ref, ok := schema["$ref"].(string); ok {
		to, part, err := r.find(ref)
		if err == nil {
			err = same(to, part)
		}
		if err != nil {
			return 0, err
		}
	}
	for at, part := range r.parts(at, schema, true) {
		if err := same(at, part); err != nil {
			return 0, err
		}
	}
	r.visits[at] = n
	for at, part := range r.parts(at, schema, false) {
		if _, err := r.count(at, part); err != nil {
			return 0, err
		}
	}
	return n, nil
}

// parts are the parts right below a schema: those applied to the same value, or the others.
func (r *schemaRefs) parts(at string, schema map[string]any, same bool) func(func(string, any) bool) {
	return func(yield func(string, any) bool) {
		for _, key := range slices.Sorted(maps.Keys(schema)) {
			if slices.Contains(strings.Fields("not if then else allOf anyOf oneOf dependentSchemas"), key) != same {
				continue
			}
			at := below(at, key)
			switch holds := schema[key].(type) {
			case []any:
				for i, part := range holds {
					if (r.words[key] == "list" || key == "items") && !yield(below(at, strconv.Itoa(i)), part) {
						return
					}
				}
			case map[string]any:
				if r.words[key] == "one" && !yield(at, holds) {
					return
				}
				for _, name := range slices.Sorted(maps.Keys(holds)) {
					if r.words[key] == "map" && !yield(below(at, name), holds[name]) {
						return
					}
				}
			}
		}
	}
}

// find is the part that a reference names.
func (r *schemaRefs) find(ref string) (string, any, error) {
	u, err := url.Parse(ref)
	if err != nil || !strings.HasPrefix(ref, "#") || u.Fragment != "" && u.Fragment[0] != '/' {
		return "", nil, fmt.Errorf("$ref is %q; write # or a path within the schema, such as #/$defs/name", ref)
	}
	at, node := "#", any(r.root)
	for _, key := range strings.Split(u.Fragment, "/")[1:] {
		key = strings.NewReplacer("~1", "/", "~0", "~").Replace(key)
		at = below(at, key)
		switch holds := node.(type) {
		case map[string]any:
			node = holds[key]
		case []any:
			if i, err := strconv.Atoi(key); err == nil && i >= 0 && i < len(holds) {
				node = holds[i]
			}
		}
	}
	return at, node, nil
}

// below is the JSON pointer of what key names in the part at.
func below(at, key string) string {
	return at + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(key)
}

package workflow

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"gopkg.in/yaml.v3"
)

// ResolveSchema makes of an OutputSchema or an InputSchema what values can be held to.
func ResolveSchema(schema map[string]any) (*jsonschema.Resolved, error) {
	b, err := json.Marshal(schema)
	if err != nil {
		return nil, err
	}
	s := &jsonschema.Schema{}
	if err := json.Unmarshal(b, s); err != nil {
		return nil, err
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		return nil, err
	}
	return resolved, checkRefs(schema)
}

// checkSchema finds what is wrong with a schema: keywords and types that JSON Schema does not have, each where it is,
// and else what values cannot be held to.
func (l *loader) checkSchema(a *Agent, key string, n *yaml.Node, schema map[string]any) {
	if n == nil {
		return
	}
	before := len(l.findings.list)
	l.schema(a, key, n, schemaWords())
	if len(l.findings.list) > before {
		return
	}
	if _, err := ResolveSchema(schema); err != nil {
		l.wrong(n, "`%s` of `%s` cannot be used: %v", key, a.Name, err)
	}
}

// schema checks the keywords of a schema and of those in it.
func (l *loader) schema(a *Agent, key string, n *yaml.Node, words map[string]string) {
	known := slices.Sorted(maps.Keys(words))
	pairs(n, func(k, v *yaml.Node) {
		holds, ok := words[k.Value]
		switch {
		case strings.HasPrefix(k.Value, "x-"):
		case !ok:
			l.add(UnknownKey, at(k), "`%s` of `%s` has `%s`, which is no keyword of JSON Schema%s", key, a.Name, k.Value,
				l.meant(k.Value, known, "they are"))
		case k.Value == "type":
			l.schemaType(a, key, v)
		case holds == "list" || k.Value == "items" && v.Kind == yaml.SequenceNode:
			for _, one := range v.Content {
				l.schema(a, key, one, words)
			}
		case holds == "map":
			pairs(v, func(_, one *yaml.Node) { l.schema(a, key, one, words) })
		case holds == "one":
			l.schema(a, key, v, words)
		}
	})
}

// schemaType finds types that JSON Schema does not have.
func (l *loader) schemaType(a *Agent, key string, v *yaml.Node) {
	types := []string{"object", "array", "string", "number", "integer", "boolean", "null"}
	list := v.Content
	if v.Kind == yaml.ScalarNode {
		list = []*yaml.Node{v}
	}
	for _, t := range list {
		if t.Kind == yaml.ScalarNode && !slices.Contains(types, t.Value) {
			l.add(BadValue, at(t), "`%s` of `%s` has the type %q%s", key, a.Name, t.Value,
				l.meant(t.Value, types, "the types are"))
		}
	}
}

// schemaWords are the keywords of JSON Schema, and what a keyword holds: nothing to look into, a schema, a list of
// them, or a mapping of names to them.
func schemaWords() map[string]string {
	words := map[string]string{}
	for holds, list := range map[string]string{
		"": "$schema $id $anchor $dynamicAnchor $ref $dynamicRef $vocabulary $comment type enum const title description " +
			"default examples deprecated readOnly writeOnly multipleOf maximum exclusiveMaximum minimum exclusiveMinimum " +
			"maxLength minLength pattern format contentEncoding contentMediaType maxItems minItems uniqueItems maxContains " +
			"minContains maxProperties minProperties required dependentRequired",
		"one": "not if then else items contains additionalProperties propertyNames unevaluatedItems unevaluatedProperties " +
			"contentSchema additionalItems",
		"list": "allOf anyOf oneOf prefixItems",
		"map":  "properties patternProperties dependentSchemas $defs definitions",
	} {
		for _, word := range strings.Fields(list) {
			words[word] = holds
		}
	}
	return words
}

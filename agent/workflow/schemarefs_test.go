package workflow_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/voicegw/voicegw/agent/workflow"
)

// TestSchemaRefs holds values to schemas that refer to themselves, and wants those to be refused that would not end.
func TestSchemaRefs(t *testing.T) {
	object := func(in ...any) map[string]any {
		m := map[string]any{}
		for i := 0; i < len(in); i += 2 {
			m[in[i].(string)] = in[i+1]
		}
		return m
	}
	ref := func(to string) map[string]any { return object("$ref", to) }
	tree, err := workflow.ResolveSchema(object("type", "object", "required", []any{"n"}, "default", ref("no reference"),
		"properties", object("n", object("type", "integer"), "list", object("type", "array", "items", ref("#")))))
	if err != nil {
		t.Fatal(err)
	}
	leaf := object("n", 1.0)
	if err := tree.Validate(object("n", 1.0, "list", []any{leaf, leaf})); err != nil {
		t.Error(err)
	}
	if tree.Validate(object("n", 1.0, "list", []any{leaf, object()})) == nil {
		t.Error("a part that does not fit is accepted")
	}
	double := object()
	for i := range 30 {
		next := ref(fmt.Sprintf("#/$defs/d%d", i+1))
		double[fmt.Sprint("d", i)] = object("allOf", []any{next, next})
	}
	double["d30"] = object("type", "string")
	for want, schema := range map[string]map[string]any{
		"# refers to itself":                       ref("#"),
		"#/not refers to itself":                   object("not", ref("#/not")),
		"#/dependentSchemas/~1~0 refers to itself": object("dependentSchemas", object("/~", ref("#/dependentSchemas/~1~0"))),
		"#/items refers to itself":                 object("items", object("if", ref("#/items"))),
		"more than 10000 parts":                    object("$defs", double, "$ref", "#/$defs/d0"),
		`$ref is "#x"`:                             object("$anchor", "x", "items", ref("#x")),
		"#/items has $id":                          object("items", object("$id", "https://a.example/s")),
	} {
		if _, err := workflow.ResolveSchema(schema); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", schema, err, want)
		}
	}
}

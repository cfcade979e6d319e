package openapi

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/voicegw/voicegw/agent/fetch"
)

// big is a document of about n bytes with one operation and many schemas.
func big(n int) string {
	var b strings.Builder
	b.WriteString(document("https://x.example", "  /a: {get: {operationId: a, "+ok+"}}\ncomponents:\n  schemas:\n"))
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "    S%d: {type: object, description: %q, properties: {p: {$ref: '#/components/schemas/S0'}}}\n", i,
			strings.Repeat("words ", 60))
	}
	return b.String()
}

// hostile are documents that would take all time or memory if nothing stopped them.
func hostile() map[string]string {
	body := func(schemas string) string {
		return document("https://x.example",
			"  /a: {post: {operationId: a, "+ok+", requestBody: {content: {application/json: "+
				"{schema: {$ref: '#/components/schemas/S0'}}}}}}\ncomponents:\n  schemas:\n"+schemas)
	}
	var laughs, doubles, names strings.Builder
	laughs.WriteString("openapi: 3.0.0\na0: &a0 [x]\n")
	for i := range 30 {
		fmt.Fprintf(&laughs, "a%d: &a%d [*a%d, *a%d]\n", i+1, i+1, i, i)
		fmt.Fprintf(&doubles, "    S%d: {allOf: [{$ref: '#/components/schemas/S%d'}, {$ref: "+
			"'#/components/schemas/S%d'}]}\n", i, i+1,
			i+1)
	}
	doubles.WriteString("    S30: {type: object}\n")
	for i := range 200 {
		fmt.Fprintf(&names, "    S%d: {$ref: '#/components/schemas/S%d'}\n", i, (i+1)%200)
	}
	return map[string]string{
		"billion laughs":  laughs.String(),
		"doubling allOf":  body(doubles.String()),
		"references only": body(names.String()),
		"self":            body("    S0: {$ref: '#/components/schemas/S0'}\n"),
		"self in self":    body("    S0: {$ref: '#/components/schemas/S0/properties/a'}\n"),
		"path to itself":  document("https://x.example", "  /a: {$ref: '#/paths/~1a'}\n"),
		"alias of itself": "openapi: 3.0.0\na: &a [*a]\n",
		"large":           big(documentMax + 1),
	}
}

// memoryMax is what the load of a small hostile document may allocate in all.
const memoryMax = 1 << 30

func TestHostile(t *testing.T) {
	for name, doc := range hostile() {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		w := newWorld(t, answer("{}"))
		tools, err := w.load(doc, Config{})
		runtime.ReadMemStats(&after)
		size := len(fmt.Sprint(tools["a"].Declaration)) // where there is a tool, it is small
		if bytes := after.TotalAlloc - before.TotalAlloc; (err == nil) != (name == "doubling allOf") || err != nil &&
			len(err.Error()) > 1000 || bytes > memoryMax || size > 64<<10 {
			t.Errorf("%s: the error is %v, after %d MiB, and the tool has %d bytes", name, err, bytes>>20, size)
		}
	}
}

// TestLarge loads a document of ten megabytes.
func TestLarge(t *testing.T) {
	w := newWorld(t, answer("{}"))
	v, err := (&counter{}).yaml(yamlNode(t, big(1<<12)), 0)
	if err != nil {
		t.Fatal(err)
	}
	schemas := v.(map[string]any)["components"].(map[string]any)["schemas"].(map[string]any)
	for i := 0; len(schemas)*400 < 10<<20; i++ {
		schemas[fmt.Sprint("More", i)] = schemas["S1"]
	}
	text, err := json.Marshal(v)
	if err != nil || len(text) < 10<<20 {
		t.Fatalf("it has %d bytes, %v", len(text), err)
	}
	if tools, err := w.load(string(text), Config{}); err != nil || len(tools) != 1 {
		t.Errorf("%v, %v", tools, err)
	}
}

func yamlNode(t *testing.T, text string) *yaml.Node {
	t.Helper()
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	return doc.Content[0]
}

// TestRecursion describes a schema that contains itself once, on every way to it.
func TestRecursion(t *testing.T) {
	w := newWorld(t, answer("{}"))
	tools, err := w.load(document(w.url, "  /a: {post: {operationId: a, "+ok+", requestBody: {content: "+
		"{application/json: "+
		"{schema: {$ref: '#/components/schemas/A'}}}}}}\ncomponents:\n  schemas:\n"+
		"    A: {type: object, properties: {b: {$ref: '#/components/schemas/B'}, again: {$ref: '#/components/schemas/A'}}}\n"+
		"    B: {type: array, items: {$ref: '#/components/schemas/A'}}\n"), Config{})
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprint(tools["a"].Declaration.ParametersJsonSchema)
	if want := "map[properties:map[body:map[properties:map[again:map[description:another A] " +
		"b:map[items:map[description:another A] " +
		"type:array]] type:object]] required:[] type:object]"; got != want {
		t.Errorf("the schema is %s\nwant %s", got, want)
	}
}

// FuzzDocument holds that no document panics, reads another file, or makes a tool that asks another server than the
// document says.
func FuzzDocument(f *testing.F) {
	for name, doc := range hostile() {
		if name != "large" && name != "billion laughs" { // which are slow
			f.Add(doc)
		}
	}
	f.Add(desk)
	f.Add(strings.Replace(desk, "3.0.3", "3.1.0", 1))
	f.Add(`{"openapi": "3.0.0", "info": {"title": "t", "version": "1"}, "paths": {"/a": {"get": {"responses": {}}}}}`)
	dir := f.TempDir()
	c, err := fetch.New(fetch.Config{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, doc string) {
		if err := os.WriteFile(filepath.Join(dir, "doc"), []byte(doc), 0o600); err != nil {
			t.Fatal(err)
		}
		list, err := Load("x", Config{Spec: "doc", Server: "https://api.example/v1"}, Options{Dir: dir, Client: c})
		if err != nil {
			if len(err.Error()) > 2000 {
				t.Errorf("the error has %d bytes", len(err.Error()))
			}
			return
		}
		for _, one := range list {
			if !toolPattern.MatchString(one.Declaration.Name) {
				t.Errorf("the tool %q", one.Declaration.Name)
			}
		}
		parsed, err := parse([]byte(doc))
		if err != nil {
			t.Fatal(err)
		}
		ops, err := operations(parsed, Config{Server: "https://api.example/v1"})
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range ops {
			args := map[string]any{}
			for _, name := range o.required {
				args[name] = "../@evil.example:80/?#x"
			}
			if r, err := o.request(args); err == nil && !strings.HasPrefix(r.URL, "https://api.example/v1/") {
				t.Errorf("it asks %q", r.URL)
			}
		}
	})
}

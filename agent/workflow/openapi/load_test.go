package openapi

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// fits is the filter for what is supported of desk.
func fits() []string { return []string{"*", "!upload"} }

func TestTools(t *testing.T) {
	w := newWorld(t, answer(`{"ok": true}`))
	tools, err := w.load(strings.Replace(desk, "SERVER", w.url, 1), Config{NamePrefix: "desk_", ToolFilter: fits()})
	if err != nil {
		t.Fatal(err)
	}
	if len(tools) != 3 || !tools["desk_listTickets"].Idempotent || tools["desk_createTicket"].Idempotent {
		t.Errorf("the tools are %v", tools)
	}
	b, _ := json.Marshal(tools["desk_createTicket"].Declaration.ParametersJsonSchema)
	want := `{"properties":{"X-Tenant":{"type":"string"},"body":{"properties":{"due":{"format":"date",` +
		`"type":["string","null"]},` +
		`"example":{"type":"string"},"parent":{"description":"another Ticket"},"tags":{"items":{"enum":["red","green"],` +
		`"type":"string"},"type":"array"},"title":{"type":"string"}},"required":["title"],"type":"object"}},` +
		`"required":["X-Tenant","body"],"type":"object"}`
	if string(b) != want {
		t.Errorf("the schema is %s\nwant %s", b, want)
	}
	b, _ = json.Marshal(tools["desk_listTickets"].Declaration)
	if !strings.Contains(string(b), `"description":"any of them"`) || !strings.Contains(string(b), "Lists tickets.") ||
		strings.Contains(string(b), "exclusiveMinimum") {
		t.Errorf("the declaration is %s", b)
	}
	r := w.call(tools, "desk_listTickets",
		`{"X-Tenant": "a b", "tag": ["x", "y&z"], "ids": [1, 2], "open": true, "limit": 5,
		"seen": "a;b"}`)
	q := w.last().URL
	if r["status"] != "success" || r["status_code"] != 200.0 ||
		!reflect.DeepEqual(r["body"], map[string]any{"ok": true}) ||
		q.Path != "/v1/tickets" || q.RawQuery != "ids=1%2C2&limit=5&open=true&tag=x&tag=y%26z" ||
		w.last().Header.Get("X-Tenant") != "a b" || w.last().Header.Get("Cookie") != "seen=a%3Bb" ||
		w.last().Header.Get("Idempotency-Key") != "" {
		t.Errorf("%v after %s with %v", r, q, w.last().Header)
	}
	for _, body := range []string{`{"title": "x"}`, `" {\"title\": \"x\"} "`} {
		w.call(tools, "desk_createTicket", `{"X-Tenant": "a", "body": `+body+`}`)
		if sent := strings.ReplaceAll(w.sent[len(w.sent)-1], " ", ""); sent != `{"title":"x"}` || w.last().Method != "POST" ||
			w.last().Header.Get("Content-Type") != "application/json" || w.last().Header.Get("Idempotency-Key") != "key 1" {
			t.Errorf("%s is sent with %v", sent, w.last().Header)
		}
	}
	w.call(tools, "desk_get_tickets_id", `{"id": "a/..b?c#d"}`)
	if p := w.last().RequestURI; p != "/v1/tickets/a%2F..b%3Fc%23d" {
		t.Errorf("the path is %s", p)
	}
	n := len(w.got)
	for args, want := range map[string]string{
		`{"id": ".."}`: "which is no part of a path", `{"id": "x/../../admin"}`: "no part of a path",
		`{"id": "..\\\\admin"}`: "no part of a path", `{"id": "..;a/admin"}`: "no part of a path",
		`{"id": ""}`: "no part of a path", `{}`: "the argument id is missing",
		`{"id": ["a"]}`: "must be one value, not a list", `{"id": {"a": 1}}`: "must be a text",
		`{"idd": "a"}`: `did you mean "id"`,
		`{"id": "a", "url": "http://evil.example"}`: `no argument "url"; they are: id`,
	} {
		if r := w.call(tools, "desk_get_tickets_id", args); !strings.Contains(r["error"].(string), want) {
			t.Errorf("%s: %v", args, r)
		}
	}
	if r := w.call(tools, "desk_createTicket", `{"X-Tenant": "a", "body": "{"}`); !strings.Contains(r["error"].(string),
		"body is no JSON: unexpected end of JSON input, at byte 1") {
		t.Errorf("%v", r)
	}
	if len(w.got) != n {
		t.Error("a wrong call reached the server")
	}
}

// TestAnswers takes what servers answer for what it is.
func TestAnswers(t *testing.T) {
	status, text := 404, "<html>"
	w := newWorld(t, func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "application/json")
		rw.WriteHeader(status)
		_, _ = rw.Write([]byte(text))
	})
	tools, err := w.load(document(w.url, "  /a: {get: {operationId: a, "+ok+"}}"), Config{})
	if err != nil {
		t.Fatal(err)
	}
	if r := w.call(tools, "a", `{}`); r["status"] != "error" || r["status_code"] != 404.0 || r["body"] != "<html>" ||
		r["error"] != "a: the server answered 404" {
		t.Errorf("%v", r)
	}
	status, text = 200, "<html>"
	if r := w.call(tools, "a", `{}`); r["status"] != "success" || r["body"] != "<html>" {
		t.Errorf("%v", r)
	}
	text = "\xff"
	if r := w.call(tools, "a", `{}`); r["status"] != "error" || r["status_code"] != 200.0 {
		t.Errorf("%v", r)
	}
	w.opt.Client = nil // the public network only
	if tools, err = w.load(document(w.url, "  /a: {get: {operationId: a, "+ok+"}}"), Config{}); err != nil {
		t.Fatal(err)
	}
	n := len(w.got)
	if r := w.call(tools, "a", `{}`); !strings.Contains(r["error"].(string), "127.0.0.0/8 (this machine)") ||
		len(w.got) > n {
		t.Errorf("%v", r)
	}
}

// TestRefused holds what is refused at load to its words.
func TestRefused(t *testing.T) {
	w := newWorld(t, answer("{}"))
	get := func(rest string) string {
		return document(w.url, "  /a/{id}: {get: {operationId: a, "+ok+", "+rest+"}}")
	}
	id := "{name: id, in: path, required: true, schema: {type: string}}"
	both := "  /a: {get: {operationId: a.b, " + ok + "}}\n  /b: {get: {operationId: 'a/b', " + ok + "}}"
	deep := strings.Repeat("[", 100) + strings.Repeat("]", 100)
	for _, c := range []struct{ want, doc string }{
		{"its version is openapi <nil>, swagger 2.0; it must be openapi 3", "swagger: '2.0'"},
		{"it must be openapi 3", "openapi: 4.0.0"},
		{"it is empty", ""},
		{"it must be an object", "[1]"},
		{"it is no JSON", `{"openapi": "3.0.0"`},
		{"it is no YAML", "a: ["},
		{"is there twice", "a: 1\na: 2"},
		{"must define exactly all path parameters (missing: [id])", get("parameters: []")},
		{`query parameter "f": the style deepObject is not supported, only form; leave the operation out with tool_filter`,
			get("parameters: [" + id + ", {name: f, in: query, style: deepObject, schema: {type: object}}]")},
		{"pipeDelimited",
			get("parameters: [" + id + ", {name: f, in: query, style: pipeDelimited, schema: {type: array, items: {}}}]")},
		{"an object as a parameter", get("parameters: [" + id + ", {name: f, in: query, schema: {type: object}}]")},
		{"content is not supported", get("parameters: [" + id + ", {name: f, in: query, content: {application/json: {}}}]")},
		{"another parameter has this name", get("parameters: [" + id + ", {name: id, in: query, schema: {type: string}}]")},
		{"it refers to another file", get("parameters: [{$ref: 'other.yaml#/x'}]")},
		{"it refers to another file", get("parameters: [{$ref: 'http://127.0.0.1/x#/y'}]")},
		{"it refers to another file", get("parameters: [{$ref: '/etc/passwd#/y'}]")},
		{"set server to the base URL", document("/v1", "  /a: {get: {"+ok+"}}")},
		{"user name or a password", document("http://u:p@x", "  /a: {get: {"+ok+"}}")},
		{"a base URL without a query", document("https://x/?a=b", "  /a: {get: {"+ok+"}}")},
		{"it has 0 operations", document(w.url, "  {}")},
		{`would both be the tool "a_b"`, document(w.url, both)},
		{"has 65 characters", document(w.url, "  /a: {get: {operationId: "+strings.Repeat("a", 65)+", "+ok+"}}")},
		{"a body of multipart/form-data is not supported", strings.Replace(desk, "SERVER", w.url, 1)},
		{"nested more than 64 levels deep", deep},
		{"nested more than 64 levels deep", `{"a":` + deep + "}"},
	} {
		if _, err := w.load(c.doc, Config{}); err == nil || !strings.Contains(err.Error(), c.want) ||
			!strings.HasPrefix(err.Error(), "openapi_tools.api: api.yaml: ") {
			t.Errorf("%.200s: the error is %v; want %s", c.doc, err, c.want)
		}
	}
	doc := document(w.url, "  /a: {get: {operationId: a, "+ok+"}}")
	for want, filter := range map[string][]string{`the pattern "b*" of tool_filter selects no operation`: {"a", "b*"},
		"it has 0 operations": {"!a"}, `the pattern "[" of tool_filter is wrong`: {"["}} {
		if _, err := w.load(doc, Config{ToolFilter: filter}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: the error is %v; want %s", filter, err, want)
		}
	}
	outside := filepath.Join(t.TempDir(), "secret.yaml")
	if err := os.WriteFile(outside, []byte(doc), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(w.opt.Dir, "link.yaml")); err != nil {
		t.Fatal(err)
	}
	for _, spec := range []string{"", outside, "../secret.yaml", "link.yaml", ".", "none.yaml"} {
		if _, err := Load("x", Config{Spec: spec}, w.opt); err == nil || !strings.Contains(err.Error(), "spec") {
			t.Errorf("%q: the error is %v", spec, err)
		}
	}
}

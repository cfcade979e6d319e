package openapi

import (
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

var toolPattern = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

func TestParse(t *testing.T) {
	got, err := Parse("pyflow.yaml", []byte(`
openapi_tools:
  crm:
    spec: crm.yaml
    name_prefix: crm_
    tool_filter: [list*, "!listSecrets"]
    auth: {type: bearer, token_env: CRM_TOKEN}
  books:
    spec: books.json
    auth:
      type: oauth2
      token_url: https://x/token
      client_id_env: A
      client_secret_env: B
      scopes: {read: reads things}
  open: {spec: open.yaml}
`))
	want := map[string]Config{
		"crm": {Spec: "crm.yaml", NamePrefix: "crm_", ToolFilter: []string{"list*", "!listSecrets"},
			Auth: Auth{Type: "bearer", TokenEnv: "CRM_TOKEN"}},
		"books": {Spec: "books.json", Auth: Auth{Type: "oauth2", TokenURL: "https://x/token", ClientIDEnv: "A",
			ClientSecretEnv: "B", Scopes: Scopes{"read"}}},
		"open": {Spec: "open.yaml"},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
	for _, c := range []struct{ want, text string }{
		{"x.yaml: it is empty", ""},
		{"x.yaml:1:1: there is no key `openapi_tool`; did you mean `openapi_tools`?", "openapi_tool: {}"},
		{"x.yaml:1:16: `openapi_tools`: it must be a mapping", "openapi_tools: [1]"},
		{"x.yaml:2:16: `openapi_tools`: `a`: there is no key `name_prefx`; did you mean `name_prefix`?",
			"openapi_tools:\n  a: {spec: s, name_prefx: p}"},
		{"x.yaml:2:13: `openapi_tools`: `a`: `spec`: it must be a text", "openapi_tools:\n  a: {spec: [s]}"},
		{"x.yaml:2:20: `openapi_tools`: `a`: `tool_filter`: it must be a list of patterns of operation ids, such as " +
			"[\"get*\", \"!getSecret\"], and is \"desk.read_only\"; a function of Python, which PyFlow takes, cannot be called",
			"openapi_tools:\n  a: {tool_filter: desk.read_only}"},
		{"`tool_filter`: it must be a list", "openapi_tools:\n  a: {tool_filter: {get: x}}"},
		{"`scopes`: it must be", "openapi_tools:\n  a: {auth: {scopes: read}}"},
		{"there is no key `token`", "openapi_tools:\n  a: {auth: {token: s3cret}}"},
		{"there is no key `authorization_url`; the keys are: type",
			"openapi_tools:\n  a: {auth: {type: oauth2, authorization_url: x}}"},
		{"`spec` is there twice", "openapi_tools:\n  a: {spec: a, spec: b}"},
		{"aliases are not supported", "openapi_tools: &a\n  b: *a"},
		{"x.yaml: ", "a: ["},
		{"it has 1048577 bytes", strings.Repeat(" ", configMax+1)},
	} {
		if _, err := Parse("x.yaml", []byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) ||
			strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%.80s: the error is %v; want %s", c.text, err, c.want)
		}
	}
}

// TestPage parses the example of the documentation.
func TestPage(t *testing.T) {
	b, err := os.ReadFile("../../../docs/workflows.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(b), "\n## OpenAPI\n")
	_, text, _ = strings.Cut(text, "```yml\n")
	text, _, _ = strings.Cut(text, "```")
	if got, err := Parse("page.yaml", []byte(text)); err != nil || got["crm"].Auth.TokenEnv != "CRM_TOKEN" {
		t.Errorf("%+v, %v", got, err)
	}
}

// FuzzParse holds that no text panics.
func FuzzParse(f *testing.F) {
	f.Add("openapi_tools: {a: {spec: x, auth: {scopes: [a]}}}")
	f.Add("openapi_tools: {a: {auth: {scopes: {a: b}}}}")
	f.Add("# x")
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := Parse("x", []byte(text)); err != nil && !strings.HasPrefix(err.Error(), "x") {
			t.Errorf("the error %v does not name the file", err)
		}
	})
}

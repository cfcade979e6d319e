package provider

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"google.golang.org/genai"

	"github.com/voicegw/voicegw/agent/provider/wiretest"
)

// TestDefault opens the model of an empty Ref: of the first provider that has a key, and else the parrot.
func TestDefault(t *testing.T) {
	for _, c := range []struct {
		env  map[string]string
		cfg  Config
		want string
	}{
		{nil, Config{}, "parrot"},
		{map[string]string{"ANTHROPIC_API_KEY": "k"}, Config{}, "claude-sonnet-5"},
		{map[string]string{"ANTHROPIC_API_KEY": "k", "OPENAI_API_KEY": "k"}, Config{}, "gpt-5-mini"},
		{map[string]string{"GOOGLE_API_KEY": "k", "OPENAI_API_KEY": "k"}, Config{}, "gemini-flash-latest"},
		{map[string]string{"OLLAMA_HOST": "127.0.0.1"}, Config{}, "parrot"},
		{nil, Config{Keys: map[string]string{OpenAI: "k"}}, "gpt-5-mini"},
		{map[string]string{"GEMINI_API_KEY": "k"}, Config{Default: Ref{Provider: Ollama, Model: "m"}}, "m"},
	} {
		c.cfg.Lookup = func(name string) string { return c.env[name] }
		r, err := c.cfg.Resolver()
		if err != nil {
			t.Fatal(err)
		}
		llm, err := r.Open(Ref{})
		if err != nil || llm.Name() != c.want {
			t.Errorf("%v: %v, %v; want %s", c.env, llm, err, c.want)
		}
		if r.Default() == (Ref{}) {
			t.Errorf("%v: the default is empty", c.env)
		}
	}
	if llm, err := NewResolver().Open(Ref{}); err != nil || llm.Name() != "parrot" {
		t.Errorf("offline: %v, %v", llm, err)
	}
}

// TestRefs reads names of models.
func TestRefs(t *testing.T) {
	for in, want := range map[string]string{
		`"gpt-5"`: "openai gpt-5", `"GPT-5"`: "openai GPT-5", `"o3-mini"`: "openai o3-mini",
		`"gemini-flash-latest"`: "gemini gemini-flash-latest",
		`"claude-sonnet-5"`:     "anthropic claude-sonnet-5", `"llama3.2"`: "ollama llama3.2",
		`"deepseek-r1"`: "ollama deepseek-r1",
		`"mistral"`:     "ollama mistral", `"gemini"`: "gemini ", `"openai"`: "openai ",
		`"ollama/gpt-oss:20b"`:      "ollama gpt-oss:20b",
		`"openai_compatible/org/m"`: "openai_compatible org/m", `""`: " ",
		`{"provider":"openai","model":"m"}`:                     "openai m",
		`{"provider":"openai","model":{"model":"m"}}`:           "openai m",
		`{"provider":"x","model":{"model":"m","base_url":"u"}}`: "x m u ",
		`{"provider":"x","base_url":"u","api_key_name":"K"}`:    "x  u K",
		`{"provider":"x","model":{"model":"m","api_key":"s"}}`:  "! api_key is a secret",
		`{"provider":"x","api_key":"s"}`:                        "! api_key is a secret",
		`{"provider":"x","speed":"fast"}`:                       `! unknown field "speed"`,
		`{"provider":"x","model":{"name":"m"}}`:                 `! unknown field "name"`,
		`{"provider":"x","model":7}`:                            "! cannot unmarshal",
		`"/m"`:                                                  "! has no provider",
	} {
		var r Ref
		err := json.Unmarshal([]byte(in), &r)
		got := strings.TrimSuffix(fmt.Sprintf("%s %s %s %s", r.Provider, r.Model, r.BaseURL, r.KeyName), "  ")
		if refusal, ok := strings.CutPrefix(want, "! "); ok {
			if err == nil || !strings.Contains(err.Error(), refusal) {
				t.Errorf("%s: %v; want %s", in, err, refusal)
			}
		} else if err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", in, got, err, want)
		}
	}
}

// TestConnect checks what a model needs before it opens.
func TestConnect(t *testing.T) {
	env := map[string]string{"OPENAI_API_KEY": "k", "TEAM_KEY": wiretest.Key, "OPENAI_COMPATIBLE_BASE_URL": "ftp://x"}
	refused := errors.New("not that one")
	allow := func(r Ref) error {
		if r.BaseURL == "http://evil.test" {
			return refused
		}
		return nil
	}
	for _, c := range []struct {
		ref   Ref
		allow func(Ref) error
		want  string
	}{
		{Ref{Provider: Gemini}, nil, "it has no key; set GEMINI_API_KEY or GOOGLE_API_KEY"},
		{Ref{Provider: Anthropic, Model: "m"}, nil, "set ANTHROPIC_API_KEY"},
		{Ref{Provider: Compatible, Model: "m"}, nil, `"ftp://x" is no address`},
		{Ref{Provider: Ollama}, nil, "<nil>"},
		{Ref{Provider: OpenAI, BaseURL: "http://a.test"}, nil, "is not allowed"},
		{Ref{Provider: OpenAI, KeyName: "TEAM_KEY"}, nil, "is not allowed"},
		{Ref{Provider: OpenAI, BaseURL: "http://evil.test"}, allow, "not that one"},
		{Ref{Provider: OpenAI, BaseURL: "http://a.test"}, allow, "it has no key"}, // OPENAI_API_KEY is for OpenAI
		{Ref{Provider: OpenAI, BaseURL: "http://a.test", KeyName: "NO_KEY"}, allow,
			"NO_KEY, which holds the key, is not set"},
		{Ref{Provider: OpenAI, BaseURL: "http://a.test", KeyName: "TEAM_KEY"}, allow, "<nil>"},
		{Ref{Provider: Compatible, BaseURL: "http://a.test/v1"}, allow, "openai_compatible/MODEL"},
		{Ref{Provider: Compatible, Model: "m", BaseURL: "http://u:p@a.test"}, allow, "is no address"},
		{Ref{Provider: Compatible, Model: "m", BaseURL: "a.test/v1"}, allow, "is no address"},
	} {
		cfg := Config{Lookup: func(n string) string { return env[n] }, Allow: c.allow}
		r, err := cfg.Resolver()
		if err != nil {
			t.Fatal(err)
		}
		_, err = r.Open(c.ref)
		if !strings.Contains(fmt.Sprint(err), c.want) {
			t.Errorf("%+v: %v; want %s", c.ref, err, c.want)
		}
		if noKey := strings.Contains(fmt.Sprint(err), "it has no key"); noKey != errors.Is(err, ErrNoKey) {
			t.Errorf("%+v: %v is ErrNoKey: %v", c.ref, err, !noKey)
		}
	}
	for _, base := range []string{"https://x?key=s3cret", "https://me:s3cret@x", "me:s3cret@x", "https://me:s3?cret@x",
		"https://x?key=s3cret@y"} {
		_, err := Config{BaseURLs: map[string]string{OpenAI: base}}.Resolver()
		if err == nil || strings.Contains(err.Error(), "s3") {
			t.Errorf("the address %s is taken, or its key is told: %v", base, err)
		}
	}
	if _, err := (Config{}).Resolver(); err != nil {
		t.Error(err)
	}
}

// TestOllamaHost reads an address as Ollama's own clients do.
func TestOllamaHost(t *testing.T) {
	for host, want := range map[string]string{"": "http://127.0.0.1:11434", "box": "http://box:11434",
		"box:80": "http://box:80", "https://box/": "https://box"} {
		r, err := Config{Lookup: func(n string) string { return map[string]string{"OLLAMA_HOST": host}[n] }}.Resolver()
		if err != nil {
			t.Fatal(err)
		}
		llm, err := r.Open(Ref{Provider: Ollama})
		if err != nil || llm.(*client).base != want {
			t.Errorf("%q: %v, %v; want %s", host, llm, err, want)
		}
	}
}

// TestForeignAddress sends a key only to the address that it is for.
func TestForeignAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got http.Header
		cfg := Config{Keys: map[string]string{Ollama: "the operator's key"}, Allow: func(Ref) error { return nil },
			Client: &http.Client{Transport: local(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				got = r.Header
				http.Redirect(w, r, "http://elsewhere.test", http.StatusTemporaryRedirect)
			}))}}
		r, err := cfg.Resolver()
		if err != nil {
			t.Fatal(err)
		}
		llm, err := r.Open(Ref{Provider: Ollama, Model: "m", BaseURL: "http://a.test"})
		if err != nil {
			t.Fatal(err)
		}
		if s := heard(t.Context(), llm, hello(), false); s != "! invalid status=307 attempts=1 again=false" {
			t.Error(s)
		}
		if got == nil || got.Get("Authorization") != "" {
			t.Errorf("the headers were %v", got)
		}
	})
}

// TestLiveClient lets ADK's live flow find the client of a Gemini model.
func TestLiveClient(t *testing.T) {
	r, _ := Config{Keys: map[string]string{Gemini: "k"},
		BaseURLs: map[string]string{Gemini: "http://a.test/v1beta"}}.Resolver()
	llm, err := r.Open(Ref{Provider: Gemini, Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	c, ok := llm.(interface{ Client() *genai.Client })
	if !ok || c.Client() == nil || c.Client().ClientConfig().HTTPOptions.BaseURL != "http://a.test/" {
		t.Errorf("%T has no client", llm)
	}
}

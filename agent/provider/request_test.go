package provider

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"google.golang.org/adk/v2/model"
	"google.golang.org/genai"

	"github.com/voicegw/voicegw/agent/provider/wiretest"
)

var update = flag.Bool("update", false, "write the golden files")

func ptr[T any](v T) *T { return &v }

// story is a session with all that every provider takes: instructions, two contents of one role, an image,
// thoughts of others, parallel calls with one id, a call without one, results in another order, and a tool
// whose name and schema no provider takes as they are.
func story() *model.LLMRequest {
	call := func(id, name string, args map[string]any) *genai.Part {
		return &genai.Part{FunctionCall: &genai.FunctionCall{ID: id, Name: name, Args: args}}
	}
	result := func(id, name string, r map[string]any) *genai.Part {
		return &genai.Part{FunctionResponse: &genai.FunctionResponse{ID: id, Name: name, Response: r}}
	}
	return &model.LLMRequest{
		Contents: []*genai.Content{
			user("Hello."),
			{Role: "user", Parts: []*genai.Part{{Text: "What is this?"},
				{InlineData: &genai.Blob{MIMEType: "image/png", Data: []byte("png")}}}},
			nil,
			{Role: "model", Parts: []*genai.Part{
				{Text: "a thought of nobody", Thought: true},
				{Text: "a thought of somebody else", Thought: true, ThoughtSignature: []byte(signatureTag + "other:x")},
				{Text: "I look it up."}, call("a", "desk::look up", map[string]any{"day": "monday"}),
				call("a", "desk::look up", map[string]any{"day": "sunday"}), call("", "menu", nil)}},
			{Role: "user", Parts: []*genai.Part{result("", "menu", map[string]any{"error": "closed"}),
				result("a", "desk::look up", map[string]any{"dish": "soup"})}},
			{Role: "user", Parts: []*genai.Part{result("a", "desk::look up", nil), {Text: "Well?"}}},
			{Role: "model", Parts: []*genai.Part{{Text: "Soup."}}},
		},
		Config: &genai.GenerateContentConfig{
			SystemInstruction: genai.NewContentFromText("Be brief.", "user"),
			Temperature:       ptr(float32(0.5)), TopP: ptr(float32(0.9)), MaxOutputTokens: 100,
			ResponseJsonSchema: map[string]any{"type": "object", "required": []string{"dish"},
				"properties": map[string]any{"dish": map[string]any{"type": "string"}}},
			ToolConfig: choice(genai.FunctionCallingConfigModeAuto, "desk::look up", "menu"),
			Tools: []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{
				{Name: "desk::look up", Description: "looks it up", ParametersJsonSchema: json.RawMessage(referenceSchema)},
				{Name: "menu"}, {Name: "hidden"}}}},
		},
	}
}

func choice(mode genai.FunctionCallingConfigMode, names ...string) *genai.ToolConfig {
	return &genai.ToolConfig{FunctionCallingConfig: &genai.FunctionCallingConfig{Mode: mode, AllowedFunctionNames: names}}
}

// TestRequests sends the story to every fake server, which refuses what the real one refuses, and compares the
// body with a golden file.
func TestRequests(t *testing.T) {
	for _, provider := range networked() {
		t.Run(provider, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				llm, fake := serve(t, provider, nil, fine)
				r := story()
				before, _ := json.Marshal(r)
				if got := heard(t.Context(), llm, r, false); got != fineWhole {
					t.Fatal(got)
				}
				if after, _ := json.Marshal(r); !bytes.Equal(before, after) {
					t.Errorf("the request of the caller changed:\n%s\n%s", before, after)
				}
				golden(t, filepath.Join("testdata", "requests", provider+".json"), fake.Requests()[0].Body)
			})
		})
	}
}

func golden(t *testing.T, file string, v any) {
	t.Helper()
	got, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	got = append(got, '\n')
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs; -update writes it:\n%s", file, got)
	}
}

// TestRoundTrips gives a model back what it thought and called: with the signature, and under the names
// that the session knows.
func TestRoundTrips(t *testing.T) {
	const long = "a tool with a name :: that is longer than sixty-four bytes and has signs"
	for _, c := range []struct {
		provider string
		turn     wiretest.Turn
		want     string // in the second request
	}{
		{Anthropic, wiretest.Turn{Thought: "Hm.", Signature: "sig/1"},
			`{"signature":"sig/1","thinking":"Hm.","type":"thinking"}`},
		{Anthropic, wiretest.Turn{Signature: "dark/1"}, `{"data":"dark/1","type":"redacted_thinking"}`},
		{OpenAI, wiretest.Turn{Thought: "Hm.", Signature: "enc/1"},
			`{"encrypted_content":"enc/1","id":"rs_1","summary":[{"text":"Hm.","type":"summary_text"}],"type":"reasoning"}`},
		{OpenAI, wiretest.Turn{Signature: "enc/1"},
			`{"encrypted_content":"enc/1","id":"rs_1","summary":[],"type":"reasoning"}`},
		{Ollama, wiretest.Turn{Thought: "Hm."}, `"thinking":"Hm."`},
		{Compatible, wiretest.Turn{Thought: "Hm."}, `"reasoning_content":"Hm."`},
		{Gemini, wiretest.Turn{Signature: "c2ln"}, `"thoughtSignature":"c2ln"`},
	} {
		for _, stream := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				turn := c.turn
				turn.Calls = []wiretest.Call{{ID: "a", Name: wireName(long, 64), Args: `{}`}}
				llm, fake := serve(t, c.provider, nil, turn, fine)
				r := hello()
				r.Config.Tools[0].FunctionDeclarations[0].Name = long
				for resp, err := range llm.GenerateContent(t.Context(), r, stream) {
					if err != nil {
						t.Fatal(err)
					}
					if resp.Partial {
						continue
					}
					if last := resp.Content.Parts[len(resp.Content.Parts)-1]; last.FunctionCall.Name != long {
						t.Errorf("%s: it calls %q", c.provider, last.FunctionCall.Name)
					}
					r.Contents = append(r.Contents, resp.Content, result(long, nil))
					r.Contents[len(r.Contents)-1].Parts[0].FunctionResponse.ID = "a"
				}
				if got := heard(t.Context(), llm, r, false); got != fineWhole {
					t.Fatal(got)
				}
				body, _ := json.Marshal(fake.Requests()[1].Body)
				if !strings.Contains(string(body), c.want) {
					t.Errorf("%s, stream %v: the second request has no %s:\n%s", c.provider, stream, c.want, body)
				}
			})
		}
	}
}

// takes are the fields of GenerateContentConfig that each provider takes, beyond those of all.
func takes() map[string][]string {
	return map[string][]string{
		OpenAI:     {},
		Anthropic:  {"StopSequences", "TopK"},
		Compatible: {"StopSequences", "Seed", "PresencePenalty", "FrequencyPenalty"},
		Ollama:     {"StopSequences", "Seed", "TopK", "PresencePenalty", "FrequencyPenalty"},
	}
}

// TestNothingIsDropped sets each field of a request in turn. It must be on the wire, or refused by name.
func TestNothingIsDropped(t *testing.T) {
	everyone := []string{"SystemInstruction", "Temperature", "TopP", "MaxOutputTokens", "Tools", "ToolConfig",
		"ResponseMIMEType", "ResponseSchema", "ResponseJsonSchema", "ThinkingConfig", "HTTPOptions"}
	v := reflect.TypeFor[genai.GenerateContentConfig]()
	for provider, own := range takes() {
		l := &link{provider: provider, model: "m"}
		for i := range v.NumField() {
			name := v.Field(i).Name
			if slices.Contains(everyone, name) {
				continue
			}
			cfg := &genai.GenerateContentConfig{}
			setSomething(t, reflect.ValueOf(cfg).Elem().Field(i))
			p, err := newPrompt(l, wires()[provider].traits, &model.LLMRequest{Contents: []*genai.Content{user("a")},
				Config: cfg})
			if !slices.Contains(own, name) {
				if err == nil || !strings.Contains(err.Error(), name) {
					t.Errorf("%s: the field %s is not refused by name: %v", provider, name, err)
				}
				continue
			}
			if err != nil {
				t.Errorf("%s: %v", provider, err)
				continue
			}
			w := wires()[provider]
			with, _ := w.body(p, false)
			p.config = genai.GenerateContentConfig{}
			without, _ := w.body(p, false)
			a, _ := json.Marshal(with)
			b, _ := json.Marshal(without)
			if bytes.Equal(a, b) {
				t.Errorf("%s: the field %s is not on the wire", provider, name)
			}
		}
	}
}

// setSomething sets a field to a value that is not its zero.
func setSomething(t *testing.T, f reflect.Value) {
	switch f.Kind() {
	case reflect.Pointer:
		f.Set(reflect.New(f.Type().Elem()))
	case reflect.Slice:
		f.Set(reflect.MakeSlice(f.Type(), 2, 2))
	case reflect.Map:
		f.Set(reflect.MakeMap(f.Type()))
	case reflect.String:
		f.SetString("x")
	case reflect.Bool:
		f.SetBool(true)
	case reflect.Int32:
		f.SetInt(2)
	default:
		t.Fatalf("no value for %v", f.Type())
	}
}

// TestRefusesRequests checks that what a provider cannot do is an error that names it.
func TestRefusesRequests(t *testing.T) {
	part := func(p *genai.Part) *model.LLMRequest {
		return &model.LLMRequest{Contents: []*genai.Content{{Role: "user", Parts: []*genai.Part{p}}}}
	}
	config := func(c *genai.GenerateContentConfig) *model.LLMRequest {
		return &model.LLMRequest{Contents: []*genai.Content{user("a")}, Config: c}
	}
	think := func(c *genai.ThinkingConfig) *model.LLMRequest {
		return config(&genai.GenerateContentConfig{ThinkingConfig: c})
	}
	tools := func(list ...*genai.FunctionDeclaration) *model.LLMRequest {
		return config(&genai.GenerateContentConfig{Tools: []*genai.Tool{{FunctionDeclarations: list}}})
	}
	mode := func(m genai.FunctionCallingConfigMode, names ...string) *model.LLMRequest {
		return config(&genai.GenerateContentConfig{ToolConfig: choice(m, names...)})
	}
	others := []string{OpenAI, Compatible, Anthropic, Ollama}
	for _, c := range []struct {
		name      string
		providers []string
		r         *model.LLMRequest
		want      string
	}{
		{"no request", networked(), nil, "no contents"},
		{"nothing", networked(), &model.LLMRequest{Contents: []*genai.Content{nil}}, "no contents"},
		{"sound", others, part(&genai.Part{InlineData: &genai.Blob{MIMEType: "audio/wav"}}), `not "audio/wav"`},
		{"file", others, part(&genai.Part{FileData: &genai.FileData{FileURI: "gs://a/b", MIMEType: "image/png"}}),
			"it takes"},
		{"code", others, part(&genai.Part{ExecutableCode: &genai.ExecutableCode{Code: "x"}}), "ExecutableCode"},
		{"role", networked(), &model.LLMRequest{Contents: []*genai.Content{{Role: "developer",
			Parts: []*genai.Part{{Text: "a"}}}}},
			`role "developer"`},
		{"lone result", []string{OpenAI, Compatible, Anthropic},
			&model.LLMRequest{Contents: []*genai.Content{result("menu", nil)}}, `"menu" (id "") answers no call`},
		{"candidates", networked(), config(&genai.GenerateContentConfig{CandidateCount: 2}), "CandidateCount"},
		{"http", networked(), config(&genai.GenerateContentConfig{HTTPOptions: &genai.HTTPOptions{BaseURL: "x"}}),
			"HTTPOptions"},
		{"search", others, config(&genai.GenerateContentConfig{Tools: []*genai.Tool{{GoogleSearch: &genai.GoogleSearch{}}}}),
			"GoogleSearch"},
		{"mime", others, config(&genai.GenerateContentConfig{ResponseMIMEType: "text/x.enum"}), `"text/x.enum"`},
		{"json", []string{Anthropic}, config(&genai.GenerateContentConfig{ResponseMIMEType: "application/json"}), "schema"},
		{"budget", []string{OpenAI, Compatible, Ollama}, think(&genai.ThinkingConfig{ThinkingBudget: ptr(int32(9))}),
			"ThinkingBudget"},
		{"minimal", []string{Anthropic}, think(&genai.ThinkingConfig{ThinkingLevel: genai.ThinkingLevelMinimal}), "MINIMAL"},
		{"any", []string{Ollama}, mode(genai.FunctionCallingConfigModeAny), `"ANY"`},
		{"validated", others, mode(genai.FunctionCallingConfigModeValidated), `"VALIDATED"`},
		{"allowed", networked(), mode(genai.FunctionCallingConfigModeAny, "nobody"), `none of the allowed tools ["nobody"]`},
		{"unnamed", networked(), tools(&genai.FunctionDeclaration{}), "no name"},
		{"twice", networked(), tools(&genai.FunctionDeclaration{Name: "a"}, &genai.FunctionDeclaration{Name: "a"}),
			"rename one"},
		{"collision", networked(), tools(&genai.FunctionDeclaration{Name: strings.Repeat("a", 64) + "b"},
			&genai.FunctionDeclaration{Name: strings.Repeat("a", 64) + "c"}), "rename one"},
		{"no object", networked(), tools(&genai.FunctionDeclaration{Name: "a",
			Parameters: &genai.Schema{Type: genai.TypeString}}),
			"they must be an object"},
		{"no schema", networked(), tools(&genai.FunctionDeclaration{Name: "a", ParametersJsonSchema: 7}),
			"must be a JSON object"},
		{"audio time", []string{Gemini}, config(&genai.GenerateContentConfig{AudioTimestamp: true}), "audioTimestamp"},
	} {
		for _, provider := range c.providers {
			synctest.Test(t, func(t *testing.T) {
				llm, fake := serve(t, provider, nil, fine)
				var got *Error
				for _, err := range llm.GenerateContent(t.Context(), c.r, false) {
					if !errors.As(err, &got) {
						t.Errorf("%s: %s: %v is no *Error", c.name, provider, err)
					}
				}
				if got == nil || got.Code != Unsupported && got.Code != Invalid || got.Provider != provider ||
					!strings.Contains(got.Error(), c.want) {
					t.Errorf("%s: %s: %v; want %s", c.name, provider, got, c.want)
				}
				if n := len(fake.Requests()); n > 0 {
					t.Errorf("%s: %s: %d requests were sent", c.name, provider, n)
				}
			})
		}
	}
}

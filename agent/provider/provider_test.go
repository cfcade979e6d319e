package provider

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/adk/v2/model"
	"google.golang.org/genai"
)

// said asks a model and returns its whole response as text: words, and calls as NAME{args}.
func said(t testing.TB, m model.LLM, stream bool, contents ...*genai.Content) (text string, partial int, err error) {
	t.Helper()
	for resp, err := range m.GenerateContent(t.Context(), &model.LLMRequest{Contents: contents}, stream) {
		if err != nil {
			return "", partial, err
		}
		if resp.Partial {
			partial++
			continue
		}
		for _, p := range resp.Content.Parts {
			if c := p.FunctionCall; c != nil {
				b, _ := json.Marshal(c.Args)
				text += c.Name + string(b)
			}
			text += p.Text
		}
	}
	return text, partial, nil
}

func user(text string) *genai.Content { return genai.NewContentFromText(text, genai.RoleUser) }

func result(name string, r map[string]any) *genai.Content {
	return genai.NewContentFromFunctionResponse(name, r, genai.RoleUser)
}

func TestParrot(t *testing.T) {
	for _, c := range []struct {
		in   *genai.Content
		want string
	}{
		{user("good morning"), "good morning"},
		{user(`call menu {"day": "monday"}`), `menu{"day":"monday"}`},
		{user(`Call menu`), `menunull`},
		{user(`call menu {"a":1} call order {"b":[2]}`), `menu{"a":1}order{"b":[2]}`},
		{user(`call menu {"a":`), `call menu {"a":`},
		{user(`call me later`), `call me later`},
		{user("call "), "call "},
		{result("menu", map[string]any{"dish": "soup"}), `menu: {"dish":"soup"}`},
		{&genai.Content{Role: "user"}, "I heard nothing."},
	} {
		got, _, err := said(t, Parrot{}, false, c.in)
		if err != nil || got != c.want {
			t.Errorf("%+v: %q, %v; want %q", c.in.Parts, got, err, c.want)
		}
	}
	got, partial, err := said(t, Parrot{}, true, user("one two three"))
	if got != "one two three" || partial != 3 || err != nil {
		t.Errorf("streamed %q in %d parts, %v", got, partial, err)
	}
	if got, _, err := said(t, Parrot{}, false); got == "" || err != nil {
		t.Errorf("without contents: %q, %v", got, err)
	}
}

func TestParrotStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := &model.LLMRequest{Contents: []*genai.Content{user("a b")}}
	for resp, err := range (Parrot{}).GenerateContent(ctx, r, true) {
		if resp != nil || !errors.Is(err, context.Canceled) {
			t.Errorf("%v, %v after the context ended", resp, err)
		}
	}
}

const desk = `{"name": "desk", "turns": [
	{"text": "Welcome."}, {"calls": [{"name": "menu", "args": {"day": "monday"}}]}, {"text": "Soup."},
	{"error": "overloaded"}, {"text": "Bye.", "finish": "MAX_TOKENS"}]}`

// TestScript plays a session: the contents alone decide which turn is next.
func TestScript(t *testing.T) {
	s, err := ParseScript([]byte(desk))
	if err != nil {
		t.Fatal(err)
	}
	call := genai.NewContentFromFunctionCall("menu", map[string]any{"day": "monday"}, genai.RoleModel)
	story := []*genai.Content{user("hello")}
	for i, c := range []struct {
		want string
		next []*genai.Content
	}{
		{"Welcome.", []*genai.Content{genai.NewContentFromText("Welcome.", genai.RoleModel), user("menu?")}},
		{`menu{"day":"monday"}`, []*genai.Content{call, result("menu", nil)}},
		{"Soup.", []*genai.Content{genai.NewContentFromText("Soup.", genai.RoleModel), user("bye")}},
		{"error: overloaded", []*genai.Content{user("bye?")}},
		{"Bye.", []*genai.Content{genai.NewContentFromText("Bye.", genai.RoleModel), user("still there?")}},
	} {
		for range 2 { // the answer depends on the request alone
			got, _, err := said(t, s, false, story...)
			if err != nil {
				got = "error: " + err.Error()
			}
			if got != c.want {
				t.Errorf("turn %d: %q, want %q", i, got, c.want)
			}
		}
		story = append(story, c.next...)
	}
	if _, _, err := said(t, s, false, story...); !errors.Is(err, ErrScriptOver) {
		t.Errorf("after the last turn: %v", err)
	}
	s.Repeat = true
	if got, _, err := said(t, s, false, story...); got != "Welcome." || err != nil {
		t.Errorf("with repeat: %q, %v", got, err)
	}
}

// TestScriptIsNotShared checks that a caller who changes the arguments changes them for nobody else.
func TestScriptIsNotShared(t *testing.T) {
	s := &Script{Turns: []ScriptTurn{{Calls: []ScriptCall{{Name: "menu", Args: map[string]any{"day": "monday"}}}}}}
	for resp := range s.GenerateContent(t.Context(), &model.LLMRequest{}, false) {
		resp.Content.Parts[0].FunctionCall.Args["day"] = "sunday"
	}
	if got, _, _ := said(t, s, false); got != `menu{"day":"monday"}` {
		t.Errorf("the next one gets %s", got)
	}
}

func TestParseScriptRefuses(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{``, "EOF"}, {`{}`, "it has 0 turns"}, {`{"turns": [{"txt": "a"}]}`, "txt"},
		{`{"turns": [{"calls": [{}]}]}`, "call 0 of turn 0 has no name"},
		{`{"turns": [{}]} {}`, "something follows"}, {strings.Repeat(" ", scriptMax+1), "more than"},
		{`{"turns": [` + strings.Repeat("{},", turnsMax) + `{}]}`, "10001 turns"},
	} {
		if _, err := ParseScript([]byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.40s: %v; want %q", c.text, err, c.want)
		}
	}
}

func TestResolver(t *testing.T) {
	file := filepath.Join(t.TempDir(), "desk.json")
	if err := os.WriteFile(file, []byte(desk), 0o600); err != nil {
		t.Fatal(err)
	}
	r := NewResolver()
	r.Add("broken", func(Ref) (model.LLM, error) { return nil, errors.New("no key") })
	for _, c := range []struct{ json, want string }{
		{`"parrot"`, "parrot"},
		{`"script/` + file + `"`, "desk"},
		{`{"provider": "script", "model": "` + file + `"}`, "desk"},
		{`"parot"`, `no such provider: the providers are broken, parrot, script; did you mean "parrot"?`},
		{`"broken/x"`, "provider: open broken/x: no key"},
		{`"script/nowhere.json"`, "nowhere.json: no such file"},
		{`""`, "parrot"}, {`"/x"`, "has no provider"}, {`{"model": "x"}`, "the field provider is missing"},
		{`7`, "a model is a text"},
	} {
		var ref Ref
		var llm model.LLM
		err := json.Unmarshal([]byte(c.json), &ref)
		if err == nil {
			llm, err = r.Open(ref)
		}
		got := fmt.Sprint(err)
		if err == nil {
			got = llm.Name()
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%s: %s; want %s", c.json, got, c.want)
		}
	}
	if _, err := r.Open(Ref{Provider: "nobody"}); !errors.Is(err, ErrUnknown) {
		t.Errorf("unknown provider: %v", err)
	}
}

func FuzzParseScript(f *testing.F) {
	f.Add([]byte(desk))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := ParseScript(b)
		if err != nil {
			return
		}
		if _, _, err := said(t, s, true); err != nil && s.Turns[0].Error == "" {
			t.Errorf("a script that parses does not answer: %v", err)
		}
	})
}

func FuzzParrot(f *testing.F) {
	f.Add(`call menu {"a":1} call order {"b":[2]}`)
	f.Fuzz(func(t *testing.T, text string) {
		got, _, err := said(t, Parrot{}, true, user(text))
		if err != nil || got == "" {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	})
}

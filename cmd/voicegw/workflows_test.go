package main

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw/access"
	"github.com/voicegw/voicegw/settings"
)

// loudFlow needs no key.
const loudFlow = `
name: loud
a2a: {}
agents:
  - {name: draft, type: llm, model: parrot, instruction: "Draft.", output_key: draft}
  - {name: shout, type: expr, expression: "draft.upper()", input_keys: [draft], output_key: out}
orchestration: {type: sequential, agents: [draft, shout]}
`

// raceFlow has a race and a reason.
const raceFlow = `
name: race
unverified: both may be right
agents:
  - {name: a, type: expr, expression: "1", output_key: n}
  - {name: b, type: expr, expression: "2", output_key: n}
orchestration: {type: parallel, agents: [a, b]}
`

// flowsServer is what serve opens for the workflows of files.
func flowsServer(t *testing.T, cfg access.Config, files map[string]string) (string, error) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		file := filepath.Join(dir, "flows", name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	guard, err := access.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	s := &settings.Settings{Listen: settings.ListenDefault, DataDir: filepath.Join(dir, "data"),
		Workflow: settings.Workflow{Dir: filepath.Join(dir, "flows"), PublicURL: "https://agents.example.com"}}
	api, err := openSessions(t.Context(), s, guard, zap.NewNop(), provedOnce)
	if err != nil {
		return "", err
	}
	srv := httptest.NewServer(api.before(http.NotFoundHandler()))
	t.Cleanup(func() {
		srv.Close()
		api.close(context.Background())
	})
	return srv.URL, nil
}

// TestServedWorkflow reaches a workflow in all ways: as a request, as an agent by name, as a card.
func TestServedWorkflow(t *testing.T) {
	secret := []byte(strings.Repeat("s", access.SecretLenMin))
	url, err := flowsServer(t, access.Config{Secrets: [][]byte{secret}}, map[string]string{"loud/workflow.yaml": loudFlow,
		"loud/workflow_test.yaml": "cases: []", "loud_test.yaml": "cases: []", "sure.yaml": raceFlow})
	if err != nil {
		t.Fatal(err)
	}
	token := func(scope string) string {
		text, err := access.Mint(secret, access.Claims{ID: scope, Tenant: "acme", Expiry: time.Now().Add(time.Minute),
			Scopes: []string{scope}})
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	ask := func(method, path, token string) (int, string) {
		r, err := http.NewRequestWithContext(t.Context(), method, url+path, strings.NewReader(`{"message": "Hello"}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+token)
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(b)
	}
	code, text := ask("POST", "/api/workflows/loud/run", token("sessions"))
	var got struct{ Result struct{ Content string } }
	if err := json.Unmarshal([]byte(text), &got); err != nil || code != 200 || got.Result.Content != "HELLO" {
		t.Errorf("run: %d %s", code, text)
	}
	if code, text := ask("POST", "/api/workflows/loud/run", token("calls")); code != 401 {
		t.Errorf("another scope: %d %s", code, text)
	}
	if code, text := ask("GET", "/a2a/loud/.well-known/agent-card.json", ""); code != 200 ||
		!strings.Contains(text, `"url":"https://agents.example.com/a2a/loud"`) {
		t.Errorf("the card: %d %s", code, text)
	}
	t.Setenv(sessionTokenVariable, token("sessions"))
	var out, errs strings.Builder
	if code := run([]string{"sessions", "start", "loud", "Hi", "--url", url}, &out, &errs); code != 0 ||
		!strings.Contains(out.String(), "HI") {
		t.Errorf("sessions start: %d %s %s", code, out.String(), errs.String())
	}
	out.Reset()
	if code := run([]string{"agents", "list", "--url", url}, &out, &errs); code != 0 ||
		!strings.Contains(out.String(), "not proved: both may be right\n") || strings.Count(out.String(), "not proved") != 1 {
		t.Errorf("agents list: %d %s %s", code, out.String(), errs.String())
	}
	if code := run([]string{"sessions", "start", "laud", "--url", url}, &out, &errs); code != exitFailed ||
		!strings.Contains(errs.String(), `there is no agent "laud"; did you mean "loud"?`) {
		t.Errorf("an unknown agent: %d %s", code, errs.String())
	}
}

// TestServedWorkflowsAreProved: a directory with a workflow that is refused, or with two of one name, is refused.
func TestServedWorkflowsAreProved(t *testing.T) {
	t.Parallel()
	race := strings.Replace(raceFlow, "unverified: both may be right\n", "", 1)
	for want, files := range map[string]map[string]string{
		"race: `a` and `b` both write `n`": {"race.yaml": race, "loud.yaml": loudFlow},
		`both have the name "loud"`:        {"a.yaml": loudFlow, "b/workflow.yaml": loudFlow},
		"`modle` is no key of an agent":    {"a.yaml": strings.Replace(loudFlow, "model:", "modle:", 1)},
	} {
		if _, err := flowsServer(t, access.Config{}, files); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if _, err := flowsServer(t, access.Config{}, nil); err == nil || !strings.Contains(err.Error(), "workflows: open ") {
		t.Errorf("without the directory: %v", err)
	}
}

// TestServeTellsWorkflows starts the command with workflows.
func TestServeTellsWorkflows(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "flows", "loud.yaml")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(loudFlow), 0o600); err != nil {
		t.Fatal(err)
	}
	s := startServe(t, nil, "--data-dir", filepath.Join(dir, "data"), "--workflows", filepath.Dir(file))
	if _, text := get(t, http.DefaultClient, s.url+"a2a/loud/.well-known/agent-card.json"); !strings.Contains(text,
		`"url":"`+s.url+`a2a/loud"`) {
		t.Errorf("the card is %s", text)
	}
	s.end()
	if said := s.stderr.String(); !strings.Contains(said, "workflows at "+s.url+"api/workflows: loud") {
		t.Errorf("it says %s", said)
	}
}

// TestWorkflowQuickStart pastes the first lines of docs/workflows.md.
func TestWorkflowQuickStart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	lines, serve, _ := strings.Cut(snippet(t, "docs/workflows.md", "voicegw workflow init").text, "voicegw serve")
	cmd := exec.Command("bash", "-euc", "voicegw() { "+noProof+" \"$@\"; }\n"+lines)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "Hello there -- greet\n") ||
		!strings.Contains(string(out), "\nok    ") {
		t.Errorf("%v\n%s", err, out)
	}
	words := strings.Fields(serve)
	for i, w := range words {
		if !strings.HasPrefix(w, "--") {
			words[i] = filepath.Join(dir, w)
		}
	}
	s := startServe(t, nil, words...)
	if _, text := get(t, http.DefaultClient, s.url+"api/workflows"); !strings.Contains(text, `"name":"greet"`) {
		t.Errorf("it serves %s", text)
	}
	s.end()
}

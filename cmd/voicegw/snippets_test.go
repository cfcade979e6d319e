package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/access"
	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/settings"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/ws/wsclient"
)

// triedElsewhere names the tests that try a block which no test of all pages reads. The key is the
// page and what the block begins with.
func triedElsewhere() map[string]string {
	return map[string]string{
		"README.md: make run":                       "TestReadmeIsTrue",
		"README.md:    voicegw is at":               "TestReadmeIsTrue",
		"README.md: proved: ":                       "TestVerify",
		"docs/tutorial.md: connected ":              "TestTutorialShowsACall",
		"docs/tutorial.md: replies ":                "TestTutorialShowsACall",
		"docs/tutorial.md: $ go run ./cmd/voicegw":  "TestVerify TestTutorialRefutes",
		"docs/access.md: {":                         "TestTokenInDocs",
		"docs/asterisk.md: ; websocket_client":      "TestDialplanInDocs",
		"docs/configuration.md: voicegw serve: 2":   "TestMistakesInDocs",
		"docs/configuration.md: source <(voicegw":   "TestCompletionInBash",
		"docs/control.md: {":                        "TestCallInDocs",
		"docs/deploy.md: docker build":              "TestDockerfile",
		"docs/deploy.md: install -m 755":            "TestSystemdUnit",
		"docs/deploy.md: kubectl apply":             "TestManifests",
		"docs/deploy.md: helm install":              "TestChartInDocs",
		"docs/deploy.md: INFO   reload":             "TestReload",
		"docs/development.md: claims: prove":        "Example_refusedPart TestRefusalInDocs",
		"docs/gemini.md: voicegw serve":             "TestCommandsInDocs TestBaseURLInTheEnvironment TestPython",
		"docs/managed.md: voicegw serve --data-dir": "TestManagedQuickStart TestCommandsInDocs",
		"docs/workflows.md: voicegw workflow init":  "TestWorkflowQuickStart TestCommandsInDocs",
		"docs/workflows.md: tests:":                 "TestWorkflowTestsInDocs",
		"docs/workflows.md: openapi_tools:":         "TestOpenAPIInDocs",
		"docs/workflows-serve.md: [{":               "TestCallWorkflows",
		"docs/managed.md: voicegw serve --node":     "TestSeveralNodes TestCommandsInDocs",
		"docs/model.md: # The first":                "TestLanguageIsDocumented",
		"docs/openai.md: voicegw serve":             "TestCommandsInDocs TestScriptInPage",
		"docs/protocol.md: GET /v1/voice":           "TestHandshake",
		"docs/protocol.md: client ":                 "TestDocumentIsInFixture",
		"docs/protocol.md: server ":                 "TestDocumentIsInFixture",
		"docs/records.md: {":                        "TestRecords TestRecordInDocs",
		"docs/protocol.md: {":                       "TestDocumentIsInFixture",
		"docs/tls.md:     # voicegw.socket":         "TestCommandsInDocs TestSocketActivation",
		"docs/tools.md: [{":                         "TestToolsInDocs",
		"docs/webhooks.md: {\"type\":":              "TestWebhooksInDocs",
		"docs/webhooks.md: {\"instructions\"":       "TestWebhooksInDocs",
	}
}

// otherPrograms are lines of a block that run something else than voicegw.
var otherPrograms = regexp.MustCompile(
	`^(#|make [a-z]|go run \./examples/|openssl |curl |GEMINI_API_KEY=\.\.\. make run$|$)`)

// TestEverySnippetIsTried wants each piece of code in the pages to be read by one of the tests of
// all pages, or by one of its own.
func TestEverySnippetIsTried(t *testing.T) {
	t.Parallel()
	elsewhere, used, tests := triedElsewhere(), map[string]bool{}, testNames(t)
	for _, b := range blocks(t) {
		if _, isScript := b.script(); isScript || b.isGo() || b.lang == "yaml" || b.lang == "text" { // text is a drawing
			continue
		}
		var by string
		for key, names := range elsewhere {
			if strings.HasPrefix(b.page+": "+b.text, key) {
				used[key], by = true, names
			}
		}
		for _, name := range strings.Fields(by) {
			if !tests[name] {
				t.Errorf("%s: there is no test %s", b, name)
			}
		}
		for _, line := range b.lines() {
			if by == "" && commandLine(line) == nil && !otherPrograms.MatchString(line) {
				t.Errorf("%s: no test tries %q", b, line)
			}
		}
	}
	for key := range elsewhere {
		if !used[key] {
			t.Errorf("no page has a block that begins so: %s", key)
		}
	}
}

// testNames are the tests and examples of the whole module.
func testNames(t *testing.T) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	err := filepath.WalkDir("../..", func(path string, _ os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		named := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Example)\w*)\(`)
		for _, m := range named.FindAllStringSubmatch(string(text), -1) {
			names[m[1]] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// TestTestsInDocs wants each test that a page names to be there.
func TestTestsInDocs(t *testing.T) {
	t.Parallel()
	tests, n := testNames(t), 0
	for _, page := range pages(t) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile("`((?:Test|Fuzz|Example)\\w*)`").FindAllStringSubmatch(string(text), -1) {
			if n++; !tests[m[1]] {
				t.Errorf("%s names %s, which is no test", page, m[1])
			}
		}
	}
	if n < 300 {
		t.Errorf("only %d names were found", n)
	}
}

// snippet is the one block of a page that begins so.
func snippet(t *testing.T, page, begins string) block {
	t.Helper()
	all := slices.DeleteFunc(blocks(t), func(b block) bool { return b.page != page || !strings.HasPrefix(b.text, begins) })
	if len(all) != 1 {
		t.Fatalf("%s has %d blocks that begin with %q", page, len(all), begins)
	}
	return all[0]
}

// TestTokenInDocs has the guard take the token of docs/access.md, signed.
func TestTokenInDocs(t *testing.T) {
	t.Parallel()
	b := snippet(t, "docs/access.md", "{")
	secret := []byte(strings.Repeat("s", 32))
	encode := base64.RawURLEncoding.EncodeToString
	signed := encode([]byte(`{"alg":"HS256"}`)) + "." + encode([]byte(b.text))
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(signed))
	now := time.Unix(1767225660, 0).Add(-time.Minute)
	guard, err := access.New(access.Config{Secrets: [][]byte{secret}, Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	token := signed + "." + encode(mac.Sum(nil))
	grant, err := guard.Check(t.Context(), &transport.Hello{Token: token, Remote: "127.0.0.1"})
	if err != nil {
		t.Fatal(err)
	}
	defer grant.Release()
	if grant.Tenant != "acme" || grant.Subject != "customer-17" || grant.CallMax != 10*time.Minute ||
		!slices.Equal(grant.Tools, []string{"weather"}) {
		t.Errorf("it grants %+v", grant)
	}
}

// TestToolsInDocs reads the file of docs/tools.md.
func TestToolsInDocs(t *testing.T) {
	t.Parallel()
	read := func(begins string) (*settings.Settings, []voicegw.Tool) {
		b := snippet(t, "docs/tools.md", begins)
		s, err := configured(t, "", nil, "--data-dir", t.TempDir(), "--session-tools-file",
			writeFile(t, "tools.json", []byte(b.text)))
		if err != nil {
			t.Fatal(err)
		}
		cfg, err := s.Gateway()
		if err != nil {
			t.Fatal(err)
		}
		return s, cfg.Tools
	}
	_, tools := read(`[{"name": "weather"`)
	if len(tools) != 1 || tools[0].Name != "weather" || !strings.Contains(string(tools[0].Parameters), "city") {
		t.Errorf("%+v", tools)
	}
	s, tools := read(`[{"name": "orders"`)
	if len(tools) != 0 || len(s.AgentTools) != 1 || s.AgentTools[0].Agent != "orders" {
		t.Errorf("%+v, %+v", tools, s.AgentTools)
	}
}

// TestMistakesInDocs makes the two mistakes of docs/configuration.md.
func TestMistakesInDocs(t *testing.T) {
	t.Parallel()
	b := snippet(t, "docs/configuration.md", "voicegw serve: 2 settings")
	dir := t.TempDir()
	file := filepath.Join(dir, "voicegw.yaml")
	if err := os.WriteFile(file, []byte("voice: Puck\ntiming:\n  frame_gap: 5 s\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := command(t, []string{"VOICEGW_CALL_MAX=3"}, "serve", "--config", file)
	if said := strings.ReplaceAll(r.stderr, dir+"/", ""); said != b.text || r.code != 2 {
		t.Errorf("exit code %d, and it says\n%swant\n%s", r.code, said, b.text)
	}
}

// TestDialplanInDocs holds the dialplan of docs/asterisk.md to the endpoint.
func TestDialplanInDocs(t *testing.T) {
	t.Parallel()
	b := snippet(t, "docs/asterisk.md", "; websocket_client.conf")
	code := ""
	for _, name := range []string{"channel.go", "ari.go", "endpoint.go"} {
		text, err := os.ReadFile(filepath.Join("..", "..", "transport", "asterisk", name))
		if err != nil {
			t.Fatal(err)
		}
		code += string(text)
	}
	for ours, in := range map[string]string{
		"/v1/asterisk": b.text, "protocols = media": b.text, `const Subprotocol = "media"`: code, "c(ulaw)": b.text,
		`case "ulaw"`: code, "from=${": b.text, `= "from"`: code, "channel=${": b.text, `= "channel"`: code,
		"${VOICEGW_TRANSFER}": b.text, `"VOICEGW_TRANSFER"`: code,
	} {
		if !strings.Contains(in, ours) {
			t.Errorf("%s is not there", ours)
		}
	}
}

// TestRefusalInDocs wants the run of docs/development.md to be the one that its example prints.
func TestRefusalInDocs(t *testing.T) {
	t.Parallel()
	b := snippet(t, "docs/development.md", "claims: prove the session")
	example, err := os.ReadFile(filepath.Join("..", "..", "voicenets", "example_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	_, run, found := strings.Cut(b.text, "start: ")
	run = "\t// start: " + strings.ReplaceAll(strings.TrimSpace(run), "\n", "\n\t// ") + "\n}"
	if !found || !strings.Contains(string(example), run) {
		t.Errorf("%s: the example prints another run than\n%s", b, run)
	}
}

// asShown is what a program prints without what differs from run to run, or with each change of a
// net: how long it took, and the names of certificates.
func asShown(text string) string {
	text = regexp.MustCompile(` *\d+(\.\d+)? (s|ms)\b`).ReplaceAllString(strings.TrimSpace(text), " T")
	return regexp.MustCompile(`certificate \w+\.json`).ReplaceAllString(text, "certificate C.json")
}

// shownInDocs wants each line of a session's proof in the tutorial and the README to be one that verify prints, in
// that order.
func shownInDocs(t *testing.T, printed string) {
	t.Helper()
	linesShown(t, snippet(t, "docs/tutorial.md", "$ go run ./cmd/voicegw verify session"), printed)
	linesShown(t, snippet(t, "README.md", "proved: "), printed)
}

// linesShown wants each line of a block to be among those that were printed, in that order.
func linesShown(t *testing.T, b block, printed string) {
	t.Helper()
	var lines []string
	for line := range strings.Lines(printed) {
		lines = append(lines, asShown(line))
	}
	for line := range strings.Lines(b.text) {
		if line = asShown(line); line == "..." || strings.HasPrefix(line, "$ ") {
			continue
		}
		i := slices.Index(lines, line)
		if i < 0 {
			t.Errorf("%s: verify session does not print %q there", b, line)
			continue
		}
		lines = lines[i+1:]
	}
}

// TestTutorialRefutes runs the command that the tutorial shows a run of.
func TestTutorialRefutes(t *testing.T) {
	t.Parallel()
	b := snippet(t, "docs/tutorial.md", "$ go run ./cmd/voicegw verify cmd/voicegw/testdata")
	args := b.commandLines()[0]
	args[1] = filepath.Join("..", "..", args[1])
	r := command(t, nil, args...)
	_, shown, _ := strings.Cut(b.text, "\n")
	if r.code != 1 || asShown(r.stdout) != asShown(shown) {
		t.Errorf("exit code %d, and it prints\n%swant\n%s", r.code, r.stdout, shown)
	}
}

// TestTutorialShowsACall holds the lines of a call in the tutorial to what `call` prints.
func TestTutorialShowsACall(t *testing.T) {
	t.Parallel()
	r := &wsclient.Report{ConnectedMS: 3, Turns: 3, FirstAudioMS: []int64{869, 882}, Interruptions: 1,
		BargeInSilenceMS: []int64{72}, FramesSent: 1196, FramesReceived: 566, FramesCleared: 19,
		Heard: audio.PCM{RateHz: 10, Samples: make([]int16, 239)}, Closed: "caller_hung_up", Message: "The caller hung up."}
	r.Ready.Model = transport.Model{Name: "parrot", Embedded: true}
	b := snippet(t, "docs/tutorial.md", "connected ")
	if said := (&callOptions{out: "heard.wav"}).summary(r); said != b.text {
		t.Errorf("%s: call prints\n%s", b, said)
	}
	r.Turns, r.FirstAudioMS = 1, []int64{864}
	if b := snippet(t, "docs/tutorial.md", "replies "); !strings.Contains((&callOptions{}).summary(r), b.text) {
		t.Errorf("%s: call prints no such line", b)
	}
}

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/voicegw/voicegw/agent/managed"
	"github.com/voicegw/voicegw/internal/npmtest"
	"github.com/voicegw/voicegw/settings"
)

// block is a piece of code in a page: between fences, or indented by four spaces.
type block struct {
	page, lang, text string
	line             int
}

func (b block) String() string { return fmt.Sprintf("%s:%d", b.page, b.line) }

// pages are the pages that people copy from.
func pages(t *testing.T) []string {
	t.Helper()
	list, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(list) < 20 {
		t.Fatalf("%d pages, %v", len(list), err)
	}
	return append(list, "../../README.md")
}

// blocks are the pieces of code in all pages. Indented code has no language.
func blocks(t *testing.T) (all []block) {
	t.Helper()
	for _, page := range pages(t) {
		b, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		var now *block
		fenced := false
		for i, line := range strings.Split(string(b), "\n") {
			fence, isFence := strings.CutPrefix(line, "```")
			code, indented := strings.CutPrefix(line, "    ")
			switch {
			case isFence && fenced, !fenced && !indented && !isFence:
				if now != nil {
					all = append(all, *now)
				}
				now, fenced = nil, false
			case isFence:
				now, fenced = &block{page: strings.TrimPrefix(page, "../../"), lang: fence, line: i + 2}, true
			case fenced:
				now.text += line + "\n"
			default:
				if now == nil {
					now = &block{page: strings.TrimPrefix(page, "../../"), line: i + 1}
				}
				now.text += code + "\n"
			}
		}
	}
	return all
}

// isGo tells Go: by its fence, or because an endpoint is made or a net is proved.
func (b block) isGo() bool {
	call := regexp.MustCompile(`(?m)^(\w+, err := \w+\.\w+|verifytest\.Prove)\(`)
	return b.lang == "go" || b.lang == "" && call.MatchString(b.text)
}

// script is the JavaScript of a block, if it is any.
func (b block) script() (string, bool) {
	if b.lang == "html" {
		m := regexp.MustCompile(`(?s)<script type="module">(.*?)</script>`).FindStringSubmatch(b.text)
		if m == nil {
			return "", false
		}
		return m[1], true
	}
	return b.text, b.lang == "js" || b.lang == "" && strings.HasPrefix(b.text, "import ")
}

// program is a Go program of all Go blocks, each a function. What they use of their surroundings is a parameter. Each
// endpoint they make is asked for a call by a caller whom the gateway's guard refuses.
func program(list []block) string {
	var types, funcs, calls strings.Builder
	for i, b := range list {
		text := regexp.MustCompile(`(?ms)^type .*?^}\n`).ReplaceAllStringFunc(b.text, func(decl string) string {
			types.WriteString(decl)
			return ""
		})
		var used strings.Builder
		for _, m := range regexp.MustCompile(`(?m)^(\w+(?:, \w+)*) :=`).FindAllStringSubmatch(text, -1) {
			for name := range strings.SplitSeq(m[1], ", ") {
				if name != "_" {
					fmt.Fprintf(&used, "_ = %s\n", name)
				}
			}
		}
		check := ""
		if strings.Contains(text, "endpoint, err :=") {
			check = fmt.Sprintf("asks(%q, endpoint, err)\n", b)
			fmt.Fprintf(&calls, "snippet%d(s)\n", i)
		}
		fmt.Fprintf(&funcs, "func snippet%d(s *around) {\n%s{\n//line %s:%d\n%s\n%s%s}\n}\n", i, unpack, b.page, b.line, text,
			used.String(), check)
	}
	return strings.NewReplacer("TYPES", types.String(), "FUNCS", funcs.String(), "CALLS", calls.String()).Replace(skeleton)
}

// unpack gives a block the names of its surroundings.
const unpack = `gw, mux, dialer, secret := s.gw, http.NewServeMux(), s.dialer, s.secret
server, r, w, t, prog := s.server, s.r, s.w, s.t, s.prog
_, _, _, _, _, _, _, _, _ = gw, mux, dialer, secret, server, r, w, t, prog
`

// skeleton is the program around the blocks.
const skeleton = `package main

import (
	"context"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/access"
	"github.com/voicegw/voicegw/agent/provider"
	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/petri/event"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/asterisk"
	"github.com/voicegw/voicegw/transport/gemini"
	"github.com/voicegw/voicegw/transport/openai"
	"github.com/voicegw/voicegw/transport/rtc"
	"github.com/voicegw/voicegw/transport/rtvi"
	"github.com/voicegw/voicegw/transport/mediastream"
	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/verify/verifytest"
	"github.com/voicegw/voicegw/voicenets"
	"github.com/voicegw/voicegw/webhook"
)

var (
	_ = signal.NotifyContext
	_ = syscall.SIGTERM
	_ = time.Second
	_ = access.New
	_ = provider.Parrot{}
	_ = petri.Compile
	_ = asterisk.New
	_ = gemini.New
	_ = openai.New
	_ = rtc.New
	_ = rtvi.New
	_ = mediastream.New
	_ = voicenets.Session
	_ = webhook.New
	_ = verify.Never
	_ = verifytest.Prove
	_ = log.Print
	_ = os.Getenv

	cfg    voicegw.Config
	tracer trace.Tracer
)

type around struct {
	gw     *voicegw.Gateway
	dialer live.Dialer
	secret []byte
	server *http.Server
	r      *http.Request
	w      http.ResponseWriter
	t      *testing.T
	prog   *petri.Program
}

func ownTranscript(voicenets.Config) *petri.Net { return nil }

func forecast(context.Context, string) (sky, error) { return sky{}, nil }

// nobody is a guard that lets nobody in.
type nobody struct{ transport.Lines }

func (nobody) Take(transport.Handshake) (transport.Line, error) {
	return nil, &transport.Refused{Reason: transport.ReasonUnauthorized}
}

// asks panics unless an endpoint asks the guard.
func asks(name string, endpoint http.Handler, err error) {
	if err != nil {
		panic(name + ": " + err.Error())
	}
	server := httptest.NewServer(endpoint)
	defer server.Close()
	r, _ := http.NewRequest(http.MethodGet, server.URL, nil)
	for k, v := range map[string]string{"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
		"Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="} {
		r.Header.Set(k, v)
	}
	if _, whip := endpoint.(*rtc.Endpoint); whip {
		r, _ = http.NewRequest(http.MethodPost, server.URL, strings.NewReader("v=0"))
		r.Header.Set("Content-Type", "application/sdp")
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		panic(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusUnauthorized {
		panic(name + ": a caller whom the guard refuses is answered " + resp.Status)
	}
	println("asked", name)
}

TYPES
FUNCS
func main() {
	dialer := live.Wire{BaseURL: "ws://127.0.0.1:1"}
	gw, err := voicegw.New(voicegw.Config{Dialer: dialer,
		Guard: func(l transport.Lines) transport.Lines { return nobody{l} }})
	if err != nil {
		panic(err)
	}
	s := &around{gw: gw, dialer: dialer, r: httptest.NewRequest("GET", "/", nil), w: httptest.NewRecorder()}
	CALLS
}
`

// TestGoInDocs compiles every piece of Go in the pages. The endpoints that they mount ask the gateway's guard.
func TestGoInDocs(t *testing.T) {
	t.Parallel()
	var list []block
	endpoints := 0
	for _, b := range blocks(t) {
		if b.isGo() && !strings.HasPrefix(b.text, "package ") { // those are compiled as they are
			list = append(list, b)
			endpoints += strings.Count(b.text, "endpoint, err :=")
		}
	}
	if len(list) < 14 || endpoints < 7 {
		t.Fatalf("%d pieces of Go and %d endpoints were found", len(list), endpoints)
	}
	file, bin := writeFile(t, "main.go", []byte(program(list))), filepath.Join(t.TempDir(), "docs")
	if out, err := goCommand("build", "-buildvcs=false", "-o", bin, file).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err := exec.Command(bin).CombinedOutput()
	if err != nil || strings.Count(string(out), "asked ") != endpoints {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestYAMLInDocs loads every settings file and every definition of an agent in the pages.
func TestYAMLInDocs(t *testing.T) {
	t.Parallel()
	n := 0
	for _, b := range blocks(t) {
		if b.lang != "yaml" || strings.HasPrefix(b.page, "docs/workflows") || strings.HasPrefix(b.text, "- name: ") {
			// TestDocs of agent/workflow, TestWebhooksInDocs, TestCallCenter and TestRulesForClients read these
			continue
		}
		n++
		if err := b.load(t); err != nil {
			t.Errorf("%s: %v", b, err)
		}
	}
	if n == 0 {
		t.Error("the pages show no settings")
	}
}

// load reads a block of YAML with what reads such files: settings, a definition of an agent or a part of one, and the
// tables that settings name.
func (b block) load(t *testing.T) (err error) {
	t.Helper()
	switch {
	case b.page != "docs/managed.md" && !strings.Contains(b.text, "{input: "):
		_, err = configured(t, b.text, []string{"GEMINI_API_KEY=k"})
	case strings.HasPrefix(b.text, "budget:"):
		_, err = managed.ParseDefinition([]byte("name: desk\nmodel: parrot\n" + b.text))
	case strings.Contains(b.text, "{input: "):
		_, err = managed.ParsePrices([]byte(b.text))
	case strings.Contains(b.text, "{url: "):
		_, err = managed.ParseCredentials([]byte(b.text))
	default:
		_, err = managed.ParseDefinition([]byte(b.text))
	}
	return err
}

// commandLines are the lines of a block that run voicegw, as its arguments.
func (b block) commandLines() (list [][]string) {
	for _, text := range b.lines() {
		if words := commandLine(text); words != nil {
			list = append(list, words)
		}
	}
	return list
}

// lines are the lines of a block, those that a backslash continues joined, and those that stand
// beside each other apart.
func (b block) lines() (list []string) {
	for text := range strings.Lines(regexp.MustCompile(` *\\\n *`).ReplaceAllString(b.text, " ")) {
		list = append(list, regexp.MustCompile(` {2,}`).Split(strings.TrimSpace(text), -1)...)
	}
	return list
}

// commandLine are the arguments of voicegw in a line that runs it, or nil.
func commandLine(text string) (words []string) {
	line := regexp.MustCompile(`^(?:\$ |ExecStart=/usr/local/bin/)?(?:export )?(?:\w+=(?:[^\s$]*|\$\()\s*)*` +
		`(?:go run \./cmd/|bin/)?voicegw ([a-z].*)$`)
	m := line.FindStringSubmatch(text)
	if m == nil {
		return nil
	}
	args, _, _ := strings.Cut(m[1]+" ", " #")
	args = strings.TrimRight(strings.TrimSpace(args), "&) ")
	for _, w := range regexp.MustCompile(`'[^']*'|\S+`).FindAllString(args, -1) {
		words = append(words, strings.Trim(w, "'"))
	}
	return words
}

// TestCommandsInDocs parses every line of the pages that runs voicegw: there are such a command and such flags, and a
// setting may have that value.
func TestCommandsInDocs(t *testing.T) {
	t.Parallel()
	byFlag := map[string]settings.Row{}
	for _, s := range settings.Rows() {
		byFlag[s.Flag()] = s
	}
	n := 0
	for _, b := range blocks(t) {
		if b.isGo() {
			continue
		}
		for _, args := range b.commandLines() {
			if strings.HasSuffix(args[0], ":") || args[0] == "is" {
				continue // what it prints
			}
			n++
			root := rootCommand()
			cmd, rest, err := root.Find(args)
			if err == nil && cmd == root {
				err = fmt.Errorf("there is no command %s", args[0])
			}
			if err == nil {
				err = cmd.ParseFlags(rest)
			}
			if err != nil {
				t.Errorf("%s: voicegw %s: %v", b, strings.Join(args, " "), err)
				continue
			}
			cmd.Flags().Visit(func(f *pflag.Flag) {
				if s, ok := byFlag[f.Name]; ok && cmd.Name() == "serve" && !s.Check(f.Value.String()) {
					t.Errorf("%s: --%s %s: want %s", b, f.Name, f.Value, s.Want)
				}
			})
		}
	}
	if n < 25 {
		t.Errorf("only %d command lines were found", n)
	}
}

// TestScriptsInDocs has node read every piece of JavaScript in the pages. What they import from our
// client is there, and what they say to somebody else's TypeScript accepts.
// TestExamplesInTypeScript of package web does so for ours.
func TestScriptsInDocs(t *testing.T) {
	t.Parallel()
	client, err := os.ReadFile("../../web/client/index.js")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	var foreign []string // that use somebody else's client
	for _, b := range blocks(t) {
		script, ok := b.script()
		if !ok {
			continue
		}
		n++
		file := writeFile(t, fmt.Sprintf("snippet%d.mjs", n), []byte("async () => {};\n"+script))
		if out, err := exec.Command("node", "--check", file).CombinedOutput(); err != nil {
			t.Errorf("%s: %s", b, out)
		}
		imports := regexp.MustCompile(`import \{([^}]*)\} from "(voicegw|[^"]*/client\.js)"`)
		for _, m := range imports.FindAllStringSubmatch(script, -1) {
			for name := range strings.SplitSeq(m[1], ",") {
				exported := regexp.MustCompile(`export (class |function |\{[^}]*\b)` + strings.TrimSpace(name) + `\b`)
				if !exported.Match(client) {
					t.Errorf("%s: the client has no %s", b, name)
				}
			}
		}
		isOurs := b.page == "docs/embed.md" || len(imports.FindAllString(script, -1)) > 0
		if !isOurs && strings.Contains(script, "import ") {
			foreign = append(foreign, "// "+b.String()+"\ndeclare const base64: string;\n"+script+"export {};\n")
		}
	}
	npmtest.CheckClients(t, foreign...)
	if n < 8 || len(foreign) < 3 {
		t.Errorf("only %d scripts were found", n)
	}
}

// TestBlocks finds both kinds.
func TestBlocks(t *testing.T) {
	t.Parallel()
	all := blocks(t)
	if !slices.ContainsFunc(all, func(b block) bool { return b.page == "docs/twilio.md" && b.isGo() && b.lang == "" }) ||
		!slices.ContainsFunc(all, func(b block) bool { return b.page == "docs/embedding.md" && b.isGo() && b.lang == "go" }) {
		t.Error("a piece of Go is not found")
	}
	b := block{text: "$ go run ./cmd/voicegw verify --property 'a && b' x # why\nVOICEGW_X=$(voicegw token --tenant a)\n" +
		"voicegw serve --listen :1 \\\n  --hosts a &\nvoicegw: no\n"}
	want := "[[verify --property a && b x] [token --tenant a] [serve --listen :1 --hosts a]]"
	if got := fmt.Sprint(b.commandLines()); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

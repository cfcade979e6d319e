package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/voicegw/voicegw/settings"
)

// readme is the README, tutorial the page that continues it.
func readme(t *testing.T) string   { t.Helper(); return page(t, "README.md") }
func tutorial(t *testing.T) string { t.Helper(); return page(t, "docs/tutorial.md") }

func page(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestReadmeProgramCompiles compiles the program that shows how to embed the gateway.
func TestReadmeProgramCompiles(t *testing.T) {
	t.Parallel()
	program := regexp.MustCompile("(?s)```go\n(.*?)```").FindStringSubmatch(readme(t))
	if program == nil {
		t.Fatal("the README has no program")
	}
	file := writeFile(t, "main.go", []byte(program[1]))
	if out, err := goCommand("build", "-buildvcs=false", "-o", os.DevNull, file).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestAgentInDocs runs the program of docs/agents.md.
func TestAgentInDocs(t *testing.T) {
	t.Parallel()
	file := writeFile(t, "main.go", []byte(snippet(t, "docs/agents.md", "package main").text))
	out, err := goCommand("run", file).CombinedOutput()
	if err != nil || string(out) != "host A soup, please.\n" {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestReadmeIsTrue holds the lines that people copy, and those that they will see, to the code.
func TestReadmeIsTrue(t *testing.T) {
	t.Parallel()
	text := readme(t)
	call := regexp.MustCompile(`(?s)go run ./cmd/voicegw (call .*?)\n\n`).FindStringSubmatch(tutorial(t))
	if call == nil {
		t.Fatal("the tutorial makes no call")
	}
	args := strings.Fields(strings.ReplaceAll(call[1], "\\\n", " "))
	cmd := callCommand()
	cmd.SetErr(os.Stderr)
	if err := cmd.ParseFlags(args[1:]); err != nil {
		t.Errorf("%q: %v", call[1], err)
	}
	for _, wav := range regexp.MustCompile(`audio/\S+\.wav`).FindAllString(call[1], -1) {
		if _, err := readWAV(filepath.Join("..", "..", wav)); err != nil {
			t.Error(err)
		}
	}
	s := startServeOf(t, noProof, nil)
	where := s.said[strings.Index(s.said, "  ("):]
	if !strings.Contains(text, "       voicegw is at http://"+settings.ListenDefault+"/"+where+"\n") {
		t.Errorf("serve prints %q; the README shows something else", s.said)
	}
	s.end()
}

package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// chat runs the command with lines of input and returns what it prints after its first two lines.
func chat(t *testing.T, in io.Reader, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	if err := run(t.Context(), args, in, &out); err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitN(out.String(), "\n", 3)
	if !strings.HasPrefix(lines[0], "net desk: ") || !strings.HasSuffix(lines[0], " claims proved") || len(lines) < 3 {
		t.Errorf("it begins with %q", lines[0])
	}
	return lines[2]
}

// TestStory plays an evening: tools, a transfer and back, a turn that spends its budget, and bad input.
func TestStory(t *testing.T) {
	t.Parallel()
	in := strings.Join([]string{"the menu, please", "2 soup", "order pizza", "I want to pay", "cake", "99 bread", "",
		strings.Repeat("é", 10_000), "I cannot decide", "the bill", "hello?"}, "\n") // no newline at the end
	want := `  host calls menu
host: We have bread 3, cake 5, ragout 14, soup 6.
  host calls order {"count":2,"dish":"soup"}
host: 2 soup for 12 euros, noted.
  host calls order {"count":1,"dish":"pizza"}
host: Sorry, there is no "pizza"; the dishes are bread, cake, ragout, soup.
  host calls transfer_to_agent {"agent_name":"cashier"}
  cashier calls bill
cashier: That is 12 euros.
  cashier calls transfer_to_agent {"agent_name":"host"}
  host calls order {"count":1,"dish":"cake"}
host: 1 cake for 5 euros, noted.
  host calls order {"count":99,"dish":"bread"}
host: Sorry, 99 is too few or too many; order 1 to 20.
desk: say something, or end the input
desk: the line has 10000 characters; at most 4000 are allowed
  host calls menu
  host calls menu
  host calls menu
  host calls menu
  host calls menu
host: I am going round in circles. What would you like?
  host calls transfer_to_agent {"agent_name":"cashier"}
  cashier calls bill
cashier: That is 17 euros.
cashier: You can ask for the menu, order a dish, or pay.
`
	for range 2 {
		if got := chat(t, strings.NewReader(in)); got != want {
			t.Errorf("the transcript is\n%s\nwant\n%s", got, want)
		}
	}
	if got := chat(t, strings.NewReader("")); got != "" {
		t.Errorf("without input: %q", got)
	}
}

// TestModels chooses models by name: a parrot that is told to call tools, and a script that fails.
func TestModels(t *testing.T) {
	t.Parallel()
	in := "call order {\"dish\": \"cake\", \"count\": 1}\ncall ordr {}\nbye\n"
	got := chat(t, strings.NewReader(in), "--model", "parrot")
	want := `  host calls order {"count":1,"dish":"cake"}
host: order: {"count":1,"dish":"cake","euros":5}
  host calls ordr
host: ordr: {"error":"unknown_tool: there is no tool \"ordr\"; the tools are: menu, order"}
host: bye
`
	if got != want {
		t.Errorf("the parrot:\n%s\nwant\n%s", got, want)
	}
	file := filepath.Join(t.TempDir(), "script.json")
	if err := os.WriteFile(file, []byte(`{"turns": [{"error": "overloaded"}, {"text": "Soup."}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	got = chat(t, strings.NewReader("a\nb\nc\n"), "--model", "script/"+file)
	want = "desk: agent host: model_failed: overloaded\nhost: Soup.\ndesk: agent host: model_failed: "
	if !strings.HasPrefix(got, want) {
		t.Errorf("the script:\n%s\nwant\n%s", got, want)
	}
	var out bytes.Buffer
	err := run(t.Context(), []string{"--model", "clrk"}, strings.NewReader(""), &out)
	if err == nil || !strings.Contains(err.Error(), `the providers are clerk, parrot, script; did you mean "clerk"?`) {
		t.Errorf("an unknown provider: %v", err)
	}
}

// TestBrokenInput wants the error of an input that breaks, after the lines before.
func TestBrokenInput(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	in := io.MultiReader(strings.NewReader("cake\n"), brokenReader{})
	err := run(t.Context(), nil, in, &out)
	if err == nil || !strings.Contains(err.Error(), "desk: read a line") ||
		!strings.Contains(out.String(), "1 cake for 5 euros") {
		t.Errorf("%v after\n%s", err, out.String())
	}
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

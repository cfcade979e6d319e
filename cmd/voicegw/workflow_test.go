package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/voicegw/voicegw/agent/workflow"
	"github.com/voicegw/voicegw/agent/workflow/exec"
	"github.com/voicegw/voicegw/settings"
)

const flows = "../../agent/workflow/testdata/"

func TestWorkflowValidate(t *testing.T) {
	t.Parallel()
	broken := filepath.Join(t.TempDir(), "broken.yaml")
	if err := os.WriteFile(broken, []byte("name: w\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const one = "name: w\nagents:\n  - {name: a, type: llm, model: parrot, instruction: x, %s}\n" +
		"orchestration: {type: sequential, agents: [a]}\n"
	hooked := writeFile(t, "hooked.yaml", fmt.Appendf(nil, one, "callbacks: {before_agent_callback: audit}"))
	tooled := writeFile(t, "tooled.yaml", fmt.Appendf(nil, one, "tools: [{crm: [get_*]}]"))
	for _, c := range []struct {
		args []string
		code int
		out  string // in what it prints
	}{
		{[]string{flows + "good/diamond.yaml"}, 1, "diamond.yaml:8:12: unsupported: `merge`: there is no function \"merge\""},
		{append([]string{flows + "good/diamond.yaml"}, diamondFunctions()...), 0, "diamond.yaml: proved: 6 blocks"},
		{[]string{flows + "good/diamond.yaml", "--function", "sing"}, 1, "there is no function `sign`; did you mean `sing`?"},
		{[]string{hooked}, 1, "hooked.yaml:3:12: unsupported: `a`: there is no callback \"audit\""},
		{[]string{hooked, "--callback", "audit"}, 0, "proved"},
		{[]string{tooled}, 1, "there is no tool or toolset `crm`"},
		{[]string{tooled, "--toolset", "crm=put_contact"}, 1, "no tool of \"crm\" matches get_*; it has: put_contact"},
		{[]string{tooled, "--toolset", "crm=get_contact,put_contact"}, 0, "proved"},
		{[]string{tooled, "--toolset", "crm"}, 2, "write NAME=TOOL,TOOL"},
		{[]string{flows + "good/unverified.yaml"}, 0, "accepted, but not proved: both services give the same rate"},
		{[]string{flows + "good/assistant.yaml"}, 1, "there is no tool or toolset `ynab`"},
		{[]string{flows + "good/assistant.yaml", "--tool", "ynab"}, 0, "proved"},
		{[]string{flows + "bad/04_two_writers.yaml"}, 1, "    2. `fetch_b` starts"},
		{[]string{broken}, 1, "has no `agents`"},
		{[]string{"nowhere.yaml"}, 2, "no such file"},
		{nil, 2, "which file?"},
		{[]string{flows + "good/diamond.yaml", "two"}, 2, "one argument too many"},
	} {
		var out bytes.Buffer
		if code := run(append([]string{"workflow", "validate"}, c.args...), &out, &out); code != c.code ||
			!strings.Contains(out.String(), c.out) {
			t.Errorf("validate %v: %d\n%s\nwant %d with %q", c.args, code, out.String(), c.code, c.out)
		}
	}
}

func diamondFunctions() (flags []string) {
	for _, name := range []string{"source", "quick", "slow", "sign", "merge"} {
		flags = append(flags, "--function", name)
	}
	return flags
}

// TestValidateAgreesWithRun: what validate accepts without flags is what run and serve accept.
func TestValidateAgreesWithRun(t *testing.T) {
	t.Parallel()
	accepted := 0
	for _, folder := range []string{"good", "bad", "migrate"} {
		list, err := filepath.Glob(flows + folder + "/*.yaml")
		if err != nil || len(list) == 0 {
			t.Fatal(folder, err)
		}
		for _, file := range list {
			var out bytes.Buffer
			code := run([]string{"workflow", "validate", file}, &out, &out)
			e, err := newEngine(&settings.Workflow{}, exec.Config{})
			if err != nil {
				t.Fatal(err)
			}
			if _, err = addWorkflow(t.Context(), e, file); (err == nil) != (code == 0) {
				t.Errorf("%s: validate exits with %d and prints\n%s\nand run says: %v", file, code, out.String(), err)
			}
			if code == 0 {
				accepted++
			}
		}
	}
	if accepted < 5 {
		t.Errorf("%d files are accepted", accepted)
	}
}

// TestRefusedInDocs wants docs/workflows-refused.md to show what validate prints. TestDocs of agent/workflow writes it.
func TestRefusedInDocs(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("../../docs/workflows-refused.md")
	if err != nil {
		t.Fatal(err)
	}
	broken := regexp.MustCompile("(?s)```yaml\n(.*?)```\n\n```text\n(.*?)```\n").FindAllSubmatch(doc, -1)
	if len(broken) < 15 {
		t.Errorf("the page shows %d broken files", len(broken))
	}
	for _, m := range broken {
		file := writeFile(t, "flow.yaml", m[1])
		var out, errs bytes.Buffer
		code := run([]string{"workflow", "validate", file}, &out, &errs)
		if got := strings.ReplaceAll(out.String(), file, "flow.yaml"); code != 1 || got != string(m[2]) {
			t.Errorf("validate exits with %d and prints\n%s\nand the page says\n%s", code, got, m[2])
		}
	}
}

func TestWorkflowJSON(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for file, accepted := range map[string]bool{"good/desk.yaml": true, "bad/07_read_behind_router.yaml": false,
		"bad/14_misspelled.yaml": false} {
		var out, errs bytes.Buffer
		code := run([]string{"workflow", "validate", "--json", "--certificates", dir, flows + file}, &out, &errs)
		var got struct {
			Accepted bool
			Findings []workflow.Finding
			Proofs   []workflow.Proof
		}
		if err := json.Unmarshal(out.Bytes(), &got); err != nil || got.Accepted != accepted || (code == 0) != accepted ||
			(len(got.Findings) == 0) != accepted {
			t.Errorf("%s: %d %v\n%s", file, code, err, out.String())
		}
	}
	if list, err := filepath.Glob(filepath.Join(dir, "workflow-*.json")); err != nil || len(list) != 2 {
		t.Errorf("certificates: %v %v", list, err)
	}
}

// TestWorkflowCertificatesAreChecked: a report that does not hold is not written.
func TestWorkflowCertificatesAreChecked(t *testing.T) {
	t.Parallel()
	of, _, _, err := openWorkflow(flows+"good/diamond.yaml", workflow.Registry{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := workflow.Verify(t.Context(), of)
	if err != nil {
		t.Fatal(err)
	}
	c := workflowCheck{certificates: t.TempDir()}
	r.Proofs = r.Proofs[1:]
	if err := c.keep(t.Context(), of, r); err == nil || !strings.Contains(err.Error(), "the certificates do not hold") {
		t.Errorf("a proof is missing: %v", err)
	}
	if list, err := os.ReadDir(c.certificates); err != nil || len(list) != 0 {
		t.Errorf("it has written %v, %v", list, err)
	}
}

func TestWorkflowGraph(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "place:diamond/quick/busy"},
		{[]string{"--whole"}, "begin_store"},
		{[]string{"--format", "svg"}, "place:diamond/sign/busy"},
		{[]string{"--format", "mermaid"}, "diamond_quick --> diamond_sign"},
		{[]string{"--block", "diamond"}, "transition:ready_merge"},
	} {
		var out bytes.Buffer
		args := append([]string{"workflow", "graph", flows + "good/diamond.yaml"}, c.args...)
		if code := run(args, &out, &out); code != 0 ||
			!strings.Contains(out.String(), c.want) {
			t.Errorf("graph %v: %d, no %q in\n%.2000s", c.args, code, c.want, out.String())
		}
	}
	var out bytes.Buffer
	if code := run([]string{"workflow", "graph", "--format", "png", flows + "good/diamond.yaml"}, &out, &out); code != 2 {
		t.Errorf("an unknown format: %d", code)
	}
	if code := run([]string{"workflow", "graph", "--block", "quik", flows + "good/diamond.yaml"}, &out, &out); code != 2 {
		t.Errorf("an unknown block: %d", code)
	}
	if code := run([]string{"workflow", "graph", flows + "bad/14_misspelled.yaml"}, &out, &out); code != 1 {
		t.Errorf("a broken file: %d", code)
	}
	if code := run([]string{"workflow", "graph", flows + "good/desk.yaml"}, &out, &out); code != 0 {
		t.Errorf("agents as tools: %d", code)
	}
	out.Reset()
	if code := run([]string{"workflow", "schema"}, &out, &out); code != 0 || !json.Valid(out.Bytes()) {
		t.Errorf("schema: %d", code)
	}
}

// TestWorkflowDrawingsAreFresh holds docs/workflows/*.svg to the files in the pages: each drawing is that of the
// block it names, in the file above it.
func TestWorkflowDrawingsAreFresh(t *testing.T) {
	t.Parallel()
	drawn := 0
	rule := regexp.MustCompile("(?s)```yaml\n([^`]*?)```\n\n" +
		"\\[!\\[The net of ([A-Za-z0-9_]+)\\]\\((workflows/[a-z_]+\\.svg)\\)\\]")
	for _, page := range pages(t) {
		doc, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range rule.FindAllStringSubmatch(string(doc), -1) {
			drawn++
			var fresh bytes.Buffer
			file := writeFile(t, "flow.yaml", []byte(m[1]))
			if err := drawWorkflow(&fresh, file, "svg", m[2], false, workflow.Registry{}); err != nil {
				t.Errorf("%s: %v", m[3], err)
			}
			name := filepath.Join("..", "..", "docs", m[3])
			if *update {
				if err := os.WriteFile(name, fresh.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if committed, err := os.ReadFile(name); err != nil || !bytes.Equal(committed, fresh.Bytes()) {
				t.Errorf("%s is not how the net looks (%v): go test ./cmd/voicegw -run Fresh -update", name, err)
			}
		}
	}
	if kept, _ := filepath.Glob("../../docs/workflows/*.svg"); len(kept) != drawn || drawn < 10 {
		t.Errorf("there are %d drawings, and the pages show %d", len(kept), drawn)
	}
}

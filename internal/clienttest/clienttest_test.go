package clienttest

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/clients.md")

const pageFile = "../../docs/clients.md"

// pinned returns the version of a package of npm or of Go.
func pinned(pkg string) (string, error) {
	b, err := os.ReadFile("../npmtest/package.json")
	if err != nil {
		return "", err
	}
	var npm struct{ Dependencies map[string]string }
	if err := json.Unmarshal(b, &npm); err != nil {
		return "", err
	}
	if v := npm.Dependencies[pkg]; v != "" {
		return v[strings.LastIndex(v, "@")+1:], nil
	}
	b, err = os.ReadFile("../../go.mod")
	if err != nil {
		return "", err
	}
	if _, rest, ok := strings.Cut(string(b), "\t"+pkg+" v"); ok {
		v, _, _ := strings.Cut(rest, "\n")
		return v, nil
	}
	return "", fmt.Errorf("nothing pins the version of %s", pkg)
}

// TestPage holds docs/clients.md to the table.
func TestPage(t *testing.T) {
	page, err := Page(Clients(), pinned)
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(pageFile, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if b, err := os.ReadFile(pageFile); err != nil || string(b) != page {
		t.Errorf("docs/clients.md is not what the table says (%v): run go test ./internal/clienttest -update", err)
	}
}

// TestTable: each client is there once, is tried by a package that ends with Finish, and each reason
// is one of a feature.
func TestTable(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range Clients() {
		if seen[c.ID] || c.ID == "" || c.Name == "" || (c.Package == "") == (c.Version == "") {
			t.Errorf("%+v is there twice, or lacks something", c)
		}
		seen[c.ID] = true
		b, err := os.ReadFile("../../" + c.Folder + "/main_test.go")
		if err != nil || !strings.Contains(string(b), `clienttest.Finish("`+c.Folder+`")`) {
			t.Errorf("the TestMain of %s does not end with Finish: %v", c.Folder, err)
		}
		for f, why := range c.Not {
			if !slices.Contains(Features(), f) || why == "" {
				t.Errorf("%s: the reason for %q is %q", c.ID, f, why)
			}
		}
		if _, err := pinned(c.Package); c.Package != "" && err != nil {
			t.Error(err)
		}
	}
}

// TestMissing: what is claimed and not shown is missing; what only older versions must show, only
// when they are tried.
func TestMissing(t *testing.T) {
	table := []Client{
		{ID: "a", Folder: "x", Not: not("so", Text, Tools, Transcripts, Reconnect, End)},
		{ID: "b", Folder: "x", Older: true, Not: not("so", BargeIn, Text, Tools, Transcripts, Reconnect, End)},
		{ID: "c", Folder: "y"},
	}
	var l ledger
	l.note("a", Speech)
	if got := fmt.Sprint(l.missing(table, "x", false)); got != "[a: barge-in]" {
		t.Errorf("missing %s", got)
	}
	if got := fmt.Sprint(l.missing(table, "x", true)); got != "[a: barge-in b: speech]" {
		t.Errorf("missing %s", got)
	}
}

// probe is a test that fails without failing this one.
type probe struct {
	testing.TB
	failed bool
}

func (p *probe) Helper()               {}
func (p *probe) Failed() bool          { return p.failed }
func (p *probe) Errorf(string, ...any) { p.failed = true }

// TestShows: nothing that the table does not claim can be shown, and nothing by a test that failed.
func TestShows(t *testing.T) {
	for _, tt := range []struct {
		id      string
		feature Feature
		before  bool // failed before
	}{{"openai", Reconnect, false}, {"nobody", Speech, false}, {"openai", Speech, true}} {
		p := &probe{failed: tt.before}
		Shows(p, tt.id, tt.feature)
		if !p.failed || shown.cells[cell(tt.id, tt.feature)] {
			t.Errorf("%+v: failed %v, noted %v", tt, p.failed, shown.cells)
		}
	}
	Shows(t, "openai", Speech)
	if !shown.cells[cell("openai", Speech)] {
		t.Error("what was shown is not noted")
	}
}

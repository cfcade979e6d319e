package workflow_test

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/voicegw/voicegw/agent/workflow"
)

var update = flag.Bool("update", false, "write the golden files")

// judge loads, compiles and verifies a text.
func judge(t testing.TB, name string, text []byte) (*workflow.Report, []workflow.Finding) {
	t.Helper()
	return judgeWith(t, name, text, registry())
}

func judgeWith(t testing.TB, name string, text []byte, reg workflow.Registry) (*workflow.Report, []workflow.Finding) {
	t.Helper()
	w, found := workflow.Load(name, text, reg)
	if w == nil {
		return nil, found
	}
	c, found := workflow.Compile(w)
	if c == nil {
		return nil, found
	}
	r, err := workflow.Verify(context.Background(), c)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return r, r.Findings
}

func registry() workflow.Registry { return workflow.Registry{Tools: []string{"web", "mail", "ynab"}} }

// files are the files of a folder of testdata.
func files(t testing.TB, folder string) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join("testdata", folder, "*.yaml"))
	if err != nil || len(list) == 0 {
		t.Fatalf("no files in %s: %v", folder, err)
	}
	return list
}

func TestBadFiles(t *testing.T) {
	for _, path := range files(t, "bad") {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".yaml"), func(t *testing.T) {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			_, found := judge(t, filepath.Base(path), text)
			var got strings.Builder
			for _, f := range found {
				got.WriteString(f.String() + "\n")
				traced := []workflow.Rule{workflow.Deadlock, workflow.LeftBehind, workflow.Race}
				if slices.Contains(traced, f.Rule) && len(f.Trace) < 2 {
					t.Errorf("%s has no run that shows it", f)
				}
			}
			golden(t, strings.TrimSuffix(path, ".yaml")+".golden", got.String())
		})
	}
}

// TestReportsHold reads back the report on every file that compiles, proved, refused or not proved.
func TestReportsHold(t *testing.T) {
	read := 0
	for _, path := range slices.Concat(files(t, "good"), files(t, "bad"), files(t, "migrate")) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		w, _ := workflow.Load(path, text, registry())
		if w == nil {
			continue
		}
		c, _ := workflow.Compile(w)
		if c == nil {
			continue
		}
		r, err := workflow.Verify(t.Context(), c)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if _, err := workflow.ReadReport(t.Context(), r.Bytes(), c); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		read++
	}
	if read < 25 {
		t.Errorf("there were %d reports", read)
	}
}

// TestMigrate wants files in the form of PyFlow's to be accepted, or refused with what to change. The gateway
// has no tools but the built-in ones, and any functions, as for voicegw workflow validate without flags.
func TestMigrate(t *testing.T) {
	for _, path := range files(t, "migrate") {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		r, found := judgeWith(t, filepath.Base(path), text, workflow.Registry{Tools: []string{}})
		got := "accepted\n"
		if r == nil || !r.Proved() {
			got = ""
		}
		for _, f := range found {
			got += f.String() + "\n"
		}
		golden(t, strings.TrimSuffix(path, ".yaml")+".golden", got)
	}
	text, err := os.ReadFile("testdata/migrate/toolset.yaml")
	if err != nil {
		t.Fatal(err)
	}
	r, found := judgeWith(t, "toolset.yaml", text, workflow.Registry{Tools: []string{"bank"}})
	if r == nil || !r.Proved() {
		t.Errorf("with the toolset: %v", found)
	}
}

// golden compares what a test got with a file, or writes it.
func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got == "" || got != string(want) {
		t.Errorf("%s: got:\n%s\nwant:\n%s", path, got, want)
	}
}

func TestGoodFiles(t *testing.T) {
	for _, path := range files(t, "good") {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		r, found := judge(t, path, text)
		switch {
		case r == nil || !r.Accepted():
			t.Errorf("%s is not accepted: %v", path, found)
		case r.Unverified == "" && !r.Proved():
			t.Errorf("%s is not proved: %v", path, found)
		case r.Unverified != "" && (r.Proved() || !strings.Contains(r.Unverified, "either may stay")):
			t.Errorf("%s: unverified %q, findings %v", path, r.Unverified, found)
		}
	}
}

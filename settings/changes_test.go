package settings

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestReloadsDocumented: the table of docs/deploy.md has the settings that a running gateway can take, and no others.
func TestReloadsDocumented(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/deploy.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "\n| change | takes effect |\n")
	table, _, _ = strings.Cut(table, "\n\n")
	var names []string // of the first column
	for row := range strings.Lines(table) {
		first, _, _ := strings.Cut(strings.TrimPrefix(row, "|"), "|")
		for _, m := range regexp.MustCompile("`([a-z_.*]+)`").FindAllStringSubmatch(first, -1) {
			names = append(names, m[1])
		}
	}
	used := map[string]bool{}
	for _, row := range Rows() {
		i := slices.IndexFunc(names, func(name string) bool { ok, _ := path.Match(name, row.Key); return ok })
		if i >= 0 {
			used[names[i]] = true
		}
		if want := row.Reloads || slices.Contains(Reread(), row.Key); want != (i >= 0) {
			t.Errorf("%s: the page says that a reload takes it: %t; want %t", row.Key, i >= 0, want)
		}
	}
	for _, name := range names {
		if !used[name] {
			t.Errorf("the page names %s, which is no setting", name)
		}
	}
}

// TestPaths names the settings that are paths: a reload compares the files, and the shell completes both kinds.
func TestPaths(t *testing.T) {
	t.Parallel()
	directories := []string{"agents", "archive", "data_dir", "records.dir", "skills", "tls.acme_cache", "workflow.storage",
		"workflows"}
	files := []string{"mcp.bearers", "prices", "rules", "workflow.openapi"}
	for _, row := range Rows() {
		want := NotPath
		switch {
		case slices.Contains(directories, row.Key):
			want = DirectoryPath
		case slices.Contains(files, row.Key), strings.HasSuffix(row.Key, "_file"), strings.HasPrefix(row.Key, "prompts."):
			want = FilePath
		}
		if row.Path != want || strings.Contains(row.Want, "path of") != (want != NotPath) {
			t.Errorf("%s: the kind of path is %d, want %d, for %s", row.Key, row.Path, want, row.Want)
		}
	}
}

// TestChanges compares settings, and the contents of files that they name.
func TestChanges(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	read := func(text string) *Settings {
		t.Helper()
		s, err := configured(t, text+"\n", nil)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	for _, c := range []struct{ before, after, want string }{
		{"", "", "[]"},
		{"", "calls_max: 100", "[]"},
		{"calls_max: 5", "calls_max: 6", "[{calls_max false false}]"},
		{"voice: Puck", "log: {level: debug}", "[{log.level false true} {voice false true}]"},
		{"origins: ['https://a.example', 'https://b.example']", "origins: 'https://a.example, https://b.example'", "[]"},
		{"instructions: {a: x, b: y}", "instructions: {b: y, a: x}", "[]"},
		{"instructions: {a: x, b: y}", "instructions: {a: x, b: z}", "[{instructions false true}]"},
		{"session: {tools_file: " + file + "}", "session: {tools_file: " + file + "}", "[{session.tools_file true true}]"},
	} {
		write("before")
		before := read(c.before)
		write("after")
		if got := fmt.Sprint(before.Changes(read(c.after))); got != c.want {
			t.Errorf("%q, %q: %s, want %s", c.before, c.after, got, c.want)
		}
	}
	before, after := read("voice: Puck\ncalls_max: 5"), read("voice: Kore\nlanguage: de-DE\ncalls_max: 6")
	if got, want := fmt.Sprint(after.Keeping(before, []string{"language", "voice"}).Changes(after)),
		"[{language false true} {voice false true}]"; got != want {
		t.Errorf("kept: %s, want %s", got, want)
	}
}

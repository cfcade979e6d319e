package settings

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

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
}

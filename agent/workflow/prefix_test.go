package workflow

import (
	"context"
	"strings"
	"testing"
)

// TestPrefixes holds keys with a prefix to the same rules as others, but for one: other runs may have written user:
// and app: before.
func TestPrefixes(t *testing.T) {
	file := func(read, write, block string) string {
		return "name: w\nagents:\n  - {name: a, type: code, function: f, output_key: \"" + write + "\"}\n" +
			"  - {name: b, type: llm, model: m, instruction: \"{" + read + "}\"}\n" +
			"  - {name: c, type: code, function: f, input_keys: [\"" + read + "\"], output_key: z}\n" +
			"orchestration: {type: " + block + ", agents: [b, c, a]}"
	}
	for _, c := range []struct{ read, write, block, want string }{
		{"user:x", "user:x", "sequential", ""},
		{"app:x", "k", "sequential", ""},
		{"temp:x", "temp:x", "sequential", "needs"},
		{"temp:x", "k", "sequential", "which no agent writes"},
		{"user:x", "user:x", "parallel", "`a` writes `user:x` while `b` reads it"},
		{"temp:x?", "temp:x", "parallel", "`a` writes `temp:x` while `b` reads it"},
		{"user:x", "app:x", "parallel", ""},
		{"x", "other:x", "sequential", "perhaps with user:, app: or temp: in front"},
	} {
		w, found := Load("w.yaml", []byte(file(c.read, c.write, c.block)), Registry{})
		if len(found) == 0 {
			compiled, more := Compile(w)
			if found = more; len(found) == 0 {
				r, err := Verify(context.Background(), compiled)
				if err != nil {
					t.Fatal(err)
				}
				found = r.Findings
			}
		}
		text := ""
		for _, f := range found {
			text += f.String() + "\n"
		}
		if (text == "") != (c.want == "") || c.want != "needs" && !strings.Contains(text, c.want) ||
			c.want == "needs" && !strings.Contains(text, "read_before_write") {
			t.Errorf("%+v: the findings are %q", c, text)
		}
	}
}

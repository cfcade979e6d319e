package managed

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func linesOf(r io.Reader) *lineReader {
	return &lineReader{from: bufio.NewReaderSize(r, 16), close: func() error { return nil }}
}

// FuzzLines reads anything as the output of a server. What comes through are JSON values, one in a line, and no line
// is too long.
func FuzzLines(f *testing.F) {
	f.Add([]byte("{\"a\":1}\n\n[2]\nnoise\n"))
	f.Add([]byte("{\n}\n"))
	f.Add([]byte("{}"))
	f.Add([]byte("  {}  \r\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		l := linesOf(iotest.OneByteReader(bytes.NewReader(in)))
		out, err := io.ReadAll(l)
		if (err == nil) != errors.Is(l.why(), errGone) {
			t.Errorf("the reader ends with %v and says %v", err, l.why())
		}
		if len(out) > 0 && out[len(out)-1] != '\n' {
			t.Errorf("%q is no line", out)
		}
		for line := range bytes.Lines(out) {
			if !json.Valid(line) || len(line) > messageMax {
				t.Errorf("%.60q comes through", line)
			}
		}
	})
}

func TestLineLimit(t *testing.T) {
	fits := `"` + strings.Repeat("x", messageMax-3) + "\"\n"
	if out, err := io.ReadAll(linesOf(strings.NewReader(fits))); err != nil || string(out) != fits {
		t.Errorf("%d bytes, %v", len(out), err)
	}
	if out, err := io.ReadAll(linesOf(strings.NewReader(`"x` + fits[1:]))); err == nil || len(out) > 0 {
		t.Errorf("%d bytes, %v", len(out), err)
	}
}

// FuzzNames gives names to tools of servers with any names. Each tool has one that models accept, no two have the same,
// and they stay.
func FuzzNames(f *testing.F) {
	f.Add("files", "read", "read_file")
	f.Add("a/b", "a.b", "a/b")
	f.Add(strings.Repeat("s", 200), strings.Repeat("t", 70), strings.Repeat("t", 71))
	f.Add("s", "s__t", "t")
	f.Fuzz(func(t *testing.T, server, one, two string) {
		if one == two || one == "" || two == "" {
			return
		}
		st := newState()
		tools := []*mcp.Tool{{Name: one}, {Name: two}}
		taken := map[string]*boundTool{one: {}}
		before := ""
		for range 2 {
			seen := map[string]bool{}
			for _, s := range []string{server, server + "2"} {
				names, fresh, err := st.bind(s, tools, taken)
				if err != nil {
					t.Fatal(err)
				}
				for _, b := range fresh {
					st.bound[b.Name] = b
				}
				for _, tool := range tools {
					name := names[tool.Name]
					if !toolName.MatchString(name) || len(name) > functionMax || seen[name] || taken[name] != nil {
						t.Errorf("the tool %q of %q is called %q", tool.Name, s, name)
					}
					seen[name] = true
				}
			}
			now := fmt.Sprint(seen)
			if before != "" && now != before {
				t.Errorf("the names were %s and are %s", before, now)
			}
			before = now
		}
	})
}

// TestBoundNames keeps a name for its tool when the server of another tool comes later, and when hints change.
func TestBoundNames(t *testing.T) {
	st := newState()
	bind := func(server string, tools ...*mcp.Tool) map[string]string {
		names, fresh, err := st.bind(server, tools, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range fresh {
			st.bound[b.Name] = b
		}
		return names
	}
	safe := &mcp.Tool{Name: "read", Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}}
	if got := bind("second", safe)["read"]; got != "read" || !st.bound["read"].Repeat {
		t.Errorf("it is called %q: %+v", got, st.bound["read"])
	}
	if got := bind("first", safe)["read"]; got != "first__read" {
		t.Errorf("it is called %q", got)
	}
	if got := bind("second", &mcp.Tool{Name: "read"})["read"]; got != "read" || st.bound["read"].Repeat {
		t.Errorf("it is called %q: %+v", got, st.bound["read"])
	}
	var many []*mcp.Tool
	for i := range boundMax {
		many = append(many, &mcp.Tool{Name: fmt.Sprint("t", i)})
	}
	if _, _, err := st.bind("first", many, nil); err == nil || !strings.Contains(err.Error(), "the most there may be") {
		t.Errorf("the error is %v", err)
	}
}

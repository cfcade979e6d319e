package event

import (
	"strings"
	"testing"
)

// TestNameSet: an archive has no other names than its net, with slots, modes and branches or without.
func TestNameSet(t *testing.T) {
	p := line(t)
	log := string(archive(t, p, 3, 60))
	for _, tt := range []struct {
		old, renamed, want string
		n                  int
	}{
		{"", "", "", 1000},
		{`"edges[`, `"edge[`, "edge", 1000},
		{`"ignore (`, `"neglect (`, "neglect", 1000},
		{`"hold (chunk[fresh]) branch 1"`, `"keep branch 1"`, "keep", 1000},
		{`"kind":"fired","name":"open"`, `"kind":"fired","name":"begin"`, "begin", 3},
		{`"kind":"fired","name":"open"`, `"kind":"fired","name":"begin"`, "", 2},
		{`"seq":2`, `"seq":7`, "", 1000}, // damaged
	} {
		s := NameSet{}
		s.Add(p)
		if tt.old != "" && !strings.Contains(log, tt.old) {
			t.Fatalf("the archive has no %s", tt.old)
		}
		r, err := NewReader(strings.NewReader(strings.ReplaceAll(log, tt.old, tt.renamed)))
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Other(r, tt.n); got != tt.want {
			t.Errorf("%s for %s: %q, want %q", tt.renamed, tt.old, got, tt.want)
		}
	}
}

package simulate

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLedger adds up runs, and refuses lines that say nothing.
func TestLedger(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "sim.jsonl")
	for _, e := range []entry{{Commit: "a", First: 1, Last: 10, Calls: 60, Worlds: 10},
		{Commit: "a", First: 8, Last: 20, Calls: 80, Worlds: 13, Wrong: 1},
		{Commit: "b", First: 8, Last: 8, Calls: 6, Worlds: 1}} {
		if err := book(file, e); err != nil {
			t.Fatal(err)
		}
	}
	const want = "the ledger has 146 calls in 24 worlds of 3 runs at 2 commits, 1 worlds wrong; 3 seeds ran twice"
	all, err := sum(file)
	if err != nil || all.String() != want {
		t.Errorf("%v, %v; want %s", all, err, want)
	}
	for _, e := range []entry{{}, {Commit: "a", First: 2, Last: 1, Worlds: 1}, {First: 1, Last: 1, Worlds: 1}} {
		if err := book(file, e); err == nil {
			t.Errorf("%+v is booked", e)
		}
	}
	for _, bad := range []string{"what?", "{}", `{"commit":"a","first_seed":2,"last_seed":1}`} {
		if err := os.WriteFile(file, []byte(`{"commit":"a","calls":1}`+"\n"+bad+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := sum(file); err == nil || !strings.Contains(err.Error(), "line 2 is no run") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

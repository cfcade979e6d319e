package sim_test

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write what is seen of each scenario anew")

// compareWithFile wants got to be what testdata/seen says of a scenario, and to differ from what is
// sound.
func compareWithFile(t *testing.T, name string, got, sound []string) {
	t.Helper()
	if same := slices.Equal(got, sound); same != slices.Contains(soundAlike(), name) {
		t.Errorf("a client sees what it sees when all is sound: %v", same)
	}
	file := filepath.Join("testdata", "seen", name+".txt")
	if *update {
		if err := os.WriteFile(file, []byte(strings.Join(got, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			t.Fatalf("line %d:\n got %q\nwant %q", i+1, some(got, i), some(want, i))
		}
	}
}

// soundAlike are the scenarios in which no message tells a client that something is wrong.
func soundAlike() []string {
	return []string{"sound", "message-split", "slow-pongs", "transcripts-unfinished"}
}

func (s story) lines() []string {
	out := make([]string, len(s.seen))
	for i, one := range s.seen {
		out[i] = one.String()
	}
	return out
}

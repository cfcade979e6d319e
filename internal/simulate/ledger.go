package simulate

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"time"
)

// entry is a line of a ledger: a run of `make sim`.
type entry struct {
	Commit string    `json:"commit"`
	At     time.Time `json:"at"`
	First  uint64    `json:"first_seed"`
	Last   uint64    `json:"last_seed"`
	Calls  int64     `json:"calls"`
	Worlds int64     `json:"worlds"`
	Wrong  int64     `json:"wrong"` // worlds
}

// book appends a run to the ledger in a file.
func book(file string, e entry) error {
	if e.Commit == "" || e.Worlds == 0 || e.Last < e.First {
		return fmt.Errorf("simulate: ledger: a run without a commit or without worlds: %+v", e)
	}
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	if _, err = f.Write(append(line, '\n')); err != nil {
		_ = f.Close()
		return err
	}
	return f.Close()
}

// total is the sum of a ledger.
type total struct {
	runs, commits        int
	calls, worlds, wrong int64
	repeated             uint64 // seeds that ran more than once at one commit
}

// sum adds up a ledger. A line that cannot be read is an error: what it said is unknown.
func sum(file string) (t total, err error) {
	f, err := os.Open(file)
	if err != nil {
		return t, err
	}
	defer f.Close()
	byCommit := map[string][]entry{}
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		var e entry
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil || e.Commit == "" || e.Last < e.First {
			return t, fmt.Errorf("simulate: ledger %s: line %d is no run: %.80q", file, n, lines.Text())
		}
		t.runs++
		t.calls += e.Calls
		t.worlds += e.Worlds
		t.wrong += e.Wrong
		byCommit[e.Commit] = append(byCommit[e.Commit], e)
	}
	t.commits = len(byCommit)
	for _, list := range byCommit {
		t.repeated += overlap(list)
	}
	return t, lines.Err()
}

// overlap counts the seeds that more than one of the runs has.
func overlap(list []entry) (n uint64) {
	slices.SortFunc(list, func(a, b entry) int { return cmp.Compare(a.First, b.First) })
	last := list[0].Last
	for _, e := range list[1:] {
		if e.First <= last {
			n += min(last, e.Last) - e.First + 1
		}
		last = max(last, e.Last)
	}
	return n
}

// String is the sum for people.
func (t total) String() string {
	return fmt.Sprintf("the ledger has %d calls in %d worlds of %d runs at %d commits, %d worlds wrong; "+
		"%d seeds ran twice", t.calls, t.worlds, t.runs, t.commits, t.wrong, t.repeated)
}

package clienttest

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/voicegw/voicegw/internal/npmtest"
)

// shown are the features that the tests of this process have shown.
var shown ledger

// ledger is what was shown. Safe for concurrent use.
type ledger struct {
	mu    sync.Mutex
	cells map[string]bool // by client and feature
}

func cell(id string, f Feature) string { return id + ": " + string(f) }

func (l *ledger) note(id string, f Feature) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cells == nil {
		l.cells = map[string]bool{}
	}
	l.cells[cell(id, f)] = true
}

// missing returns the cells that a table claims for a folder and nobody has shown.
func (l *ledger) missing(table []Client, folder string, older bool) (list []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range table {
		if c.Folder != folder || c.Older && !older {
			continue
		}
		for _, f := range Features() {
			if _, no := c.Not[f]; !no && !l.cells[cell(c.ID, f)] {
				list = append(list, cell(c.ID, f))
			}
		}
	}
	return list
}

// Shows notes that a test has seen features of a client work. Call it behind the assertions. After a
// failure it notes nothing. It fails the test for a feature that the table does not claim.
func Shows(tb testing.TB, id string, features ...Feature) {
	tb.Helper()
	if tb.Failed() {
		return
	}
	table := Clients()
	i := slices.IndexFunc(table, func(c Client) bool { return c.ID == id })
	for _, f := range features {
		switch {
		case i < 0:
			tb.Errorf("clienttest: the table has no client %q", id)
		case table[i].Not[f] != "":
			tb.Errorf("clienttest: the table says of %s that it is not so: %s", cell(id, f), table[i].Not[f])
		default:
			shown.note(id, f)
		}
	}
}

// Finish returns what ends a package's TestMain (goleak.Cleanup): it fails if all tests passed and a
// feature that the table claims for the folder was not shown.
func Finish(folder string) func(code int) {
	return func(code int) {
		if code == 0 && allRan() {
			if list := shown.missing(Clients(), folder, npmtest.Older()); len(list) > 0 {
				fmt.Fprintf(os.Stderr, "clienttest: the table claims what no test has shown:\n  %s\n",
					strings.Join(list, "\n  "))
				code = 1
			}
		}
		os.Exit(code)
	}
}

// allRan reports whether no flag left out a test.
func allRan() bool {
	for _, name := range []string{"test.run", "test.skip", "test.list", "test.fuzz"} {
		if f := flag.Lookup(name); f != nil && f.Value.String() != "" {
			return false
		}
	}
	return true
}

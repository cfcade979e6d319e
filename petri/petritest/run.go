package petritest

import (
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/voicegw/voicegw/petri"
)

// Run plays a script, or every script of a folder, on prog. It fails the test if a trace differs.
// Each file begins with a new machine.
func Run(t *testing.T, path string, prog *petri.Program) {
	t.Helper()
	datadriven.Walk(t, path, func(t *testing.T, path string) {
		p := NewPlayer(prog)
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			return p.Do(d.Cmd, words(d), d.Input)
		})
	})
}

// words returns the words after the name of a step, as they are written.
func words(d *datadriven.TestData) []string {
	var out []string
	for _, a := range d.CmdArgs {
		w := a.Key
		if len(a.Vals) == 1 {
			w += "=" + a.Vals[0]
		} else if len(a.Vals) > 1 {
			w += "=(" + strings.Join(a.Vals, ", ") + ")"
		}
		out = append(out, w)
	}
	return out
}

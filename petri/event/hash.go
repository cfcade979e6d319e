package event

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/voicegw/voicegw/petri"
)

// Hash identifies what the events of a program mean: its places and their kinds of token, its
// transitions with their modes and intervals, and its initial marking. Programs with the same hash
// can replay each other's archives.
func Hash(p *petri.Program) string {
	var b strings.Builder
	fmt.Fprintf(&b, "voicegw events 1\n%q %d %v %v\n", p.Name(), p.FinalSlot(), p.Initial(), p.Order())
	for i := range p.Places() {
		pl := &p.Places()[i]
		fmt.Fprintf(&b, "place %q %q %t %d %d %d %t %d %t\n",
			pl.Name, pl.Keys, pl.Gen, pl.Slot, pl.Slots, pl.Max, pl.Env, pl.Policy, pl.Out)
	}
	for i := range p.Transitions() {
		t := &p.Transitions()[i]
		fmt.Fprintf(&b, "transition %q %d %d %d %t %t\n", t.Name, t.When.Earliest, t.When.Latest, t.Priority, t.Free, t.Bump)
		for k := range t.Modes {
			hashMode(&b, &t.Modes[k])
		}
	}
	fmt.Fprintf(&b, "tasks %v\n", p.Tasks())
	sum := sha256.Sum256([]byte(b.String()))
	return "sha256:" + hex.EncodeToString(sum[:])
}

func hashMode(b *strings.Builder, m *petri.Mode) {
	fmt.Fprintf(b, " mode %v %v %v %v %d\n", m.Conds, m.Take, m.Drain, m.Reset, m.Choice())
	for i := range m.Branches {
		fmt.Fprintf(b, "  put %v emit %v\n", m.Branches[i].Put, m.Branches[i].Emit)
	}
}

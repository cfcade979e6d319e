package netmodel

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/voicegw/voicegw/petri"
)

// CanonicalBut renders everything of a net that a proof rests on as text: places with keys,
// capacities and roles; transitions with intervals, priorities and the tables of their modes; the
// initial marking. Two programs with equal text have the same proofs. The text leaves out the lines
// of transition t; -1 leaves out nothing.
func (m *Model) CanonicalBut(t int32) string {
	var b strings.Builder
	fmt.Fprintf(&b, "voicegw net 1\nname %q\n", m.prog.Name())
	if m.Semantics == Interleave {
		b.WriteString("at once: interleave\n")
	}
	for i := range m.Places {
		canonicalPlace(&b, &m.Places[i])
	}
	for i := range m.Transitions {
		if int32(i) != t {
			m.canonicalTransition(&b, int32(i))
		}
	}
	for _, l := range m.Limits {
		fmt.Fprintf(&b, "limit %v at most %d\n", l.Sum, l.Max)
	}
	for _, g := range m.Given {
		fmt.Fprintf(&b, "given %q\n", g.Claim)
	}
	for t, above := range m.Above {
		if len(above) > 0 {
			fmt.Fprintf(&b, "above %d: %v\n", t, above)
		}
	}
	fmt.Fprintf(&b, "order %v\ninitial %v\n", m.Order, m.initial)
	return b.String()
}

func canonicalPlace(b *strings.Builder, p *petri.PlaceInfo) {
	fmt.Fprintf(b, "place %q keys %q slot %d+%d max %d", p.Name, p.Keys, p.Slot, p.Slots, p.Max)
	for _, f := range []struct {
		name string
		is   bool
	}{{"gen", p.Gen}, {"env", p.Env}, {"payload", p.Payload}, {"out", p.Out}, {"sink", p.Sink}, {"final", p.Final}} {
		if f.is {
			b.WriteByte(' ')
			b.WriteString(f.name)
		}
	}
	b.WriteByte('\n')
}

func (m *Model) canonicalTransition(b *strings.Builder, t int32) {
	info := &m.Transitions[t]
	fmt.Fprintf(b, "transition %q [%d,%d] priority %d bump %t frame %t outside %t\n",
		info.Name, info.When.Earliest, info.When.Latest, info.Priority, info.Bump, info.Frame, info.Outside)
	if info.Projected {
		fmt.Fprintf(b, " projected, yields %d\n", info.Yields)
	}
	for i := m.First[t]; i < m.First[t+1]; i++ {
		md := &m.Modes[i]
		fmt.Fprintf(b, " mode %v %v take %v empty %v choice %d\n",
			md.Needs.Bounds, md.Needs.Sums, md.Take, md.Empty, md.Choice)
		for j := range md.Branches {
			fmt.Fprintf(b, "  clear %v put", md.Branches[j].Clears)
			for _, p := range md.Branches[j].Put {
				fmt.Fprintf(b, " %d*%d", p.Slot, p.N)
			}
			fmt.Fprintf(b, " emit %v\n", info.Modes[md.Index].Branches[j].Emit)
		}
	}
}

// Hash is the SHA-256 of the whole canonical text: "sha256:..." in hex.
func (m *Model) Hash() string {
	sum := sha256.Sum256([]byte(m.CanonicalBut(-1)))
	return "sha256:" + hex.EncodeToString(sum[:])
}

package verify

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/voicegw/voicegw/petri"
)

// Canonical renders everything of a net that a proof rests on, as text: places
// with keys, capacities and roles, transitions with intervals, priorities and
// the tables of their modes, the initial marking. Two programs with equal text
// have the same proofs.
func (m *Model) Canonical() string { return m.CanonicalBut(-1) }

// CanonicalBut is Canonical without the lines of one transition.
func (m *Model) CanonicalBut(t int32) string {
	var b strings.Builder
	fmt.Fprintf(&b, "voicegw net 1\nname %q\n", m.prog.Name())
	if m.semantics == Interleave {
		b.WriteString("at once: interleave\n")
	}
	for i := range m.places {
		canonicalPlace(&b, &m.places[i])
	}
	for i := range m.transitions {
		if int32(i) != t {
			m.canonicalTransition(&b, int32(i))
		}
	}
	for _, l := range m.limits {
		fmt.Fprintf(&b, "limit %v at most %d\n", l.Sum, l.Max)
	}
	for _, g := range m.given {
		fmt.Fprintf(&b, "given %q\n", g.claim)
	}
	for t, above := range m.above {
		if len(above) > 0 {
			fmt.Fprintf(&b, "above %d: %v\n", t, above)
		}
	}
	fmt.Fprintf(&b, "order %v\ninitial %v\n", m.order, m.initial)
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
	info := &m.transitions[t]
	fmt.Fprintf(b, "transition %q [%d,%d] priority %d bump %t frame %t outside %t\n",
		info.Name, info.When.Earliest, info.When.Latest, info.Priority, info.Bump, info.Frame, info.Outside)
	if info.Projected {
		fmt.Fprintf(b, " projected, yields %d\n", info.Yields)
	}
	for i := m.first[t]; i < m.first[t+1]; i++ {
		md := &m.modes[i]
		fmt.Fprintf(b, " mode %v %v take %v empty %v choice %d\n",
			md.needs.Bounds, md.needs.Sums, md.take, md.empty, md.choice)
		for j := range md.branches {
			fmt.Fprintf(b, "  clear %v put", md.branches[j].clears)
			for _, p := range md.branches[j].put {
				fmt.Fprintf(b, " %d*%d", p.slot, p.n)
			}
			fmt.Fprintf(b, " emit %v\n", info.Modes[md.k].Branches[j].Emit)
		}
	}
}

// Hash is the SHA-256 of the canonical text: "sha256:..." in hex.
func (m *Model) Hash() string {
	sum := sha256.Sum256([]byte(m.Canonical()))
	return "sha256:" + hex.EncodeToString(sum[:])
}

package verify

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
)

// Fingerprint is a hash of the graph: of all markings in the order in which
// they were found, of all edges, of the frames that would move, and of what
// leaves the net. Nets with equal places, equal names and
// equal fingerprints behave alike, time aside.
func (g *Graph) Fingerprint() string {
	h := sha256.New()
	var row []byte
	flush := func() {
		h.Write(row) // a hash takes everything
		row = row[:0]
	}
	g.all(func(i int, m []int32) bool {
		for _, n := range m {
			row = binary.AppendUvarint(row, uint64(n))
		}
		for _, e := range g.From(i) {
			row = binary.AppendUvarint(row, uint64(e.To))
			row = binary.AppendUvarint(row, uint64(e.Step.Transition))
		}
		g.Model.frameMoves(m, func(mode int32) { row = binary.AppendUvarint(row, uint64(mode)) }, nil)
		if len(row) > 1<<12 {
			flush()
		}
		return true
	})
	for i := range g.Model.modes {
		row = g.emissions(&g.Model.modes[i], row)
	}
	flush()
	return hex.EncodeToString(h.Sum(nil))
}

// emissions appends what leaves the net in each firing of a mode that happens.
func (g *Graph) emissions(md *mode, row []byte) []byte {
	for b := range md.branches {
		s := Step{md.t, md.k, int32(b)}
		if !g.FiresStep(s) {
			continue
		}
		row = binary.AppendUvarint(row, uint64(g.Model.StepIndex(s)))
		for _, e := range g.Model.transitions[md.t].Modes[md.k].Branches[b].Emit {
			row = append(row, g.Model.places[e.Place].Name...)
			row = binary.AppendUvarint(row, uint64(e.N))
		}
	}
	return row
}

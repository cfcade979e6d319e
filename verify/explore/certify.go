package explore

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/voicegw/voicegw/verify/check"
	"github.com/voicegw/voicegw/verify/claim"
)

// Certify makes a certificate of a complete graph for claims about markings or moves. It does not
// check whether they hold: Certificate.Check does.
func (g *Graph) Certify(claims ...claim.Claim) (*check.Certificate, error) {
	if err := g.listable("certify"); err != nil {
		return nil, err
	}
	var rows []string
	g.rows(func(row []byte) { rows = append(rows, string(row)) })
	return check.ListMarkings(g.Model, rows, claims...)
}

// Confirm checks claims on the markings of a complete graph with code that had no part in
// exploration. It reports which claims apply to something. An error that wraps ErrCertificate
// reports a claim that does not hold.
func (g *Graph) Confirm(ctx context.Context, claims ...claim.Claim) ([]bool, error) {
	if err := g.listable("confirm"); err != nil {
		return nil, err
	}
	var rows []byte
	g.rows(func(row []byte) { rows = append(rows, row...) })
	return check.ConfirmMarkings(ctx, g.Model, rows, g.States(), claims...)
}

// listable returns an error unless the graph has all markings of its net.
func (g *Graph) listable(verb string) error {
	switch {
	case !g.Complete:
		return fmt.Errorf("verify: %s %s: not all markings were found", verb, g.Model.Program().Name())
	case g.Reduced:
		return fmt.Errorf("verify: %s %s: a reduced graph leaves markings out", verb, g.Model.Program().Name())
	}
	return nil
}

// rows calls fn for each marking, as variable-length integers.
func (g *Graph) rows(fn func(row []byte)) {
	var row []byte
	g.all(func(_ int, m []int32) bool {
		row = row[:0]
		for _, n := range m {
			row = binary.AppendUvarint(row, uint64(n))
		}
		fn(row)
		return true
	})
}

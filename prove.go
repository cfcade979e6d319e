package voicegw

import (
	"context"
	"fmt"

	"github.com/voicegw/voicegw/voicenets"
)

// Prove makes sure that every net calls may run keeps the properties of
// voicenets.Properties, by a certificate that is checked again: one that is
// shipped, for the default timings, else one from the cache, else one that is
// made now, which takes well under a second with the default budget and grows
// with its square. Call it before serving; an error says what is wrong and, for
// a property that is refuted, how. cache may be nil.
func (g *Gateway) Prove(ctx context.Context, cache voicenets.Cache) ([]*voicenets.Proof, error) {
	var list []*voicenets.Proof
	for _, v := range variants() {
		p, err := voicenets.Prove(ctx, g.cfg.netOf(v), cache)
		if err != nil {
			return nil, fmt.Errorf("voicegw: %w", err)
		}
		list = append(list, p)
	}
	return list, nil
}

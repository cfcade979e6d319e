package voicegw

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/voicegw/voicegw/voicenets"
)

// Prove makes sure that every net calls may run keeps the properties of
// voicenets.Proofs, by certificates that are checked again: those that are
// shipped, for the default timings, else one from the cache, else one that is
// made now, which takes a few seconds with the default budget and grows
// with its square. Call it before serving; an error says what is wrong and, for
// a property that is refuted, how. cache may be nil; else it is used by several
// goroutines at a time.
func (g *Gateway) Prove(ctx context.Context, cache voicenets.Cache) ([]*voicenets.Proof, error) {
	list := make([]*voicenets.Proof, len(variants()))
	errs := make([]error, len(list))
	var running sync.WaitGroup
	for i, v := range variants() {
		running.Go(func() { list[i], errs[i] = voicenets.Prove(ctx, g.cfg.netOf(v), cache) })
	}
	running.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("voicegw: %w", err)
	}
	return list, nil
}

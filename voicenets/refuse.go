package voicenets

import (
	"context"
	"errors"
	"slices"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify"
)

// Refusal returns a judge of mutants of the session of a configuration: it proves
// of a mutant exactly what Prove proves of the session, and lists the claims that
// are not proved. A claim that is open because a slice has more than max markings
// is not listed. absurd says that a claim speaks of what the mutant does not
// have. What slices the mutant has in common with the session is not proved
// again. It is safe for concurrent use.
func Refusal(ctx context.Context, c Config, max int) (func(context.Context, *petri.Net) (by []string, absurd bool,
	err error), error) {
	known := map[string]*sliceProof{}
	p := Prover{known: known, max: max, Anew: true}
	n, err := Session(c)
	if err != nil {
		return nil, err
	}
	k, err := Prover{}.prepare(ctx, n, c)
	if err != nil {
		return nil, err
	}
	for _, s := range slices.Concat(k.slices, k.views) {
		if err := s.prove(ctx, Prover{}); err != nil {
			return nil, err
		}
		known[s.name()] = s
	}
	if err := k.proof().Err(); err != nil {
		return nil, err
	}
	for _, v := range k.viewOf {
		p.shape = append(p.shape, v.shape)
	}
	return func(ctx context.Context, mutant *petri.Net) ([]string, bool, error) {
		list, err := p.prove(ctx, []*petri.Net{mutant}, []Config{c})
		var crowded *crowdedError
		switch {
		case ctx.Err() != nil:
			return nil, false, ctx.Err()
		case errors.As(err, &crowded):
			return []string{Capacity().Name}, false, nil
		case err != nil:
			return nil, true, nil
		}
		var by []string
		for _, claim := range list[0].Claims {
			if claim.Outcome != verify.Proved && claim.Cause != verify.Capped {
				by = append(by, claim.Property.Name)
			}
		}
		return by, false, nil
	}, nil
}

package claims

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/verify/check"
	"github.com/voicegw/voicegw/verify/explore"
	"github.com/voicegw/voicegw/voicenets"
)

// refusal judges mutants of one session as a gateway does when it starts. It stops at the first
// claim, slice or view that is not proved.
type refusal struct {
	config voicenets.Config
	max    int
	known  map[string]bool // slices and views of the session itself, by name
	shapes []*Shape
}

// Refusal returns a judge of mutants of the session of a configuration. The judge asks of a mutant
// exactly what Prove asks of the session, and names one thing that is not proved, if any. It skips
// a slice or view of more than max markings. absurd reports that a claim names something that the
// mutant lacks. The judge is safe for concurrent use.
func Refusal(ctx context.Context, c voicenets.Config, max int) (func(context.Context, *petri.Net) (by []string,
	absurd bool,
	err error), error) {
	r := &refusal{config: c, max: max, known: map[string]bool{}}
	n, err := voicenets.Session(c)
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
		r.known[s.name()] = true
	}
	if err := k.proof().Err(); err != nil {
		return nil, err
	}
	for _, v := range k.viewOf {
		r.shapes = append(r.shapes, v.shape)
	}
	return r.judge, nil
}

func (r *refusal) judge(ctx context.Context, mutant *petri.Net) (by []string, absurd bool, err error) {
	name, err := r.refused(ctx, mutant)
	var overflow *overflowError
	switch {
	case ctx.Err() != nil:
		return nil, false, ctx.Err()
	case errors.As(err, &overflow):
		return []string{Capacity().Name}, false, nil
	case err != nil:
		return nil, true, nil
	case name != "":
		return []string{name}, false, nil
	}
	return nil, false, nil
}

// refused names something in the mutant that is not proved; "" if everything is.
func (r *refusal) refused(ctx context.Context, mutant *petri.Net) (string, error) {
	o, err := obligationsOf(mutant, r.config)
	if err != nil {
		return "", err
	}
	k := &proving{obligations: o}
	for _, decide := range []func(context.Context, Prover) ([]Claim, error){o.structural, o.rehearsed, o.timed} {
		claims, err := decide(ctx, Prover{})
		if err != nil {
			return "", err
		}
		if i := slices.IndexFunc(claims, func(c Claim) bool { return c.Outcome != verify.Proved }); i >= 0 {
			return claims[i].Property.Name, nil
		}
	}
	k.asked = Claims(o.config)
	for i, v := range Views(o.config) {
		s, err := k.layOutView(mutant, v, r.shapes[i].Of(mutant))
		if err != nil {
			return "", err
		}
		if name, err := r.unproved(ctx, s); name != "" || err != nil {
			return name, err
		}
	}
	if err := k.layOut(); err != nil {
		return "", err
	}
	slices.SortStableFunc(k.slices, func(a, b *sliceProof) int { return cmp.Compare(a.model.Slots(), b.model.Slots()) })
	for _, s := range k.slices {
		if name, err := r.unproved(ctx, s); name != "" || err != nil {
			return name, err
		}
	}
	return "", nil
}

// unproved names a slice or view in which something is not proved; "" if everything is.
func (r *refusal) unproved(ctx context.Context, s *sliceProof) (string, error) {
	if r.known[s.name()] {
		return "", nil
	}
	g, err := explore.ExploreModel(ctx, s.model, explore.Options{Max: r.max})
	if err != nil {
		return "", err
	}
	if !g.Complete {
		if len(g.Faults) > 0 {
			return fmt.Sprintf("%s of %s", Capacity().Name, s.part.Name), nil
		}
		return "", nil
	}
	if _, err := g.Confirm(ctx, verify.Claims(s.props...)...); !errors.Is(err, check.ErrCertificate) {
		return "", err
	}
	return s.part.Name, nil
}

package voicenets

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify"
)

// refusal judges mutants of one session as a gateway would at its start. It
// stops at the first claim, slice or view that is not proved.
type refusal struct {
	config Config
	max    int
	known  map[string]bool // slices and views of the session itself, by name
	shapes []*shape
}

// Refusal returns a judge of mutants of the session of a configuration: it asks
// of a mutant exactly what Prove asks of the session, and names one thing that is
// not proved, if there is one. A slice or view of more than max markings is left
// out. absurd says that a claim speaks of what the mutant does not have. It is
// safe for concurrent use.
func Refusal(ctx context.Context, c Config, max int) (func(context.Context, *petri.Net) (by []string, absurd bool,
	err error), error) {
	r := &refusal{config: c, max: max, known: map[string]bool{}}
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
	var crowded *crowdedError
	switch {
	case ctx.Err() != nil:
		return nil, false, ctx.Err()
	case errors.As(err, &crowded):
		return []string{Capacity().Name}, false, nil
	case err != nil:
		return nil, true, nil
	case name != "":
		return []string{name}, false, nil
	}
	return nil, false, nil
}

// refused names what of a mutant is not proved; "" if all is.
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
	for i, v := range views(o.config) {
		s, err := k.layOutView(mutant, v, r.shapes[i].of(mutant))
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

// unproved names a slice or view in which something is not proved; "" if all is.
func (r *refusal) unproved(ctx context.Context, s *sliceProof) (string, error) {
	if r.known[s.name()] {
		return "", nil
	}
	g, err := verify.ExploreModel(ctx, s.model, verify.Options{Max: r.max})
	if err != nil {
		return "", err
	}
	if !g.Complete {
		if len(g.Faults) > 0 {
			return fmt.Sprintf("%s of %s", Capacity().Name, s.part.Name), nil
		}
		return "", nil
	}
	if _, err := g.Confirm(ctx, s.props...); !errors.Is(err, verify.ErrCertificate) {
		return "", err
	}
	return s.part.Name, nil
}

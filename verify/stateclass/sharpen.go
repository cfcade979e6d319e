package stateclass

import (
	"context"

	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/verify/claim"
)

// Sharpen returns the properties with a second check of what an exploration without time left
// undecided. That is a bad end that it found although time excludes the path, or the machine takes
// another path at a tie. The second check explores state classes: first for a run that the machine
// takes (Options.TimersFirst), then for a proof that no timing breaks the property. Properties that
// are not about markings stay as they are.
func Sharpen(o Options, props ...*verify.Property) []*verify.Property {
	var out []*verify.Property
	for _, p := range props {
		out = append(out, sharpen(o, p))
	}
	return out
}

func sharpen(o Options, p *verify.Property) *verify.Property {
	switch p.Claim.(type) {
	case claim.Marking, claim.Capacity:
	default:
		return p
	}
	s := *p
	s.Check = func(ctx context.Context, pass *verify.Pass) (verify.Verdict, error) {
		v, err := p.Check(ctx, pass)
		if err != nil || !doubtful(pass, v) {
			return v, err
		}
		for _, first := range o.sharper() {
			if v, err = look(ctx, pass, p, first); err != nil || v.Outcome == verify.Refuted && !doubtful(pass, v) {
				return v, err
			}
		}
		return look(ctx, pass, p, o)
	}
	return &s
}

// sharper lists the options of the searches for a run that a machine takes: first with ties as the
// machine resolves them, then with all waits as well.
func (o Options) sharper() []Options {
	o.TimersFirst = true
	list := []Options{o}
	if o.Relax {
		o.Relax, o.Keep = false, nil
		list = append(list, o)
	}
	return list
}

// doubtful reports whether a bad end was found without a known path that the machine takes.
func doubtful(pass *verify.Pass, v verify.Verdict) bool {
	if v.Outcome == verify.Unknown {
		return v.Cause == verify.Spurious
	}
	return v.Outcome == verify.Refuted && v.Witness != nil && !pass.Takes(v.Witness)
}

// look checks a property with time.
func look(ctx context.Context, pass *verify.Pass, p *verify.Property, o Options) (verify.Verdict, error) {
	if c, ok := p.Claim.(claim.Capacity); ok {
		return WithinCapacity(o, c.MayRefuse...).Check(ctx, pass)
	}
	bad, err := claim.BadMarkings(p.Claim, pass.Model())
	if err != nil {
		return verify.Verdict{}, err
	}
	g, err := Of(ctx, pass, o)
	if err != nil {
		return verify.Verdict{}, err
	}
	if c := g.first(bad); c >= 0 {
		return g.refute(g.PathTo(c), "reached: %s", g.Model.Format(g.Marking(c, nil))), nil
	}
	return g.unlessPassing(ctx, pass, p)
}

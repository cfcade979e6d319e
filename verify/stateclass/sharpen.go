package stateclass

import (
	"context"
	"strings"

	"github.com/voicegw/voicegw/verify"
)

// Sharpen returns the properties with a second look at what ignoring time left
// open: where a bad marking was found and time forbids the way there, classes
// are explored until one has such a marking or all have been seen. Properties
// that are not about markings stay as they are.
func Sharpen(o Options, props ...*verify.Property) []*verify.Property {
	var out []*verify.Property
	for _, p := range props {
		out = append(out, sharpen(o, p))
	}
	return out
}

func sharpen(o Options, p *verify.Property) *verify.Property {
	var timed func(context.Context, *verify.Pass) (verify.Verdict, error)
	switch {
	case p.Bad != nil:
		timed = func(ctx context.Context, pass *verify.Pass) (verify.Verdict, error) { return hunt(ctx, pass, p, o) }
	case strings.HasPrefix(p.Claim, "capacity"):
		timed = WithinCapacity(o, p.MayRefuse...).Check
	default:
		return p
	}
	s := *p
	s.Check = func(ctx context.Context, pass *verify.Pass) (verify.Verdict, error) {
		v, err := p.Check(ctx, pass)
		if err != nil || v.Outcome != verify.Unknown || v.Cause != verify.Spurious {
			return v, err
		}
		return timed(ctx, pass)
	}
	return &s
}

// hunt explores classes until one breaks a property.
func hunt(ctx context.Context, pass *verify.Pass, p *verify.Property, o Options) (verify.Verdict, error) {
	bad, err := p.Bad(pass.Model())
	if err != nil {
		return verify.Verdict{}, err
	}
	o.until = bad
	if o.Max == 0 {
		o.Max = pass.Config.Max
	}
	g, err := Explore(ctx, pass.Model(), o)
	if err != nil {
		return verify.Verdict{}, err
	}
	if g.hit >= 0 {
		return g.refute(g.PathTo(g.hit), "reached: %s", g.Model.Format(g.Marking(g.hit, nil))), nil
	}
	return g.unlessPassing(ctx, pass, p)
}

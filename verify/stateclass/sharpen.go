package stateclass

import (
	"context"
	"strings"

	"github.com/voicegw/voicegw/verify"
)

// Sharpen returns the properties with a second look at what ignoring time left
// open: where a bad end was found and time forbids the way there, or the
// machine takes another at a tie, state classes are explored: first for a run
// that the machine takes (Options.TimersFirst), then for a proof that no timing
// breaks the property. Properties that are not about markings stay as they are.
func Sharpen(o Options, props ...*verify.Property) []*verify.Property {
	var out []*verify.Property
	for _, p := range props {
		out = append(out, sharpen(o, p))
	}
	return out
}

func sharpen(o Options, p *verify.Property) *verify.Property {
	if p.Bad == nil && !strings.HasPrefix(p.Claim, "capacity") {
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

// sharper are the options with which runs that a machine takes are looked for:
// ties as it takes them, then all waits too.
func (o Options) sharper() []Options {
	o.TimersFirst = true
	list := []Options{o}
	if o.Relax {
		o.Relax, o.Keep = false, nil
		list = append(list, o)
	}
	return list
}

// doubtful reports whether a bad end was found to which no way is known that
// the machine takes.
func doubtful(pass *verify.Pass, v verify.Verdict) bool {
	if v.Outcome == verify.Unknown {
		return v.Cause == verify.Spurious
	}
	return v.Outcome == verify.Refuted && v.Witness != nil && !pass.Takes(v.Witness)
}

// look checks a property with time.
func look(ctx context.Context, pass *verify.Pass, p *verify.Property, o Options) (verify.Verdict, error) {
	if p.Bad == nil {
		return WithinCapacity(o, p.MayRefuse...).Check(ctx, pass)
	}
	bad, err := p.Bad(pass.Model())
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

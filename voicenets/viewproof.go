package voicenets

import (
	"context"
	"fmt"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify"
)

// viewed is a view of a session, closed, and what is asked of it.
type viewed struct {
	name  string
	shape *shape
	net   *petri.Net // the session, or a mutant of it
	c     Config
	model *verify.Model
	asks  []int // which of the claims, by index
}

// hasViews reports whether claims on views are asked of a session: they say how
// our own parts work together. A firm greeting, a notice at the beginning and hints
// change that in ways these claims leave out.
func (c Config) hasViews() bool {
	return len(c.Parts) == 0 && !c.Hints && !c.GreetingFirm && !c.Prompts.Has(Notify)
}

// layOutViews makes the views of a session and finds out which claims can be
// asked in each.
func (k *proving) layOutViews(session *petri.Net) error {
	if !k.config.hasViews() {
		return nil
	}
	k.asked = Claims(k.config)
	for _, v := range views(k.config) {
		shape, err := shapeOf(session, v)
		if err == nil {
			_, err = k.layOutView(session, v, shape)
		}
		if err != nil {
			return fmt.Errorf("voicenets: view %s: %w", v.name, err)
		}
	}
	return nil
}

// layOutView makes one of them.
func (k *proving) layOutView(session *petri.Net, v view, s *shape) (*sliceProof, error) {
	view := &viewed{name: "view " + v.name, shape: s, net: session, c: k.config}
	if err := view.layOut(k.asked); err != nil {
		return nil, err
	}
	part := verify.Part{Slice: verify.Slice{Name: view.name}}
	for _, j := range view.asks {
		part.Props = append(part.Props, k.asked[j])
	}
	proof := newSliceProof(view.model, part, nil)
	proof.view = view
	k.views, k.viewOf = append(k.views, proof), append(k.viewOf, view)
	return proof, nil
}

// layOut closes the view, with every wait open, and finds what can be asked of it.
func (v *viewed) layOut(claims []*verify.Property) error {
	n, err := v.shape.close(v.net, v.c)
	if err != nil {
		return err
	}
	prog, err := petri.Compile(relaxed(n))
	if err != nil {
		return err
	}
	v.model = verify.NewModel(prog, verify.RunToCompletion)
	for i, p := range claims {
		ok, err := p.Fits(v.model)
		if err != nil {
			return err
		}
		if ok {
			v.asks = append(v.asks, i)
		}
	}
	return nil
}

// judge decides the claims one by one, with the waits that run, so that the
// machine can show what breaks one.
func (v *viewed) judge(ctx context.Context, claims []*verify.Property, most int) (*verify.Report, error) {
	pass, err := v.timed(most)
	if err != nil {
		return nil, err
	}
	together, err := verify.CheckMoves(ctx, pass, keep(claims, func(p *verify.Property) bool { return p.Moves != nil })...)
	if err != nil {
		return nil, err
	}
	r := &verify.Report{Net: v.name, Hash: pass.Model().Hash()}
	for _, p := range claims {
		if p.Moves != nil {
			verdict := together[0]
			if together = together[1:]; verdict.Outcome == verify.Proved {
				r.Results = append(r.Results, verify.Result{Property: p, Verdict: verdict})
				continue
			}
		}
		verdict, err := p.Check(ctx, pass)
		if err != nil {
			return nil, err
		}
		r.Results = append(r.Results, verify.Result{Property: p, Verdict: verdict})
	}
	return r, nil
}

// timed is the view with its waits, and what of it runs.
func (v *viewed) timed(most int) (*verify.Pass, error) {
	n, err := v.shape.close(v.net, v.c)
	if err != nil {
		return nil, err
	}
	closed, err := petri.Compile(n)
	if err != nil {
		return nil, err
	}
	if n, err = v.shape.open(v.net); err != nil {
		return nil, err
	}
	open, err := petri.Compile(n)
	if err != nil {
		return nil, err
	}
	return verify.NewPass(closed, verify.Config{Max: most, Open: open})
}

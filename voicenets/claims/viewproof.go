package claims

import (
	"context"
	"fmt"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify"
	vclaim "github.com/voicegw/voicegw/verify/claim"
	"github.com/voicegw/voicegw/verify/netmodel"
	"github.com/voicegw/voicegw/verify/slice"
	"github.com/voicegw/voicegw/voicenets"
	"github.com/voicegw/voicegw/voicenets/internal/prune"
)

// viewed is a closed view of a session, with the claims it must decide.
type viewed struct {
	name  string
	shape *Shape
	net   *petri.Net // the session, or a mutant of it
	c     voicenets.Config
	model *netmodel.Model
	asks  []int // indexes of the claims to decide
}

// hasViews reports whether views decide claims of a session. Those claims say how the gateway's own
// parts work together. A firm greeting, a notice at the beginning and hints change that in ways
// that the claims do not cover.
func hasViews(c voicenets.Config) bool {
	return len(c.Parts) == 0 && !c.Hints && !c.GreetingFirm && !c.Prompts.Has(voicenets.Notify)
}

// layOutViews makes the views of a session and finds which claims each can decide.
func (k *proving) layOutViews(session *petri.Net) error {
	if !hasViews(k.config) {
		return nil
	}
	k.asked = Claims(k.config)
	for _, v := range Views(k.config) {
		shape, err := v.Shape(session)
		if err == nil {
			_, err = k.layOutView(session, v, shape)
		}
		if err != nil {
			return fmt.Errorf("claims: view %s: %w", v.Name, err)
		}
	}
	return nil
}

// layOutView makes one view.
func (k *proving) layOutView(session *petri.Net, v View, s *Shape) (*sliceProof, error) {
	view := &viewed{name: "view " + v.Name, shape: s, net: session, c: k.config}
	if err := view.layOut(k.asked); err != nil {
		return nil, err
	}
	part := verify.Part{Slice: slice.Slice{Name: view.name}}
	for _, j := range view.asks {
		part.Props = append(part.Props, k.asked[j])
	}
	proof := newSliceProof(view.model, part, nil)
	proof.view = view
	k.views, k.viewOf = append(k.views, proof), append(k.viewOf, view)
	return proof, nil
}

// layOut closes the view with every wait open, and finds which claims it can decide.
func (v *viewed) layOut(claims []*verify.Property) error {
	n, err := v.shape.Close(v.net, v.c)
	if err != nil {
		return err
	}
	prog, err := petri.Compile(relaxed(n))
	if err != nil {
		return err
	}
	v.model = netmodel.New(prog, netmodel.RunToCompletion)
	for i, p := range claims {
		ok, err := vclaim.Fits(p.Claim, v.model)
		if err != nil {
			return err
		}
		if ok {
			v.asks = append(v.asks, i)
		}
	}
	return nil
}

// judge decides the claims one by one with the real waits, so that the machine can show a run that
// breaks a claim.
func (v *viewed) judge(ctx context.Context, claims []*verify.Property, most int) (*verify.Report, error) {
	pass, err := v.timed(most)
	if err != nil {
		return nil, err
	}
	moves := prune.Keep(claims, func(p *verify.Property) bool { return vclaim.AboutMoves(p.Claim) })
	together, err := verify.CheckMoves(ctx, pass, moves...)
	if err != nil {
		return nil, err
	}
	r := &verify.Report{Net: v.name, Hash: pass.Model().Hash()}
	for _, p := range claims {
		if vclaim.AboutMoves(p.Claim) {
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

// timed is the view with its real waits, and the open net that the machine runs.
func (v *viewed) timed(most int) (*verify.Pass, error) {
	n, err := v.shape.Close(v.net, v.c)
	if err != nil {
		return nil, err
	}
	closed, err := petri.Compile(n)
	if err != nil {
		return nil, err
	}
	if n, err = v.shape.Open(v.net); err != nil {
		return nil, err
	}
	open, err := petri.Compile(n)
	if err != nil {
		return nil, err
	}
	return verify.NewPass(closed, verify.Config{Max: most, Open: open})
}

package claims

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/verify/check"
	vclaim "github.com/voicegw/voicegw/verify/claim"
	"github.com/voicegw/voicegw/verify/explore"
	"github.com/voicegw/voicegw/verify/netmodel"
)

// sliceProof is the proof of one slice or view, which several sessions may share.
type sliceProof struct {
	model *netmodel.Model
	part  verify.Part
	props []*verify.Property // the properties of every slice come first
	view  *viewed            // nil for a slice
	id    string

	// Results of prove.
	states  int
	cert    []byte
	applied []bool // by property: whether it applied at all
	source  Source
	seconds verify.Seconds
	failed  *verify.Report // nil: every claim is proved
	err     error
}

func newSliceProof(m *netmodel.Model, part verify.Part, each []*verify.Property) *sliceProof {
	s := &sliceProof{model: m, part: part, props: slices.Concat(each, part.Props)}
	sum := sha256.New()
	fmt.Fprintln(sum, m.Hash())
	for _, p := range s.props {
		fmt.Fprintf(sum, "%q\n", vclaim.TextOf(p.Claim))
	}
	s.id = hex.EncodeToString(sum.Sum(nil)[:12])
	return s
}

// name identifies the slice and its claims.
func (s *sliceProof) name() string { return s.id }

// file is the file name of the certificate.
func (s *sliceProof) file() string { return s.id + ".json" }

// prove checks the existing certificate, or makes one.
func (s *sliceProof) prove(ctx context.Context, p Prover) error {
	start := p.now()
	defer func() { s.seconds = p.now() - start }()
	if err := s.find(p); err != nil {
		return err
	}
	if s.cert == nil {
		return s.explore(ctx, p)
	}
	cert, err := check.ReadCertificate(s.cert)
	if err == nil {
		s.applied, err = cert.Applied(ctx, s.model, verify.Claims(s.props...)...)
	}
	if err != nil {
		return fmt.Errorf("claims: the certificate of %s (%s, %s): %w", s.part.Name, s.source, s.file(), err)
	}
	s.states = cert.Count
	return nil
}

// find looks for a certificate. Views have none, because exploring a view takes less time than
// checking its certificate.
func (s *sliceProof) find(p Prover) error {
	if p.Anew || s.view != nil {
		return nil
	}
	if data, err := shipped.ReadFile("certificates/" + s.file()); err == nil {
		s.cert, s.source = data, FromShipped
		return nil
	}
	if p.Cache == nil {
		return nil
	}
	switch data, err := p.Cache.Load(s.file()); {
	case isNone(err):
	case err != nil:
		return fmt.Errorf("claims: load the certificate %s: %w", s.file(), err)
	default:
		s.cert, s.source = data, FromCache
	}
	return nil
}

// explore visits every marking of the slice and has the checker go through them again. Only if that
// fails does it decide the claims one by one.
func (s *sliceProof) explore(ctx context.Context, p Prover) error {
	s.source = FromNow
	g, err := explore.ExploreModel(ctx, s.model, explore.Options{Max: s.most()})
	if err != nil {
		return fmt.Errorf("claims: prove %s: %w", s.part.Name, err)
	}
	s.states = g.States()
	if s.view != nil && !g.Complete && len(g.Faults) == 0 { // the view is too large and decides nothing
		s.applied = make([]bool, len(s.props))
		return nil
	}
	if g.Complete {
		cert, err := s.confirm(ctx, g)
		switch {
		case err == nil && cert == nil:
			return nil
		case err == nil:
			s.cert = cert.Bytes()
			return s.keep(p)
		case !errors.Is(err, check.ErrCertificate):
			return fmt.Errorf("claims: prove %s: %w", s.part.Name, err)
		}
	}
	if s.view != nil {
		s.failed, err = s.view.judge(ctx, s.props, viewMax)
	} else {
		s.failed, err = verify.Run(ctx, s.model.Program(), verify.Config{Max: markingsMax, Certify: true,
			Given: s.part.Given}, s.props...)
	}
	if err != nil {
		return fmt.Errorf("claims: prove %s: %w", s.part.Name, err)
	}
	return nil
}

// most is the most markings to visit.
func (s *sliceProof) most() int {
	if s.view != nil {
		return viewMax
	}
	return markingsMax
}

// confirm has the checker go through the markings. It makes no certificate of a view, because every
// start explores views.
func (s *sliceProof) confirm(ctx context.Context, g *explore.Graph) (cert *check.Certificate, err error) {
	if s.view != nil {
		s.applied, err = g.Confirm(ctx, verify.Claims(s.props...)...)
		return nil, err
	}
	if cert, err = g.Certify(verify.Claims(s.props...)...); err != nil {
		return nil, err
	}
	s.applied, err = cert.Applied(ctx, s.model, verify.Claims(s.props...)...)
	return cert, err
}

// keep stores the certificate in the cache.
func (s *sliceProof) keep(p Prover) error {
	if p.Cache == nil {
		return nil
	}
	if err := p.Cache.Store(s.file(), s.cert); err != nil {
		return fmt.Errorf("claims: keep the certificate %s: %w", s.file(), err)
	}
	return nil
}

// claim is the verdict on the claim with index i, which is prop in this session.
func (s *sliceProof) claim(i int, prop *verify.Property) Claim {
	c := Claim{Slice: s.part.Name, Source: s.source, Result: verify.Result{Property: prop, Seconds: s.seconds}}
	if s.failed != nil {
		c.Verdict = s.failed.Results[i].Verdict
		return c
	}
	if s.cert != nil {
		c.File = s.file()
	}
	c.Verdict = verify.Verdict{Outcome: verify.Proved, Method: methodMarkings, States: s.states,
		Reason: fmt.Sprintf("%d markings, gone through again", s.states)}
	return c
}

package voicenets

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify"
)

// shipped are the certificates of the sessions with default timings.
//
//go:embed certificates/*.json
var shipped embed.FS

// Cache keeps certificates of sessions with timings of their own, by a name
// that is made of a hash of what they prove. Load returns fs.ErrNotExist for
// one it does not have.
type Cache interface {
	Load(name string) ([]byte, error)
	Store(name string, certificate []byte) error
}

// Proof says that a session keeps its properties, and how that is known.
type Proof struct {
	Hash       string             // of the closed net
	Markings   int                // of all parts
	Properties []*verify.Property // that the certificates prove
	Source     Source             // the latest of those of the parts
	Parts      []PartProof
}

// PartProof is the proof of one slice.
type PartProof struct {
	Name        string
	Markings    int
	Properties  []*verify.Property
	Source      Source
	Certificate string // its file name
}

// Source is where a certificate came from. Wherever that is, it was checked
// again.
type Source string

// The sources of a certificate.
const (
	FromShipped Source = "shipped"
	FromCache   Source = "cache"
	FromNow     Source = "proved now"
)

// markingsMax is how many markings one slice may have.
const markingsMax = 1 << 19

// Prove makes sure that a session keeps what Proofs and Structure list under
// Hostile automata, and that its timings leave each stage of recovery time. It
// checks the certificates that are shipped or cached for exactly
// these slices of this net, or else proves all of them now and caches the
// certificates. A certificate that is wrong is an error, and so is a property
// that is refuted, or left open; then the error tells how. cache may be nil.
func Prove(ctx context.Context, c Config, cache Cache) (*Proof, error) {
	p, err := newProver(c, cache)
	if err != nil {
		return nil, err
	}
	if err := p.structural(ctx, c); err != nil {
		return nil, err
	}
	if err := rehearse(c); err != nil {
		return nil, err
	}
	if err := p.find(); err != nil {
		return nil, err
	}
	if err := p.prove(ctx); err != nil {
		return nil, err
	}
	return p.check(ctx)
}

// prover is one proof under way.
type prover struct {
	prog    *petri.Program
	shipped fs.ReadFileFS // nil: nothing ships
	cache   Cache
	each    []*verify.Property
	parts   []verify.Part
	certs   []found // by part

	structure []*verify.Property // proved of the whole net by its structure
}

func newProver(c Config, cache Cache) (*prover, error) {
	n, err := Hostile(c)
	if err != nil {
		return nil, err
	}
	prog, err := petri.Compile(n)
	if err != nil {
		return nil, fmt.Errorf("voicenets: prove: %w", err)
	}
	p := &prover{prog: prog, shipped: shipped, cache: cache, each: []*verify.Property{Capacity()},
		parts: proofsOf(c, prog)}
	return p, p.layOut()
}

// found is the certificate of a part.
type found struct {
	model  *verify.Model
	data   []byte // nil: there is none
	source Source
}

// name is the file name of the certificate.
func (f *found) name() string {
	_, hash, _ := strings.Cut(f.model.Hash(), ":")
	return hash[:24] + ".json"
}

// layOut makes the slices. It checks that every part rests on parts before it
// only, and that no capacity is left that no part looks at.
func (p *prover) layOut() error {
	models, err := verify.Models(p.prog, p.each, p.parts...)
	if err != nil {
		return fmt.Errorf("voicenets: prove: %w", err)
	}
	var proved []*verify.Property
	var programs []*petri.Program
	for i, part := range p.parts {
		for _, g := range part.Given {
			if !slices.Contains(proved, g) {
				return fmt.Errorf("voicenets: prove %s: %s is not proved before", part.Name, g.Name)
			}
		}
		proved = append(proved, part.Props...)
		p.certs = append(p.certs, found{model: models[i]})
		programs = append(programs, models[i].Program())
	}
	if crowded := verify.Crowded(p.prog, programs...); len(crowded) > 0 {
		return fmt.Errorf("voicenets: prove: it is open whether %s", strings.Join(crowded, ", ")+" is within capacity")
	}
	return nil
}

// structural checks the properties of the structure.
func (p *prover) structural(ctx context.Context, c Config) error {
	r, err := verify.Run(ctx, p.prog, verify.Config{}, Structure(c)...)
	if err != nil {
		return fmt.Errorf("voicenets: prove the session: %w", err)
	}
	p.structure = nil
	for _, res := range r.Results {
		if res.Outcome != verify.Proved {
			return fmt.Errorf("voicenets: prove the session: %s (%s) is %s: %s", res.Property.Name, res.Property.Doc,
				res.Outcome, res.Reason)
		}
		p.structure = append(p.structure, res.Property)
	}
	return nil
}

// find looks for the certificate of each part.
func (p *prover) find() error {
	for i := range p.certs {
		f := &p.certs[i]
		if p.shipped != nil {
			if data, err := p.shipped.ReadFile("certificates/" + f.name()); err == nil {
				f.data, f.source = data, FromShipped
				continue
			}
		}
		if p.cache == nil {
			continue
		}
		switch data, err := p.cache.Load(f.name()); {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return fmt.Errorf("voicenets: load the certificate %s: %w", f.name(), err)
		default:
			f.data, f.source = data, FromCache
		}
	}
	return nil
}

// prove proves all parts if a certificate is missing, and caches those.
func (p *prover) prove(ctx context.Context) error {
	if !slices.ContainsFunc(p.certs, func(f found) bool { return f.data == nil }) {
		return nil
	}
	r, err := verify.RunParts(ctx, p.prog, verify.Config{Max: markingsMax, Certify: true}, p.each, p.parts...)
	if err != nil {
		return fmt.Errorf("voicenets: prove the session: %w", err)
	}
	for _, res := range r.Results {
		if res.Outcome != verify.Proved {
			return fmt.Errorf("voicenets: prove the session: %s (%s) is %s: %s\n%s",
				res.Property.Name, res.Property.Doc, res.Outcome, res.Reason, storyOf(res.Witness))
		}
	}
	for i := range p.certs {
		f := &p.certs[i]
		if f.data != nil {
			continue
		}
		f.data, f.source = r.Parts[i].Certificate.Bytes(), FromNow
		if p.cache == nil {
			continue
		}
		if err := p.cache.Store(f.name(), f.data); err != nil {
			return fmt.Errorf("voicenets: keep the certificate %s: %w", f.name(), err)
		}
	}
	return nil
}

// storyOf is a run in words, if there is one.
func storyOf(w *verify.Witness) string {
	if w == nil {
		return "there is no run that shows it"
	}
	return strings.TrimRight(w.Story, "\n ")
}

// check goes through all certificates again.
func (p *prover) check(ctx context.Context) (*Proof, error) {
	all := &Proof{Hash: verify.NewModel(p.prog, verify.RunToCompletion).Hash(), Source: FromShipped,
		Properties: slices.Concat(p.each, p.structure)}
	for i, part := range p.parts {
		f := &p.certs[i]
		cert, err := verify.ReadCertificate(f.data)
		if err == nil {
			err = cert.Check(ctx, f.model, slices.Concat(p.each, part.Props)...)
		}
		if err != nil {
			return nil, fmt.Errorf("voicenets: the certificate of %s (%s, %s): %w", part.Name, f.source, f.name(), err)
		}
		all.Parts = append(all.Parts, PartProof{Name: part.Name, Markings: cert.Count, Properties: part.Props,
			Source:      f.source,
			Certificate: f.name()})
		all.Markings += cert.Count
		all.Properties = append(all.Properties, part.Props...)
		if f.source == FromNow || f.source == FromCache && all.Source == FromShipped {
			all.Source = f.source
		}
	}
	return all, nil
}

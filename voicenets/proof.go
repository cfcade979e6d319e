package voicenets

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify"
)

// shipped are the certificates of the sessions with default timings.
//
//go:embed certificates/*.json
var shipped embed.FS

// Cache keeps certificates of sessions with timings of their own, by a name
// that is made of the net's hash. Load returns fs.ErrNotExist for one it does
// not have.
type Cache interface {
	Load(name string) ([]byte, error)
	Store(name string, certificate []byte) error
}

// Proof says that a session keeps its properties, and how that is known.
type Proof struct {
	Hash       string // of the closed net
	Markings   int
	Properties []*verify.Property // that the certificate proves
	Source     Source
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

// Prove makes sure that a session keeps its Properties and its Protocol under
// Hostile automata:
// it checks the certificate that is shipped or cached for exactly this net, or
// else proves it now and caches the certificate. A certificate that is wrong is
// an error, and so is a property that is refuted; then the error tells how.
// cache may be nil.
func Prove(ctx context.Context, c Config, cache Cache) (*Proof, error) {
	n, err := Hostile(c)
	if err != nil {
		return nil, err
	}
	prog, err := petri.Compile(n)
	if err != nil {
		return nil, fmt.Errorf("voicenets: prove: %w", err)
	}
	p := newProver(prog, c, cache)
	data, source, err := p.find()
	if err == nil && data == nil {
		source = FromNow
		data, err = p.prove(ctx)
	}
	if err != nil {
		return nil, err
	}
	cert, err := verify.ReadCertificate(data)
	if err == nil {
		err = cert.Check(ctx, p.model, p.props...)
	}
	if err != nil {
		return nil, fmt.Errorf("voicenets: the certificate of the session (%s, %s): %w", source, p.name(), err)
	}
	return &Proof{Hash: p.model.Hash(), Markings: cert.Count, Properties: p.props, Source: source}, nil
}

// prover is one proof under way.
type prover struct {
	prog  *petri.Program
	model *verify.Model
	props []*verify.Property
	cache Cache
}

func newProver(prog *petri.Program, c Config, cache Cache) *prover {
	return &prover{prog: prog, model: verify.NewModel(prog, verify.RunToCompletion), cache: cache,
		props: append(Properties(c), Protocol(c)...)}
}

// name is the file name of the net's certificate.
func (p *prover) name() string {
	_, hash, _ := strings.Cut(p.model.Hash(), ":")
	return hash[:24] + ".json"
}

// find returns the certificate there is, or nil.
func (p *prover) find() ([]byte, Source, error) {
	data, err := shipped.ReadFile("certificates/" + p.name())
	if err == nil {
		return data, FromShipped, nil
	}
	if p.cache == nil {
		return nil, "", nil
	}
	switch data, err = p.cache.Load(p.name()); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, "", nil
	case err != nil:
		return nil, "", fmt.Errorf("voicenets: load the certificate %s: %w", p.name(), err)
	}
	return data, FromCache, nil
}

// prove checks the properties, makes the certificate and caches it.
func (p *prover) prove(ctx context.Context) ([]byte, error) {
	r, err := verify.Run(ctx, p.prog, verify.Config{}, p.props...)
	if err != nil {
		return nil, fmt.Errorf("voicenets: prove the session: %w", err)
	}
	for _, res := range r.Results {
		if res.Outcome != verify.Proved {
			return nil, fmt.Errorf("voicenets: prove the session: %s (%s) is %s: %s\n%v",
				res.Property.Name, res.Property.Doc, res.Outcome, res.Reason, res.Witness)
		}
	}
	data, err := p.certify(ctx)
	if err == nil && p.cache != nil {
		err = p.cache.Store(p.name(), data)
	}
	return data, err
}

func (p *prover) certify(ctx context.Context) ([]byte, error) {
	g, err := verify.Explore(ctx, p.prog, verify.Options{})
	if err != nil {
		return nil, fmt.Errorf("voicenets: certify the session: %w", err)
	}
	cert, err := g.Certify(p.props...)
	if err != nil {
		return nil, fmt.Errorf("voicenets: certify the session: %w", err)
	}
	return cert.Bytes(), nil
}

package voicenets

import (
	"context"
	"embed"
	"fmt"
	"strings"
	"time"

	"github.com/voicegw/voicegw/verify"
)

// shipped are the certificates of the sessions that Shipped lists.
//
//go:embed certificates/*.json
var shipped embed.FS

// Cache keeps certificates of sessions that do not ship, by a name that is made
// of a hash of what they prove. Load returns fs.ErrNotExist for one it does not
// have.
type Cache interface {
	Load(name string) ([]byte, error)
	Store(name string, certificate []byte) error
}

// Proof says what is known of a session: a verdict on each claim that is made
// of it, and how it was reached.
type Proof struct {
	Name     string // of the session: "manual, half-duplex"
	Config   Config
	Hash     string // of the closed net
	Claims   []Claim
	Markings int         // of all slices
	Source   Source      // the latest of those of the slices
	Parts    []PartProof // the slices
}

// Claim is the verdict on one claim. Its States are markings of the slice, or
// of all slices for one that every slice must keep, or state classes, and
// Seconds is how long they took together.
type Claim struct {
	verify.Result
	Slice string // that decides it, or view; "": all slices, or the whole net
	// View says that views decide it: the session with a part of its environment.
	// Part is then the part of the session that it is about.
	View bool
	Part string
	// File is the name of its certificate; "" if it has none, because it is
	// worked out at every start. Source is where that came from.
	File   string
	Source Source
	// Timed says that the claim is about time: Most is the worst case, Limit what
	// is promised.
	Timed       bool
	Most, Limit time.Duration
}

// PartProof is the proof of one slice.
type PartProof struct {
	Name        string
	Markings    int
	Properties  []*verify.Property
	Source      Source
	Certificate string // its file name
	Seconds     verify.Seconds
	data        []byte
}

// Certificate is the certificate of a slice of the proof, by its file name; nil
// if there is none.
func (p *Proof) Certificate(file string) []byte {
	for i := range p.Parts {
		if p.Parts[i].Certificate == file {
			return p.Parts[i].data
		}
	}
	return nil
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

// Err is nil if every claim is proved. Otherwise it tells the first that is not,
// and how.
func (p *Proof) Err() error {
	for i := range p.Claims {
		c := &p.Claims[i]
		switch {
		case c.Outcome == verify.Proved:
		case c.Method == methodRun:
			return fmt.Errorf("voicenets: %s", c.Reason)
		case c.Method != methodMarkings:
			return fmt.Errorf("voicenets: prove the session: %s (%s) is %s: %s", c.Property.Name, c.Property.Doc,
				c.Outcome, c.Reason)
		default:
			return fmt.Errorf("voicenets: prove the session: %s (%s) is %s: %s\n%s", c.Property.Name, c.Property.Doc,
				c.Outcome, c.Reason, storyOf(c.Witness))
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

// Prove makes sure that a session keeps every claim that is made of it under
// Hostile automata: see Prover. A claim that is refuted, or left open, is an
// error that tells how. cache may be nil.
func Prove(ctx context.Context, c Config, cache Cache) (*Proof, error) {
	list, err := Prover{Cache: cache}.Prove(ctx, c)
	if err != nil {
		return nil, err
	}
	if err := list[0].Err(); err != nil {
		return nil, err
	}
	return list[0], nil
}

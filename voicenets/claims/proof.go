package claims

import (
	"embed"
	"fmt"
	"strings"
	"time"

	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/verify/witness"
	"github.com/voicegw/voicegw/voicenets"
)

// shipped holds the certificates of the sessions that Shipped lists.
//
//go:embed certificates/*.json
var shipped embed.FS

// Cache keeps certificates of sessions that do not ship. A certificate's name includes a hash of
// what it proves. Load returns fs.ErrNotExist for a name that it does not have.
type Cache interface {
	Load(name string) ([]byte, error)
	Store(name string, certificate []byte) error
}

// Proof is the result for one session: the verdict on each claim and how it was reached.
type Proof struct {
	Name     string // of the session: "gateway VAD, half-duplex"
	Config   voicenets.Config
	Hash     string // of the closed net
	Claims   []Claim
	Markings int         // of all slices together
	Source   Source      // the latest source of any slice
	Parts    []PartProof // the slices
}

// Claim is the verdict on one claim. States counts the markings of its slice, the markings of all
// slices for a claim that every slice must keep, or state classes. Seconds is the total time that
// they took.
type Claim struct {
	verify.Result
	Slice string // name of the slice or view that decides it; "": all slices, or the whole net
	// View reports that views decide the claim: the session with a part of its environment. Part is
	// then the part of the session that the claim is about.
	View bool
	Part string
	// File is the name of its certificate; "" if it has none because every start computes it anew.
	// Source is where the certificate came from.
	File   string
	Source Source
	// Timed reports that the claim is about time. Most is the worst case, Limit the promised limit.
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

// Certificate returns the certificate of a slice by its file name, or nil if there is none.
func (p *Proof) Certificate(file string) []byte {
	for i := range p.Parts {
		if p.Parts[i].Certificate == file {
			return p.Parts[i].data
		}
	}
	return nil
}

// Source is where a certificate came from. Certificates of every source are checked again.
type Source string

// The sources of a certificate.
const (
	FromShipped Source = "shipped"
	FromCache   Source = "cache"
	FromNow     Source = "proved now"
)

// Err is nil if every claim is proved. Otherwise it reports the first claim that is not, and why.
func (p *Proof) Err() error {
	for i := range p.Claims {
		c := &p.Claims[i]
		switch {
		case c.Outcome == verify.Proved:
		case c.Method == methodRun:
			return fmt.Errorf("claims: %s", c.Reason)
		case c.Method != methodMarkings:
			return fmt.Errorf("claims: prove the session: %s (%s) is %s: %s", c.Property.Name, c.Property.Doc,
				c.Outcome, c.Reason)
		default:
			return fmt.Errorf("claims: prove the session: %s (%s) is %s: %s\n%s", c.Property.Name, c.Property.Doc,
				c.Outcome, c.Reason, storyOf(c.Witness))
		}
	}
	return nil
}

// storyOf describes a run in text, if there is one.
func storyOf(w *witness.Witness) string {
	if w == nil {
		return "there is no run that shows it"
	}
	return strings.TrimRight(w.Story, "\n ")
}

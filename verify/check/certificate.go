package check

import (
	"bytes"
	"compress/flate"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/voicegw/voicegw/verify/claim"
	"github.com/voicegw/voicegw/verify/netmodel"
)

// Certificate is evidence that a net keeps some claims: a list of markings, or of state classes,
// that contains the start of the net and every successor of what it contains. Check verifies it
// with code that had no part in making it. A hash of the net's canonical text binds it to the net,
// and a digest binds it to its own content.
type Certificate struct {
	Net    string   `json:"net"`
	Hash   string   `json:"netHash"`
	Claims []string `json:"claims"`
	// Method is "markings" or "classes".
	Method string `json:"method"`
	// Relax and Keep are the options of the exploration; only for classes.
	Relax bool     `json:"relax,omitempty"`
	Keep  []string `json:"keep,omitempty"`
	// Assumptions are sentences that state what the proof rests on.
	Assumptions []string `json:"assumptions"`
	Count       int      `json:"count"`
	// Markings holds the counts of all markings, and Zones the bounds of all their zones, as
	// variable-length integers, deflated. Markings alone are sorted and written place by place;
	// markings with zones are written one after the other.
	Markings []byte `json:"markings"`
	Zones    []byte `json:"zones,omitempty"`
	Digest   string `json:"digest"`

	raw []byte // markings that are not encoded in Markings, one after the other
}

// Limits of a certificate.
const (
	certificateMax = 256 << 20 // bytes of a list, inflated
	classesMax     = 1 << 22
)

// ErrCertificate reports that a certificate does not prove what it claims.
var ErrCertificate = errors.New("the certificate proves nothing")

// refusal is an ErrCertificate with a reason.
func refusal(format string, args ...any) error {
	return fmt.Errorf("verify: check certificate: %w: %s", ErrCertificate, fmt.Sprintf(format, args...))
}

// ListMarkings makes a certificate from a list of markings, each written as variable-length
// integers. It does not check whether the claims hold: Check does.
func ListMarkings(m *netmodel.Model, rows []string, claims ...claim.Claim) (*Certificate, error) {
	c := &Certificate{Method: "markings", Count: len(rows)}
	return c, c.Seal(m, columns(rows, m.Slots()), nil, claims)
}

// ConfirmMarkings is ListMarkings and Certificate.Applied without the certificate. It goes through
// count markings, written one after the other, and reports which claims apply to something. An
// error that wraps ErrCertificate reports a claim that does not hold.
func ConfirmMarkings(ctx context.Context, m *netmodel.Model, rows []byte, count int,
	claims ...claim.Claim) ([]bool, error) {
	k, err := newChecker(&Certificate{Method: "markings", Count: count, raw: rows}, m, claims)
	if err != nil {
		return nil, err
	}
	return k.applied, k.through(ctx)
}

// Seal fills in what all certificates have: the net, the claims, the lists and the digest. zones is
// nil unless the list is one of classes.
func (c *Certificate) Seal(m *netmodel.Model, markings, zones []byte, claims []claim.Claim) error {
	observed := len(m.Transitions) > len(m.Program().Transitions())
	if m.Above != nil || observed != (watchOf(claims) != nil) {
		return fmt.Errorf("verify: certify %s: a net with preferred transitions is not certified, "+
			"and one with an observer for what it observes alone", m.Program().Name())
	}
	for _, what := range claims {
		text := claim.TextOf(what)
		if text == "" {
			return fmt.Errorf("verify: certify %s: no certificate carries a claim like %#v", m.Program().Name(), what)
		}
		c.Claims = append(c.Claims, text)
	}
	c.Net, c.Hash = m.Program().Name(), m.Hash()
	c.Assumptions = c.assumptions(m)
	var err error
	if c.Markings, err = deflate(markings); err != nil {
		return err
	}
	if zones != nil {
		if c.Zones, err = deflate(zones); err != nil {
			return err
		}
	}
	c.Digest = c.Sum()
	return nil
}

// assumptions lists what a certificate of this kind about a model rests on.
func (c *Certificate) assumptions(m *netmodel.Model) []string {
	list := []string{"the environment does what its automata in the net do"}
	if c.Relax {
		list = append(list, "waits that are not kept were taken as open: what holds so holds with them")
	}
	if len(m.Transitions) > len(m.Program().Transitions()) && m.Semantics == netmodel.Interleave {
		list = append(list, "firings at one instant do not go on for ever: time diverges")
	}
	if m.Program().Whole() != nil {
		list = append(list, "the net is a slice of "+m.Program().Whole().Name()+
			": it does whatever that does on its places; no other transition exceeds a capacity")
	}
	for _, g := range m.Given {
		list = append(list, "given, from another proof: "+g.Claim)
	}
	return list
}

// Sum is a hash of all fields but the digest.
func (c *Certificate) Sum() string {
	d := *c
	d.Digest = ""
	b, err := json.Marshal(&d)
	if err != nil {
		panic(err) // strings, numbers and bytes always marshal
	}
	sum := sha256.Sum256(b)
	return "sha256:" + hex.EncodeToString(sum[:])
}

func deflate(b []byte) ([]byte, error) {
	var out bytes.Buffer
	w, err := flate.NewWriter(&out, flate.BestSpeed)
	if err != nil {
		return nil, fmt.Errorf("verify: certify: %w", err)
	}
	if _, err = w.Write(b); err == nil {
		err = w.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("verify: certify: %w", err)
	}
	return out.Bytes(), nil
}

// inflate decompresses a list of about the given number of bytes.
func inflate(b []byte, about int) ([]byte, error) {
	var out bytes.Buffer
	out.Grow(min(about, 64<<10*len(b), certificateMax) + bytes.MinRead)
	_, err := out.ReadFrom(io.LimitReader(flate.NewReader(bytes.NewReader(b)), certificateMax+1))
	if err != nil {
		return nil, refusal("a list is damaged: %v", err)
	}
	if out.Len() > certificateMax {
		return nil, refusal("a list is longer than %d bytes", certificateMax)
	}
	return out.Bytes(), nil
}

// ReadCertificate parses a certificate from JSON and checks its digest.
func ReadCertificate(data []byte) (*Certificate, error) {
	c := new(Certificate)
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(c); err != nil {
		return nil, refusal("it is not readable: %v", err)
	}
	if rest, err := io.ReadAll(d.Buffered()); err != nil || len(bytes.TrimSpace(rest)) > 0 {
		return nil, refusal("something follows it")
	}
	if again, err := json.MarshalIndent(c, "", " "); err != nil || !bytes.Equal(bytes.TrimSpace(again),
		bytes.TrimSpace(data)) {
		return nil, refusal("it is not written as Bytes writes it")
	}
	if c.Digest != c.Sum() {
		return nil, refusal("its digest is wrong")
	}
	return c, nil
}

// Bytes renders the certificate as JSON that ReadCertificate reads.
func (c *Certificate) Bytes() []byte {
	b, err := json.MarshalIndent(c, "", " ")
	if err != nil {
		panic(err) // strings, numbers and bytes always marshal
	}
	return append(b, '\n')
}

// Check verifies a certificate: that it is for this net and these claims; that its list contains
// the start of the net; that every firing in a listed state leads to a listed state; and that no
// listed state violates a claim. An error that wraps ErrCertificate says what is wrong; other
// errors are those of ctx.
func (c *Certificate) Check(ctx context.Context, m *netmodel.Model, claims ...claim.Claim) error {
	_, err := c.Applied(ctx, m, claims...)
	return err
}

// Applied is Check, and also reports which claims apply to something: a claim about moves applies
// to some move that the net makes; a loose claim names something that the net has.
func (c *Certificate) Applied(ctx context.Context, m *netmodel.Model, claims ...claim.Claim) ([]bool, error) {
	k, err := c.checker(m, claims)
	if err != nil {
		return nil, err
	}
	return k.applied, k.through(ctx)
}

// checker makes the checker of a certificate that is for this net and these claims.
func (c *Certificate) checker(m *netmodel.Model, claims []claim.Claim) (*checker, error) {
	if c.Digest != c.Sum() {
		return nil, refusal("its digest is wrong")
	}
	watch := watchOf(claims)
	if watch != nil && len(m.Transitions) == len(m.Program().Transitions()) {
		watched, err := m.Observe(watch.Observer)
		if err != nil {
			return nil, err
		}
		m = watched
	}
	if have := m.Hash(); c.Hash != have {
		return nil, refusal("it is one of another net: %s, not %s", c.Hash, have)
	}
	if want := c.assumptions(m); c.Net != m.Program().Name() || !slices.Equal(c.Assumptions, want) {
		return nil, refusal("it is about %q, assuming %q, not about %q, assuming %q", c.Net, c.Assumptions,
			m.Program().Name(), want)
	}
	for _, what := range claims {
		text := claim.TextOf(what)
		if text == "" || !slices.Contains(c.Claims, text) {
			return nil, refusal("it does not claim %q", text)
		}
		if _, timed := what.(claim.Watch); timed && (len(claims) > 1 || c.Method != "classes") {
			return nil, refusal("a claim about time has a certificate of its own, with classes")
		}
	}
	return newChecker(c, m, claims)
}

// watchOf returns the claim about time; nil unless it is the only claim.
func watchOf(claims []claim.Claim) *claim.Watch {
	if len(claims) == 1 {
		if w, ok := claims[0].(claim.Watch); ok {
			return &w
		}
	}
	return nil
}

package verify

import (
	"bytes"
	"compress/flate"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

// Certificate is evidence that a net keeps some claims: a list of markings, or
// of state classes, that holds the start of the net and all that follows from
// what it holds. Check goes through it again with code that had no part in
// making it. It is bound to the net by a hash of its canonical text, and to its
// own content by a digest.
type Certificate struct {
	Net    string   `json:"net"`
	Hash   string   `json:"netHash"`
	Claims []string `json:"claims"`
	// Method is "markings" or "classes".
	Method string `json:"method"`
	// Relax and Keep are those of the exploration; only for classes.
	Relax bool     `json:"relax,omitempty"`
	Keep  []string `json:"keep,omitempty"`
	// Assumptions in words.
	Assumptions []string `json:"assumptions"`
	Count       int      `json:"count"`
	// Markings are the counts of all markings, and Zones the bounds of all
	// zones of those, as variable-length integers, deflated. Markings alone are
	// sorted and written place by place; those with zones one after the other.
	Markings []byte `json:"markings"`
	Zones    []byte `json:"zones,omitempty"`
	Digest   string `json:"digest"`

	raw []byte // markings that were not written, one after the other
}

// Limits of a certificate.
const (
	certificateMax = 256 << 20 // bytes of a list, inflated
	classesMax     = 1 << 22
)

// ErrCertificate says that a certificate does not prove what it should.
var ErrCertificate = errors.New("the certificate proves nothing")

// refusal is an ErrCertificate with a reason.
func refusal(format string, args ...any) error {
	return fmt.Errorf("verify: check certificate: %w: %s", ErrCertificate, fmt.Sprintf(format, args...))
}

// Certify makes a certificate of a complete graph for properties whose claim is
// about markings or moves. It does not look whether they hold: Check does.
func (g *Graph) Certify(props ...*Property) (*Certificate, error) {
	if err := g.listable("certify"); err != nil {
		return nil, err
	}
	c := &Certificate{Method: "markings", Count: g.States()}
	var rows []string
	g.rows(func(row []byte) { rows = append(rows, string(row)) })
	return c, c.Seal(g.Model, columns(rows, g.Model.Slots()), nil, props)
}

// Confirm is Certify and Certificate.Says without the certificate: code that had
// no part in exploration goes through the markings of a complete graph, and the
// properties that say anything are told. An error that wraps ErrCertificate says
// that one does not hold.
func (g *Graph) Confirm(ctx context.Context, props ...*Property) ([]bool, error) {
	if err := g.listable("confirm"); err != nil {
		return nil, err
	}
	c := &Certificate{Method: "markings", Count: g.States()}
	g.rows(func(row []byte) { c.raw = append(c.raw, row...) })
	k, err := newChecker(c, g.Model, props)
	if err != nil {
		return nil, err
	}
	return k.says, k.through(ctx)
}

// listable returns an error unless the graph has all markings of its net.
func (g *Graph) listable(verb string) error {
	switch {
	case !g.Complete:
		return fmt.Errorf("verify: %s %s: not all markings were found", verb, g.Model.prog.Name())
	case g.Reduced:
		return fmt.Errorf("verify: %s %s: a reduced graph leaves markings out", verb, g.Model.prog.Name())
	}
	return nil
}

// rows calls fn for each marking, as variable-length integers.
func (g *Graph) rows(fn func(row []byte)) {
	var row []byte
	g.all(func(_ int, m []int32) bool {
		row = row[:0]
		for _, n := range m {
			row = binary.AppendUvarint(row, uint64(n))
		}
		fn(row)
		return true
	})
}

// Seal fills in what all certificates have: the net, the claims, the lists and
// the digest. zones is nil unless the list is one of classes.
func (c *Certificate) Seal(m *Model, markings, zones []byte, props []*Property) error {
	observed := len(m.transitions) > len(m.prog.Transitions())
	if m.above != nil || observed != (len(props) == 1 && props[0].Watch != nil) {
		return fmt.Errorf("verify: certify %s: a net with preferred transitions is not certified, "+
			"and one with an observer for what it observes alone", m.prog.Name())
	}
	for _, p := range props {
		if p.Claim == "" {
			return fmt.Errorf("verify: certify %s: property %s is about neither markings alone nor moves", m.prog.Name(), p.Name)
		}
		c.Claims = append(c.Claims, p.Claim)
	}
	c.Net, c.Hash = m.prog.Name(), m.Hash()
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
	c.Digest = c.digest()
	return nil
}

// assumptions are what a certificate of this kind about a model rests on.
func (c *Certificate) assumptions(m *Model) []string {
	list := []string{"the environment does what its automata in the net do"}
	if c.Relax {
		list = append(list, "waits that are not kept were taken as open: what holds so holds with them")
	}
	if len(m.transitions) > len(m.prog.Transitions()) && m.semantics == Interleave {
		list = append(list, "firings at one instant do not go on for ever: time diverges")
	}
	if m.prog.Whole() != nil {
		list = append(list, "the net is a slice of "+m.prog.Whole().Name()+
			": it does whatever that does on its places; no other transition exceeds a capacity")
	}
	for _, g := range m.given {
		list = append(list, "given, from another proof: "+g.claim)
	}
	return list
}

// digest is a hash of everything but itself.
func (c *Certificate) digest() string {
	d := *c
	d.Digest = ""
	b, err := json.Marshal(&d)
	if err != nil {
		panic(err) // strings, numbers and bytes are always written
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

// inflate reads a list that has about a number of bytes.
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

// ReadCertificate reads a certificate from JSON and checks its digest.
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
	if c.Digest != c.digest() {
		return nil, refusal("its digest is wrong")
	}
	return c, nil
}

// Bytes renders the certificate as JSON that ReadCertificate reads.
func (c *Certificate) Bytes() []byte {
	b, err := json.MarshalIndent(c, "", " ")
	if err != nil {
		panic(err) // strings, numbers and bytes are always written
	}
	return append(b, '\n')
}

// Check goes through a certificate: that it is one of this net and of these
// claims; that its list holds the start of the net; that whatever fires in what
// it holds leads to what it holds; and that nothing in it breaks a claim. An
// error that wraps ErrCertificate says what is wrong; others are those of ctx.
// It shares no code with exploration.
func (c *Certificate) Check(ctx context.Context, m *Model, props ...*Property) error {
	_, err := c.Says(ctx, m, props...)
	return err
}

// Says is Check, and tells which of the properties say anything of the net: a
// claim about moves is about some move that the net makes, and one of those that
// Loosely makes names something that the net has.
func (c *Certificate) Says(ctx context.Context, m *Model, props ...*Property) ([]bool, error) {
	k, err := c.checker(m, props)
	if err != nil {
		return nil, err
	}
	return k.says, k.through(ctx)
}

// checker makes the checker of a certificate that is one of this net and of these
// claims.
func (c *Certificate) checker(m *Model, props []*Property) (*checker, error) {
	if c.Digest != c.digest() {
		return nil, refusal("its digest is wrong")
	}
	if len(props) == 1 && props[0].Watch != nil && len(m.transitions) == len(m.prog.Transitions()) {
		watched, err := m.Observe(props[0].Watch.Observer)
		if err != nil {
			return nil, err
		}
		m = watched
	}
	if have := m.Hash(); c.Hash != have {
		return nil, refusal("it is one of another net: %s, not %s", c.Hash, have)
	}
	if want := c.assumptions(m); c.Net != m.prog.Name() || !slices.Equal(c.Assumptions, want) {
		return nil, refusal("it is about %q, assuming %q, not about %q, assuming %q", c.Net, c.Assumptions, m.prog.Name(),
			want)
	}
	for _, p := range props {
		if p.Claim == "" || !slices.Contains(c.Claims, p.Claim) {
			return nil, refusal("it does not claim %s", p.Name)
		}
		if p.Watch != nil && (len(props) > 1 || c.Method != "classes") {
			return nil, refusal("a claim about time has a certificate of its own, with classes")
		}
	}
	return newChecker(c, m, props)
}

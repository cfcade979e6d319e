package verify

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify/check"
	"github.com/voicegw/voicegw/verify/claim"
	"github.com/voicegw/voicegw/verify/explore"
	"github.com/voicegw/voicegw/verify/netmodel"
)

// fuse burns for a second: its only claim here, that it never burns down, is false.
func fuse() *petri.Net {
	t := classic("burn", arcs("a"), arcs("b"))
	t.When = petri.After(time.Second)
	return imported(tokens("a"), t)
}

// oneClass is a certificate with the initial marking and one zone of one clock.
func oneClass(t testing.TB, m *netmodel.Model, prop *Property, bounds ...int64) *check.Certificate {
	t.Helper()
	var markings, zones []byte
	for _, n := range m.Initial() {
		markings = binary.AppendUvarint(markings, uint64(n))
	}
	for _, v := range bounds {
		zones = binary.AppendVarint(zones, v)
	}
	c := &check.Certificate{Method: "classes", Count: 1}
	if err := c.Seal(m, markings, zones, []claim.Claim{prop.Claim}); err != nil {
		t.Fatal(err)
	}
	return c
}

// TestCertificateBounds: bounds whose sums overflow make no zone empty, and a bound out of range is
// refused by name.
func TestCertificateBounds(t *testing.T) {
	m, prop := netmodel.New(compile(t, fuse()), netmodel.Interleave), Never("b")
	for _, bounds := range [][]int64{
		{0, math.MaxInt64 - 1, math.MaxInt64 - 1, 0},
		{0, math.MaxInt64 / 2, math.MaxInt64/2 + 2, 0},
		{0, math.MinInt64, math.MinInt64, 0},
		{0, (1 << 56) + 1, (1 << 56) + 1, 0},
		{0, math.MaxInt64, -(1 << 56) - 1, 0},
		{1, math.MaxInt64, math.MaxInt64, 0},
	} {
		err := oneClass(t, m, prop, bounds...).Check(context.Background(), m, prop.Claim)
		if !errors.Is(err, check.ErrCertificate) || !strings.Contains(err.Error(), "bound") {
			t.Errorf("%d: %v", bounds, err)
		}
	}
	// The class of the start itself is no list: burning leads out of it.
	sec := int64(time.Second)
	err := oneClass(t, m, prop, 0, -sec, sec, 0).Check(context.Background(), m, prop.Claim)
	if !errors.Is(err, check.ErrCertificate) || !strings.Contains(err.Error(), "not listed") {
		t.Errorf("the start alone: %v", err)
	}
}

// TestCertificateCounts: no marking of a list holds more than any place may.
func TestCertificateCounts(t *testing.T) {
	m, prop := netmodel.New(compile(t, fuse()), netmodel.Interleave), Never("false")
	for _, count := range []uint64{petri.MaxTokens + 1, math.MaxInt32, math.MaxUint32, math.MaxUint64} {
		c := &check.Certificate{Method: "markings", Count: 1}
		if err := c.Seal(m, binary.AppendUvarint([]byte{0}, count), nil, []claim.Claim{prop.Claim}); err != nil {
			t.Fatal(err)
		}
		if err := c.Check(context.Background(), m, prop.Claim); !errors.Is(err, check.ErrCertificate) ||
			!strings.Contains(err.Error(), "damaged") {
			t.Errorf("%d tokens: %v", count, err)
		}
	}
}

// TestCertificateWaits: zones cannot count waits beyond their range.
func TestCertificateWaits(t *testing.T) {
	n := fuse()
	n.Transitions[0].When = petri.Between(0, petri.Forever-1)
	m, prop := netmodel.New(compile(t, n), netmodel.Interleave), Never("b")
	err := oneClass(t, m, prop, 0, 0, math.MaxInt64, 0).Check(context.Background(), m, prop.Claim)
	if !errors.Is(err, check.ErrCertificate) || !strings.Contains(err.Error(), "burn waits") {
		t.Errorf("%v", err)
	}
}

// TestCertificateCapacities: of two claims about capacities one that lets a place refuse tokens
// does not vouch for one that does not.
func TestCertificateCapacities(t *testing.T) {
	n, err := petri.Close("closed", worker(), sender(4))
	if err != nil {
		t.Fatal(err)
	}
	m := netmodel.New(compile(t, n), netmodel.RunToCompletion)
	g, err := explore.ExploreModel(context.Background(), m, explore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	lax, strict := WithinCapacity("in"), WithinCapacity()
	for _, c := range []struct {
		props []*Property
		holds bool
	}{{[]*Property{lax}, true}, {[]*Property{strict}, false}, {[]*Property{lax, strict}, false},
		{[]*Property{strict, lax}, false}} {
		cert, err := g.Certify(Claims(c.props...)...)
		if err != nil {
			t.Fatal(err)
		}
		if err := cert.Check(context.Background(), m, Claims(c.props...)...); (err == nil) != c.holds {
			t.Errorf("%d claims, the first %q: %v", len(c.props), c.props[0].Claim, err)
		}
	}
}

// TestCertificateWords: a certificate names its net, and says everything that it rests on.
func TestCertificateWords(t *testing.T) {
	whole, given, prop := netmodel.New(compile(t, fuse()), netmodel.Interleave), Never("a && b"), Never("false")
	m, err := claim.Given(whole, given.Claim)
	if err != nil {
		t.Fatal(err)
	}
	g, err := explore.ExploreModel(context.Background(), m, explore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for name, forge := range map[string]func(*check.Certificate){
		"":            func(*check.Certificate) {},
		"assumptions": func(c *check.Certificate) { c.Assumptions = c.Assumptions[:1] },
		"net":         func(c *check.Certificate) { c.Net = "another" },
		"relax":       func(c *check.Certificate) { c.Relax = true },
	} {
		c, err := g.Certify(prop.Claim)
		if err != nil {
			t.Fatal(err)
		}
		forge(c)
		c.Digest = c.Sum()
		if err := c.Check(context.Background(), m, prop.Claim); (err == nil) != (name == "") ||
			err != nil && !strings.Contains(err.Error(), "assuming") {
			t.Errorf("%q: %v", name, err)
		}
	}
}

package verify

import (
	"context"
	"errors"
	"testing"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify/check"
	"github.com/voicegw/voicegw/verify/claim"
	"github.com/voicegw/voicegw/verify/explore"
	"github.com/voicegw/voicegw/verify/netmodel"
	"github.com/voicegw/voicegw/verify/nettest"
)

func certify(t testing.TB, n *petri.Net, props ...*Property) (*check.Certificate, *netmodel.Model) {
	t.Helper()
	g := exploreNet(t, n, explore.Options{})
	c, err := g.Certify(Claims(props...)...)
	if err != nil {
		t.Fatal(err)
	}
	return c, g.Model
}

func TestCertificate(t *testing.T) {
	ctx := context.Background()
	closed, err := petri.Close("closed", keyed(), talker())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		net   *petri.Net
		props []*Property
	}{
		{calibration(4, true), []*Property{DeadlockFree(), Bounded("INFLIGHT", 4), Mutex("SPEAK", "BARGE"),
			WithinCapacity()}},
		{closed, []*Property{Never("held >= 2"), WithinCapacity()}},
	} {
		cert, m := certify(t, c.net, c.props...)
		read, err := check.ReadCertificate(cert.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		if err := read.Check(ctx, m, Claims(c.props...)...); err != nil {
			t.Errorf("%s: %v", m.Program().Name(), err)
		}
		if err := read.Check(ctx, m, Never("nothing").Claim); !errors.Is(err, check.ErrCertificate) {
			t.Errorf("a claim that it does not make: %v", err)
		}
	}
}

// TestCertificateOfWhatIsWrong: a certificate made for a claim that does not hold is refused,
// whoever made it.
func TestCertificateOfWhatIsWrong(t *testing.T) {
	full, err := petri.Close("closed", worker(), sender(4))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		net  *petri.Net
		prop *Property
	}{
		{calibration(4, true), Bounded("INFLIGHT", 3)}, {full, WithinCapacity()},
		{imported(tokens("A"), classic("ab", arcs("A"), arcs("B"))), DeadlockFree()},
	} {
		cert, m := certify(t, c.net, c.prop)
		if err := cert.Check(context.Background(), m, c.prop.Claim); !errors.Is(err, check.ErrCertificate) {
			t.Errorf("%s: %v", c.prop.Name, err)
		}
	}
	for _, n := range defects() {
		cert, m := certify(t, n.net, DeadlockFree())
		if err := cert.Check(context.Background(), m, DeadlockFree().Claim); (err == nil) != (n.dead == 0) {
			t.Errorf("%s: deadlock-free: %v", n.name, err)
		}
	}
}

// TestCertificateDamage: no byte of a certificate can change, nor can the net, nor can a marking be
// left out.
func TestCertificateDamage(t *testing.T) {
	ctx := context.Background()
	prop := Bounded("INFLIGHT", 4)
	cert, m := certify(t, calibration(4, true), prop)
	data := cert.Bytes()
	for i := range data {
		if data[i] == '\n' && i == len(data)-1 {
			continue // what follows is not part of it
		}
		for _, bit := range []byte{1, 0x20} {
			bad := append([]byte(nil), data...)
			bad[i] ^= bit
			c, err := check.ReadCertificate(bad)
			if err == nil {
				err = c.Check(ctx, m, prop.Claim)
			}
			if !errors.Is(err, check.ErrCertificate) {
				t.Fatalf("byte %d, %q for %q: %v", i, bad[i], data[i], err)
			}
		}
	}
	other := netmodel.New(compile(t, calibration(4, false)), netmodel.RunToCompletion)
	if err := cert.Check(ctx, other, prop.Claim); !errors.Is(err, check.ErrCertificate) {
		t.Errorf("another net: %v", err)
	}
	for left := range cert.Count {
		g := exploreNet(t, calibration(4, true), explore.Options{})
		short := &check.Certificate{Method: "markings", Count: cert.Count - 1}
		var list []byte
		g.Each(func(i int, marking []int32) bool {
			for _, n := range marking {
				if i != left {
					list = append(list, byte(n))
				}
			}
			return true
		})
		if err := short.Seal(m, list, nil, []claim.Claim{prop.Claim}); err != nil {
			t.Fatal(err)
		}
		if err := short.Check(ctx, m, prop.Claim); !errors.Is(err, check.ErrCertificate) {
			t.Errorf("without marking %d: %v", left, err)
		}
	}
}

func FuzzReadCertificate(f *testing.F) {
	n := imported(tokens("A"), classic("ab", arcs("A"), arcs("B")), classic("ba", arcs("B"), arcs("A")))
	p, err := petri.Compile(n)
	if err != nil {
		f.Fatal(err)
	}
	m := netmodel.New(p, netmodel.RunToCompletion)
	g, err := explore.ExploreModel(context.Background(), m, explore.Options{})
	if err != nil {
		f.Fatal(err)
	}
	c, err := g.Certify(Never("A >= 2").Claim)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(c.Bytes(), c.Markings, 2)
	f.Fuzz(func(t *testing.T, data, list []byte, count int) {
		if c, err := check.ReadCertificate(data); err == nil {
			_ = c.Check(context.Background(), m, Never("A >= 2").Claim)
		}
		forged := &check.Certificate{Method: "markings", Count: count, Net: "net", Hash: m.Hash(),
			Claims: []string{"never A >= 2"}, Markings: list}
		forged.Digest = forged.Sum()
		_ = forged.Check(context.Background(), m, Never("A >= 2").Claim)
		false1 := &check.Certificate{Method: "classes", Count: count, Hash: m.Hash(), Claims: []string{"never B"},
			Markings: c.Markings, Zones: list}
		false1.Digest = false1.Sum()
		if false1.Check(context.Background(), m, Never("B").Claim) == nil {
			t.Error("a false claim was certified")
		}
	})
}

// TestCertificateForged: a list in which something that fires at once does not is refused, whatever
// holds that back or not: a token, or only the tokens of several kinds together.
func TestCertificateForged(t *testing.T) {
	ctx, prop := context.Background(), Never("false")
	for _, c := range []struct {
		name string
		init []petri.Token
		next petri.Transition
	}{
		{"needs a token", tokens("a", "x"), inhibit(atOnce("next", arcs("x"), arcs("c")), "a")},
		{"needs some token", append(tokens("a"), nettest.Hue.Token(1)),
			inhibit(atOnce("next", petri.Arcs{nettest.Hue.All()}, arcs("c")), "a")},
	} {
		cert, m := certify(t, imported(c.init, classic("go", arcs("a"), arcs("b")), c.next), prop)
		if err := cert.Check(ctx, m, prop.Claim); err != nil || cert.Count != 2 {
			t.Errorf("%s: %d markings: %v", c.name, cert.Count, err)
		}
		var list []byte
		for _, held := range []string{"a", "b"} { // and what next takes still lies there
			for s, n := range m.Initial() {
				if name := m.Program().SlotName(s); name == "a" || name == "b" {
					n = 0
					if name == held {
						n = 1
					}
				}
				list = append(list, byte(n))
			}
		}
		forged := &check.Certificate{Method: "markings", Count: 2}
		if err := forged.Seal(m, list, nil, []claim.Claim{prop.Claim}); err != nil {
			t.Fatal(err)
		}
		if err := forged.Check(ctx, m, prop.Claim); !errors.Is(err, check.ErrCertificate) {
			t.Errorf("%s: a list in which it does not fire: %v", c.name, err)
		}
	}
}

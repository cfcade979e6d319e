package stateclass

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/verify/check"
	"github.com/voicegw/voicegw/verify/claim"
	"github.com/voicegw/voicegw/verify/netmodel"
)

// falseClaim is a claim that does not hold, and the graph that refutes it.
type falseClaim struct {
	prop *verify.Property
	g    *Graph
}

// falseClaims are claims about markings, capacity and times, each of them refuted.
func falseClaims(tb testing.TB) []falseClaim {
	tb.Helper()
	crossed := exploreNet(tb, crossing(2), netmodel.Interleave, Options{})
	quiet := exploreNet(tb, silence(), netmodel.RunToCompletion, Options{})
	place := quiet.Model.Place(0)
	out := []falseClaim{
		{verify.Never("on_1 && on_2"), crossed},
		{verify.Never("open"), crossed},
		{verify.Bounded(place, 0), quiet},
	}
	core, finger := race()
	p, err := closeWith(core, finger)
	if err != nil {
		tb.Fatal(err)
	}
	m := netmodel.New(p, netmodel.RunToCompletion)
	for _, prop := range []*verify.Property{Within("start", "stay late", 20*time.Millisecond-1, Options{}),
		NotBefore("start", "expire", 10*time.Millisecond+1, Options{})} {
		_, g, err := Measure(context.Background(), m, prop.Claim.(claim.Watch).Observer, Options{})
		if err != nil {
			tb.Fatal(err)
		}
		out = append(out, falseClaim{prop, g})
	}
	return out
}

// list is a certificate's list, number by number.
type list struct {
	markings [][]uint64 // by class
	zones    [][]int64
}

func listOf(g *Graph) *list {
	l := &list{}
	g.Each(func(i int, m []int32) bool {
		var row []uint64
		for _, n := range m {
			row = append(row, uint64(n))
		}
		k := len(g.markings[g.classes[i].marking].clocks) + 1
		zone := slices.Clone(g.zone(uint32(i), k*k))
		for j, v := range zone {
			if v == unbounded {
				zone[j] = math.MaxInt64
			}
		}
		l.markings, l.zones = append(l.markings, row), append(l.zones, zone)
		return true
	})
	return l
}

// extremes are numbers at which arithmetic goes wrong if it does.
var extremes = []int64{0, 1, -1, math.MaxInt64, math.MaxInt64 - 1, math.MinInt64, math.MinInt64 + 1, math.MaxInt64 / 2,
	math.MinInt64 / 2, 1 << 62, -1 << 62, 1 << 61, 1 << 56, -1 << 56, 1<<56 + 1, math.MaxInt32, math.MaxInt32 - 1, 1 << 16}

// forge changes some numbers of the list, or leaves out a class.
func (l *list) forge(r *rand.Rand) {
	for range 1 + r.IntN(4) {
		i := r.IntN(len(l.zones))
		switch zone := l.zones[i]; r.IntN(6) {
		case 0: // every bound of a class
			v, w := extremes[r.IntN(len(extremes))], extremes[r.IntN(len(extremes))]
			for j := range zone {
				if j%2 == 0 && v != 0 || w == 0 {
					zone[j] = v
				} else {
					zone[j] = w
				}
			}
		case 1, 2:
			zone[r.IntN(len(zone))] = extremes[r.IntN(len(extremes))]
		case 3:
			zone[r.IntN(len(zone))] += int64(r.IntN(5) - 2)
		case 4:
			row := l.markings[i]
			row[r.IntN(len(row))] = uint64(extremes[r.IntN(len(extremes))])
		default:
			if len(l.zones) > 1 {
				l.zones, l.markings = slices.Delete(l.zones, i, i+1), slices.Delete(l.markings, i, i+1)
			}
		}
	}
}

// sealed is the list as a certificate with every hash right.
func (l *list) sealed(tb testing.TB, c falseClaim) *check.Certificate {
	tb.Helper()
	markings, zones := []byte{}, []byte{}
	for i := range l.zones {
		for _, n := range l.markings[i] {
			markings = binary.AppendUvarint(markings, n)
		}
		for _, v := range l.zones[i] {
			zones = binary.AppendVarint(zones, v)
		}
	}
	out := &check.Certificate{Method: "classes", Count: len(l.zones)}
	if err := out.Seal(c.g.Model, markings, zones, []claim.Claim{c.prop.Claim}); err != nil {
		tb.Fatal(err)
	}
	return out
}

// refusesForged fails if a forged certificate of a false claim is taken.
func refusesForged(t *testing.T, c falseClaim, seed uint64) {
	t.Helper()
	l := listOf(c.g)
	l.forge(rand.New(rand.NewPCG(seed, 41)))
	cert := l.sealed(t, c)
	if err := cert.Check(context.Background(), c.g.Model, c.prop.Claim); !errors.Is(err, check.ErrCertificate) {
		t.Errorf("seed %d: %s is certified: %v", seed, c.prop.Name, err)
	}
}

// TestForgedClasses: whatever numbers a list of classes has, it certifies no claim that is refuted.
func TestForgedClasses(t *testing.T) {
	for _, c := range falseClaims(t) {
		if err := listOf(c.g).sealed(t, c).Check(context.Background(), c.g.Model, c.prop.Claim); err == nil {
			t.Fatalf("%s is no false claim", c.prop.Name)
		}
		for seed := range uint64(300) {
			refusesForged(t, c, seed)
		}
	}
}

// FuzzForgedClasses is TestForgedClasses with other seeds.
func FuzzForgedClasses(f *testing.F) {
	claims := falseClaims(f)
	f.Add(uint64(1), 0)
	f.Fuzz(func(t *testing.T, seed uint64, claim int) {
		refusesForged(t, claims[uint(claim)%uint(len(claims))], seed)
	})
}

// TestLongestWait: the checker counts the longest wait that exploration takes.
func TestLongestWait(t *testing.T) {
	n := imported("a", tr("go", petri.Between(1, MaxWait), "a -> b"), tr("back", petri.After(MaxWait), "b -> a"))
	g := exploreNet(t, n, netmodel.Interleave, Options{})
	prop := verify.Never("a && b")
	c, err := g.Certify(prop.Claim)
	if err == nil {
		err = c.Check(context.Background(), g.Model, prop.Claim)
	}
	if err != nil {
		t.Error(err)
	}
}

package stateclass

import (
	"bytes"
	"compress/flate"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/verify/check"
	"github.com/voicegw/voicegw/verify/claim"
	"github.com/voicegw/voicegw/verify/explore"
	"github.com/voicegw/voicegw/verify/netmodel"
)

// FuzzTimeCertificate: no list of classes makes the checker take a claim about time that is false
// by one nanosecond.
func FuzzTimeCertificate(f *testing.F) {
	core, finger := race()
	p, err := closeWith(core, finger)
	if err != nil {
		f.Fatal(err)
	}
	m, ctx := netmodel.New(p, netmodel.RunToCompletion), context.Background()
	const ms = time.Millisecond
	claims := []*verify.Property{Within("start", "stay late", 20*ms-1, Options{}),
		NotBefore("start", "expire", 10*ms+1, Options{}), NotBefore("start", "stay late", 10*ms+1, Options{})}
	for i, prop := range claims {
		_, g, err := Measure(ctx, m, prop.Claim.(claim.Watch).Observer, Options{Max: 3000})
		if err != nil {
			f.Fatal(err)
		}
		c, err := g.Certify(prop.Claim)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(inflated(f, c.Markings), inflated(f, c.Zones), c.Count, i, false)
		f.Add(inflated(f, c.Markings), inflated(f, c.Zones), c.Count-1, i, true)
	}
	f.Fuzz(func(t *testing.T, markings, zones []byte, count, which int, relax bool) {
		prop := claims[uint(which)%uint(len(claims))]
		observed, err := m.Observe(prop.Claim.(claim.Watch).Observer)
		if err != nil {
			t.Fatal(err)
		}
		c := &check.Certificate{Method: "classes", Count: count, Relax: relax}
		if err := c.Seal(observed, markings, zones, []claim.Claim{prop.Claim}); err != nil {
			t.Fatal(err)
		}
		if err := c.Check(ctx, m, prop.Claim); !errors.Is(err, check.ErrCertificate) {
			t.Errorf("%s is certified: %v", prop.Name, err)
		}
	})
}

func inflated(f *testing.F, b []byte) []byte {
	out, err := io.ReadAll(flate.NewReader(bytes.NewReader(b)))
	if err != nil {
		f.Fatal(err)
	}
	return out
}

// tape is a source of chance whose choices are bytes, as long as there are any.
type tape struct {
	bytes []byte
	rest  *rand.PCG
}

func (s *tape) Uint64() uint64 {
	v := s.rest.Uint64()
	if len(s.bytes) == 0 {
		return v
	}
	b := uint64(s.bytes[0])
	s.bytes = s.bytes[1:]
	return b<<56 | v<<8>>16<<8 | b // choices look at either end
}

// FuzzMachineClosed: a machine of any net, driven in any way that an environment may, rests only
// where the graphs of the net closed with that have been, with and without time.
func FuzzMachineClosed(f *testing.F) {
	closed := func(tb testing.TB, net []byte) (*petri.Program, *Graph, *explore.Graph) {
		core := maker{rand.New(&tape{net, rand.NewPCG(1, 13)})}.coloured()
		open, err := petri.Compile(core)
		if err != nil || open.Runnable() != nil {
			return nil, nil, nil
		}
		g, u := closedGraphs(tb, core, 200) // more take too long for one input
		return open, g, u
	}
	for seed, kept := uint64(0), 0; kept < 30; seed++ {
		r, net := rand.NewPCG(seed, 13), make([]byte, 120)
		for i := range net {
			net[i] = byte(r.Uint64())
		}
		if _, g, _ := closed(f, net); g != nil && g.Classes() > 20 {
			f.Add(net, net[:40])
			kept++
		}
	}
	f.Fuzz(func(t *testing.T, net, run []byte) {
		open, g, u := closed(t, net)
		if g == nil {
			return
		}
		w := &world{t: t, open: open, r: rand.New(&tape{run, rand.NewPCG(2, 13)})}
		w.allow(g, u)
		w.run()
	})
}

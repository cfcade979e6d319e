package verify

import (
	"context"
	"testing"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify/explore"
	"github.com/voicegw/voicegw/verify/nettest"
)

// Short names for what the nets of these tests are made of.

type (
	unit = nettest.Unit
	word = nettest.Word
)

func tokens(names ...string) []petri.Token     { return nettest.Tokens(names...) }
func many(name string, n int) []petri.Token    { return nettest.Many(name, n) }
func arcs(names ...string) petri.Arcs          { return nettest.Arcs(names...) }
func outs(names ...string) petri.Split         { return nettest.Outs(names...) }
func calibration(k int, fresh bool) *petri.Net { return nettest.Calibration(k, fresh) }
func imported(init []petri.Token, ts ...petri.Transition) *petri.Net {
	return nettest.Imported(init, ts...)
}
func classic(name string, in, out petri.Arcs) petri.Transition { return nettest.Classic(name, in, out) }
func atOnce(name string, in, out petri.Arcs) petri.Transition  { return nettest.AtOnce(name, in, out) }
func inhibit(t petri.Transition, names ...string) petri.Transition {
	return nettest.Inhibit(t, names...)
}
func read(t petri.Transition, names ...string) petri.Transition  { return nettest.Read(t, names...) }
func reset(t petri.Transition, names ...string) petri.Transition { return nettest.Reset(t, names...) }

func compile(t testing.TB, n *petri.Net) *petri.Program {
	t.Helper()
	return nettest.Compile(t, n)
}

func exploreNet(t testing.TB, n *petri.Net, o explore.Options) *explore.Graph {
	t.Helper()
	g, err := explore.Explore(context.Background(), compile(t, n), o)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

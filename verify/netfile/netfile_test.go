package netfile

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify/explore"
	"github.com/voicegw/voicegw/verify/netmodel"
	"github.com/voicegw/voicegw/verify/stateclass"
)

func modelOf(t testing.TB, f *File) *netmodel.Model {
	t.Helper()
	p, err := petri.Compile(f.Net)
	if err != nil {
		t.Fatal(err)
	}
	m, err := f.Model(p)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func read(t testing.TB, text string) *netmodel.Model {
	t.Helper()
	f, err := Read("net", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return modelOf(t, f)
}

func classes(t testing.TB, m *netmodel.Model) (classes, edges, dead int) {
	t.Helper()
	g, err := stateclass.Explore(context.Background(), m, stateclass.Options{Merge: stateclass.Equality})
	if err != nil {
		t.Fatal(err)
	}
	return g.Classes(), g.Edges(), len(g.Dead())
}

func file(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestReadTINA(t *testing.T) {
	for _, c := range []struct {
		name, text     string
		classes, edges int
		dead           int
	}{
		{"crossing", file(t, "crossing_1.net"), 11, 14, 0},
		{"key net", "pl a (1)\npl b (1)\npl c(1)\ntr t0 [2,5] c -> b\r\ntr t1 [0,3] b -> c\ntr t2 [0,1] a -> c", 13, 20, 0},
		{"read and inhibit", "pl p (1)\npl r : label (1)\ntr t1 [2,2] r p?1 -> r\ntr t2 : {a b} [3,3] p -> q # end", 3, 2, 1},
		{"two stage silence",
			"pl WAIT (1)\npl QUIET (1)\ntr on QUIET -> VAD\ntr off [200,w[ VAD -> QUIET\n" +
				"tr s1 [4000,4000] WAIT VAD?-1 -> REC1\n" +
				"tr s2 [8000,8000] REC1 VAD?-1 -> REC2\ntr rec [0,50] REC2 -> WAIT\nlb WAIT x\nnt n 0 {..}", 7, 10, 0},
		{"labels and notes", "pl p : {} (1)\ntr t : {a \\} b} p ->\nlb p {}\nlb t x\nnt n1 1 {tr u p -> q\\\\n}", 2, 1, 1},
		{"superposed", "tr t [1,2]\npl p (1) -> t\ntr t -> q\npl q\ntr t -> q", 2, 1, 1},
		{"weights", "pl {a b} (2K)\ntr t {a b}*1K -> c*2", 3, 2, 1},
		{"place arcs", "pl p (1) -> t*1\npl q t ->\ntr t [1,1]", 2, 1, 1},
		{"tie", "pl p (1)\ntr t1 [0,0] p -> q\ntr t2 [0,0] p -> r", 3, 2, 2},
		{"priority", "pl p (1)\ntr t1 [0,0] p -> q\ntr t2 [0,0] p -> r\npr t1 > t2", 2, 1, 1},
		{"priority closed", "pl p (1)\ntr t1 [0,0] p -> q\ntr t2 [0,0] x -> x\ntr t3 [0,0] p -> r\npr t3 < t2\npr t1 > t2",
			2, 1, 1},
		{"priority over a wait", "pl p (1)\npl x (1)\ntr t1 [0,w[ x -> y\ntr t3 [1,1] p -> r\npr t1 > t3", 3, 2, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			if n, e, d := classes(t, read(t, c.text)); n != c.classes || e != c.edges || d != c.dead {
				t.Errorf("%d classes, %d edges, %d dead; want %d, %d, %d", n, e, d, c.classes, c.edges, c.dead)
			}
		})
	}
}

func TestReadPNML(t *testing.T) {
	m := read(t, file(t, "two.pnml"))
	g, err := explore.ExploreModel(context.Background(), m, explore.Options{})
	if err != nil || g.States() != 2 || g.Edges() != 1 || len(g.Dead()) != 1 {
		t.Fatalf("%v: %d states, %d edges, dead %v", err, g.States(), g.Edges(), g.Dead())
	}
	if m.Program().Place("waits") < 0 || m.Program().Place("paired") < 0 || m.Program().Name() != "two" {
		t.Errorf("places %+v", m.Program().Places())
	}
	if m := read(t, strings.ReplaceAll(file(t, "two.pnml"), "paired", "waits")); m.Program().Place("p1") < 0 {
		t.Error("names that are not different: identifiers expected")
	}
}

// TestRefusals: what is wrong is said with its line.
func TestRefusals(t *testing.T) {
	pnml := func(body string) string {
		return "<pnml><net id='n' type='ptnet'><page>\n" + body + "\n</page></net></pnml>"
	}
	for _, c := range []struct{ name, text, want string }{
		{"keyword", "pl p (1)\nxx y", `:2: "xx"; want net, tr`}, {"interval", "tr t [2,1] p -> q",
			`:1: the interval "[2,1] p -> q" is empty`},
		{"open start", "tr t ]2,3] p -> q", ":1: the interval \"]2,3] p -> q\" is open at its start"},
		{"open end", "tr t [2,3[ p -> q", "open at its end"}, {"no comma", "tr t [2 3] p -> q", "a comma expected"},
		{"infinite", "tr t [2,w] p -> q", "[ expected after w"}, {"stopwatch", "tr t p!1 -> q", "stopwatch"},
		{"test output", "tr t p -> q?1", "behind the arrow"}, {"count", "pl p (x)", "a number"}, {"long count",
			"pl p (99999999999999999999)", "a number"},
		{"too many", "pl p (99999)", "above 65536"}, {"kilo", "pl p (99G)", "above 65536"}, {"paren", "pl p (1",
			") expected"},
		{"tera", "pl p (9T)", `the number "9T" is above 65536`}, {"exa", "tr t p*999999999E -> q", "is above 65536"},
		{"name behind a weight", "tr t p*2q -> r", `:1: a space expected after the number in "2q -> r"`},
		{"two markings", "pl p (1)\npl p (2)", ":2: place p has a marking already, on line 1"},
		{"two intervals", "tr t [1,2] p -> q\ntr t [0,3]", ":2: transition t has an interval already, on line 1"},
		{"no arrow", "tr t p q", ":1: -> expected behind the places"}, {"no arrow in a place", "pl p (1) t",
			":1: -> expected behind the transitions"},
		{"next line", "tr t p\n-> q", ":1: -> expected"},
		{"note of two lines", "nt n 0 {see\ntr t p -> q\n}", ":1: a { is not closed"},
		{"note", "nt n 0", ":1: a note expected"}, {"label", "lb p a b", `:1: unexpected "b"`},
		{"negative weight", "tr t p*-1 -> q", "a number of at most 9 digits"}, {"negative bound", "tr t [-1,2] p -> q",
			"a whole number up to"},
		{"huge bound", "tr t [0,9223372036854775807] p -> q", "a whole number up to"},
		{"LoLA", "PLACE p, q;\nMARKING p: 1;", `:1: "PLACE"; want net, tr`},
		{"Romeo's or Twina's priority", "tr t p -> q\npr t -o t", ":2: a transition expected"},
		{"brace", "pl {p (1)", "not closed"}, {"empty brace", "pl {} (1)", "is empty"}, {"arrow", "tr t p -> q -> r",
			`a place expected at "-> r"`},
		{"priority form", "tr t p -> q\npr t", ":2: a priority is written"}, {"priority name", "tr t p -> q\npr t > u",
			":2: priority of transition u"},
		{"timed priority", "tr t [1,2] p -> q\ntr u p -> r\npr t > u", ":3: priority of transition t, which waits"},
		{"zeno", "tr t [0,0] -> q", ":1: transition t needs no token"}, {"inhibitor 0", "tr t p?-0 -> q", "can never fire"},
		{"xml", "<pnml>\n<net", "netfile: bad:2:"}, {"no net", "<pnml></pnml>", "no <net>"}, {"colours",
			"<pnml>\n<net id='x' type='symmetricnet'/></pnml>", ":2: the net has type"},
		{"two nets", "<pnml><net id='a' type='ptnet'/>\n<net id='b' type='ptnet'/></pnml>", ":2: a second net"},
		{"twice", pnml("<place id='p'/>\n<place id='p'/>"), ":3: the identifier p is used twice"}, {"no id",
			pnml("<place/>"), ":2: a place has the identifier"},
		{"dangling", pnml("<place id='p'/><arc id='a' source='p' target='x'/>"), `:2: there is no node "x"`},
		{"place to place", pnml("<place id='p'/><place id='q'/><arc id='a' source='p' target='q'/>"), "both of them a place"},
		{"loop", pnml("<place id='p'/><referencePlace id='r' ref='s'/><referencePlace id='s' ref='r'/>" +
			"<transition id='t'/><arc id='a' source='r' target='t'/>"), "refers to itself"},
		{"marking", pnml("<place id='p'><initialMarking><text>many</text></initialMarking></place>"),
			`:2: the number "many"`},
		{"negative", pnml("<place id='p'><initialMarking><text>-1</text></initialMarking></place>"), `the number "-1"`},
		{"arc type", pnml("<place id='p'/><transition id='t'/><arc id='a' source='p' target='t'><type value='odd'/></arc>"),
			`an arc of type "odd"`},
		{"depth", pnml(strings.Repeat("<page>", 500)), "nested more than"}, {"entity",
			"<!DOCTYPE x [<!ENTITY a 'b'>]><pnml>&a;</pnml>", "entity"},
		{"charset", "<?xml version='1.0' encoding='latin9'?><pnml/>", "use UTF-8"},
	} {
		_, err := Read("bad", []byte(c.text))
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want %q", c.name, err, c.want)
		}
	}
	f, err := Read("net", []byte("tr t p -> q\ntr u p -> q\npr t > u\npr u > t"))
	if err != nil {
		t.Fatal(err)
	}
	p, err := petri.Compile(f.Net)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Model(p); err == nil || !strings.Contains(err.Error(), "preferred to itself") {
		t.Errorf("circular priority: %v", err)
	}
}

// TestRoundTrip: what is written reads back as a net with the same graph.
func TestRoundTrip(t *testing.T) {
	text := file(t, "crossing_1.net")
	m := read(t, text)
	b, err := WriteTINA(m.Program(), netmodel.Interleave)
	if err != nil {
		t.Fatal(err)
	}
	if n, e, _ := classes(t, read(t, string(b))); n != 11 || e != 14 {
		t.Errorf("%d classes, %d edges\n%s", n, e, b)
	}
	pairs := read(t, file(t, "two.pnml"))
	if b, err = WritePNML(pairs.Program()); err != nil {
		t.Fatal(err)
	}
	want, err := explore.ExploreModel(context.Background(), pairs, explore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	g, err := explore.ExploreModel(context.Background(), read(t, string(b)), explore.Options{})
	if err != nil || g.States() != want.States() || g.Edges() != want.Edges() || g.States() < 2 {
		t.Errorf("%v: %d states, %d edges; want %d, %d", err, g.States(), g.Edges(), want.States(), want.Edges())
	}
}

type side uint8

func (s side) Key() petri.Key     { return petri.Key(s) }
func (s side) KeyNames() []string { return []string{"left", "right"} }

// TestWriteOurs: a net of ours keeps its dead markings when its order of
// firings at once is written as priorities.
func TestWriteOurs(t *testing.T) {
	const in, a, b, c = petri.Place[side]("in"), petri.Place[petri.Unit]("a"), petri.Place[petri.Unit]("b"),
		petri.Place[petri.Unit]("c")
	n := &petri.Net{Name: "ours", Imported: true, Init: []petri.Token{in.Token(0), in.Token(1)},
		Transitions: []petri.Transition{
			{Name: "take", In: petri.Arcs{in}, Out: petri.And(a), When: petri.After(time.Second)},
			{Name: "late", In: petri.Arcs{a}, Out: petri.And(b)},
			{Name: "first", In: petri.Arcs{a}, Inhibit: petri.Arcs{in}, Out: petri.And(c), Priority: 1},
		}}
	p, err := petri.Compile(n)
	if err != nil {
		t.Fatal(err)
	}
	text, err := WriteTINA(p, netmodel.RunToCompletion)
	if err != nil {
		t.Fatal(err)
	}
	ours, err := stateclass.Explore(context.Background(), netmodel.New(p, netmodel.RunToCompletion), stateclass.Options{})
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := stateclass.Explore(context.Background(), read(t, string(text)), stateclass.Options{})
	if err != nil || len(theirs.Dead()) != len(ours.Dead()) || len(ours.Dead()) != 1 {
		t.Fatalf("%v: dead %v and %v\n%s", err, ours.Dead(), theirs.Dead(), text)
	}
	have := theirs.Model.Format(theirs.Marking(theirs.Dead()[0], nil))
	if want := ours.Model.Format(ours.Marking(ours.Dead()[0], nil)); have != want {
		t.Errorf("ends in %s, want %s", have, want)
	}
}

// FuzzRead: what is read can be written, and what is written says the same.
func FuzzRead(f *testing.F) {
	for _, name := range []string{"crossing_1.net", "two.pnml"} {
		f.Add(file(f, name))
	}
	f.Add("pl p (1)\ntr t [0,3] p?1 q?-2 -> {a b}*3\npr t > t")
	f.Add("<pnml><net id='n'><place id='p'/></net></pnml>")
	for _, s := range spellings() {
		f.Add(s.text)
	}
	f.Add(plain(1))
	f.Fuzz(func(t *testing.T, text string) {
		n, err := Read("fuzz", []byte(text))
		if err != nil {
			return
		}
		p, err := petri.Compile(n.Net)
		if err != nil {
			return
		}
		if _, err := n.Model(p); err != nil {
			return
		}
		again := func(b []byte, err error, timed bool) {
			if err != nil {
				t.Fatal(err)
			}
			r, err := Read("again", b)
			if err != nil {
				t.Fatalf("%v\n%s", err, b)
			}
			q, err := petri.Compile(r.Net)
			if err != nil {
				t.Fatalf("%v\n%s", err, b)
			}
			if have, want := said(q, timed), said(p, timed); have != want {
				t.Fatalf("%s\nsays %s\nwant %s", b, have, want)
			}
		}
		if differs(p) {
			return
		}
		if !slices.ContainsFunc(n.Net.Transitions, func(t petri.Transition) bool { return len(t.Reset) > 0 }) {
			b, err := WriteTINA(p, netmodel.Interleave)
			again(b, err, true)
		}
		b, err := WritePNML(p)
		again(b, err, false)
	})
}

// differs reports whether what is written of a net is known to say less: a read arc beside an arc that
// takes as much says nothing, and PNML does not keep spaces around names.
func differs(p *petri.Program) bool {
	for _, pl := range p.Places() {
		if strings.TrimSpace(pl.Name) != pl.Name {
			return true
		}
	}
	return slices.ContainsFunc(p.Transitions(), func(t petri.TransitionInfo) bool {
		return strings.TrimSpace(t.Name) != t.Name || slices.ContainsFunc(t.Arcs, func(a petri.ArcInfo) bool {
			return a.Kind == petri.ReadArc && slices.ContainsFunc(t.Arcs, func(b petri.ArcInfo) bool {
				return b.Kind == petri.InArc && a.Place == b.Place
			})
		})
	})
}

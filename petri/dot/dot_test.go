package dot

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/voicegw/voicegw/petri"
)

var update = flag.Bool("update", false, "write the golden files anew")

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs; look at it and run go test -update:\n%s", path, got)
	}
}

func mustSVG(t *testing.T, p *petri.Program, o Options) []byte {
	t.Helper()
	svg, err := SVG(p, o)
	if err != nil {
		t.Fatal(err)
	}
	return svg
}

func TestGolden(t *testing.T) {
	golden(t, "everything.dot", []byte(Graph(everything(t), Options{})))
	golden(t, "everything.svg", mustSVG(t, everything(t), Options{Title: "Everything a net can have"}))
	golden(t, "ring.svg", mustSVG(t, chain(t, 5), Options{Bare: true}))
}

// element holds what the tests check of an SVG element.
type element struct {
	id, class, place, transition string
	text                         string
}

// parse reads an SVG strictly and returns its elements.
func parse(t *testing.T, svg []byte) []element {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(svg))
	var all []element
	var open []int
	for {
		tok, err := d.Token()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, svg)
		}
		switch tok := tok.(type) {
		case xml.StartElement:
			all = append(all, elementOf(t, tok))
			open = append(open, len(all)-1)
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			if len(open) > 0 {
				all[open[len(open)-1]].text += string(tok)
			}
		}
	}
}

func elementOf(t *testing.T, tok xml.StartElement) element {
	t.Helper()
	var e element
	seen := map[string]bool{}
	for _, a := range tok.Attr {
		if seen[a.Name.Local] {
			t.Errorf("attribute %s twice in <%s>", a.Name.Local, tok.Name.Local)
		}
		seen[a.Name.Local] = true
		if strings.Contains(a.Value, "NaN") || strings.Contains(a.Value, "Inf") {
			t.Errorf("<%s %s=%q>", tok.Name.Local, a.Name.Local, a.Value)
		}
		switch a.Name.Local {
		case "id":
			e.id = a.Value
		case "class":
			e.class = a.Value
		case "data-place":
			e.place = a.Value
		case "data-transition":
			e.transition = a.Value
		}
	}
	return e
}

// checkComplete checks that a drawing has one element for each place and transition.
func checkComplete(t *testing.T, p *petri.Program, svg []byte) {
	t.Helper()
	ids := map[string]int{}
	for _, e := range parse(t, svg) {
		if e.id == "" {
			continue
		}
		ids[e.id]++
		if e.id != "place:"+e.place && e.id != "transition:"+e.transition {
			t.Errorf("id %q for place %q, transition %q", e.id, e.place, e.transition)
		}
	}
	for _, pl := range p.Places() {
		if ids["place:"+pl.Name] != 1 {
			t.Errorf("place %q is drawn %d times", pl.Name, ids["place:"+pl.Name])
		}
	}
	for _, tr := range p.Transitions() {
		if ids["transition:"+tr.Name] != 1 {
			t.Errorf("transition %q is drawn %d times", tr.Name, ids["transition:"+tr.Name])
		}
	}
	if len(ids) != len(p.Places())+len(p.Transitions()) {
		t.Errorf("%d ids for %d places and %d transitions", len(ids), len(p.Places()), len(p.Transitions()))
	}
}

func TestEveryNodeOnce(t *testing.T) {
	checkComplete(t, everything(t), mustSVG(t, everything(t), Options{}))
	for seed := range uint64(300) {
		p := wild(t, seed)
		checkComplete(t, p, mustSVG(t, p, Options{Bare: seed%2 == 0}))
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// TestEveryArc counts the arcs. An input that is refilled is one path, and so are the branches that
// produce at one place.
func TestEveryArc(t *testing.T) {
	for seed := range uint64(300) {
		p := wild(t, seed)
		want := 0
		for _, tr := range p.Transitions() {
			taken := map[int]bool{}
			for _, a := range tr.Arcs {
				if a.Kind == petri.InArc {
					taken[a.Place] = true
				}
				if a.Kind != petri.OutArc || !taken[a.Place] {
					want++
				}
			}
		}
		got := 0
		for _, e := range parse(t, mustSVG(t, p, Options{Bare: true})) {
			if strings.HasPrefix(e.class, "arc ") {
				got++
			}
		}
		if got != want {
			t.Fatalf("seed %d: %d arcs drawn of %d", seed, got, want)
		}
	}
}

func TestSameBytes(t *testing.T) {
	for seed := range uint64(20) {
		one, two := wild(t, seed), wild(t, seed)
		if !bytes.Equal(mustSVG(t, one, Options{}), mustSVG(t, two, Options{})) ||
			Graph(one, Options{}) != Graph(two, Options{}) {
			t.Fatalf("seed %d is drawn differently the second time", seed)
		}
	}
}

func TestMarking(t *testing.T) {
	p := everything(t)
	marking := p.Initial()
	for i := range marking {
		marking[i] = 0
	}
	marking[p.Places()[p.Place("busy")].Slot] = 1
	marking[p.Places()[p.Place("press")].Slot+1] = 3
	for _, c := range []struct {
		name string
		o    Options
		want string
	}{
		{"initial", Options{}, "idle credit"},
		{"given", Options{Marking: marking}, "press busy"},
		{"bare", Options{Bare: true}, ""},
		{"bare and given", Options{Bare: true, Marking: marking}, "press busy"},
	} {
		t.Run(c.name, func(t *testing.T) {
			marked := map[string]bool{}
			for _, e := range parse(t, mustSVG(t, p, c.o)) {
				if strings.HasSuffix(e.class, " marked") {
					marked[e.place] = true
				}
			}
			var got []string
			for _, pl := range p.Places() {
				if marked[pl.Name] {
					got = append(got, pl.Name)
				}
			}
			if s := strings.Join(got, " "); s != c.want {
				t.Errorf("marked %q, want %q", s, c.want)
			}
		})
	}
	want := `id="place:press", shape=circle, style="filled,dashed", color="#2563a8", fillcolor="#fde9b8", label="3"`
	if !strings.Contains(Graph(p, Options{Marking: marking}), want) {
		t.Error("the marking is not in the graph")
	}
}

func TestRefuses(t *testing.T) {
	if _, err := SVG(chain(t, 3), Options{Marking: make([]int32, 4)}); err == nil ||
		err.Error() != `dot: draw net "ring": the marking has 4 slots; the net has 3` {
		t.Errorf("marking of another net: %v", err)
	}
	if _, err := SVG(chain(t, maxNodes/2+1), Options{}); err == nil ||
		err.Error() != `dot: draw net "ring": it has 5002 places and transitions; at most 5000 are allowed` {
		t.Errorf("large net: %v", err)
	}
}

// TestNoOverlap checks that the shapes and labels of a panel do not overlap.
func TestNoOverlap(t *testing.T) {
	for seed := range uint64(200) {
		list, _, _ := lay(panels(wild(t, seed), nil))
		for i, pn := range list {
			for _, row := range pn.rows {
				for k := 1; k < len(row); k++ {
					a, b := &pn.nodes[row[k-1]], &pn.nodes[row[k]]
					if a.y+a.down > b.y-b.up+0.5 {
						t.Fatalf("seed %d: nodes %v and %v overlap", seed, a.lines, b.lines)
					}
				}
			}
			for _, other := range list[:i] {
				if pn.x < other.x+other.w && other.x < pn.x+pn.w && pn.y < other.y+other.h && other.y < pn.y+pn.h {
					t.Fatalf("seed %d: panels %q and %q overlap", seed, pn.title, other.title)
				}
			}
		}
	}
}

func TestArcsLeadForward(t *testing.T) {
	for seed := range uint64(200) {
		for _, pn := range panels(wild(t, seed), nil) {
			pn.setRanks()
			for _, e := range pn.edges {
				span := pn.nodes[e.to].rank - pn.nodes[e.from].rank
				if e.back {
					span = -span
				}
				if span < 1 {
					t.Fatalf("seed %d: an arc spans %d ranks", seed, span)
				}
			}
		}
	}
}

func TestCrossings(t *testing.T) {
	// Two arcs that cross in order of declaration: a -> d and b -> c, with c above d.
	const a, b = petri.Place[unit]("a"), petri.Place[unit]("b")
	const c, d = petri.Place[unit]("c"), petri.Place[unit]("d")
	n := &petri.Net{
		Name: "cross", Imported: true, Init: []petri.Token{a.Token(unit{}), b.Token(unit{})},
		Transitions: []petri.Transition{
			{Name: "one", In: petri.Arcs{a}, Out: petri.And(d)}, {Name: "two", In: petri.Arcs{b}, Out: petri.And(c)},
		},
	}
	pn := panels(compile(t, n), nil)[0]
	pn.setRanks()
	pn.setOrder()
	if got := newOrderer(pn); crossingsOf(got) != 0 {
		t.Errorf("%d crossings", crossingsOf(got))
	}
	for _, row := range pn.rows[2:] {
		row[0], row[1] = row[1], row[0]
	}
	if got := crossingsOf(newOrderer(pn)); got != 1 {
		t.Errorf("%d crossings with the last rank turned around, want 1", got)
	}
}

func crossingsOf(o *orderer) int {
	o.number()
	return o.crossings()
}

// TestFold draws a long net in several frames of limited width.
func TestFold(t *testing.T) {
	p := chain(t, 60)
	list, w, h := lay(panels(p, nil))
	if len(list) < 3 || w > 3*foldWidth || h/w < 0.1 {
		t.Errorf("%d panels, %v by %v", len(list), w, h)
	}
	for i, pn := range list {
		if pn.w > 1.25*foldWidth || len(pn.rows) < 6 {
			t.Errorf("panel %d is %v wide and has %d ranks", i, pn.w, len(pn.rows))
		}
		if want := fmt.Sprintf("ring (%d of %d)", i+1, len(list)); pn.name() != want {
			t.Errorf("panel %d is named %q, want %q", i, pn.name(), want)
		}
	}
	checkComplete(t, p, mustSVG(t, p, Options{}))
}

func TestWrap(t *testing.T) {
	for name, want := range map[string]string{
		"idle": "idle", "drop_stale_chunk": "drop_stale_|chunk", "a/b": "a/b", "": "",
		"one_remarkably_long_name": "one_|remarkably_|long_name", "incomprehensibilities": "incomprehensibilities",
	} {
		if got := strings.Join(wrap(name), "|"); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

func BenchmarkSVG(b *testing.B) {
	for _, n := range []int{20, 200} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			p := chain(b, n)
			for b.Loop() {
				if _, err := SVG(p, Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestPorts checks that places shared with other nets are squares beside the transitions that use
// them, and that the rest of the drawing does not change.
func TestPorts(t *testing.T) {
	const (
		come  = petri.Place[petri.Unit]("come")
		seat  = petri.Place[petri.Unit]("seat")
		taken = petri.Place[petri.Unit]("taken")
	)
	p := compile(t, &petri.Net{Name: "room", Env: []petri.Env{{Place: come}, {Place: seat, Capacity: 8}},
		Transitions: []petri.Transition{
			{Name: "sit", In: petri.Arcs{come, seat}, Out: petri.And(taken)},
			{Name: "rise", In: petri.Arcs{taken}, Out: petri.And(seat), When: petri.After(1)},
		}})
	plain, err := SVG(p, Options{})
	if err != nil {
		t.Fatal(err)
	}
	ported, err := SVG(p, Options{Ports: []string{"seat", "elsewhere"}})
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string][2]int{ // in the plain drawing, and with ports
		`class="place port"`:               {0, 1},
		`class="place env"`:                {2, 1},
		`class="crossing"`:                 {2, 1},
		`>shared with other parts<`:        {0, 1},
		`, from outside, at most 8`:        {1, 0},
		`unit, shared with other parts`:    {0, 2}, // with one reference to it
		`stroke="var(--net-port,#a855f7)"`: {0, 3}, // with the legend
	} {
		got := [2]int{strings.Count(string(plain), text), strings.Count(string(ported), text)}
		if got != want {
			t.Errorf("%s occurs %v times, want %v", text, got, want)
		}
	}
}

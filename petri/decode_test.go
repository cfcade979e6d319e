package petri

import (
	"fmt"
	"reflect"
	"testing"
)

type note struct{ Text string }

func TestParseToken(t *testing.T) {
	const (
		bare   = Place[Unit]("bare")
		edges  = Place[edge]("edges")
		number = Place[int]("number")
		words  = Place[string]("words")
		notes  = Place[note]("notes")
		boxed  = Place[*note]("boxed")
	)
	p, err := Compile(&Net{Name: "n", Sinks: []AnyPlace{bare, edges, number, words, notes, boxed}, Imported: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		place, text string
		want        any
		err         string
	}{
		{"bare", "", Unit{}, ""},
		{"bare", "1", nil, `petri: parse token for place "bare": text "1" for a place whose tokens carry no value`},
		{"edges", "stop", stop, ""},
		{"edges", "", start, ""},
		{"edges", "pause", nil, `petri: parse token for place "edges": "pause" is not a petri.edge; use one of start, stop`},
		{"number", "-4", -4, ""},
		{"number", "", 0, ""},
		{"number", "four", nil, `petri: parse token for place "number": petri: decode four as int: ` +
			`invalid character 'o' in literal false (expecting 'a')`},
		{"words", "hello there", "hello there", ""},
		{"words", `"hello"`, "hello", ""},
		{"words", "", "", ""},
		{"notes", `{"Text":"x"}`, note{"x"}, ""},
		{"notes", "", note{}, ""},
		{"boxed", `{"Text":"x"}`, &note{"x"}, ""},
		{"boxed", "null", (*note)(nil), ""},
		{"boxed", "", &note{}, ""},
		{"nowhere", "", nil, `petri: parse token: net "n" has no place "nowhere"`},
	} {
		t.Run(c.place+" "+c.text, func(t *testing.T) {
			tok, err := p.ParseToken(c.place, c.text)
			if got := fmt.Sprint(err); c.err != "" && got != c.err || c.err == "" && err != nil {
				t.Fatalf("error %v, want %s", err, c.err)
			}
			if err == nil && (tok.Place() != c.place || !reflect.DeepEqual(tok.Value(), c.want)) {
				t.Errorf("%v at %s, want %v", tok.Value(), tok.Place(), c.want)
			}
		})
	}
}

func TestFaultKeepsTheRecord(t *testing.T) {
	const in, mid = Place[int]("in"), Place[int]("mid")
	p, err := Compile(&Net{Name: "n", Env: []Env{{Place: in, Capacity: 4}}, Transitions: []Transition{
		{Name: "first", In: Arcs{in}, Out: And(mid)},
		{Name: "second", In: Arcs{mid}, Action: func(f *Firing) {
			if mid.Get(f) < 0 {
				panic("negative")
			}
		}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	m := p.Start()
	if err := m.Inject(1, in.Token(1)); err != nil {
		t.Fatal(err)
	}
	m.Advance(1)
	func() {
		defer func() { _ = recover() }()
		_ = m.Inject(2, in.Token(-1))
		t.Error("the action did not panic")
	}()
	var got []string
	r := m.Fault()
	for _, e := range r.Events {
		got = append(got, fmt.Sprint(e.Seq)+" "+p.Describe(e))
	}
	want := []string{"5 2ns injected in", "6 2ns fired first", "7 2ns faulted"}
	if !reflect.DeepEqual(got, want) || len(r.Out) != 0 || r.Wake != Forever {
		t.Errorf("%q, %d outputs, wake %v; want %q", got, len(r.Out), r.Wake, want)
	}
	if err := m.Inject(3, in.Token(1)); err == nil || len(m.Advance(4).Events) != 0 {
		t.Errorf("the machine went on: %v", err)
	}
}

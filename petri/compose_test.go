package petri

import (
	"fmt"
	"testing"
	"time"
)

// TestComposeRefusals checks the texts with which Compose and Compile refuse compositions.
func TestComposeRefusals(t *testing.T) {
	part := func(name string, ports ...AnyPlace) *Net { return &Net{Name: name, Ports: ports} }
	for _, c := range []struct {
		name  string
		parts []*Net
		want  string
	}{
		{"nothing wrong", []*Net{part("x", pA), part("y", pA, pText)}, "<nil>"},
		{"no parts", nil, "<nil>"},
		{"nil part", []*Net{nil}, "petri: compose n: part 0 is nil"},
		{"no name", []*Net{part("x"), part("")}, "petri: compose n: part 1 has no name"},
		{"one name twice", []*Net{part("x"), part("x")},
			`petri: compose n: two parts are named "x"; give each instance a name of its own`},
		{"nil port", []*Net{part("x", nil, (*Place[int])(nil))}, `petri: compose n: net "x" lists a nil port`},
		{"two types", []*Net{part("x", pA), part("y", Place[*chunk]("a"))}, `petri: compose n: port "a" is unit in net "x" ` +
			`but *petri.chunk in net "y"; give both the same colour or rename one`},
		{"all at once", []*Net{nil, part("x", pA), part("x", Place[int]("a"), nil)}, "petri: 4 problems:\n" +
			"\tcompose n: part 0 is nil\n" +
			"\tcompose n: two parts are named \"x\"; give each instance a name of its own\n" +
			"\tcompose n: port \"a\" is unit in net \"x\" but int in net \"x\"; give both the same colour or rename one\n" +
			"\tcompose n: net \"x\" lists a nil port"},
	} {
		n, err := Compose("n", c.parts...)
		same(t, c.name, fmt.Sprint(err), c.want)
		same(t, c.name+": has a net", n != nil, true)
	}
}

// TestClose checks that an automaton may consume the outputs of an open net and fill its
// environment places.
func TestClose(t *testing.T) {
	open := tick()
	open.Ports = []AnyPlace{pText, pOut}
	echo := &Net{Name: "echo", Ports: []AnyPlace{pText, pOut}, Transitions: []Transition{
		{Name: "echo", In: Arcs{pOut}, Out: And(pText), When: After(3 * ms)}}}
	n, err := Close("closed", open, echo)
	if err != nil {
		t.Fatal(err)
	}
	w := play(t, n)
	w.inject(0, pText.Token("x"))
	same(t, "trace", w.until(9*ms), "0s tick/say, 3ms echo/echo, 3ms tick/say, 6ms echo/echo, 6ms tick/say, "+
		"9ms echo/echo, 9ms tick/say")
	same(t, "an output that is consumed is an inner place", w.marking(), "out tick/a")
	open.Out = append(open.Out, Output{Place: pB})
	if n, err = Close("closed", open, echo); err != nil {
		t.Fatal(err)
	}
	compiled(t, n) // the output place "tick/b" is never produced, which only a closed net may do
}

// TestNestedInstances composes three levels: offices of desks, a town of offices.
func TestNestedInstances(t *testing.T) {
	ask, done := Place[string]("ask"), Place[string]("done")
	clerk := func(name string) *Net {
		free, at := Place[Unit]("free"), Place[string]("at")
		return &Net{Name: name, Ports: []AnyPlace{ask, done}, Init: units(free), Transitions: []Transition{
			{Name: "take", In: Arcs{ask, free}, Out: And(at)},
			{Name: "serve", In: Arcs{at}, Out: And(done, free), When: After(ms)}}}
	}
	office := func(name string) *Net {
		n, err := Compose(name, clerk("ann"), clerk("bob"))
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	town, err := Compose("town", office("east"), office("west"))
	if err != nil {
		t.Fatal(err)
	}
	town.Env, town.Out = env(ask), []Output{{Place: done}}
	w := play(t, town)
	for i := range 5 {
		w.inject(0, ask.Token(fmt.Sprint(i)))
	}
	same(t, "trace", w.until(2*ms), "0s east/ann/take, 0s east/bob/take, 0s west/ann/take, 0s west/bob/take, "+
		"1ms east/ann/serve, 1ms east/ann/take, 1ms east/bob/serve, 1ms west/ann/serve, 1ms west/bob/serve, "+
		"2ms east/ann/serve")
	same(t, "outputs", fmt.Sprint(w.outs), "[done=0 done=1 done=2 done=3 done=4]")
	same(t, "group", w.p.Places()[w.p.Place("west/bob/at")].Group, "west/bob")
	same(t, "places", len(w.p.Places()), 2+4*2)
}

// TestTokenValues checks the methods of Token.
func TestTokenValues(t *testing.T) {
	tok := pText.Token("x")
	v, ok := pText.From(tok)
	same(t, "value", v, "x")
	same(t, "ok", ok, true)
	if _, ok := pOut.From(tok); ok {
		t.Error("a token of another place was read")
	}
	if _, ok := Place[int]("text").From(tok); ok {
		t.Error("a token of another colour was read")
	}
	for tok, want := range map[Token]string{
		pA.Token(Unit{}): "a", pEdge.Token(stop): "edge=stop", Place[time.Duration]("d").Token(ms): "d=1ms", tok: "text",
	} {
		same(t, "text", tok.String(), want)
	}
}

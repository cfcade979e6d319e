package netmodel_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify/expr"
	"github.com/voicegw/voicegw/verify/netmodel"
	"github.com/voicegw/voicegw/verify/nettest"
)

func TestExpr(t *testing.T) {
	arcs, classic := nettest.Arcs, nettest.Classic
	n := nettest.Imported(append(nettest.Many("A", 3), nettest.Tokens("on_1", "odd name")...),
		classic("ab", arcs("A"), arcs("B")), classic("ob", arcs("on_1", "odd name"), arcs("B")))
	m := netmodel.New(nettest.Compile(t, n), netmodel.RunToCompletion)
	for _, c := range []struct {
		text string
		want bool
	}{
		{"A", true}, {"B", false}, {"A == 3", true}, {"A = 3", true}, {"A != 3", false}, {"A < 3", false}, {"A <= 3", true},
		{"A > 2 && on_1 >= 1", true}, {"A > 3 || B >= 1", false}, {"!(B >= 1) && !(B)", true}, {"2*A + on_1 >= 7", true},
		{"2*A + on_1 > 7", false}, {`"odd name" == 1`, true}, {"3 <= A", true}, {"true && !false", true}, {"can(ab)", true},
		{"dead || ended", false}, {"A >= 1 || B >= 1 && B >= 2", true}, {"1 + 2 == A", true}, {"A>=3&&B<1", true},
		{"dead() || ended() || false()", false}, {"100000000000*A >= 1", true}, {"03 <= A", true},
	} {
		e, err := expr.Parse(c.text)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		cond, err := m.BindExpr(e)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if have := cond.Holds(m.Program().Initial()); have != c.want {
			t.Errorf("%s is %v, want %v", c.text, have, c.want)
		}
	}
}

func TestExprNames(t *testing.T) {
	arcs := nettest.Arcs
	n := nettest.Imported(nettest.Tokens("opened"), nettest.Classic("close_it", arcs("opened"), arcs("closed")))
	m := netmodel.New(nettest.Compile(t, n), netmodel.RunToCompletion)
	for _, c := range []struct{ text, want string }{
		{"closd == 0", `place "closd" does not exist; the nearest are closed`},
		{"can(closeit)", `transition "closeit" does not exist; the nearest are close_it`},
		{"closed[start]", "has no such tokens"},
	} {
		e, err := expr.Parse(c.text)
		if err != nil {
			t.Fatal(err)
		}
		var name *netmodel.NameError
		if _, err := m.BindExpr(e); !errors.As(err, &name) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want %q", c.text, err, c.want)
		}
	}
}

func TestExprKeys(t *testing.T) {
	const in = petri.Place[nettest.Word]("in")
	n := nettest.Imported([]petri.Token{in.Token(0), in.Token(1), in.Token(1)},
		petri.Transition{Name: "take", In: petri.Arcs{in}, When: petri.Anytime()})
	part := &petri.Net{Name: "top", Imported: true, Nets: []*petri.Net{n}}
	m := netmodel.New(nettest.Compile(t, part), netmodel.RunToCompletion)
	for text, want := range map[string]bool{"in == 3": true, "in[yes] == 1": true, "in[no] == 2": true,
		"net/in[no] == 1": false} {
		e, err := expr.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		c, err := m.BindExpr(e)
		if err != nil {
			t.Fatal(err)
		}
		if have := c.Holds(m.Program().Initial()); have != want {
			t.Errorf("%s is %v", text, have)
		}
	}
}

func FuzzParseExpr(f *testing.F) {
	for _, s := range []string{"A", "on_1 >= 1 && closed == 0", `!("odd name" || 2*A+3 < B)`, "can(x)", "((", "\"",
		"in[a,b]"} {
		f.Add(s)
	}
	n := nettest.Imported(nettest.Tokens("A", "B"), nettest.Classic("x", nettest.Arcs("A"), nettest.Arcs("B")))
	p, err := petri.Compile(n)
	if err != nil {
		f.Fatal(err)
	}
	m := netmodel.New(p, netmodel.RunToCompletion)
	f.Fuzz(func(t *testing.T, text string) {
		e, err := expr.Parse(text)
		if err != nil {
			return
		}
		c, err := m.BindExpr(e)
		if err != nil {
			return
		}
		again, err := expr.Parse(e.String())
		if err != nil {
			t.Fatalf("%q parses, %q does not: %v", text, e.String(), err)
		}
		d, err := m.BindExpr(again)
		if err != nil || c.Holds(p.Initial()) != d.Holds(p.Initial()) {
			t.Fatalf("%q and %q differ: %v", text, e.String(), err)
		}
	})
}

// TestExprShadow: a word or number that is the name of a place too is refused, with how to write
// each; quoted names and words with () mean one thing.
func TestExprShadow(t *testing.T) {
	arcs := nettest.Arcs
	m := netmodel.New(nettest.Compile(t, nettest.Imported(nettest.Tokens("dead", "true", "3", "p"),
		nettest.Classic("go", arcs("dead", "true", "3", "p"),
			arcs("false", "ended")))), netmodel.RunToCompletion)
	for _, c := range []struct{ text, want string }{
		{"dead", `write "dead" for the place, dead() for the word`}, {"!true", `"true" for the place, true() for the word`},
		{"ended || p", `write "ended" for the place`}, {"3 >= 1", `write "3" for the place, 03 for the number`},
		{"p >= 3", `write "3" for the place, 03 for the number`}, {"p + 3 > 0", `write "3"`},
	} {
		if _, err := m.Bind(c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want %q", c.text, err, c.want)
		}
	}
	for text, want := range map[string]bool{`"dead" && "true" && "3" && !"false" && !"ended"`: true, "dead()": false,
		"true()": true, "p >= 03": false, `"p" >= 3`: false, `"3" == 1`: true, `3*p >= 03`: true, `"3" >= 3`: false} {
		c, err := m.Bind(text)
		if err != nil || c.Holds(m.Initial()) != want {
			t.Errorf("%s: %v; want %t", text, err, want)
		}
	}
}

package verify

import (
	"errors"
	"strings"
	"testing"

	"github.com/voicegw/voicegw/petri"
)

func TestExpr(t *testing.T) {
	n := imported(append(many("A", 3), tokens("on_1", "odd name")...),
		classic("ab", arcs("A"), arcs("B")), classic("ob", arcs("on_1", "odd name"), arcs("B")))
	m := NewModel(compile(t, n), RunToCompletion)
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
		e, err := ParseExpr(c.text)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		cond, err := e.Bind(m)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if have := cond.Holds(m.Program().Initial()); have != c.want {
			t.Errorf("%s is %v, want %v", c.text, have, c.want)
		}
	}
}

func TestExprErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "column 1"}, {"A >=", "a place or a number expected"}, {"(A", `")" expected`}, {"A ? B",
			`unexpected character '?'`},
		{"3", "comparison expected"}, {`"A`, "quote is not closed"}, {"A B", `unexpected "B"`}, {"can(",
			"name of a transition"},
		{strings.Repeat("(", 300) + "A", "more than 200 levels"}, {strings.Repeat("!", 300) + "A", "more than 200 levels"},
		{strings.Repeat("A||", 40000) + "A", "longer than"}, {"3*4 > 1", "name of a place expected"}, {"A \xff",
			"unexpected"},
		{"A >= -1", "numbers have no sign"}, {"-1*A >= 1", "numbers have no sign"},
		{"1000000000000000000 <= A", "at most 18 digits"}, {"9223372036854775808*A >= 1", "at most 18 digits"},
		{"999999999999999999" + strings.Repeat(" + 999999999999999999", 9) + " >= A", "numbers of a sum exceed"},
	} {
		if _, err := ParseExpr(c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.20q: %v; want an error with %q", c.text, err, c.want)
		}
	}
}

func TestExprNames(t *testing.T) {
	n := imported(tokens("opened"), classic("close_it", arcs("opened"), arcs("closed")))
	m := NewModel(compile(t, n), RunToCompletion)
	for _, c := range []struct{ text, want string }{
		{"closd == 0", `place "closd" does not exist; the nearest are closed`},
		{"can(closeit)", `transition "closeit" does not exist; the nearest are close_it`},
		{"closed[start]", "has no such tokens"},
	} {
		e, err := ParseExpr(c.text)
		if err != nil {
			t.Fatal(err)
		}
		var name *NameError
		if _, err := e.Bind(m); !errors.As(err, &name) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want %q", c.text, err, c.want)
		}
	}
}

type word uint8

func (w word) Key() petri.Key     { return petri.Key(w) }
func (w word) KeyNames() []string { return []string{"yes", "no"} }

func TestExprKeys(t *testing.T) {
	const in = petri.Place[word]("in")
	n := imported([]petri.Token{in.Token(0), in.Token(1), in.Token(1)},
		petri.Transition{Name: "take", In: petri.Arcs{in}, When: petri.Anytime()})
	part := &petri.Net{Name: "top", Imported: true, Nets: []*petri.Net{n}}
	m := NewModel(compile(t, part), RunToCompletion)
	for text, want := range map[string]bool{"in == 3": true, "in[yes] == 1": true, "in[no] == 2": true,
		"net/in[no] == 1": false} {
		e, err := ParseExpr(text)
		if err != nil {
			t.Fatal(err)
		}
		c, err := e.Bind(m)
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
	n := imported(tokens("A", "B"), classic("x", arcs("A"), arcs("B")))
	p, err := petri.Compile(n)
	if err != nil {
		f.Fatal(err)
	}
	m := NewModel(p, RunToCompletion)
	f.Fuzz(func(t *testing.T, text string) {
		e, err := ParseExpr(text)
		if err != nil {
			return
		}
		c, err := e.Bind(m)
		if err != nil {
			return
		}
		again, err := ParseExpr(e.String())
		if err != nil {
			t.Fatalf("%q parses, %q does not: %v", text, e.String(), err)
		}
		d, err := again.Bind(m)
		if err != nil || c.Holds(p.Initial()) != d.Holds(p.Initial()) {
			t.Fatalf("%q and %q differ: %v", text, e.String(), err)
		}
	})
}

// TestExprOverflow: a sum that could exceed what is counted is refused, by name;
// one that cannot is exact, and the checker adds up by itself.
func TestExprOverflow(t *testing.T) {
	p := compile(t, imported(many("p", 100), classic("go", arcs("p"), arcs("q"))))
	m := NewModel(p, RunToCompletion)
	for _, text := range []string{"100000000000000000*p >= 1", "100000000000000*p >= 1",
		"1 < 40000000000000*p + 40000000000000*q"} {
		if _, err := m.bind(text); err == nil || !strings.Contains(err.Error(), "may exceed") {
			t.Errorf("%s: %v", text, err)
		}
		if _, err := Run(t.Context(), p, Config{}, Never(text)); err == nil {
			t.Errorf("never %s is answered", text)
		}
	}
	c, err := m.bind("70368744177663*p == 7036874417766300") // 2^46 - 1, the largest factor
	if err != nil || !c.Holds(p.Initial()) {
		t.Errorf("the largest sum: %v", err)
	}
	k := &checker{p: p, m: m, final: -1}
	e, err := ParseExpr("999999999999999999*p + 999999999999999999*p > 999999999999999999")
	if err != nil {
		t.Fatal(err)
	}
	if !k.judge(e.root, &binder{m: k.m})(p.Initial()) {
		t.Error("the checker overflows")
	}
}

// TestExprShadow: a word or number that is the name of a place too is refused,
// with how to write each; quoted names and words with () mean one thing.
func TestExprShadow(t *testing.T) {
	m := NewModel(compile(t, imported(tokens("dead", "true", "3", "p"), classic("go", arcs("dead", "true", "3", "p"),
		arcs("false", "ended")))), RunToCompletion)
	for _, c := range []struct{ text, want string }{
		{"dead", `write "dead" for the place, dead() for the word`}, {"!true", `"true" for the place, true() for the word`},
		{"ended || p", `write "ended" for the place`}, {"3 >= 1", `write "3" for the place, 03 for the number`},
		{"p >= 3", `write "3" for the place, 03 for the number`}, {"p + 3 > 0", `write "3"`},
	} {
		if _, err := m.bind(c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want %q", c.text, err, c.want)
		}
	}
	for text, want := range map[string]bool{`"dead" && "true" && "3" && !"false" && !"ended"`: true, "dead()": false,
		"true()": true, "p >= 03": false, `"p" >= 3`: false, `"3" == 1`: true, `3*p >= 03`: true, `"3" >= 3`: false} {
		c, err := m.bind(text)
		if err != nil || c.Holds(m.Initial()) != want {
			t.Errorf("%s: %v; want %t", text, err, want)
		}
	}
}

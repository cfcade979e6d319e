package petri

import (
	"errors"
	"testing"
)

// TestProblemsAreValues checks that a Problem names its subject in its fields.
func TestProblemsAreValues(t *testing.T) {
	a, b, c := Place[Unit]("a"), Place[Unit]("b"), Place[Unit]("c")
	move := Transition{Name: "move", In: []AnyArc{a}, Out: And(c)}
	forever, stuck := move, Transition{Name: "stuck", In: []AnyArc{b}, Out: And(b)}
	forever.When = Between(Forever, Forever)
	for _, tt := range []struct {
		name string
		net  *Net
		want Problem
	}{
		{"waits forever", &Net{Name: "n", Transitions: []Transition{forever}, Init: []Token{a.Token(Unit{})}},
			Problem{Kind: NeverFires, Transition: "move"}},
		{"feeds only itself", &Net{Name: "n", Transitions: []Transition{stuck}},
			Problem{Kind: NeverFires, Transition: "stuck"}},
		{"nothing fills", &Net{Name: "n", Transitions: []Transition{move}, Sinks: []AnyPlace{c}}, Problem{Place: "a"}},
		{"nil part", &Net{Name: "n", Nets: []*Net{nil}}, Problem{Net: "n"}},
	} {
		_, err := Compile(tt.net)
		var e *Error
		if !errors.As(err, &e) {
			t.Fatalf("%s: %v", tt.name, err)
		}
		got := e.Problems[0]
		if got.Text == "" {
			t.Errorf("%s: no text", tt.name)
		}
		if got.Text = ""; got != tt.want {
			t.Errorf("%s: %+v, want %+v (%v)", tt.name, got, tt.want, err)
		}
	}
}

package petri

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

const ms = time.Millisecond

// world plays a net in a test.
type world struct {
	*testing.T
	p      *Program
	m      *Machine
	events []Event
	outs   []string
}

// play compiles a net and starts it.
func play(t *testing.T, n *Net) *world {
	t.Helper()
	p, err := Compile(n)
	if err != nil {
		t.Fatal(err)
	}
	return &world{T: t, p: p, m: p.Start()}
}

// inject injects tokens and fails the test if one is refused.
func (w *world) inject(at time.Duration, toks ...Token) {
	w.Helper()
	for _, tok := range toks {
		if err := w.m.Inject(at, tok); err != nil {
			w.Fatal(err)
		}
	}
}

// until advances and returns what happened: "10ms t1, 20ms t2".
func (w *world) until(at time.Duration) string {
	r := w.m.Advance(at)
	w.events = append(w.events, r.Events...)
	for _, o := range r.Out {
		w.outs = append(w.outs, fmt.Sprint(o.Place(), "=", o.Value()))
	}
	return w.trace(r.Events)
}

func (w *world) trace(events []Event) string {
	var list []string
	for _, e := range events {
		switch e.Kind {
		case Started, Injected:
		case Fired:
			list = append(list, fmt.Sprint(e.At, " ", w.p.FiringName(e)))
		default:
			list = append(list, w.p.Describe(e))
		}
	}
	return strings.Join(list, ", ")
}

// marking lists the slots that hold tokens: "a b[start]*2".
func (w *world) marking() string {
	var list []string
	for i, n := range w.m.Marking(nil) {
		if n == 1 {
			list = append(list, w.p.SlotName(i))
		} else if n > 1 {
			list = append(list, fmt.Sprint(w.p.SlotName(i), "*", n))
		}
	}
	slices.Sort(list)
	return strings.Join(list, " ")
}

// same fails the test if got differs from want.
func same[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// units returns initial tokens without data.
func units(places ...Place[Unit]) []Token {
	var list []Token
	for _, p := range places {
		list = append(list, p.Token(Unit{}))
	}
	return list
}

// env declares environment places of capacity 8.
func env(places ...AnyPlace) []Env {
	var list []Env
	for _, p := range places {
		list = append(list, Env{Place: p, Capacity: 8})
	}
	return list
}

// fault returns the problem with which fn panics, or "" if it returns.
func fault(fn func()) string {
	if f := faults(fn); f != nil {
		return f.Error()
	}
	return ""
}

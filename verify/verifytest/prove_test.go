package verifytest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/verify/verifytest"
)

func ring() *petri.Program {
	const a, b = petri.Place[petri.Unit]("a"), petri.Place[petri.Unit]("b")
	p, err := petri.Compile(&petri.Net{Name: "ring", Init: []petri.Token{a.Token(petri.Unit{})},
		Transitions: []petri.Transition{
			{Name: "go", In: petri.Arcs{a}, Out: petri.And(b), When: petri.Anytime()},
			{Name: "back", In: petri.Arcs{b}, Out: petri.And(a), When: petri.Anytime()},
		}})
	if err != nil {
		panic(err)
	}
	return p
}

// log is a T that notes what is wrong.
type log struct{ lines []string }

func (l *log) Helper() {}
func (l *log) Errorf(format string, args ...any) {
	l.lines = append(l.lines, fmt.Sprintf(format, args...))
}
func (l *log) Fatalf(format string, args ...any) { l.Errorf("fatal: "+format, args...) }
func (l *log) Context() context.Context          { return context.Background() }

func TestProve(t *testing.T) {
	r := verifytest.Prove(t, ring(), verify.Config{Certify: true}, verify.DeadlockFree(), verify.Mutex("a", "b"))
	if r.Certificate == nil || r.Results[0].Certificate == nil {
		t.Error("no certificate")
	}
	for _, c := range []struct {
		props []*verify.Property
		want  string
	}{
		{[]*verify.Property{verify.Never("b")}, "go: b"}, {nil, "nothing was to be proved"},
		{[]*verify.Property{verify.Never("c")},
			`fatal: verify: check never c of ring: verify: net ring: place "c" does not exist`},
	} {
		l := &log{}
		verifytest.Prove(l, ring(), verify.Config{}, c.props...)
		if len(l.lines) != 1 || !strings.Contains(l.lines[0], c.want) {
			t.Errorf("%q; want %q", l.lines, c.want)
		}
	}
}

// room is a lamp that a hand turns on, and off if it may.
func room(name string, mayTurnOff bool) *petri.Program {
	const on, off, push = petri.Place[petri.Unit]("on"), petri.Place[petri.Unit]("off"), petri.Place[petri.Unit]("push")
	const pull = petri.Place[petri.Unit]("pull")
	lamp := &petri.Net{Name: "lamp", Ports: []petri.AnyPlace{push, pull}, Init: []petri.Token{off.Token(petri.Unit{})},
		Env: []petri.Env{{Place: push}, {Place: pull}},
		Transitions: []petri.Transition{
			{Name: "light", In: petri.Arcs{push, off}, Out: petri.And(on), Priority: 2},
			{Name: "darken", In: petri.Arcs{pull, on}, Out: petri.And(off), Priority: 2},
			{Name: "ignore_push", In: petri.Arcs{push}}, {Name: "ignore_pull", In: petri.Arcs{pull}},
		}}
	hand := &petri.Net{Name: "hand", Ports: []petri.AnyPlace{push, pull}, Transitions: []petri.Transition{
		{Name: "push", Out: petri.And(push), When: petri.Anytime()},
		{Name: "pull", Out: petri.And(pull), When: petri.Anytime()},
	}}
	if !mayTurnOff {
		hand.Transitions[1].In = petri.Arcs{petri.Place[petri.Unit]("strength")} // which it never has
	}
	n, err := petri.Close(name, lamp, hand)
	if err != nil {
		panic(err)
	}
	p, err := petri.Compile(n)
	if err != nil {
		panic(err)
	}
	return p
}

func TestProveUnder(t *testing.T) {
	mutex := verify.Mutex("on", "off")
	both := verify.Closure{Name: "both", Program: room("both", true), Props: []*verify.Property{mutex}}
	timid := verify.Closure{Name: "timid", Program: room("timid", false),
		Props: []*verify.Property{verify.AfterNever("on", "off")}}
	r := verifytest.ProveUnder(t, verify.Config{Certify: true}, both)
	if r.Outcome() != verify.Proved || !strings.HasPrefix(r.String(), "both       mutex on off") {
		t.Errorf("%v", r)
	}
	l := &log{}
	verifytest.ProveUnder(l, verify.Config{Certify: true}, timid)
	all := strings.Join(l.lines, "\n")
	for _, want := range []string{"lamp/darken fires under no closure", "lamp/ignore_pull fires under no closure",
		"timid: after on never off: unknown: under no closure fires"} {
		if !strings.Contains(all, want) {
			t.Errorf("%s; want %q", all, want)
		}
	}
	l = &log{}
	verifytest.ProveUnder(l, verify.Config{}, verify.Closure{Name: "idle", Program: both.Program})
	if len(l.lines) != 1 || !strings.Contains(l.lines[0], "nothing was to be proved under idle") {
		t.Errorf("%q", l.lines)
	}
}

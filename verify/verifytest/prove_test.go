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

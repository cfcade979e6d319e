//go:build z3

package smt

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aclements/go-z3/z3"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify/check"
	"github.com/voicegw/voicegw/verify/netmodel"
)

func inProcess(t testing.TB, c Config, p *petri.Program, expr string, cert *Certificate) error {
	t.Helper()
	model := netmodel.New(p, netmodel.RunToCompletion)
	return CheckInProcess(context.Background(), c, model, netmodel.RunToCompletion, expr, cert)
}

// TestThirdOpinion: the library confirms what two processes agreed on, and refuses every invariant
// that a process would refuse.
func TestThirdOpinion(t *testing.T) {
	for name, p := range sessions(t, 20) {
		c := frames()
		cert := certify(t, c, p, "unacked > K")
		if !strings.HasSuffix(cert.CheckedBy, libraryName) {
			t.Errorf("%s: checked by %s", name, cert.CheckedBy)
		}
		if err := inProcess(t, c, p, "unacked > K", cert); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, x := range []struct {
		c    Config
		net  *petri.Net
		expr string
	}{
		{budget(), voice(1), "INFLIGHT > K"}, {budget(), voice(1), "dead"}, {window(), playout(3), "unacked > K"},
		{Config{}, voice(4), "SPEAK && BARGE"}, {Config{}, freshness(true), "old"},
	} {
		p := compile(t, x.net)
		if err := inProcess(t, x.c, p, x.expr, certify(t, x.c, p, x.expr)); err != nil {
			t.Errorf("%s: %v", x.expr, err)
		}
	}
}

// TestWrongCertificate: what does not follow is refused, and so is what is no formula.
func TestWrongCertificate(t *testing.T) {
	p, c := sessions(t, 20)["gateway VAD"], frames()
	cert := certify(t, c, p, "unacked > K")
	names := naming{prog: p, model: netmodel.New(p, netmodel.RunToCompletion)}
	slots, err := names.slots("unacked")
	if err != nil || len(slots) != 2 {
		t.Fatalf("slots %v, %v; want fresh and stale frames", slots, err)
	}
	fresh, stale := slotVar(int32(slots[0])).atom, slotVar(int32(slots[1])).atom
	unacked := "(+ " + fresh + " " + stale + ")"
	known := "(and (>= " + fresh + " 0) (>= " + stale + " 0) (>= k0 1) "
	for text, why := range map[string]string{
		"true":                                "where it is bad",
		"false":                               "at the start",
		known + "(<= " + unacked + " 5))":     "after ",
		known + "(<= " + unacked + " k0) k0)": "is no formula",
		"k0":                                  "is no formula",
		"(exists ((x Int)) true)":             "not understood",
		known + "(<= " + unacked + " m99))":   "m99",
	} {
		forged := *cert
		forged.Invariant = text
		err := inProcess(t, c, p, "unacked > K", &forged)
		if !errors.Is(err, check.ErrCertificate) || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v", text, err)
		}
	}
	forged := *cert
	forged.Property = "unacked + 1 > K"
	if err := inProcess(t, c, p, forged.Property, &forged); !errors.Is(err, check.ErrCertificate) {
		t.Errorf("another property: %v", err)
	}
}

// TestWrongNet: a certificate of a net is none of a mutant of it, not even if it says so.
func TestWrongNet(t *testing.T) {
	c := budget()
	cert := certify(t, c, compile(t, voice(1)), "INFLIGHT > K")
	heavier := voice(1)
	heavier.Transitions[5].Out = petri.And(unit("INFLIGHT").Exactly(2))
	p := compile(t, heavier)
	if err := inProcess(t, c, p, "INFLIGHT > K", cert); !errors.Is(err, check.ErrCertificate) {
		t.Errorf("as it is: %v", err)
	}
	model := netmodel.New(p, netmodel.RunToCompletion)
	e, err := newEncoder(model, netmodel.RunToCompletion, c.Params)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range cert.Places {
		e.keep[p.Place(name)] = true
	}
	s, err := e.system("INFLIGHT > K")
	if err != nil {
		t.Fatal(err)
	}
	forged := *cert
	forged.Net, forged.System = model.Hash(), s.hash()
	err = inProcess(t, c, p, "INFLIGHT > K", &forged)
	if !errors.Is(err, check.ErrCertificate) || !strings.Contains(err.Error(), "after chunk") {
		t.Errorf("forged: %v", err)
	}
}

// TestOperators: a term means to the library what it means to a solver.
func TestOperators(t *testing.T) {
	for text, want := range map[string]answer{
		"true": sat, "false": unsat, "(and)": noAnswer, "(and true)": sat, "(or false)": unsat,
		"(=> true false true)": sat, "(=> true true false)": unsat, "(xor true true true)": sat,
		"(= true true false)": unsat, "(= 1 1 1)": sat, "(distinct 1 2 1)": unsat, "(distinct true false)": sat,
		"(< 1 2 2)": unsat, "(<= 1 2 2)": sat, "(> 3 2 1)": sat, "(>= 3 2 3)": unsat, "(= (- 5 2 1) 2)": sat,
		"(= (- 2) (+ (- 1) (- 1)))": sat, "(= (* 2 3 4) 24)": sat, "(= (+ 1 2 3) 7)": unsat, "(not (not false))": unsat,
		"(= 3 (ite (< m0 m0) 2 3))": sat, "(ite true false true)": unsat, "(ite true 1 false)": noAnswer,
		"(let ((a!1 1) (a!2 2)) (< a!2 a!1))": unsat, "(let ((a!1 m0)) (let ((a!2 (+ a!1 1))) (> a!2 m0)))": sat,
		"(= 99999999999999999999 (+ 99999999999999999998 1))": sat, "(and (< m0 3) (> m0 1))": sat, "(< m0 m0)": unsat,
		"1": noAnswer, "(not 1)": noAnswer, "(+ true 1)": noAnswer, "(- true)": noAnswer, "m1": noAnswer,
	} {
		ts, err := parseTerms(text)
		if err != nil {
			t.Fatal(err)
		}
		var have answer
		err = Config{}.inProcess(context.Background(), func(l *library) error {
			var err error
			have, err = l.check(l.variables([]term{sym("m0")}), ts[0])
			return err
		})
		if have != want || (err != nil) != (want == noAnswer) {
			t.Errorf("%s: answer %d, %v; want %d", text, have, err, want)
		}
	}
}

// hard is a question that no solver answers: of cubes.
func hard(l *library) error {
	vars := l.variables([]term{sym("x"), sym("y"), sym("z")})
	ts, err := parseTerms("(= (+ (* x x x) (* y y y) (* z z z)) 114)")
	if err != nil {
		return err
	}
	_, err = l.check(vars, ts[0])
	return err
}

// TestLate: what takes too long is stopped, by the limit and by the caller, and says so.
func TestLate(t *testing.T) {
	quiet := (*silence)(nil)
	err := Config{Timeout: 100 * time.Millisecond}.inProcess(context.Background(), hard)
	if !errors.As(err, &quiet) {
		t.Errorf("late: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	err = Config{Timeout: time.Hour}.inProcess(ctx, func(l *library) error {
		time.AfterFunc(100*time.Millisecond, cancel)
		return hard(l)
	})
	if !errors.Is(err, context.Canceled) || errors.As(err, &quiet) {
		t.Errorf("cancelled: %v", err)
	}
	err = Config{}.inProcess(ctx, func(l *library) error { return hard(l) })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled before: %v", err)
	}
}

// TestThrown: what z3 throws is a silence, and the next question is answered.
func TestThrown(t *testing.T) {
	err := Config{}.inProcess(context.Background(), func(l *library) error {
		l.solver.Pop() // of nothing
		return nil
	})
	if quiet := (*silence)(nil); !errors.As(err, &quiet) || !strings.Contains(err.Error(), libraryName) {
		t.Errorf("%v", err)
	}
	err = Config{}.inProcess(context.Background(), func(l *library) error {
		a, err := l.check(map[string]z3.Value{}, sym("false"))
		if a != unsat {
			t.Errorf("answer %d, %v", a, err)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

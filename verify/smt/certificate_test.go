package smt

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/verify/check"
	"github.com/voicegw/voicegw/verify/netmodel"
)

// certify proves and returns the certificate.
func certify(t testing.TB, c Config, p *petri.Program, expr string) *Certificate {
	t.Helper()
	needSolvers(t)
	var cert *Certificate
	c.Keep = func(c *Certificate) { cert = c }
	if r := run(t, p, c.Never(expr)); r.Outcome != verify.Proved {
		t.Fatalf("never %s: %s: %s", expr, r.Outcome, r.Reason)
	}
	return cert
}

func checkCert(t testing.TB, c Config, p *petri.Program, expr string, cert *Certificate) error {
	t.Helper()
	return Check(context.Background(), c, netmodel.New(p, netmodel.RunToCompletion), netmodel.RunToCompletion, expr, cert)
}

// TestCertificates: what was proved is written, read and checked by either solver.
func TestCertificates(t *testing.T) {
	for _, c := range []struct {
		c    Config
		net  *petri.Net
		expr string
	}{
		{budget(), voice(1), "INFLIGHT > K"}, {budget(), voice(1), "dead"}, {window(), playout(3), "unacked > K"},
		{Config{}, voice(4), "SPEAK && BARGE"}, {Config{}, freshness(true), "old"},
	} {
		p := compile(t, c.net)
		b, err := certify(t, c.c, p, c.expr).Marshal()
		if err != nil {
			t.Fatal(err)
		}
		read, err := ReadCertificate(b)
		if err != nil {
			t.Fatal(err)
		}
		for _, without := range []string{"", "none"} {
			c.c.CVC5 = without
			if err := checkCert(t, c.c, p, c.expr, read); err != nil {
				t.Errorf("%s without cvc5 (%q): %v", c.expr, without, err)
			}
		}
		c.c.Z3 = "none"
		if err := checkCert(t, c.c, p, c.expr, read); !errors.Is(err, ErrNotChecked) || errors.Is(err, check.ErrCertificate) {
			t.Errorf("%s without solvers: %v", c.expr, err)
		}
	}
}

// TestCertificateOfOther: a certificate proves nothing of another net, property or parameter.
func TestCertificateOfOther(t *testing.T) {
	c, p := budget(), compile(t, voice(1))
	cert := certify(t, c, p, "INFLIGHT > K")
	flipped := voice(1)
	flipped.Transitions[5].In, flipped.Transitions[5].Out = nil, petri.And(unit("INFLIGHT"), unit("BUDGET"))
	heavier := voice(1)
	heavier.Transitions[6].Out = petri.And(unit("BUDGET").Exactly(2))
	least := budget()
	least.Params[0].Min = 0
	for _, o := range []struct {
		name string
		c    Config
		p    *petri.Program
		expr string
	}{
		{"arc flipped", c, compile(t, flipped), "INFLIGHT > K"}, {"weight changed", c, compile(t, heavier), "INFLIGHT > K"},
		{"another budget", c, compile(t, voice(2)), "INFLIGHT > K"}, {"another property", c, p, "INFLIGHT + 1 > K"},
		{"another least value", least, p, "INFLIGHT > K"}, {"no parameter", Config{}, p, "INFLIGHT > 1"},
	} {
		if err := checkCert(t, o.c, o.p, o.expr, cert); !errors.Is(err, check.ErrCertificate) {
			t.Errorf("%s: %v", o.name, err)
		}
		// Nor does it if it says that it is about the other.
		forged := *cert
		forged.Net, forged.Property = netmodel.New(o.p, netmodel.RunToCompletion).Hash(), o.expr
		forged.Params = o.c.Params
		if strings.HasPrefix(o.name, "another ") && o.name != "another property" {
			continue // true of all of them
		}
		e, err := newEncoder(netmodel.New(o.p, netmodel.RunToCompletion), netmodel.RunToCompletion, o.c.Params)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range forged.Places {
			e.keep[o.p.Place(name)] = true
		}
		s, err := e.system(o.expr)
		if err != nil {
			t.Fatal(err)
		}
		forged.System = s.hash()
		if err := checkCert(t, o.c, o.p, o.expr, &forged); !errors.Is(err, check.ErrCertificate) {
			t.Errorf("%s, forged: %v", o.name, err)
		}
	}
}

// TestForgedInvariants: whatever stands in the place of an invariant is a formula that holds, or is
// refused.
func TestForgedInvariants(t *testing.T) {
	c, p := budget(), compile(t, voice(1))
	cert := certify(t, c, p, "INFLIGHT > K")
	whole, err := parseTerms(cert.Invariant)
	if err != nil || whole[0].head() != "and" {
		t.Fatalf("%s: %v", cert.Invariant, err)
	}
	bad := []string{
		"true", "false", "", "true true", "(and)", "(assert false)", "true) (assert false", "true)\n(check-sat)(exit",
		"(let ((m0 1)) false)", "(let ((and 1)) false)", "(forall ((x Int)) false)", "m99", "(m0)", "((and true) true)",
		`"true"`, "true ; x", "(exists ((x Int)) true)", "|m0|", "(R m0)", "(Inv m0)",
		strings.Repeat("(not ", 3000) + "true" + strings.Repeat(")", 3000),
	}
	bad = append(bad, strings.Replace(cert.Invariant, "<=", "<", 1), strings.ReplaceAll(cert.Invariant, "k0", "1"))
	for _, x := range bad {
		forged := *cert
		forged.Invariant = x
		if err := checkCert(t, c, p, "INFLIGHT > K", &forged); !errors.Is(err, check.ErrCertificate) {
			t.Errorf("%.60q: %v", x, err)
		}
	}
}

// TestDroppedConjunct: an invariant from which any part that matters is missing is refused.
func TestDroppedConjunct(t *testing.T) {
	needSolvers(t)
	const expr = "p > 1"
	// p is filled from q and q from p: both bounds are needed.
	n := &petri.Net{Name: "ring", Imported: true, Init: many("p", 1), Transitions: []petri.Transition{
		anytime("there", arcs("p"), arcs("q")), anytime("back", arcs("q"), arcs("p"))}}
	p := compile(t, n)
	cert := certify(t, Config{}, p, expr)
	parts := []string{"(>= m0 0)", "(>= m1 0)", "(<= (+ m0 m1) 1)"}
	for drop := -1; drop < len(parts); drop++ {
		var keep []string
		for i, x := range parts {
			if i != drop {
				keep = append(keep, x)
			}
		}
		forged := *cert
		forged.Places = []string{"p", "q"}
		e, err := newEncoder(netmodel.New(p, netmodel.RunToCompletion), netmodel.RunToCompletion, nil)
		if err != nil {
			t.Fatal(err)
		}
		e.keepAll()
		s, err := e.system(expr)
		if err != nil {
			t.Fatal(err)
		}
		forged.System, forged.Invariant = s.hash(), "(and "+strings.Join(keep, " ")+")"
		// That p is not negative matters to q alone, of which nothing is asked.
		err = checkCert(t, Config{}, p, expr, &forged)
		if want := drop <= 0; (err == nil) != want {
			t.Errorf("without part %d: %v", drop, err)
		}
	}
}

// TestDamage: no byte of a certificate can change.
func TestDamage(t *testing.T) {
	b, err := certify(t, budget(), compile(t, voice(1)), "INFLIGHT > K").Marshal()
	if err != nil {
		t.Fatal(err)
	}
	for i := range b {
		for _, x := range []byte{1, 0x20} {
			bad := bytes.Clone(b)
			bad[i] ^= x
			if _, err := ReadCertificate(bad); !errors.Is(err, check.ErrCertificate) {
				t.Fatalf("byte %d, %q for %q: %v", i, bad[i], b[i], err)
			}
		}
	}
	extra := bytes.Replace(b, []byte("{"), []byte(`{"x":1,`), 1)
	for _, bad := range [][]byte{nil, b[:len(b)-1], append(bytes.Clone(b), ' '), extra} {
		if _, err := ReadCertificate(bad); !errors.Is(err, check.ErrCertificate) {
			t.Errorf("%.40q: %v", bad, err)
		}
	}
}

// FuzzReadCertificate: whatever is read is written again as it was.
func FuzzReadCertificate(f *testing.F) {
	b, err := (&Certificate{Format: 1, Net: "sha256:0", Places: []string{"p"}, Invariant: "(>= m0 0)"}).Marshal()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte("{}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := ReadCertificate(data)
		if err != nil {
			return
		}
		if again, err := c.Marshal(); err != nil || !bytes.Equal(again, data) {
			t.Errorf("%q became %q, %v", data, again, err)
		}
	})
}

// FuzzInvariant: a formula that is accepted is one term of what is known, and its text reads as
// itself.
func FuzzInvariant(f *testing.F) {
	for _, s := range []string{
		"(and (>= m0 0) (<= (+ m0 m1) 1))", "(let ((a!1 (- m0 1))) (< a!1 3))", "((", "true) (exit", "(- 1)",
		"(ite true m0 1)",
	} {
		f.Add(s)
	}
	s := &system{slots: []int32{0, 1}}
	f.Fuzz(func(t *testing.T, text string) {
		x, err := readInvariant(s, text)
		if err != nil {
			return
		}
		again, err := readInvariant(s, x.String())
		if err != nil || again.String() != x.String() {
			t.Errorf("%q reads as %s, then %s, %v", text, x, again, err)
		}
		for _, word := range []string{"assert", "check", "exit", "define", "forall", "set-"} {
			if strings.Contains(x.String(), word) {
				t.Errorf("%s holds %s", x, word)
			}
		}
	})
}

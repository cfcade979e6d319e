package smt

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/verify/check"
	"github.com/voicegw/voicegw/verify/netmodel"
	"github.com/voicegw/voicegw/verify/structure"
)

// Certificate is an inductive invariant: it holds at the start, every firing keeps it, and it
// excludes what the property forbids. With Steps it need not exclude that. Then no run of fewer
// than Steps firings reaches a forbidden marking, and no Steps firings through markings that
// satisfy the invariant lead to one. Check uses only the formula and the number of steps from it;
// the net, the property and the parameters are the checker's own.
type Certificate struct {
	Format   int      `json:"format"`
	Net      string   `json:"netHash"`
	System   string   `json:"systemHash"` // of the formulas that the invariant is about
	Property string   `json:"property"`   // what never holds
	Params   []Param  `json:"params,omitempty"`
	Places   []string `json:"places"` // the slice: all other places are left open
	// Invariant is a formula over m<slot> and k<parameter>.
	Invariant string `json:"invariant"`
	// Steps is the number of steps of k-induction, 1 to 64; 0: the invariant suffices.
	Steps     int    `json:"steps,omitempty"`
	Solver    string `json:"solver"`    // the solver that found it
	CheckedBy string `json:"checkedBy"` // the solver that checked it, in a process of its own
	Sum       string `json:"sum"`       // SHA-256 of everything else
}

const certificateFormat = 1

// Marshal returns the certificate as a file.
func (c *Certificate) Marshal() ([]byte, error) {
	sealed := *c
	sealed.Sum = ""
	b, err := json.Marshal(&sealed)
	if err != nil {
		return nil, fmt.Errorf("smt: write certificate: %w", err)
	}
	sum := sha256.Sum256(b)
	sealed.Sum = "sha256:" + hex.EncodeToString(sum[:])
	b, err = json.MarshalIndent(&sealed, "", "\t")
	return append(b, '\n'), err
}

// ReadCertificate reads what Marshal wrote. It returns an error for a file that differs in one
// byte.
func ReadCertificate(b []byte) (*Certificate, error) {
	if len(b) > termBytesMax {
		return nil, refusal("%d bytes; at most %d are read", len(b), termBytesMax)
	}
	c := &Certificate{}
	if err := json.Unmarshal(b, c); err != nil {
		return nil, refusal("it is not readable: %v", err)
	}
	again, err := c.Marshal()
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(b, again) {
		return nil, refusal("it is damaged: its sum or its form is not what was written")
	}
	return c, nil
}

// refusal is a check.ErrCertificate with a reason.
func refusal(format string, args ...any) error {
	return fmt.Errorf("smt: check certificate: %w: %s", check.ErrCertificate, fmt.Sprintf(format, args...))
}

// ErrNotChecked says that no solver could check a certificate. The certificate may still be right.
var ErrNotChecked = errors.New("smt: the certificate was not checked")

// Check checks a certificate against a closed net and the expression that must never hold there: it
// encodes the net anew and has a solver decide every obligation. A nil error means that the proof
// holds for all values of the parameters in c, whatever the certificate states about itself. An
// error that is ErrNotChecked means that no solver gave an answer; one that is
// check.ErrCertificate means that the certificate proves nothing; others come from ctx or from
// invalid questions.
func Check(
	ctx context.Context, c Config, model *netmodel.Model, sem netmodel.Semantics, expr string, cert *Certificate,
) error {
	return c.against(model, sem, expr, cert, func(s *system, found proof) error {
		_, err := c.recheck(ctx, s, found)
		return err
	})
}

// against rebuilds the system of a certificate and has decide go through its obligations. A silence
// of decide becomes an ErrNotChecked.
func (c Config) against(model *netmodel.Model, sem netmodel.Semantics, expr string, cert *Certificate,
	decide func(s *system, found proof) error) error {
	s, err := c.rebuild(model, sem, expr, cert)
	if err != nil {
		return err
	}
	invariant, err := readInvariant(s, cert.Invariant)
	if err != nil {
		return fmt.Errorf("%w: %w", check.ErrCertificate, err)
	}
	err = decide(s, proof{invariant, cert.Steps})
	if quiet := (*silence)(nil); errors.As(err, &quiet) {
		return fmt.Errorf("%w: %w", ErrNotChecked, err)
	}
	return err
}

// rebuild encodes the slice that a certificate is about.
func (c Config) rebuild(model *netmodel.Model, sem netmodel.Semantics, expr string,
	cert *Certificate) (*system, error) {
	refuse := func(what string, of, want any) error {
		return refusal("it is about %s %v, not %v", what, of, want)
	}
	switch {
	case cert.Format != certificateFormat:
		return nil, refuse("format", cert.Format, certificateFormat)
	case cert.Net != model.Hash():
		return nil, refuse("net", cert.Net, model.Hash())
	case cert.Property != expr:
		return nil, refuse("property", cert.Property, expr)
	case cert.Steps < 0 || cert.Steps > inductionMax:
		return nil, refusal("it takes %d steps of induction; at most %d are looked at", cert.Steps, inductionMax)
	case !slices.EqualFunc(cert.Params, c.Params, sameParam):
		return nil, refuse("parameters", cert.Params, c.Params)
	case len(structure.OpenPlaces(model)) > 0:
		return nil, refusal("nothing fills %s", strings.Join(structure.OpenPlaces(model), ", "))
	}
	e, err := newEncoder(model, sem, c.Params)
	if err != nil {
		return nil, err
	}
	for _, name := range cert.Places {
		p := e.prog.Place(name)
		if p < 0 {
			return nil, refuse("place", name, "any of the net")
		}
		e.keep[p] = true
	}
	s, err := e.system(expr)
	if err != nil {
		return nil, err
	}
	if cert.System != s.hash() {
		return nil, refuse("formulas", cert.System, s.hash())
	}
	return s, nil
}

func sameParam(a, b Param) bool {
	return a.Name == b.Name && a.Min == b.Min && slices.Equal(a.Thresholds, b.Thresholds) &&
		slices.Equal(a.Capacities, b.Capacities) && slices.Equal(a.Initial, b.Initial)
}

// recheck has another solver decide the obligations: cvc5 or, without it, another process of z3,
// and then the library of z3 if it was built in. It returns the names of those that decided.
func (c Config) recheck(ctx context.Context, s *system, found proof) (string, error) {
	by, err := c.second(ctx)
	if err != nil {
		return "", err
	}
	if err := by.confirm(ctx, s, found); err != nil {
		return "", err
	}
	third, err := c.third(ctx, s, found)
	if err != nil {
		return "", err
	}
	return by.name + third, nil
}

// second finds the solver that checks what z3 found: cvc5 or, without it, z3.
func (c Config) second(ctx context.Context) (*solver, error) {
	by, err := c.cvc5(ctx)
	if quiet := (*silence)(nil); errors.As(err, &quiet) {
		return c.z3(ctx)
	}
	return by, err
}

// check decides every obligation of an invariant. Its error is a silence if there was no answer.
func (s *system) check(ctx context.Context, by *solver, invariant term) error {
	script, names := s.script(s.obligations(), invariant)
	return by.refute(ctx, script, names)
}

// confirm decides everything that a proof rests on. Its errors are those of refute.
func (s *solver) confirm(ctx context.Context, sys *system, found proof) error {
	if found.steps == 0 {
		return sys.check(ctx, s, found.invariant)
	}
	script, names := sys.script(sys.kept(), found.invariant)
	if err := s.refute(ctx, script, names); err != nil {
		return err
	}
	script, names = sys.unroll(found)
	return s.refute(ctx, script, names)
}

// refute has a solver decide questions, each of which must be unsatisfiable. Its error is a refusal
// if one is satisfiable, and a silence without an answer.
func (s *solver) refute(ctx context.Context, script string, names []string) error {
	r, err := s.ask(ctx, script)
	if err != nil {
		return err
	}
	answers, err := s.answers(r, len(names))
	if err != nil {
		return err
	}
	for i, a := range answers {
		if a.fails() {
			return refusal("the proof does not hold: %s", names[i])
		}
		if !a.holds() {
			return silent("%s does not decide %s", s.name, names[i])
		}
	}
	return nil
}

// obligation is one condition that an inductive invariant must satisfy.
type obligation struct {
	name    string
	assumed bool   // the invariant holds in the premise
	where   term   // further premise
	then    []term // the invariant must hold of these values of the variables; nil: the premise must be impossible
}

// obligations lists the conditions on an invariant: at the start, after every firing, and in bad
// states.
func (s *system) obligations() []obligation {
	out := []obligation{{name: "at the start", where: s.init, then: s.vars()}}
	for _, r := range s.rules {
		out = append(out, obligation{name: "after " + r.name, assumed: true, where: r.guard, then: r.next})
	}
	return append(out, obligation{name: "where it is bad", assumed: true, where: s.bad})
}

// script asks for a violation of each obligation, one question each, and returns the names of the
// questions.
func (s *system) script(todo []obligation, invariant term) (script string, names []string) {
	var b strings.Builder
	b.WriteString("(set-logic QF_LIA)\n")
	vars := s.vars()
	var params []term
	for _, v := range vars {
		fmt.Fprintf(&b, "(declare-fun %s () Int)\n", v)
		params = append(params, list(v, sym("Int")))
	}
	fmt.Fprintf(&b, "(define-fun Inv %s Bool %s)\n", list(params...), invariant)
	for _, o := range todo {
		var parts []term
		if o.assumed {
			parts = append(parts, app("Inv", vars...))
		}
		parts = append(parts, o.where)
		if o.then != nil {
			parts = append(parts, negate(app("Inv", o.then...)))
		}
		names = append(names, o.name)
		fmt.Fprintf(&b, "(push 1)\n(assert %s)\n(check-sat)\n(pop 1)\n", conj(parts...))
	}
	return b.String(), names
}

// newCertificate makes the certificate of a proof.
func newCertificate(pass *verify.Pass, e *encoder, s *system, expr string, found proof) *Certificate {
	c := &Certificate{
		Format: certificateFormat, Net: pass.Model().Hash(), System: s.hash(), Property: expr,
		Params: e.params, Invariant: found.invariant.String(), Steps: found.steps,
	}
	for i, p := range e.prog.Places() {
		if e.keep[i] {
			c.Places = append(c.Places, p.Name)
		}
	}
	return c
}

// Alike reports whether the proofs about two programs are the same, whatever values their
// parameters were compiled with. A proof for one is then a proof for the other. A test can use it
// to show that a parameter is marked everywhere.
func (c Config) Alike(a, b *petri.Program, expr string) (bool, error) {
	hash := func(p *petri.Program) (string, error) {
		e, err := newEncoder(netmodel.New(p, netmodel.RunToCompletion), netmodel.RunToCompletion, c.Params)
		if err != nil {
			return "", err
		}
		e.keepAll()
		s, err := e.system(expr)
		if err != nil {
			return "", err
		}
		return s.hash(), nil
	}
	x, err := hash(a)
	if err != nil {
		return false, err
	}
	y, err := hash(b)
	return x == y, err
}

package verify

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/voicegw/voicegw/petri"
)

// Config says how Run works. The zero value is usable.
type Config struct {
	// Max is the most states each exploration visits; 0 means DefaultMax.
	Max int
	// Semantics of transitions that fire at once.
	Semantics Semantics
	// Progress is passed on to explorations.
	Progress func(found, done int)
	// Certify makes a certificate of what exploration proved, and lets the
	// checker go through it: what it does not confirm is not proved.
	Certify bool
	// Prefer are priorities: see Model.Prefer.
	Prefer [][2]string
	// Reduce lets exploration leave out what the properties of the run do not need
	// (see Reduction), if the net allows it and they are all about dead markings or
	// expressions. What is proved so has no certificate.
	Reduce bool
	// Given are properties that are proved already: see Model.Given.
	Given []*Property
	// Ends names transitions and subnets whose firings at one instant are taken to
	// end although Unending does not show it; for RunParts.
	Ends []string
	// Open is the net that runs, compiled alone, if the program is that net
	// closed with automata. Witnesses are replayed on it.
	Open *petri.Program
	// Now, if not nil, is a monotonic clock by which Report states how long
	// checks took.
	Now Clock
}

// Clock tells time since some instant.
type Clock func() Seconds

// Seconds is a length of time.
type Seconds float64

// Report is what Run found: one result per property, in their order.
type Report struct {
	Net     string
	Hash    string // of the canonical text of the net
	Results []Result
	// Graph is what exploration without time found, if a check looked at it.
	Graph *Graph
	// Certificate of what exploration proved, if Config.Certify.
	Certificate *Certificate
}

// Result is the verdict on one property.
type Result struct {
	Property *Property
	Verdict
	Seconds Seconds // 0 without a clock
}

// Outcome is Proved if all results are, Refuted if one is, else Unknown.
func (r *Report) Outcome() Outcome {
	all := Proved
	for i := range r.Results {
		switch r.Results[i].Outcome {
		case Refuted:
			return Refuted
		case Unknown:
			all = Unknown
		}
	}
	if len(r.Results) == 0 {
		return Unknown
	}
	return all
}

// String is a table: property, verdict, method, states, reason.
func (r *Report) String() string {
	var b strings.Builder
	for i := range r.Results {
		v := &r.Results[i]
		fmt.Fprintf(&b, "%-36s %-8s %-14s %8d  %s\n", v.Property.Name, v.Outcome, v.Method, v.States, v.Reason)
	}
	return b.String()
}

// Pass is what checks of one Run share. It is not safe for concurrent use.
type Pass struct {
	Program *petri.Program
	Config  Config

	model *Model
	graph *Graph
	keep  *Reduction // what is left of the net's graph; nil: everything
	memo  map[any]any
	done  map[*Property]*Result
}

// NewPass makes a pass for checks that are not called by Run.
func NewPass(prog *petri.Program, c Config) (*Pass, error) {
	m, err := NewModel(prog, c.Semantics).Prefer(c.Prefer)
	if err == nil {
		m, err = m.Given(c.Given...)
	}
	if err != nil {
		return nil, err
	}
	return &Pass{Program: prog, Config: c, model: m, memo: map[any]any{}, done: map[*Property]*Result{}}, nil
}

// Model returns the model of the program.
func (p *Pass) Model() *Model { return p.model }

// Graph explores the net without time, once. Its error is that of ctx.
func (p *Pass) Graph(ctx context.Context) (*Graph, error) {
	if p.graph == nil {
		g, err := ExploreModel(ctx, p.Model(), Options{Max: p.Config.Max, Progress: p.Config.Progress, Reduce: p.keep})
		if err != nil {
			return nil, err
		}
		p.graph = g
	}
	return p.graph, nil
}

// Once returns what make returned the first time it was called with key.
func (p *Pass) Once(key any, make func() (any, error)) (any, error) {
	if v, ok := p.memo[key]; ok {
		return v, nil
	}
	v, err := make()
	if err == nil {
		p.memo[key] = v
	}
	return v, err
}

// Run checks properties of a program, each once, required ones first. It
// returns an error if a property is wrong (it names an unknown place, say) or
// ctx ends.
func Run(ctx context.Context, prog *petri.Program, c Config, props ...*Property) (*Report, error) {
	pass, err := NewPass(prog, c)
	if err != nil {
		return nil, err
	}
	if c.Reduce && pass.model.Reducible() == nil {
		pass.keep = reductionFor(props)
	}
	r := &Report{Net: prog.Name(), Hash: pass.Model().Hash()}
	for _, p := range props {
		res, err := pass.result(ctx, p, nil)
		if err != nil {
			return nil, err
		}
		r.Results = append(r.Results, *res)
	}
	r.Graph = pass.graph
	if c.Certify {
		if err := r.certify(ctx, pass); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// certify makes one certificate of all that exploration without time proved,
// and checks it.
func (r *Report) certify(ctx context.Context, pass *Pass) error {
	var props []*Property
	for i := range r.Results {
		if v := &r.Results[i]; v.Outcome == Proved && v.Method == explicit && v.Property.Claim != "" {
			props = append(props, v.Property)
		}
	}
	if len(props) == 0 || pass.graph.Reduced {
		return nil
	}
	cert, err := pass.graph.Certify(props...)
	if err != nil {
		return err
	}
	err = cert.Check(ctx, pass.model, props...)
	if err != nil && !errors.Is(err, ErrCertificate) {
		return err
	}
	for i := range r.Results {
		if v := &r.Results[i]; v.Outcome != Proved || v.Method != explicit || v.Property.Claim == "" {
			continue
		} else if err != nil {
			v.Outcome, v.Cause, v.Reason = Unknown, Solver, err.Error()
		} else {
			v.Certificate = cert
		}
	}
	if err == nil {
		r.Certificate = cert
	}
	return nil
}

// result checks a property after those it requires.
func (p *Pass) result(ctx context.Context, prop *Property, above []*Property) (*Result, error) {
	if res := p.done[prop]; res != nil {
		return res, nil
	}
	for _, a := range above {
		if a == prop {
			return nil, fmt.Errorf("verify: property %s requires itself", prop.Name)
		}
	}
	start := p.now()
	v, err := prop.Check(ctx, p)
	if err != nil {
		return nil, fmt.Errorf("verify: check %s of %s: %w", prop.Name, p.Program.Name(), err)
	}
	v = p.model.carried(prop, v)
	if v.Witness != nil && v.Outcome != Unknown {
		if v, err = p.judged(prop, p.replayed(v)); err != nil {
			return nil, err
		}
	}
	if open := p.model.OpenPlaces(); len(open) > 0 && v.Outcome == Refuted && !prop.Safety && !prop.OpenWorld {
		v = p.model.opened(v.Method, open) // what comes from outside may go on with it
	}
	if v.Outcome == Proved {
		if v, err = p.weigh(ctx, prop, v, above); err != nil {
			return nil, err
		}
	}
	res := &Result{Property: prop, Verdict: v, Seconds: p.now() - start}
	p.done[prop] = res
	return res, nil
}

// replayed replays a verdict's witness. One that the machine does not take is no
// verdict.
func (p *Pass) replayed(v Verdict) Verdict {
	switch err := p.model.Replay(v.Witness, p.Config.Open); {
	case err == nil:
		v.Witness.Replayed = true
	case !errors.Is(err, errNoMachine):
		u := unknown(v.Method, Spurious, "%s, but the machine does not take the way there: %v", v.Reason, err)
		u.States, u.Witness = v.States, v.Witness
		return u
	}
	return v
}

// Takes reports whether a machine takes the way of a timed witness, or none can
// be had.
func (p *Pass) Takes(w *Witness) bool {
	err := p.model.Replay(w, p.Config.Open)
	return err == nil || errors.Is(err, errNoMachine)
}

// weigh turns a proof that rests on nothing into Unknown.
func (p *Pass) weigh(ctx context.Context, prop *Property, v Verdict, above []*Property) (Verdict, error) {
	if open := p.Model().OpenPlaces(); len(open) > 0 && !prop.OpenWorld {
		return p.model.opened(v.Method, open), nil
	}
	for _, need := range prop.Requires {
		res, err := p.result(ctx, need, append(above, prop))
		if err != nil {
			return v, err
		}
		if res.Outcome != Proved {
			return unknown(v.Method, Unproved, "it needs %s, which is %s: %s", need.Name, res.Outcome, res.Reason), nil
		}
	}
	return v, nil
}

func (p *Pass) now() Seconds {
	if p.Config.Now == nil {
		return 0
	}
	return p.Config.Now()
}

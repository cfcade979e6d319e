package verify

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify/check"
	"github.com/voicegw/voicegw/verify/claim"
	"github.com/voicegw/voicegw/verify/explore"
	"github.com/voicegw/voicegw/verify/netmodel"
	"github.com/voicegw/voicegw/verify/structure"
	"github.com/voicegw/voicegw/verify/witness"
)

// Config configures Run. The zero value is usable.
type Config struct {
	// Max is the most states that each exploration visits; 0 means DefaultMax.
	Max int
	// Semantics of transitions that fire at once.
	Semantics netmodel.Semantics
	// Progress is passed on to explorations.
	Progress func(found, done int)
	// Certify makes a certificate of what exploration proved and runs the checker on it. A property
	// that the checker does not confirm is not proved.
	Certify bool
	// Prefer are priorities; see Model.Prefer.
	Prefer [][2]string
	// Reduce lets exploration leave out what the properties of the run do not need (see Reduction).
	// It applies if the net allows it and all properties are about dead markings or expressions. A
	// proof found this way has no certificate.
	Reduce bool
	// Given lists properties that are already proved; see claim.Given.
	Given []*Property
	// Ends names transitions and subnets whose firings at one instant are assumed to end although
	// structure.Unending does not prove it. Only RunParts uses it.
	Ends []string
	// Open is the net that runs, compiled alone, if the program is that net closed with automata.
	// Witnesses are replayed on it.
	Open *petri.Program
	// Now, if not nil, is a monotonic clock. Report uses it to state how long checks took.
	Now Clock
}

// Clock returns the time since some fixed instant.
type Clock func() Seconds

// Seconds is a duration.
type Seconds float64

// Report is the result of Run: one result per property, in their order.
type Report struct {
	Net     string
	Hash    string // of the canonical text of the net
	Results []Result
	// Graph is the result of exploration without time, if a check used it.
	Graph *explore.Graph
	// Certificate of what exploration proved, if Config.Certify.
	Certificate *check.Certificate
}

// Result is the verdict on one property.
type Result struct {
	Property *Property
	Verdict
	Seconds Seconds // 0 without a clock
}

// Outcome is Proved if all results are, Refuted if one is, and otherwise Unknown.
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

// String is a table of property, verdict, method, states and reason.
func (r *Report) String() string {
	var b strings.Builder
	for i := range r.Results {
		v := &r.Results[i]
		fmt.Fprintf(&b, "%-36s %-8s %-14s %8d  %s\n", v.Property.Name, v.Outcome, v.Method, v.States, v.Reason)
	}
	return b.String()
}

// Pass holds what the checks of one Run share. It is not safe for concurrent use.
type Pass struct {
	Program *petri.Program
	Config  Config

	model *netmodel.Model
	graph *explore.Graph
	keep  *explore.Reduction // what to keep of the net's graph; nil: everything
	memo  map[any]any
	done  map[*Property]*Result
}

// NewPass makes a pass for checks that Run does not call.
func NewPass(prog *petri.Program, c Config) (*Pass, error) {
	m, err := netmodel.New(prog, c.Semantics).Prefer(c.Prefer)
	if err == nil {
		m, err = claim.Given(m, Claims(c.Given...)...)
	}
	if err != nil {
		return nil, err
	}
	return &Pass{Program: prog, Config: c, model: m, memo: map[any]any{}, done: map[*Property]*Result{}}, nil
}

// Model returns the model of the program.
func (p *Pass) Model() *netmodel.Model { return p.model }

// Graph explores the net without time, once. Its error is the error of ctx.
func (p *Pass) Graph(ctx context.Context) (*explore.Graph, error) {
	if p.graph == nil {
		g, err := explore.ExploreModel(ctx, p.Model(), explore.Options{
			Max: p.Config.Max, Progress: p.Config.Progress, Reduce: p.keep})
		if err != nil {
			return nil, err
		}
		p.graph = g
	}
	return p.graph, nil
}

// Once returns what make returned on the first call with this key.
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

// Run checks properties of a program, each once, required ones first. It returns an error if a
// property is wrong (for example, it names an unknown place) or ctx ends.
func Run(ctx context.Context, prog *petri.Program, c Config, props ...*Property) (*Report, error) {
	pass, err := NewPass(prog, c)
	if err != nil {
		return nil, err
	}
	if c.Reduce && explore.Reducible(pass.model) == nil {
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

// certify makes one certificate of everything that exploration without time proved, and checks it.
func (r *Report) certify(ctx context.Context, pass *Pass) error {
	var claims []claim.Claim
	for i := range r.Results {
		if v := &r.Results[i]; v.Outcome == Proved && v.Method == explicit && claim.TextOf(v.Property.Claim) != "" {
			claims = append(claims, v.Property.Claim)
		}
	}
	if len(claims) == 0 || pass.graph.Reduced {
		return nil
	}
	cert, err := pass.graph.Certify(claims...)
	if err != nil {
		return err
	}
	err = cert.Check(ctx, pass.model, claims...)
	if err != nil && !errors.Is(err, check.ErrCertificate) {
		return err
	}
	for i := range r.Results {
		if v := &r.Results[i]; v.Outcome != Proved || v.Method != explicit || claim.TextOf(v.Property.Claim) == "" {
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

// result checks a property after the properties it requires.
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
	v = carried(p.model, prop, v)
	if v.Witness != nil && v.Outcome != Unknown {
		if v, err = p.judged(prop, p.replayed(v)); err != nil {
			return nil, err
		}
	}
	whole := claim.ScopeOf(prop.Claim) == claim.Whole
	if open := structure.OpenPlaces(p.model); len(open) > 0 && v.Outcome == Refuted && whole {
		v = opened(p.model, v.Method, open) // tokens from outside may continue the run
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

// replayed replays the witness of a verdict. If the machine does not take it, the verdict is void.
func (p *Pass) replayed(v Verdict) Verdict {
	switch err := witness.Replay(p.model, v.Witness, p.Config.Open); {
	case err == nil:
		v.Witness.Replayed = true
	case !errors.Is(err, witness.ErrNoMachine):
		u := unknown(v.Method, Spurious, "%s, but the machine does not take the way there: %v", v.Reason, err)
		u.States, u.Witness = v.States, v.Witness
		return u
	}
	return v
}

// Takes reports whether a machine takes the run of a timed witness. It is also true if no machine can
// run the net.
func (p *Pass) Takes(w *witness.Witness) bool {
	err := witness.Replay(p.model, w, p.Config.Open)
	return err == nil || errors.Is(err, witness.ErrNoMachine)
}

// weigh turns a proof into Unknown if the environment is open or a required property is not proved.
func (p *Pass) weigh(ctx context.Context, prop *Property, v Verdict, above []*Property) (Verdict, error) {
	if open := structure.OpenPlaces(p.Model()); len(open) > 0 && claim.ScopeOf(prop.Claim) != claim.Structure {
		return opened(p.model, v.Method, open), nil
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

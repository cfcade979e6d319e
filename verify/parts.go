package verify

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify/claim"
	"github.com/voicegw/voicegw/verify/netmodel"
	"github.com/voicegw/voicegw/verify/slice"
	"github.com/voicegw/voicegw/verify/structure"
)

// Part is a slice of a net and the properties to check on it.
type Part struct {
	slice.Slice
	// Props are checked on this slice alone.
	Props []*Property
	// Given are properties that earlier parts prove and that this part assumes; see claim.Given.
	Given []*Property
}

// Models returns the slices of a program as they are explored. The slices depend on the properties
// of the parts and on those checked on every part. Certificates of the parts are checked against
// them.
func Models(prog *petri.Program, each []*Property, parts ...Part) ([]*netmodel.Model, error) {
	whole := netmodel.New(prog, netmodel.RunToCompletion)
	limits := slice.LimitsOf(whole)
	var out []*netmodel.Model
	for _, p := range parts {
		part, err := p.Cut(whole, limits, Claims(slices.Concat(p.Props, p.Given, each)...))
		if err != nil {
			return nil, err
		}
		m, err := claim.Given(netmodel.New(part, netmodel.RunToCompletion), Claims(p.Given...)...)
		if err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, nil
}

// Model is the slice of one part; see Models.
func (p Part) Model(prog *petri.Program, each ...*Property) (*netmodel.Model, error) {
	list, err := Models(prog, each, p)
	if err != nil {
		return nil, err
	}
	return list[0], nil
}

// PartsReport is the result of RunParts.
type PartsReport struct {
	Report // of the whole net: the properties of every part, then those of one part
	// Parts are the reports on the slices.
	Parts []*Report
	// Uncovered is what no part covers; see slice.Uncovered.
	Uncovered []string
	// MayOverflow lists the uncovered deliveries that may exceed a capacity; see slice.MayOverflow.
	MayOverflow []string
	// Unending lists the transitions that may fire for ever at one instant as far as the structure
	// shows, without those that Config.Ends names; see structure.Unending.
	Unending []string
}

// RunParts proves properties of a net slice by slice, in order.
//
// The properties in each are checked on every part. A Local property among them is proved for the
// net if every part proves it and the parts leave nothing uncovered; for WithinCapacity, if they
// also leave nothing that may overflow and nothing unending. A Local property that is checked on
// one part alone is Unknown. So is a property that rests on a given property which no earlier part
// proves. RunParts does not use Config.Given and Config.Open: no machine can replay a run of a
// slice.
func RunParts(ctx context.Context, prog *petri.Program, c Config, each []*Property, parts ...Part) (*PartsReport,
	error) {
	r := &PartsReport{Report: Report{Net: prog.Name(), Hash: netmodel.New(prog, c.Semantics).Hash()}}
	run := &partsRun{c: c, each: each, proved: map[*Property]bool{}}
	models, err := Models(prog, each, parts...)
	if err != nil {
		return nil, err
	}
	var programs []*petri.Program
	for i, p := range parts {
		programs = append(programs, models[i].Program())
		report, err := run.part(ctx, p, models[i].Program())
		if err != nil {
			return nil, err
		}
		r.Parts = append(r.Parts, report)
	}
	r.Uncovered, r.MayOverflow = slice.Uncovered(prog, programs...), slice.MayOverflow(prog, programs...)
	r.Unending = slices.DeleteFunc(structure.Unending(prog), func(name string) bool {
		within := func(subnet string) bool { return strings.HasPrefix(name, subnet+"/") }
		return netmodel.NamedBy(c.Ends, name) || slices.ContainsFunc(c.Ends, within)
	})
	for _, p := range each {
		r.Results = append(r.Results, r.joint(p))
	}
	for i, p := range parts {
		for _, prop := range p.Props {
			r.Results = append(r.Results, r.alone(prop, r.Parts[i]))
		}
	}
	return r, nil
}

// partsRun is a RunParts in progress.
type partsRun struct {
	c      Config
	each   []*Property
	proved map[*Property]bool // for the whole net
}

func (run *partsRun) part(ctx context.Context, p Part, prog *petri.Program) (*Report, error) {
	c := run.c
	c.Given, c.Open = p.Given, nil
	r, err := Run(ctx, prog, c, slices.Concat(run.each, p.Props)...)
	if err != nil {
		return nil, err
	}
	if i := slices.IndexFunc(p.Given, func(g *Property) bool { return !run.proved[g] }); i >= 0 {
		r.doubt(Unproved, "it rests on %s, which no part before proves", p.Given[i].Name)
	}
	for i := range r.Results {
		v := &r.Results[i]
		if v.Outcome == Proved && claim.ScopeOf(v.Property.Claim) != claim.Local {
			run.proved[v.Property] = true
		}
	}
	return r, nil
}

// doubt turns the proofs in a report into Unknown.
func (r *Report) doubt(cause Cause, format string, args ...any) {
	r.Certificate = nil
	for i := range r.Results {
		if v := &r.Results[i]; v.Outcome == Proved {
			states := v.States
			v.Verdict = unknown(v.Method, cause, format, args...)
			v.States = states
		}
	}
}

// joint is the verdict on a property that was checked on every part.
func (r *PartsReport) joint(prop *Property) Result {
	out := Result{Property: prop, Verdict: Verdict{Outcome: Proved, Reason: fmt.Sprintf("by %d slices", len(r.Parts))}}
	for _, part := range r.Parts {
		v := part.of(prop)
		out.Seconds += v.Seconds
		out.States += v.States
		out.Method = v.Method
		switch {
		case v.Outcome == Proved && claim.ScopeOf(prop.Claim) != claim.Local:
			return *v // one slice is enough
		case v.Outcome != Proved && out.Outcome == Proved:
			out.Outcome, out.Cause, out.Reason = Unknown, v.Cause, part.Net+": "+v.Reason
		}
	}
	left := r.Uncovered
	_, capacity := prop.Claim.(claim.Capacity)
	if capacity {
		left = r.MayOverflow
	}
	if out.Outcome == Proved && (len(r.Parts) == 0 || len(left) > 0) {
		out.Outcome, out.Cause = Unknown, Unsupported
		out.Reason = "no part looks at " + strings.Join(left, ", ")
	}
	if out.Outcome == Proved && capacity && len(r.Unending) > 0 {
		out.Outcome, out.Cause = Unknown, Unsupported
		out.Reason = "a chain of firings at one instant may be endless across slices: " + strings.Join(r.Unending, ", ")
	}
	return out
}

// alone is the verdict on a property that was checked on one part.
func (r *PartsReport) alone(prop *Property, part *Report) Result {
	v := part.of(prop)
	if claim.ScopeOf(prop.Claim) == claim.Local && v.Outcome == Proved {
		states := v.States
		v.Verdict = unknown(v.Method, Unsupported,
			"%s alone says nothing of the transitions it does not have; ask every part", part.Net)
		v.States = states
	}
	return *v
}

// of returns a copy of the result on a property.
func (r *Report) of(prop *Property) *Result {
	i := slices.IndexFunc(r.Results, func(v Result) bool { return v.Property == prop })
	v := r.Results[i]
	return &v
}

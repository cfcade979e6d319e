package verify

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/voicegw/voicegw/petri"
)

// Part is a slice of a net and what is asked of it.
type Part struct {
	Slice
	// Props are asked of this slice alone.
	Props []*Property
	// Given are properties that parts before this one prove, and on which this one
	// rests; see Model.Given.
	Given []*Property
}

// Models are the slices of a program, as they are explored for some parts and
// for properties that are asked of every part. Certificates of the parts are
// checked against them.
func Models(prog *petri.Program, each []*Property, parts ...Part) ([]*Model, error) {
	whole := NewModel(prog, RunToCompletion)
	limits := limitsOf(whole)
	var out []*Model
	for _, p := range parts {
		part, err := p.of(whole, limits, slices.Concat(p.Props, p.Given, each))
		if err != nil {
			return nil, err
		}
		m, err := NewModel(part, RunToCompletion).Given(p.Given...)
		if err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, nil
}

// Model is the slice of one part; see Models.
func (p Part) Model(prog *petri.Program, each ...*Property) (*Model, error) {
	list, err := Models(prog, each, p)
	if err != nil {
		return nil, err
	}
	return list[0], nil
}

// PartsReport is what RunParts found.
type PartsReport struct {
	Report // of the whole net: what was asked of every part, then what was asked of one
	// Parts are the reports on the slices.
	Parts []*Report
	// Uncovered is what no part looks at; see the function.
	Uncovered []string
	// Crowded is what of that may exceed a capacity; see the function.
	Crowded []string
	// Unending is what may fire for ever at one instant, as far as the structure
	// tells, without what Config.Ends names; see the function.
	Unending []string
}

// States is how many states all parts have together.
func (r *PartsReport) States() int {
	n := 0
	for _, p := range r.Parts {
		if p.Graph != nil {
			n += p.Graph.States()
		}
	}
	return n
}

// RunParts proves properties of a net slice by slice, in order. Those in each
// are asked of every part; a Local one among them is proved of the net if it is
// of every part and the parts leave nothing uncovered, for WithinCapacity nothing
// crowded and nothing unending. A Local property that is
// asked of one part alone is Unknown, and so is one that rests on a given
// property which no part before proves. Config.Given and Config.Open are not
// used: no machine replays what a slice does.
func RunParts(ctx context.Context, prog *petri.Program, c Config, each []*Property, parts ...Part) (*PartsReport,
	error) {
	r := &PartsReport{Report: Report{Net: prog.Name(), Hash: NewModel(prog, c.Semantics).Hash()}}
	run := &partsRun{c: c, each: each, proved: map[*Property]bool{}}
	models, err := Models(prog, each, parts...)
	if err != nil {
		return nil, err
	}
	var programs []*petri.Program
	for i, p := range parts {
		programs = append(programs, models[i].prog)
		report, err := run.part(ctx, p, models[i].prog)
		if err != nil {
			return nil, err
		}
		r.Parts = append(r.Parts, report)
	}
	r.Uncovered, r.Crowded = Uncovered(prog, programs...), Crowded(prog, programs...)
	r.Unending = slices.DeleteFunc(Unending(prog), func(name string) bool {
		within := func(subnet string) bool { return strings.HasPrefix(name, subnet+"/") }
		return kept(c.Ends, name) || slices.ContainsFunc(c.Ends, within)
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

// partsRun is a RunParts under way.
type partsRun struct {
	c      Config
	each   []*Property
	proved map[*Property]bool // of the whole
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
		if v.Outcome == Proved && !v.Property.Local {
			run.proved[v.Property] = true
		}
	}
	return r, nil
}

// doubt turns what a report proves into Unknown.
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

// joint is the verdict on a property that was asked of every part.
func (r *PartsReport) joint(prop *Property) Result {
	out := Result{Property: prop, Verdict: Verdict{Outcome: Proved, Reason: fmt.Sprintf("by %d slices", len(r.Parts))}}
	for _, part := range r.Parts {
		v := part.of(prop)
		out.Seconds += v.Seconds
		out.States += v.States
		out.Method = v.Method
		switch {
		case v.Outcome == Proved && !prop.Local:
			return *v // one slice is enough
		case v.Outcome != Proved && out.Outcome == Proved:
			out.Outcome, out.Cause, out.Reason = Unknown, v.Cause, part.Net+": "+v.Reason
		}
	}
	left := r.Uncovered
	if prop.Bad == nil { // the claim is that nothing exceeds a capacity
		left = r.Crowded
	}
	if out.Outcome == Proved && (len(r.Parts) == 0 || len(left) > 0) {
		out.Outcome, out.Cause = Unknown, Unsupported
		out.Reason = "no part looks at " + strings.Join(left, ", ")
	}
	if out.Outcome == Proved && prop.Bad == nil && len(r.Unending) > 0 {
		out.Outcome, out.Cause = Unknown, Unsupported
		out.Reason = "a chain of firings at one instant may be endless across slices: " + strings.Join(r.Unending, ", ")
	}
	return out
}

// alone is the verdict on a property that was asked of one part.
func (r *PartsReport) alone(prop *Property, part *Report) Result {
	v := part.of(prop)
	if prop.Local && v.Outcome == Proved {
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

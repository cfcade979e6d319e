package mutate

import (
	"context"
	"fmt"
	"slices"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/verify/stateclass"
)

// Closure closes a net with automata of its environment.
type Closure struct {
	Name  string
	Close func(*petri.Net) (*petri.Net, error)
}

// Config says what the proofs are.
type Config struct {
	// Closures in which the properties must hold. None: the net is closed
	// already.
	Closures []Closure
	// Properties that the net keeps in every closure.
	Properties []*verify.Property
	// Max markings, and classes, of each exploration; 0 means
	// verify.DefaultMax.
	Max       int
	Semantics verify.Semantics
	// Progress, if not nil, is called for each mutant that was decided.
	Progress func(done, of int)
}

// Score says what became of the mutants.
type Score struct {
	Mutants int // that count: refused and equal ones do not
	Killed  int
	Refused int // by Compile
	Equal   int // the graph is that of the net
	// Survivors are the names of those that were not killed.
	Survivors []string
	// KilledBy names, by mutant, the properties that were refuted.
	KilledBy map[string][]string
}

// Rate is the share of mutants that were killed, 1 if there is none.
func (s *Score) Rate() float64 {
	if s.Mutants == 0 {
		return 1
	}
	return float64(s.Killed) / float64(s.Mutants)
}

// Without is how many mutants are killed if the named properties are left out.
func (s *Score) Without(names ...string) int {
	n := 0
	for _, by := range s.KilledBy {
		if slices.ContainsFunc(by, func(p string) bool { return !slices.Contains(names, p) }) {
			n++
		}
	}
	return n
}

// Run checks the properties of every mutant. A mutant is killed when a property
// is refuted by a witness that the machine takes. Unknown is not killed. The
// net itself must keep all of them, else the error says which it does not.
func Run(ctx context.Context, n *petri.Net, c Config) (*Score, error) {
	if len(c.Closures) == 0 {
		c.Closures = []Closure{{Name: "closed", Close: nil}}
	}
	r := &runner{config: c, score: &Score{KilledBy: map[string][]string{}}}
	by, prints, err := r.try(ctx, n)
	if err != nil {
		return nil, err
	}
	if len(by) > 0 || len(r.open) > 0 {
		return nil, fmt.Errorf("verify/mutate: net %s does not keep %v", n.Name, append(by, r.open...))
	}
	all := Mutants(n)
	for i, m := range all {
		if err := r.mutant(ctx, m, prints); err != nil {
			return nil, err
		}
		if c.Progress != nil {
			c.Progress(i+1, len(all))
		}
	}
	return r.score, nil
}

type runner struct {
	config Config
	score  *Score
	open   []string // properties that the last net tried neither keeps nor breaks
}

func (r *runner) mutant(ctx context.Context, m Mutant, original []string) error {
	by, prints, err := r.try(ctx, m.Net)
	if ctx.Err() != nil {
		return fmt.Errorf("verify/mutate: %w", ctx.Err())
	}
	switch {
	case err != nil:
		r.score.Refused++
	case len(by) > 0:
		r.score.Mutants++
		r.score.Killed++
		r.score.KilledBy[m.Name] = by
	case !m.Time && slices.Equal(prints, original):
		r.score.Equal++
	default:
		r.score.Mutants++
		r.score.Survivors = append(r.score.Survivors, m.Name)
	}
	return nil
}

// try returns the properties that a net breaks, and a fingerprint of its graph
// in each closure. An error says that it does not compile, or that ctx ended.
func (r *runner) try(ctx context.Context, n *petri.Net) (broken, prints []string, err error) {
	r.open = nil
	for _, c := range r.config.Closures {
		pass := verify.Config{Max: r.config.Max, Semantics: r.config.Semantics}
		closed := n
		if c.Close != nil {
			if pass.Open, err = petri.Compile(n); err != nil {
				return nil, nil, err
			}
			if closed, err = c.Close(n); err != nil {
				return nil, nil, err
			}
		}
		p, err := petri.Compile(closed)
		if err != nil {
			return nil, nil, err
		}
		report, err := verify.Run(ctx, p, pass, stateclass.Sharpen(stateclass.Options{}, r.config.Properties...)...)
		if err != nil {
			return nil, nil, err
		}
		broken = append(broken, r.refuted(report)...)
		g := report.Graph
		if g == nil {
			g, err = verify.Explore(ctx, p, verify.Options{Max: r.config.Max, Semantics: r.config.Semantics})
		}
		if err != nil {
			return nil, nil, err
		}
		prints = append(prints, g.Fingerprint())
	}
	return broken, prints, nil
}

func (r *runner) refuted(report *verify.Report) []string {
	var out []string
	for i := range report.Results {
		switch v := &report.Results[i]; {
		case v.Outcome == verify.Refuted && v.Witness != nil && v.Witness.Replayed:
			out = append(out, v.Property.Name)
		case v.Outcome != verify.Proved:
			r.open = append(r.open, fmt.Sprintf("%s (%s: %s)", v.Property.Name, v.Outcome, v.Reason))
		}
	}
	return out
}

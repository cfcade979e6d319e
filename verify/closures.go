package verify

import (
	"context"
	"fmt"
	"strings"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify/explore"
)

// Closure is an open net closed with environment automata, and the properties it must keep there.
type Closure struct {
	Name    string // of the environment, such as "hostile" or "contract"
	Program *petri.Program
	Props   []*Property
}

// ClosuresReport is the result of RunClosures: which property holds in which environment.
type ClosuresReport struct {
	Closures []string
	Reports  []*Report // by closure
	// Idle lists the transitions of the net that fire in no closure. If there are any, nothing is
	// proved.
	Idle []string
}

// Outcome is Proved if all results of all closures are, Refuted if one is, and otherwise Unknown.
func (r *ClosuresReport) Outcome() Outcome {
	all := Report{}
	for _, c := range r.Reports {
		all.Results = append(all.Results, c.Results...)
	}
	return all.Outcome()
}

// String is a table of closure, property, verdict, method, states and reason.
func (r *ClosuresReport) String() string {
	var b strings.Builder
	for i, c := range r.Reports {
		for line := range strings.Lines(c.String()) {
			fmt.Fprintf(&b, "%-10s %s", r.Closures[i], line)
		}
	}
	return b.String()
}

// RunClosures checks properties of one net closed in several ways, each under the closures that
// list it. A transition that fires in no closure makes every proof partly empty. In that case the
// proved results become Unknown (Vacuous), and Idle lists these transitions. A transition that
// fires only when waits are ignored counts as one that does not fire.
func RunClosures(ctx context.Context, c Config, closures ...Closure) (*ClosuresReport, error) {
	out := &ClosuresReport{}
	var graphs []*explore.Graph
	for _, cl := range closures {
		if cl.Program.Whole() != nil {
			return nil, fmt.Errorf("verify: closure %s: a slice does not tell what fires", cl.Name)
		}
		r, err := Run(ctx, cl.Program, c, cl.Props...)
		if err != nil {
			return nil, err
		}
		g := r.Graph
		if g == nil {
			pass, err := NewPass(cl.Program, c)
			if err != nil {
				return nil, err
			}
			if g, err = pass.Graph(ctx); err != nil {
				return nil, err
			}
		}
		out.Closures, out.Reports, graphs = append(out.Closures, cl.Name), append(out.Reports, r), append(graphs, g)
	}
	if out.Idle = explore.NeverFires(graphs...); len(out.Idle) > 0 {
		for _, r := range out.Reports {
			r.doubt(Vacuous, "under no closure fires %s", strings.Join(out.Idle, ", "))
		}
	}
	return out, nil
}

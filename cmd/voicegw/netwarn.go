package main

import (
	"context"
	"fmt"
	"io"

	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/verify/stateclass"
)

// warnMost is how many places or transitions a warning names.
const warnMost = 10

// warn names places or transitions of a file that are there to no effect.
func warn(w io.Writer, file, what, does, do string, names []string) {
	for _, name := range names[:min(len(names), warnMost)] {
		fmt.Fprintf(w, "warning: %s: %s %s %s\n", file, what, name, does)
	}
	if more := len(names) - warnMost; more > 0 {
		fmt.Fprintf(w, "warning: %s: and %d %ss more %s\n", file, more, what, do)
	}
}

// unused are the places that no arc leads to or from.
func (n *fieldNet) unused() []string {
	used := make([]bool, len(n.prog.Places()))
	for _, t := range n.prog.Transitions() {
		for _, a := range t.Arcs {
			used[a.Place] = true
		}
	}
	var names []string
	for i, p := range n.prog.Places() {
		if !used[i] {
			names = append(names, p.Name)
		}
	}
	return names
}

// idleTransitions finds the transitions of a net that never fire.
type idleTransitions struct {
	timed bool
	names []string // none if not every state was visited
}

// property claims nothing. It looks at the states that the other properties visited.
func (l *idleTransitions) property() *verify.Property {
	check := func(ctx context.Context, p *verify.Pass) (verify.Verdict, error) {
		idle, complete, err := l.find(ctx, p)
		if err == nil && complete {
			for _, t := range idle {
				l.names = append(l.names, p.Model().Transition(t))
			}
		}
		return verify.Verdict{}, err
	}
	return &verify.Property{Name: "idle transitions", Check: check}
}

func (l *idleTransitions) find(ctx context.Context, p *verify.Pass) (idle []int32, complete bool, err error) {
	if l.timed {
		g, err := stateclass.Of(ctx, p, stateclass.Options{})
		if err != nil {
			return nil, false, err
		}
		return g.Idle(), g.Complete && len(g.Faults) == 0, nil
	}
	g, err := p.Graph(ctx)
	if err != nil {
		return nil, false, err
	}
	return g.Idle(), g.Complete && len(g.Faults) == 0, nil
}

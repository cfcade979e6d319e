package petri

import (
	"fmt"
	"slices"
	"strings"
)

// ProblemKind tells apart the problems that a caller treats differently.
type ProblemKind int

// The kinds of problem.
const (
	// Malformed is every problem without a kind of its own.
	Malformed ProblemKind = iota
	// NeverFires says that Transition can never fire.
	NeverFires
)

// Problem is one thing that is wrong with a net. At most one of Net, Transition and Place is set: the
// name of what the problem is about. Text names whatever else is involved.
type Problem struct {
	Kind                   ProblemKind
	Net, Transition, Place string
	Text                   string
}

// Error lists everything that is wrong with a net.
type Error struct{ Problems []Problem }

// Error is the only problem, or all of them, one a line.
func (e *Error) Error() string {
	if len(e.Problems) == 1 {
		return "petri: " + e.Problems[0].Text
	}
	var b strings.Builder
	fmt.Fprintf(&b, "petri: %d problems:", len(e.Problems))
	for _, p := range e.Problems {
		b.WriteString("\n\t" + p.Text)
	}
	return b.String()
}

// problems collects what is wrong, in order, each text once.
type problems struct{ list []Problem }

func (p *problems) add(about Problem, format string, args ...any) {
	about.Text = fmt.Sprintf(format, args...)
	if !slices.ContainsFunc(p.list, func(old Problem) bool { return old.Text == about.Text }) {
		p.list = append(p.list, about)
	}
}

func (p *problems) err() error {
	if len(p.list) == 0 {
		return nil
	}
	return &Error{Problems: p.list}
}

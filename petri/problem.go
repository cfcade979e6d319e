package petri

import (
	"fmt"
	"slices"
	"strings"
)

// ProblemKind distinguishes the problems that callers treat differently.
type ProblemKind int

// The kinds of problem.
const (
	// Malformed is any problem without a kind of its own.
	Malformed ProblemKind = iota
	// NeverFires means that Transition can never fire.
	NeverFires
)

// Problem is one thing that is wrong with a net. At most one of Net, Transition and Place is set;
// it names the subject of the problem. Text describes the problem and names whatever else is
// involved.
type Problem struct {
	Kind                   ProblemKind
	Net, Transition, Place string
	Text                   string
}

// Error lists everything that is wrong with a net. It has at least one problem.
type Error struct{ Problems []Problem }

// Error returns the text of the only problem, or all texts, one on a line.
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

// problems collects problems in order and drops duplicates.
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

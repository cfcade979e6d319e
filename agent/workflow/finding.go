package workflow

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Rule names what a Finding is about.
type Rule string

// The rules. A file that breaks one is refused, except for those that only warn.
const (
	Unreadable Rule = "unreadable"  // the text is no YAML, or exceeds a limit
	UnknownKey Rule = "unknown_key" // a key that the format does not have, or not here
	Missing    Rule = "missing"     // a required key is absent
	BadValue   Rule = "bad_value"   // a value has the wrong type, or is out of range
	Duplicate  Rule = "duplicate"   // a name or a key is given twice
	UnknownRef Rule = "unknown_ref" // a name that nothing has
	Cycle      Rule = "cycle"       // agents that contain themselves, nodes that wait for themselves
	Unsupports Rule = "unsupported" // a setting that has no effect here, and why
	TooLarge   Rule = "too_large"   // a limit is exceeded

	Deadlock        Rule = "deadlock"          // a run that stops before its end
	LeftBehind      Rule = "left_behind"       // a run that ends while work goes on, or runs an agent again
	Unreached       Rule = "unreached"         // an agent that no run reaches
	Unbounded       Rule = "unbounded"         // a run that may never end
	Race            Rule = "race"              // two branches use one state key at once, and one writes
	ReadBeforeWrite Rule = "read_before_write" // a state key may be missing when an agent reads it
	Unproved        Rule = "unproved"          // the proof exceeds a limit, or a part of it failed

	Overwrites Rule = "overwrites" // a warning: a later agent writes the same state key
)

// Finding is one thing that is wrong with a file.
type Finding struct {
	Rule    Rule   `json:"rule"`
	File    string `json:"file"`
	Line    int    `json:"line"`   // from 1
	Column  int    `json:"column"` // from 1
	Message string `json:"message"`
	// Trace is the run that shows it, one step a line, in the words of the file. Only findings of Verify
	// have one.
	Trace []string `json:"trace,omitempty"`
}

// String is the finding as a compiler would print it, with the trace below.
func (f Finding) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s:%d:%d: %s: %s", f.File, f.Line, f.Column, f.Rule, f.Message)
	for i, step := range f.Trace {
		fmt.Fprintf(&b, "\n    %d. %s", i+1, step)
	}
	return b.String()
}

// Pos is a position in a file. Both numbers count from 1.
type Pos struct{ Line, Column int }

// findings collects findings about one file.
type findings struct {
	file string
	list []Finding
}

func (f *findings) add(rule Rule, at Pos, format string, args ...any) {
	f.list = append(f.list, Finding{Rule: rule, File: f.file, Line: max(at.Line, 1), Column: max(at.Column, 1),
		Message: fmt.Sprintf(format, args...)})
}

// sorted are the findings in the order of the file.
func (f *findings) sorted() []Finding {
	slices.SortStableFunc(f.list, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return f.list
}

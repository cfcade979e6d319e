package workflow

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/voicegw/voicegw/internal/spelling"
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
	// Trace is the run that shows it, one step a line, in the words of the file. Only findings of Verify and
	// cycles have one.
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
	file  string
	list  []Finding
	max   int // findings that are kept; 0: all
	over  int // that were not kept
	hints int // names that were suggested
}

// Limits of what is said about a file that has very much wrong.
const (
	messageMax = 1000 // bytes of one message
	hintsMax   = 200  // names that are suggested; finding one takes longer than finding the mistake
	namesMax   = 12   // names that are listed if none is suggested
)

// add adds a finding and returns it for more words, nil if there are too many.
func (f *findings) add(rule Rule, at Pos, format string, args ...any) *Finding {
	if f.max > 0 && len(f.list) >= f.max {
		f.over++
		return nil
	}
	words := fmt.Sprintf(format, args...)
	if len(words) > messageMax {
		words = strings.ToValidUTF8(words[:messageMax], "") + "..."
	}
	f.list = append(f.list, Finding{Rule: rule, File: f.file, Line: max(at.Line, 1), Column: max(at.Column, 1),
		Message: words})
	return &f.list[len(f.list)-1]
}

// count is how many findings there were.
func (f *findings) count() int { return len(f.list) + f.over }

// sorted are the findings in the order of the file, up to findingsMax, and how many more there are.
func (f *findings) sorted() []Finding {
	slices.SortStableFunc(f.list, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	if more := f.count() - findingsMax; more > 0 {
		f.list, f.max, f.over = f.list[:findingsMax:findingsMax], 0, 0
		f.add(TooLarge, Pos{}, "and %d more findings", more)
	}
	return f.list
}

// nearest suggests a name that was meant; "" for none.
func (f *findings) nearest(wrong string, known []string) string {
	if f.hints++; f.hints > hintsMax {
		return ""
	}
	return spelling.Nearest(wrong, known)
}

// meant suggests a name, or lists the names that there are.
func (f *findings) meant(wrong string, known []string, all string) string {
	if near := f.nearest(wrong, known); near != "" {
		return "; did you mean `" + near + "`?"
	}
	if len(known) == 0 || f.hints > hintsMax {
		return ""
	}
	return "; " + all + ": " + listed(known)
}

// listed lists names, not too many.
func listed(names []string) string {
	if more := len(names) - namesMax; more > 1 {
		return strings.Join(names[:namesMax], ", ") + fmt.Sprintf(" and %d more", more)
	}
	return strings.Join(names, ", ")
}

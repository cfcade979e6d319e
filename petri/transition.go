package petri

import (
	"math"
	"time"
)

// Transition is a plain value; Compile checks it.
//
// A firing is atomic: it consumes the tokens of In, empties the places of Reset, runs Action and
// produces the tokens of Out. Tokens of Read must be present and stay. Tokens of Inhibit must be
// absent.
type Transition struct {
	Name    string // unique verb phrase: drop_stale_chunk
	In      Arcs   // consumed
	Read    Arcs   // needed, not consumed
	Inhibit Arcs   // must be absent
	Reset   Arcs   // emptied, even if empty already
	Guard   Guard  // decides by keys; nil allows every combination
	Out     Split  // produced: And, Xor or Free

	// When is the time from enabling to firing. The zero value fires at once.
	When Interval
	// Priority orders the transitions that are enabled at once: the larger fires first, and among
	// equals the one declared first. Timed transitions must not set it.
	Priority int
	// Bump makes every fresh token of the net stale and begins the next generation. It happens
	// after In and Reset and before Action.
	Bump bool
	// Action computes payloads: it gets the tokens consumed or read and puts the tokens produced.
	// nil passes tokens on. An action decides nothing, except the branch of a Free output.
	Action func(*Firing)
}

// Guard reports whether a transition may consume a combination of tokens, given their keys. Compile
// tabulates it, so it must be a pure function.
type Guard func(*Keys) bool

// Forever is the largest net time: the Latest of an Interval without an upper bound, and the Wake
// of a machine without a running timer.
const Forever = time.Duration(math.MaxInt64)

// Interval is a closed interval of net time, measured from the instant at which the transition
// became enabled. The zero value fires at once.
type Interval struct{ Earliest, Latest time.Duration }

// After returns the interval of a transition that fires exactly d after it became enabled.
func After(d time.Duration) Interval { return Interval{d, d} }

// Between returns the interval from a to b after the transition became enabled. Only automata of
// the environment wait for such an interval; a machine runs single instants.
func Between(a, b time.Duration) Interval { return Interval{a, b} }

// Anytime returns the interval of a transition that fires at any time or never. It is for automata
// of the environment.
func Anytime() Interval { return Interval{0, Forever} }

// AtOnce reports whether the interval is [0,0].
func (i Interval) AtOnce() bool { return i.Latest == 0 }

// Point reports whether the interval is a single instant, so that a machine can run it.
func (i Interval) Point() bool { return i.Earliest == i.Latest }

// String returns "at once", "after 300ms", "[1s,2s]" or "[0s,inf)".
func (i Interval) String() string {
	switch {
	case i.AtOnce():
		return "at once"
	case i.Latest == Forever:
		return "[" + i.Earliest.String() + ",inf)"
	case i.Point():
		return "after " + i.Earliest.String()
	default:
		return "[" + i.Earliest.String() + "," + i.Latest.String() + "]"
	}
}

// Split says what a firing produces: the arcs of And, or one of the branches of Xor or Free. The
// zero value produces nothing.
type Split struct {
	branches []Arcs
	choose   func(*Keys) int
	free     bool
	xor      bool
}

// And produces tokens on every arc.
func And(arcs ...AnyArc) Split { return Split{branches: []Arcs{arcs}} }

// Xor produces tokens on exactly one of the branches. Keys choose the branch: see Split.By.
func Xor(branches ...Arcs) Split { return Split{branches: branches, xor: true} }

// Arcs returns a copy of the arcs of the first branch. An And has only this branch.
func (s Split) Arcs() Arcs {
	if len(s.branches) == 0 {
		return nil
	}
	return append(Arcs(nil), s.branches[0]...)
}

// By sets the function that chooses the branch of an Xor and returns its index. Compile tabulates
// it, so it must be a pure function.
func (s Split) By(choose func(*Keys) int) Split { s.choose = choose; return s }

// Free produces tokens on exactly one of the branches. The action chooses it with Firing.Choose,
// because the choice depends on a payload. A proof explores every branch.
func Free(branches ...Arcs) Split { return Split{branches: branches, free: true} }

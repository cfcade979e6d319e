package petri

import (
	"math"
	"time"
)

// Transition is a plain value; Compile checks it.
//
// A firing is atomic: it consumes In, empties Reset, runs Action, and produces
// Out. Read arcs only look. Inhibit arcs forbid.
type Transition struct {
	Name    string // a verb phrase: drop_stale_chunk
	In      Arcs   // consumed
	Read    Arcs   // needed, not consumed
	Inhibit Arcs   // disable while the tokens are there
	Reset   Arcs   // emptied; may be empty already
	Guard   Guard  // over keys only; nil allows all
	Out     Split  // produced: And, Xor or Free

	// When is the firing interval. The zero value is at once.
	When Interval
	// Priority orders transitions that are enabled at once: the larger first,
	// then the one declared first. Timed transitions have none.
	Priority int
	// Bump makes every fresh token of the net stale and begins the next
	// generation, after consume and reset, before Action.
	Bump bool
	// Action computes payloads: it Gets what was consumed or read and Puts
	// what is produced. nil passes tokens on. It cannot decide anything,
	// except in a transition whose Out is Free.
	Action func(*Firing)
}

// Guard decides, from keys alone, whether a combination of tokens may be
// consumed. Compile tabulates it, so it must be a pure function.
type Guard func(*Keys) bool

// Forever is the latest firing time of a transition that may wait for ever.
const Forever = time.Duration(math.MaxInt64)

// Interval is a closed firing interval in net time, counted from the instant
// the transition became enabled. The zero value is at once.
type Interval struct{ Earliest, Latest time.Duration }

// After fires exactly d after the transition became enabled.
func After(d time.Duration) Interval { return Interval{d, d} }

// Between fires between a and b after the transition became enabled. Nets that
// run wait for points; proper intervals belong to environment automata.
func Between(a, b time.Duration) Interval { return Interval{a, b} }

// Anytime fires at any time or never. For environment automata.
func Anytime() Interval { return Interval{0, Forever} }

// AtOnce reports whether the interval is [0,0].
func (i Interval) AtOnce() bool { return i.Latest == 0 }

// Point reports whether the interval is a single instant, so that a machine
// can run it.
func (i Interval) Point() bool { return i.Earliest == i.Latest }

// String is "at once", "after 300ms", "[1s,2s]" or "[0s,inf)".
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

// Split says what a firing produces: one branch of And, or one of several
// branches of Xor or Free. The zero value produces nothing.
type Split struct {
	branches []Arcs
	choose   func(*Keys) int
	free     bool
	xor      bool
}

// And produces tokens on every arc.
func And(arcs ...AnyArc) Split { return Split{branches: []Arcs{arcs}} }

// Xor produces tokens on exactly one of the branches, chosen by keys: see By.
func Xor(branches ...Arcs) Split { return Split{branches: branches, xor: true} }

// Arcs returns the arcs of the first branch: all there are of an And.
func (s Split) Arcs() Arcs {
	if len(s.branches) == 0 {
		return nil
	}
	return append(Arcs(nil), s.branches[0]...)
}

// By sets the choice of an Xor: the index of the branch. It is tabulated by
// Compile, so it must be a pure function of keys.
func (s Split) By(choose func(*Keys) int) Split { s.choose = choose; return s }

// Free produces tokens on exactly one of the branches, chosen by the action
// with Firing.Choose because the choice depends on a payload. A proof explores
// every branch.
func Free(branches ...Arcs) Split { return Split{branches: branches, free: true} }

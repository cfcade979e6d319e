package verify

import (
	"context"
	"fmt"
)

// Property is something a net must keep, as a declared value. Those of this
// package are made by functions: DeadlockFree, Bounded, Never and so on.
type Property struct {
	Name string // short and unique: it is how a report and a command line name it
	Doc  string // one sentence
	// Requires are properties without which a proof of this one means
	// nothing. If one of them is not proved, this one is at best Unknown.
	Requires []*Property
	// Claim is what exactly is claimed, so that a certificate can carry it, if it is
	// about every marking alone or about moves; Bad then tells the markings that break
	// it, Moves the moves. Without either the claim is that nothing exceeds a capacity.
	Claim string
	Bad   func(m *Model) (func(marking []int32) bool, error)
	// BadPassing, if not nil, tells the passing markings that break it, given
	// the kinds of frame that wait somewhere; what it returns may be nil.
	BadPassing func(m *Model, waits func(slot int32) bool) (PassingCond, error)
	// Moves, if not nil, is the claim if it is one about moves.
	Moves func(m *Model) (*MoveClaim, error)
	move  *Move // the same, if a certificate can carry it
	// Waits are the transitions whose waits alone decide the claim, if it is
	// about time: whatever else waits may be taken to wait for any time.
	Waits []string
	// Safety marks a property that is about each run by itself and that every net
	// keeps which has fewer runs: what is proved of a slice holds of the whole.
	Safety bool
	// Local marks a Safety property of which a slice tells only what concerns the
	// transitions that it has exactly; see RunParts.
	Local bool
	// Expr is the expression that the property is about, if it is about one: a
	// slice then has the places it names.
	Expr  string
	loose bool // names in Expr that the net does not have hold no token
	// Watch is the claim if it is about time: what an observer never sees. A
	// certificate of it is a list of classes of the observed net.
	Watch *Watch
	// MayRefuse are environment places that may turn tokens away.
	MayRefuse []string
	// OpenWorld marks a check of the structure that needs no environment. A
	// proof of any other property over a net whose environment was left out
	// becomes Unknown.
	OpenWorld bool
	// Breaks, if not nil, judges the runs that Check finds: it returns the first
	// firing after which a run breaks the property (shows it, for Reach), -1 for the
	// start, or false. Without it Bad, Watch and the capacities judge.
	Breaks func(*Trace) (firing int, ok bool)
	// Check decides. An error means that the question is wrong (an unknown
	// place, text that does not parse) or that ctx has ended; not knowing is
	// a verdict.
	Check func(ctx context.Context, pass *Pass) (Verdict, error)
}

// Outcome is the answer of a check. The zero value is Unknown, which is never
// success.
type Outcome uint8

// The outcomes of a check.
const (
	Unknown Outcome = iota
	Proved
	Refuted
)

// String is the outcome in a word.
func (o Outcome) String() string { return [...]string{"unknown", "proved", "refuted"}[o] }

// MarshalText writes the word.
func (o Outcome) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText reads the word.
func (o *Outcome) UnmarshalText(b []byte) error {
	for _, v := range []Outcome{Unknown, Proved, Refuted} {
		if v.String() == string(b) {
			*o = v
			return nil
		}
	}
	return fmt.Errorf("verify: outcome %q is none of proved, refuted, unknown", b)
}

// Cause says why a verdict is Unknown.
type Cause string

// Why a verdict is Unknown.
const (
	Capped      Cause = "cap"         // the state space is larger than the cap
	Faulty      Cause = "fault"       // the net breaks its own rules: no run goes on after that
	OpenEnv     Cause = "environment" // the environment was left out
	Spurious    Cause = "spurious"    // a counterexample did not replay
	Sliced      Cause = "slice"       // a counterexample in a slice, which may do more than the net
	Vacuous     Cause = "vacuous"     // transitions that never fire
	Unsupported Cause = "unsupported" // the method does not cover this net
	Unproved    Cause = "requires"    // a required property is not proved
	Solver      Cause = "solver"      // missing, late, noisy or at odds
)

// Verdict is what a check found out.
type Verdict struct {
	Outcome Outcome
	Method  string // how: "explicit", "flows", "state classes", "structure", ...
	Cause   Cause  // why Unknown
	Reason  string // one sentence: what was found
	States  int    // how many states or classes were looked at
	// Witness of what Refuted says (for Reach: of what Proved says).
	Witness *Witness
	// Certificate of a proof, if the method makes one.
	Certificate *Certificate
}

// unknown makes a verdict that gives a cause and a reason.
func unknown(method string, cause Cause, format string, args ...any) Verdict {
	return Verdict{Method: method, Cause: cause, Reason: fmt.Sprintf(format, args...)}
}

// refuted makes a verdict with a reason.
func refuted(method, format string, args ...any) Verdict {
	return Verdict{Outcome: Refuted, Method: method, Reason: fmt.Sprintf(format, args...)}
}

// proved makes a verdict with a reason.
func proved(method, format string, args ...any) Verdict {
	return Verdict{Outcome: Proved, Method: method, Reason: fmt.Sprintf(format, args...)}
}

package verify

import (
	"context"
	"fmt"

	"github.com/voicegw/voicegw/verify/check"
	"github.com/voicegw/voicegw/verify/claim"
	"github.com/voicegw/voicegw/verify/witness"
)

// Property is something that a net must keep, as a declared value. The functions of this package
// make properties: DeadlockFree, Bounded, Never and so on.
type Property struct {
	Name string // short and unique: reports and command lines use it
	Doc  string // one sentence
	// Requires lists properties without which a proof of this one means nothing. If one of them is
	// not proved, this one is at best Unknown.
	Requires []*Property
	// Claim is what the property claims; nil if only Check defines it.
	Claim claim.Claim
	// Waits lists the transitions whose waits alone decide a claim about time: all other waits may
	// be treated as open.
	Waits []string
	// Check decides. It returns an error if the question is wrong (an unknown place, text that does
	// not parse) or ctx has ended. If it cannot decide, the verdict is Unknown and there is no
	// error.
	Check func(ctx context.Context, pass *Pass) (Verdict, error)
}

// Outcome is the answer of a check. The zero value is Unknown, which is never success.
type Outcome uint8

// The outcomes of a check.
const (
	Unknown Outcome = iota
	Proved
	Refuted
)

// String is the outcome as a word.
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
	return fmt.Errorf("verify: outcome %q; want proved, refuted or unknown", b)
}

// Cause is the reason why a verdict is Unknown.
type Cause string

// The causes of an Unknown verdict.
const (
	Capped      Cause = "cap"         // the state space is larger than the cap
	Faulty      Cause = "fault"       // the net breaks its own rules, and no run continues after that
	OpenEnv     Cause = "environment" // the environment was left out
	Spurious    Cause = "spurious"    // a counterexample failed to replay
	Sliced      Cause = "slice"       // a counterexample in a slice, which may do more than the net
	Vacuous     Cause = "vacuous"     // some transitions never fire
	Unsupported Cause = "unsupported" // the method does not cover this net
	Unproved    Cause = "requires"    // a required property is not proved
	Solver      Cause = "solver"      // a solver is missing, too slow, unreadable or contradicts another
)

// Verdict is the result of a check.
type Verdict struct {
	Outcome Outcome
	Method  string // "explicit", "flows", "state classes", "structure", ...
	Cause   Cause  // why the outcome is Unknown
	Reason  string // one sentence: the finding
	States  int    // number of states or classes visited
	// Witness is a run that shows a refutation (for Reach: a proof).
	Witness *witness.Witness
	// Certificate of a proof, if the method makes one.
	Certificate *check.Certificate
}

// unknown makes an Unknown verdict with a cause and a reason.
func unknown(method string, cause Cause, format string, args ...any) Verdict {
	return Verdict{Method: method, Cause: cause, Reason: fmt.Sprintf(format, args...)}
}

// refuted makes a Refuted verdict with a reason.
func refuted(method, format string, args ...any) Verdict {
	return Verdict{Outcome: Refuted, Method: method, Reason: fmt.Sprintf(format, args...)}
}

// proved makes a Proved verdict with a reason.
func proved(method, format string, args ...any) Verdict {
	return Verdict{Outcome: Proved, Method: method, Reason: fmt.Sprintf(format, args...)}
}

// Claims returns the claims of properties.
func Claims(props ...*Property) []claim.Claim {
	var out []claim.Claim
	for _, p := range props {
		out = append(out, p.Claim)
	}
	return out
}

package claim

import (
	"fmt"

	"github.com/voicegw/voicegw/verify/netmodel"
)

// Watch is a claim about time: what an observer never sees.
type Watch struct {
	Observer netmodel.Observer
	// Soonest claims that no stop comes sooner than Limit after any start: the observer counts from
	// the latest start. Otherwise the claim is that a stop follows each start sooner than Limit,
	// and before the end of the run.
	Soonest bool
}

// Text names the events and the limit.
func (w Watch) Text() string {
	kind := "always sooner than"
	if w.Soonest {
		kind = "never sooner than"
	}
	return fmt.Sprintf("%q comes %s %dns after %q", w.Observer.Stop, kind, w.Observer.Limit, w.Observer.Start)
}

// Scope is Whole.
func (Watch) Scope() Scope { return Whole }

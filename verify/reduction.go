package verify

import (
	"github.com/voicegw/voicegw/verify/claim"
	"github.com/voicegw/voicegw/verify/explore"
)

// reductionFor returns what the properties need of a graph; nil if they need all of it.
func reductionFor(props []*Property) *explore.Reduction {
	r := &explore.Reduction{}
	for _, p := range props {
		expr := claim.ExprOf(p.Claim)
		switch _, deadlocks := p.Claim.(claim.DeadlockFree); {
		case len(p.Requires) > 0:
			return nil
		case expr != "":
			r.Exprs = append(r.Exprs, expr)
		case !deadlocks:
			return nil
		}
	}
	return r
}

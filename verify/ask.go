package verify

import (
	"fmt"

	"github.com/voicegw/voicegw/verify/claim"
)

// Ask makes a property from a claim that exploration without time decides. It accepts the claims
// that claim.Parse reads; package stateclass decides claims about time.
func Ask(c claim.Claim) (*Property, error) {
	switch c := c.(type) {
	case claim.DeadlockFree:
		return DeadlockFree(), nil
	case claim.Never:
		return Never(c.Expr), nil
	case claim.Reach:
		return Reach(c.Expr), nil
	case claim.LeadsTo:
		return LeadsTo(c.First, c.Then), nil
	case claim.Fires:
		return Fires(c.Transitions...), nil
	}
	return nil, fmt.Errorf("verify: ask: exploration without time does not decide %#v", c)
}

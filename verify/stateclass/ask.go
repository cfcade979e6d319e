package stateclass

import (
	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/verify/claim"
)

// Ask is verify.Ask with time. It decides claims that one thing leads to another without time,
// because strong fairness says nothing about waits.
func Ask(c claim.Claim, o Options) (*verify.Property, error) {
	switch c := c.(type) {
	case claim.DeadlockFree:
		return DeadlockFree(o), nil
	case claim.Never:
		return Never(c.Expr, o), nil
	case claim.Reach:
		return Reach(c.Expr, o), nil
	case claim.Fires:
		return Fires(o, c.Transitions...), nil
	case claim.Watch:
		return within(c.Observer, o), nil
	}
	return verify.Ask(c)
}

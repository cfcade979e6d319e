package access

import (
	"errors"
	"fmt"

	"github.com/voicegw/voicegw/transport"
)

// limited is the refusal of a call for a limit.
func (g *Guard) limited(d *denial) error {
	g.stats.Denied[d.of+" "+d.limit]++
	return &transport.Refused{Reason: transport.ReasonLimit, RetryAfter: d.retryAfter,
		Err: fmt.Errorf("access: the %s has reached its limit of %s", d.of, d.limit)}
}

// unauthorized is the refusal of a call for its token. The message tells the caller only what an
// honest caller can correct; problem goes to the log.
func (g *Guard) unauthorized(problem error) error {
	r := &transport.Refused{Reason: transport.ReasonUnauthorized, Message: "The call token is not valid.",
		Err: problem}
	kind := "token"
	switch {
	case errors.Is(problem, errNoToken):
		kind, r.Message = "no token", "A call token is needed."
	case errors.Is(problem, errExpired):
		kind, r.Message = "expired token", "The call token has expired. Get a new one."
	case errors.Is(problem, errEarly):
		r.Message = "The call token is not valid yet."
	case errors.Is(problem, errUsed):
		kind, r.Message = "used token", "The call token was used before. Get a new one for each call."
	case errors.Is(problem, errNoKeys):
		kind, r.Reason, r.RetryAfter = "no keys", transport.ReasonBusy, crowdedRetry
		r.Message = "Tokens cannot be checked now."
	case errors.Is(problem, errCrowded):
		return g.crowded()
	}
	g.stats.Denied[kind]++
	return r
}

// crowded is the refusal of a call that the guard has no room to count.
func (g *Guard) crowded() error {
	g.stats.Denied["crowded"]++
	return &transport.Refused{Reason: transport.ReasonBusy, Message: "The server cannot count another caller now.",
		RetryAfter: crowdedRetry, Err: errCrowded}
}

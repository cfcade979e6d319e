package transport

import (
	"context"
	"fmt"
	"time"
)

// Lines are a gateway's lines, as a door sees them: one is taken before a handshake costs anything. A door is given
// Lines and takes calls with them; *voicegw.Gateway implements it. Safe for concurrent use.
type Lines interface {
	// Take takes a line, or says with a *Refused why there is none now. hangUp is called, at most once and not before
	// Take returns, when the gateway goes away while the handshake is still under way; it may be nil. Release must
	// follow.
	Take(hangUp func()) (Line, error)
}

// Line is the right to one call.
type Line interface {
	// Check says whether a call with this hello is taken: nil, a *Refused or a *FieldError. A door that can still say
	// no on its own wire, with a status or a message, asks before it accepts; Call asks for every other one. A single
	// use token is used up by the first Check.
	Check(ctx context.Context, h *Hello) error
	// Call runs the call until it ends, and closes the peer. It returns nil for an ordinary end. It is called at most
	// once. When ctx is done the call ends as going away.
	Call(ctx context.Context, p Peer) error
	// Release gives the line back. It may be called more than once.
	Release()
}

// Refused says why a call is not taken: ReasonBusy, ReasonGoingAway, ReasonLimit, ReasonUnauthorized, ReasonBadHello.
type Refused struct {
	Reason     Reason
	Message    string        // for people; empty: the reason's own. It names no secret.
	RetryAfter time.Duration // when to try again, 0: it makes no sense
	Err        error         // the cause, for logs
}

// Error names the reason, the message and the cause.
func (r *Refused) Error() string {
	s := fmt.Sprintf("transport: call refused: %s (%s)", r.Text(), r.Reason)
	if r.Err != nil {
		s += ": " + r.Err.Error()
	}
	return s
}

// Unwrap returns the cause.
func (r *Refused) Unwrap() error { return r.Err }

// Text is the message, or the reason's own.
func (r *Refused) Text() string {
	if r.Message != "" {
		return r.Message
	}
	return r.Reason.Message()
}

// Status is the HTTP status that says so: 503 for busy and going away, 429 for a limit, 401 for unauthorized, 400 for
// a hello that cannot be taken, else 500.
func (r *Refused) Status() int {
	switch r.Reason {
	case ReasonBusy, ReasonGoingAway:
		return 503
	case ReasonLimit:
		return 429
	case ReasonUnauthorized:
		return 401
	case ReasonBadHello:
		return 400
	}
	return 500
}

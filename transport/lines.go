package transport

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"
)

// Lines are a gateway's lines, as a door sees them. A door is given Lines and takes calls with them;
// (*voicegw.Gateway).Lines returns those of a gateway, behind its guard. Safe for concurrent use.
type Lines interface {
	// Take begins a handshake, before it costs anything, or says with a *Refused why no call can be taken now: all lines
	// are in use, or the gateway goes away. A handshake holds no line until Check accepts its hello. Handshakes are
	// bounded, per address and in all; one too many gives up the oldest. Release must follow.
	Take(h Handshake) (Line, error)
}

// Handshake is what a door knows of a call that begins. The zero value is a stranger of no address.
type Handshake struct {
	// Remote is the network address of the far end, without port; handshakes without one count as one address.
	Remote string
	// Proven says that the request itself showed who sends it, by a signature or a password that the door checked. Such
	// a handshake takes its line at once and is never given up for another one.
	Proven bool
	// GiveUp, if not nil, is called when the handshake is to end before its call begins, because the gateway goes away
	// or a newer handshake takes its place; cause is a *Refused. It may be called by any goroutine, more than once, and
	// must not block. A context.CancelCauseFunc is one.
	GiveUp func(cause error)
}

// Line is one call, from its handshake to its end.
type Line interface {
	// Check says whether a call with this hello is taken: nil, a *Refused or a *FieldError. From then on it holds one of
	// the gateway's lines. A door that can still say no on its own wire, with a status or a message, asks before it
	// accepts; Call asks for every other one. A single use token is used up by the first Check that returns nil.
	Check(ctx context.Context, h *Hello) error
	// Call runs the call until it ends, and closes the peer. It returns nil for an ordinary end. It is called at most
	// once. When ctx is done the call ends as going away.
	Call(ctx context.Context, p Peer) error
	// Release gives back the line, or the place of the handshake. It may be called more than once.
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

// GivenUp is why the handshake of this context, which is done, ends: the *Refused that is its cause, else that the
// gateway goes away.
func GivenUp(ctx context.Context) *Ended {
	refused := &Refused{Reason: ReasonGoingAway}
	errors.As(context.Cause(ctx), &refused)
	return &Ended{Reason: refused.Reason, Message: refused.Text(), Err: context.Cause(ctx)}
}

// Network is what counts as one network address: an IPv4 address, or the /64 of an IPv6 address,
// because one machine has a whole one. remote is an address without port; what is none counts as it is
// written.
func Network(remote string) string {
	ip, err := netip.ParseAddr(remote)
	if err != nil {
		return remote
	}
	ip = ip.Unmap().WithZone("")
	if ip.Is4() {
		return ip.String()
	}
	p, _ := ip.Prefix(64)
	return p.String()
}

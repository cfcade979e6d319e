package transport

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"
)

// Lines are a gateway's lines, as an endpoint sees them. An endpoint takes its calls with them.
// (*voicegw.Gateway).Lines returns the lines of a gateway, behind its admission guard. Safe for
// concurrent use.
type Lines interface {
	// Take begins a handshake, before it costs anything. It returns a *Refused when no call can be
	// taken now: all lines are in use, or the gateway is going away. A handshake holds no line
	// until Check accepts its hello. The number of handshakes is bounded, per address and in all;
	// one too many ends the oldest. Release must follow.
	Take(h Handshake) (Line, error)
}

// Handshake is what an endpoint knows about a call that begins. The zero value is an unproven
// handshake without an address.
type Handshake struct {
	// Remote is the network address of the far end, without port. Handshakes without an address
	// count as one address.
	Remote string
	// Proven says that the endpoint verified the sender of the request, by a signature or a
	// password. Such a handshake takes its line at once and never ends in favour of another one.
	Proven bool
	// GiveUp, if not nil, is called when the handshake must end before its call begins: the gateway
	// is going away, or a newer handshake takes its place. cause is a *Refused. Any goroutine may
	// call it, more than once; it must not block. A context.CancelCauseFunc fits.
	GiveUp func(cause error)
}

// Line is one call, from its handshake to its end.
type Line interface {
	// Check decides whether the gateway takes a call with this hello. It returns nil, a *Refused or
	// a *FieldError. After nil the call holds one of the gateway's lines. An endpoint that can
	// still refuse in its own protocol, with a status or a message, calls Check before it accepts;
	// Call does it for the others. The first Check that returns nil uses up a single-use token.
	Check(ctx context.Context, h *Hello) error
	// Call runs the call until it ends, and closes the peer. It returns nil for an ordinary end. It
	// must be called at most once. When ctx is done the call ends as going away.
	Call(ctx context.Context, p Peer) error
	// Release gives back the line, or the place of the handshake. It may be called more than once.
	Release()
}

// admitter is a Line that can admit a caller before the settings of the call are known.
type admitter interface {
	Admit(ctx context.Context, h *Hello) (until time.Time, err error)
}

// Admit verifies the token of a hello whose other settings are not known yet. Endpoints need it
// whose clients configure the call over a connection that is accepted first. Admit counts the caller
// against its limits, and takes the token out of the hello. until is the time at which the token
// expires, zero for none. Check must follow with the same hello; if it does not, Release gives the
// token back. A line without a guard admits everybody. The error is a *Refused.
func Admit(ctx context.Context, l Line, h *Hello) (until time.Time, err error) {
	if a, ok := l.(admitter); ok {
		return a.Admit(ctx, h)
	}
	return time.Time{}, nil
}

// Refused says why a call is not taken: ReasonBusy, ReasonGoingAway, ReasonLimit,
// ReasonUnauthorized or ReasonBadHello.
type Refused struct {
	Reason     Reason
	Message    string        // for people; empty means the text of the reason. It contains no secret.
	RetryAfter time.Duration // when to try again; 0 means that a retry is useless
	Err        error         // the cause, for logs
}

// Error returns the reason, the message and the cause.
func (r *Refused) Error() string {
	s := fmt.Sprintf("transport: call refused: %s (%s)", r.Text(), r.Reason)
	if r.Err != nil {
		s += ": " + r.Err.Error()
	}
	return s
}

// Unwrap returns the cause.
func (r *Refused) Unwrap() error { return r.Err }

// Text returns the message, or the text of the reason if there is none.
func (r *Refused) Text() string {
	if r.Message != "" {
		return r.Message
	}
	return r.Reason.Message()
}

// Status returns the HTTP status of the reason.
func (r *Refused) Status() int { return r.Reason.Status() }

// GivenUp returns the refusal of a handshake whose ctx is done: the cause of ctx if it is a
// *Refused, otherwise going away.
func GivenUp(ctx context.Context) *Ended {
	refused := &Refused{Reason: ReasonGoingAway}
	errors.As(context.Cause(ctx), &refused)
	return End(refused.Reason, refused.Text(), context.Cause(ctx))
}

// Refusal returns how a handshake ends when Lines.Take, Line.Check or the reader of the hello
// refused it with err. An internal error of the gateway becomes ReasonInternal; its text is not
// sent.
func Refusal(ctx context.Context, err error) *Ended {
	var ended *Ended
	var refused *Refused
	var field *FieldError
	switch {
	case errors.As(err, &ended):
		return ended
	case errors.As(err, &refused):
		return End(refused.Reason, refused.Text(), err)
	case errors.As(err, &field):
		return End(ReasonBadHello, field.Error(), err)
	case errors.Is(err, context.Canceled), errors.Is(ctx.Err(), context.Canceled):
		return GivenUp(ctx)
	}
	return End(ReasonInternal, "", err)
}

// Network returns what counts as one network address: an IPv4 address, or the /64 of an IPv6
// address, because one machine has a whole /64. remote is an address without port; a string that is
// not an address is returned unchanged.
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

package transport

import (
	"cmp"
	"errors"
	"fmt"
)

// ErrStalled says that the far end did not take a message within the write timeout. Only Close may
// follow.
var ErrStalled = errors.New("transport: the far end stopped reading")

// Ended is the error of a Peer whose call is over.
type Ended struct {
	Reason  Reason
	Message string // for people; never empty when a Peer returned it
	Err     error  // what happened on the connection; nil when an end was agreed
}

// End makes the error of a call that has ended. ReasonNone becomes [ReasonDone]; an empty message
// becomes the text of the reason.
func End(r Reason, message string, err error) *Ended {
	if r == ReasonNone {
		r = ReasonDone
	}
	return &Ended{Reason: r, Message: cmp.Or(message, r.Message()), Err: err}
}

// Error returns the reason, the message and the cause.
func (e *Ended) Error() string {
	s := fmt.Sprintf("transport: call ended: %s (%s)", e.Message, e.Reason)
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap returns the cause.
func (e *Ended) Unwrap() error { return e.Err }

// Is reports whether target is [ErrStalled] and the call ended with [ReasonPeerStalled].
func (e *Ended) Is(target error) bool { return target == ErrStalled && e.Reason == ReasonPeerStalled }

// ReasonOf returns why a Peer failed with err: the reason of an [Ended], [ReasonPeerStalled] for
// [ErrStalled], [ReasonPeerLost] for any other error, and [ReasonNone] for nil.
func ReasonOf(err error) Reason {
	var ended *Ended
	switch {
	case err == nil:
		return ReasonNone
	case errors.As(err, &ended):
		return ended.Reason
	case errors.Is(err, ErrStalled):
		return ReasonPeerStalled
	}
	return ReasonPeerLost
}

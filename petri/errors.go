package petri

import (
	"errors"
	"fmt"
)

// Errors of Machine.Inject that a caller branches on.
var (
	// ErrFull says that the place refuses more tokens than its capacity.
	ErrFull = errors.New("the place is full")
	// ErrEnded says that the run is over: its final place is marked.
	ErrEnded = errors.New("the run has ended")
	// ErrFaulted says that an earlier call panicked; the marking is void.
	ErrFaulted = errors.New("the run has faulted")
	// ErrPast says that a stamp is older than the machine.
	ErrPast = errors.New("the stamp is older than the machine")
	// ErrPlace says that tokens cannot be injected there.
	ErrPlace = errors.New("not an environment place of this net")
	// ErrColour says that the token has another colour than the place.
	ErrColour = errors.New("the token has the wrong colour")
)

// InjectError says which token could not be injected and why; errors.Is sees
// the reason.
type InjectError struct {
	Place  string
	Detail string
	Reason error
}

// Error is the place and the reason.
func (e *InjectError) Error() string {
	s := fmt.Sprintf("petri: inject at %q: %v", e.Place, e.Reason)
	if e.Detail != "" {
		s += " (" + e.Detail + ")"
	}
	return s
}

// Unwrap returns the reason.
func (e *InjectError) Unwrap() error { return e.Reason }

// Fault is what a machine panics with when a net breaks its own rules: an
// action that produces what was not declared, a place beyond its capacity, a
// chain of firings that does not end. It names the places involved; the
// machine is void afterwards.
type Fault struct {
	Net, Transition, Place string
	Problem                string
}

// Error names the net, the transition and the place.
func (f *Fault) Error() string {
	s := "petri: net " + f.Net
	if f.Transition != "" {
		s += ": transition " + f.Transition
	}
	if f.Place != "" {
		s += ": place " + f.Place
	}
	return s + ": " + f.Problem
}

package petri

import (
	"errors"
	"fmt"
)

// Errors of Machine.Inject. They come wrapped in an *InjectError.
var (
	// ErrFull means that the place holds as many tokens as its capacity allows.
	ErrFull = errors.New("the place is full")
	// ErrEnded means that the run is over: its final place is marked.
	ErrEnded = errors.New("the run has ended")
	// ErrFaulted means that an earlier call panicked. The marking is void.
	ErrFaulted = errors.New("the run has faulted")
	// ErrPast means that the injection is stamped earlier than the machine's net time.
	ErrPast = errors.New("the stamp is earlier than the machine's time")
	// ErrPlace means that the net has no environment place of that name.
	ErrPlace = errors.New("not an environment place of this net")
	// ErrColour means that the token's colour is not the colour of the place, or that its key or
	// generation is out of range.
	ErrColour = errors.New("the token has the wrong colour")
)

// InjectError says which token could not be injected and why. It wraps the reason.
type InjectError struct {
	Place  string // name of the place
	Detail string // more about the reason; may be ""
	Reason error  // one of the errors above
}

// Error returns the place, the reason and the detail as text.
func (e *InjectError) Error() string {
	s := fmt.Sprintf("petri: inject at %q: %v", e.Place, e.Reason)
	if e.Detail != "" {
		s += " (" + e.Detail + ")"
	}
	return s
}

// Unwrap returns the reason.
func (e *InjectError) Unwrap() error { return e.Reason }

// Fault is the value with which a machine panics when a net breaks its own rules: an action
// produces what is not declared, a place exceeds its capacity, or a chain of firings does not end.
// It names the net, and the transition and place where they are known. The machine is void
// afterwards.
type Fault struct {
	Net, Transition, Place string
	Problem                string
}

// Error returns the names and the problem as text.
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

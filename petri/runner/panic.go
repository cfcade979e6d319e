package runner

import (
	"fmt"
	"runtime/debug"
)

// PanicError is the error of a run in which an action of the net, Config.Out or the store panicked.
type PanicError struct {
	Value any    // argument of panic; a *petri.Fault if a net broke its own rules
	Stack []byte // of the loop
}

func newPanic(v any) *PanicError { return &PanicError{Value: v, Stack: debug.Stack()} }

// Error returns the value as text, without the stack.
func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// Unwrap returns the value if it is an error, and nil otherwise.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

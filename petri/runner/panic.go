package runner

import (
	"fmt"
	"runtime/debug"
)

// PanicError says that the net's actions, Config.Out or the store panicked.
type PanicError struct {
	Value any    // what was given to panic; a *petri.Fault when a net broke its own rules
	Stack []byte // of the loop
}

func newPanic(v any) *PanicError { return &PanicError{Value: v, Stack: debug.Stack()} }

// Error is the panic's value as text, without the stack.
func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// Unwrap returns the value if it is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

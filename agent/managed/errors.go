package managed

import (
	"errors"
	"fmt"
	"time"
)

// Code is the kind of an Error.
type Code string

// The kinds of errors.
const (
	Invalid    Code = "invalid"    // the request is wrong; Param names the part
	NotFound   Code = "not_found"  // there is no such thing, or it belongs to somebody else
	Conflict   Code = "conflict"   // the thing is not in the state that the request needs
	TooMany    Code = "too_many"   // a limit of the owner or of the session is reached; try again later
	Quota      Code = "quota"      // a limit of the owner is reached, until the owner archives or deletes something
	Storage    Code = "storage"    // the journal cannot store
	Mismatch   Code = "mismatch"   // a session cannot be recovered: its journal tells another story than its agent
	Overloaded Code = "overloaded" // the node takes no more sessions now
	Elsewhere  Code = "elsewhere"  // another node has the session; Node and Address say which
)

// Error is why a request was refused. No other error of this package tells a client anything.
type Error struct {
	Code    Code
	Param   string // path of the part that is wrong, such as "tools[2].name"; may be empty
	Message string
	Wait    time.Duration // of TooMany: when to try again; 0 if nobody knows
	Err     error         // the cause, for the log; may be nil
	// Node is the name of the node that has the session, and Address where its API is; with Elsewhere.
	Node, Address string
}

// Error returns the message, with the part that is wrong.
func (e *Error) Error() string {
	if e.Param != "" {
		return e.Param + ": " + e.Message
	}
	return e.Message
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// CodeOf returns the kind of an error; "" if it is no Error.
func CodeOf(err error) Code {
	if e := (*Error)(nil); errors.As(err, &e) {
		return e.Code
	}
	return ""
}

func invalid(param, format string, args ...any) *Error {
	return &Error{Code: Invalid, Param: param, Message: fmt.Sprintf(format, args...)}
}

// because returns e with its cause.
func because(e *Error, cause error) *Error {
	e.Err = cause
	return e
}

func notFound(what, id string) *Error {
	return &Error{Code: NotFound, Message: fmt.Sprintf("there is no %s %q", what, id)}
}

func conflict(format string, args ...any) *Error {
	return &Error{Code: Conflict, Message: fmt.Sprintf(format, args...)}
}

func errStopping() *Error {
	return &Error{Code: Overloaded, Message: "the node is stopping; try again"}
}

package main

import "fmt"

// answer is a result that is not the good one, with the exit code that says so to a script.
type answer struct {
	code int
	text string
}

// Error is the result in words.
func (a *answer) Error() string { return a.text }

func answerf(code int, format string, args ...any) error {
	return &answer{code, fmt.Sprintf(format, args...)}
}

package main

import "fmt"

// answer is a negative result: its text, and the exit code that reports it to scripts.
type answer struct {
	code int
	text string
}

// Error returns the result in words.
func (a *answer) Error() string { return a.text }

func answerf(code int, format string, args ...any) error {
	return &answer{code, fmt.Sprintf(format, args...)}
}

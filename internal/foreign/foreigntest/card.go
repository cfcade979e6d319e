// Package foreigntest tests that an endpoint quotes nothing of what callers send.
package foreigntest

import (
	"errors"
	"regexp"
	"strings"
	"testing"
)

// Card stands for what a caller keys or types: a card number, which JSON takes as a string and as a number.
const Card = "4111222233334444"

// bytesMax is how far into a message Card goes byte by byte.
const bytesMax = 300

// Seed seeds a fuzz target of two strings, what comes before Card and what comes behind it: Card at every byte of the
// beginnings of messages, and in place of each of their values.
func Seed(f *testing.F, messages ...string) {
	f.Helper()
	value := regexp.MustCompile(`:\s*("[^"]*"|-?[0-9.]+|true|false|null|\{\}|\[\])`)
	for _, m := range messages {
		for i := range min(len(m), bytesMax) + 1 {
			f.Add(m[:i], m[i:])
		}
		for _, at := range value.FindAllStringSubmatchIndex(m, -1) {
			before, behind := m[:at[2]], m[at[3]:]
			f.Add(before, behind)
			f.Add(before+`"`, `"`+behind)
			f.Add(before+`["`, `"]`+behind)
			f.Add(before+`{"`, `":1}`+behind)
		}
	}
}

// Unquoted fails if an error, or one it wraps, shows Card.
func Unquoted(t *testing.T, err error) {
	t.Helper()
	for ; err != nil; err = errors.Unwrap(err) {
		if strings.Contains(err.Error(), Card) {
			t.Fatalf("the refusal quotes what was sent: %v", err)
		}
	}
}

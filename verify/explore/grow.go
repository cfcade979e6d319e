package explore

import (
	"slices"
)

// grow returns the slice with capacity for n more elements. If it must reallocate, it doubles the
// capacity.
func grow[T any](s []T, n int) []T {
	if len(s)+n <= cap(s) {
		return s
	}
	return slices.Grow(s, len(s)+n)
}

// Package slice cuts a part out of a composed net. A property of every run of the slice is a
// property of every run of the net.
//
// Slice defines what is kept. Uncovered and MayOverflow list what several slices together leave out.
package slice

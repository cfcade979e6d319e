// Package slice cuts a part out of a composed net. What is proved about every run of the slice
// holds for every run of the net.
//
// Slice defines what is kept. Uncovered and MayOverflow list what several slices together leave out.
package slice

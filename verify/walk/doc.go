// Package walk fires steps of a model: one step and everything that fires at once after it.
//
// A Walker serves explorations. Along, Story, Settled and Schedule follow one sequence of firings:
// where it leads, how it reads, and when it can happen.
package walk

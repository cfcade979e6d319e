// Package explore finds all markings that a net can reach when time is ignored.
//
// Explore returns a Graph of markings and of the steps between them. The graph has bounds, dead
// markings, the transitions that fire and paths to a state, and it lists its markings for
// certificates.
package explore

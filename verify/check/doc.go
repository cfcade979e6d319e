// Package check verifies certificates: lists of markings or of state classes that prove claims.
//
// It reads the tables of the program and fires by the letter of the semantics, simple where
// exploration is fast. It shares no code with exploration and must not import it: that independence
// is why a certificate counts as evidence. What both use is the program's tables (petri), the names
// and conditions of a model (netmodel, expr), and what a claim says of a marking or a move (claim).
package check

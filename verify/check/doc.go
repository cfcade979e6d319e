// Package check verifies certificates: lists of markings or of state classes that prove claims.
//
// It reads the tables of the program and fires by the letter of the semantics, simple where
// exploration is fast. It shares no code with what makes certificates and must not import it: that
// independence is why a certificate counts as evidence.
package check

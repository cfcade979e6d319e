// Package tidy tests the shape of the source tree: which package may import which, what the core may not touch, how
// long functions and lines get, what has a comment, what places are called, and whether the documents' links and
// commands exist. It exports nothing; `go test ./internal/tidy` is its only use.
//
// A rule is a function from one file or from the whole tree to complaints. Each has a negative test that shows it a
// source which breaks it. What a rule permits stands in a table at the top of its file; a complaint names the table.
package tidy

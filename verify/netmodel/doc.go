// Package netmodel lays out a program for proofs: the tables of its transitions, what each firing
// can enable or disable, and what names in expressions and events mean.
//
// A Model is immutable. It describes how the net fires and fires nothing itself: package walk fires
// for explorations, and package check has its own code.
package netmodel

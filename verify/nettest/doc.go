// Package nettest makes random nets for the tests of the packages under verify. A Weaver composes
// them of parts that share places; a seed makes one net. Tokens, Arcs, Classic and the like shorten
// nets that tests write out.
package nettest

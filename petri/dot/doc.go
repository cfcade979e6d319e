// Package dot draws nets, as text for Graphviz or as SVG.
//
//	text := dot.Graph(prog, dot.Options{})                         // for the program dot
//	svg, err := dot.SVG(prog, dot.Options{Marking: run.Marking()}) // needs no program
//
// Both drawings show input and output arcs with counts and keys. Inhibitor arcs end in a circle,
// read arcs are dashed, and reset arcs are bold and orange. A transition shows its wait and its
// priority. Each subnet has a frame. Every place is an element with the id "place:NAME", and every
// transition one with the id "transition:NAME", so that a page can animate a marking.
//
// The same program and options give the same bytes.
package dot

// Package dot draws nets: as text for Graphviz, and as SVG by itself.
//
//	text := dot.Graph(prog, dot.Options{})                         // for the dot program
//	svg, err := dot.SVG(prog, dot.Options{Marking: run.Marking()}) // needs no program
//
// Both show what a transition does: input and output arcs, with counts and
// keys; inhibitor arcs, which end in a circle; read arcs, dashed; reset arcs,
// bold and orange; how long it waits, and its priority. Subnets are framed.
// Every place is an element with the id "place:NAME" and every transition one
// with "transition:NAME", so that a page can show a marking moving on it.
//
// The same program and options give the same bytes.
package dot

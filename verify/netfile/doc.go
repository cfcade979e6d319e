// Package netfile reads and writes nets in common formats: TINA's .net format and PNML
// place/transition nets, as the standard, TINA, TAPAAL, PIPE and ProM write them.
//
//	f, err := netfile.Read("crossing.net", data)
//	prog, err := petri.Compile(f.Net)
//	m, err := f.Model(prog)
//	g, err := stateclass.Explore(ctx, m, stateclass.Options{})
//
// Immediate transitions interleave, as in the tools that write these files; nothing runs to
// completion. If a file contains anything that is unknown, or that the package cannot represent
// exactly, reading fails with an error that gives the line.
package netfile

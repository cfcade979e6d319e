// Package netfile reads and writes nets of the field: TINA's .net format and
// PNML place/transition nets, as the standard, TINA, TAPAAL, PIPE and ProM write
// them.
//
//	f, err := netfile.Read("crossing.net", data)
//	prog, err := petri.Compile(f.Net)
//	m, err := f.Model(prog)
//	g, err := stateclass.Explore(ctx, m, stateclass.Options{})
//
// Transitions that fire at once interleave, as in the tools these files come
// from; nothing runs to completion. What a file says and we cannot represent
// exactly, or do not know, is an error with its line.
package netfile

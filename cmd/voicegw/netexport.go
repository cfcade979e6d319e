package main

import (
	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify/netfile"
	"github.com/voicegw/voicegw/verify/netmodel"
)

// netFormats returns the formats that `voicegw net` prints.
func netFormats() []string { return []string{"dot", "svg", "json", "pnml", "tina"} }

// exportNet writes a net for other Petri net tools. It leaves the environment out: no token arrives
// from outside.
func exportNet(p *petri.Program, format string) ([]byte, error) {
	if format == "pnml" {
		return netfile.WritePNML(p)
	}
	return netfile.WriteTINA(p, netmodel.RunToCompletion)
}

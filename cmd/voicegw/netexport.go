package main

import (
	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/verify/netfile"
)

// netFormats are the formats in which net prints.
func netFormats() []string { return []string{"dot", "svg", "json", "pnml", "tina"} }

// exportNet writes a net for tools of the field. The net is open: nothing arrives in it from outside.
func exportNet(p *petri.Program, format string) ([]byte, error) {
	if format == "pnml" {
		return netfile.WritePNML(p)
	}
	return netfile.WriteTINA(p, verify.RunToCompletion)
}

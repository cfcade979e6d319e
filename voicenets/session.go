package voicenets

import (
	"fmt"

	"github.com/voicegw/voicegw/petri"
)

// Part names a subnet of a session.
type Part string

// The parts of a session.
const (
	PartSpeech        Part = "speech"
	PartTurns         Part = "turns"
	PartHints         Part = "hints"
	PartText          Part = "text"
	PartUplink        Part = "uplink"
	PartModel         Part = "model"
	PartPlayout       Part = "playout"
	PartWords         Part = "words"
	PartEars          Part = "ears"
	PartDigits        Part = "digits"
	PartPrompts       Part = "prompts"
	PartTools         Part = "tools"
	PartModelSilence  Part = "model_silence"
	PartCallerSilence Part = "caller_silence"
	PartLink          Part = "link"
	PartCall          Part = "call"
)

// part is one subnet a configuration has.
type part struct {
	name Part
	net  func(Config) *petri.Net
}

// parts are the subnets of a configuration, those of higher layers first.
func parts(c Config) []part {
	turns := manualTurns
	if !c.manual() {
		turns = serverTurns
	}
	list := []part{{PartSpeech, speechNet}, {PartTurns, turns}}
	if c.Hints && c.manual() && c.pauses() {
		list = append(list, part{PartHints, hintsNet})
	}
	list = append(list, part{PartText, textNet}, part{PartUplink, uplinkNet}, part{PartModel, modelTurnNet},
		part{PartPlayout, playoutNet}, part{PartWords, wordsNet}, part{PartEars, earsNet}, part{PartDigits, digitsNet},
		part{PartPrompts, promptsNet})
	if c.ToolSlots > 0 {
		list = append(list, part{PartTools, toolsNet})
	}
	list = append(list, part{PartModelSilence, modelSilence})
	if c.RepromptAfter > 0 {
		list = append(list, part{PartCallerSilence, callerSilence})
	}
	return append(list, part{PartLink, linkNet}, part{PartCall, callNet})
}

// Session is the net of a whole call: every subnet of this package, composed.
func Session(c Config) (*petri.Net, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	var nets []*petri.Net
	for _, p := range parts(c) {
		build := p.net
		if own, ok := c.Parts[p.name]; ok {
			build = own
		}
		if build != nil {
			nets = append(nets, build(c))
		}
	}
	n, err := petri.Compose("session", prune(nets)...)
	if err != nil {
		return nil, fmt.Errorf("voicenets: session: %w", err)
	}
	return n, nil
}

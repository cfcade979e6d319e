package voicenets

import (
	"fmt"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/voicenets/internal/prune"
)

// Part names a subnet of a session.
type Part string

// The parts of a session.
const (
	PartSpeech        Part = "speech"
	PartTurns         Part = "turns"
	PartHints         Part = "hints"
	PartText          Part = "text"
	PartContext       Part = "context"
	PartUplink        Part = "uplink"
	PartModel         Part = "model"
	PartPlayout       Part = "playout"
	PartTranscript    Part = "transcript"
	PartInputGate     Part = "input_gate"
	PartDigits        Part = "digits"
	PartPrompts       Part = "prompts"
	PartTools         Part = "tools"
	PartModelSilence  Part = "model_silence"
	PartCallerSilence Part = "caller_silence"
	PartLink          Part = "link"
	PartCall          Part = "call"
)

// part is one subnet of a configuration, with the function that makes it.
type part struct {
	name Part
	net  func(Config) *petri.Net
}

// parts returns the subnets of a configuration, those of higher layers first.
func parts(c Config) []part {
	turns := gatewayVADTurns
	if !c.gatewayVAD() {
		turns = modelVADTurns
	}
	list := []part{{PartSpeech, speechNet}, {PartTurns, turns}}
	if c.Hints && c.gatewayVAD() && c.pauses() {
		list = append(list, part{PartHints, hintsNet})
	}
	list = append(list, part{PartText, textNet}, part{PartContext, contextNet},
		part{PartUplink, uplinkNet}, part{PartModel, modelTurnNet},
		part{PartPlayout, playoutNet}, part{PartTranscript, transcriptNet}, part{PartInputGate, inputGateNet},
		part{PartDigits, digitsNet},
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

// Session returns the net of a whole call: the subnets of the configuration, composed. It returns
// an error if a setting of c is out of range or the subnets do not fit together.
func Session(c Config) (*petri.Net, error) {
	c, err := c.Filled()
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
	n, err := petri.Compose("session", prune.Prune(nets)...)
	if err != nil {
		return nil, fmt.Errorf("voicenets: session: %w", err)
	}
	return n, nil
}

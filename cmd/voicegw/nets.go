package main

import (
	"math"
	"strings"
	"time"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/petri/event"
	"github.com/voicegw/voicegw/voicenets"
)

// shippedNet is a net that calls run on.
type shippedNet struct {
	name, doc string
	config    voicenets.Config
}

// shippedNets returns the kinds of session of a gateway, the default first.
func shippedNets() []shippedNet {
	gatewayVAD := voicenets.Config{Greeting: true, ToolSlots: 2, Prompts: defaultPrompts()} // session.client_tools is all
	modelVAD, gatewayVADHalf, modelVADHalf := gatewayVAD, gatewayVAD, gatewayVAD
	modelVAD.Detection, modelVADHalf.Detection = voicenets.ModelVAD, voicenets.ModelVAD
	gatewayVADHalf.HalfDuplex, modelVADHalf.HalfDuplex = true, true
	return []shippedNet{
		{"session", "a call whose speech the gateway detects", gatewayVAD},
		{"session-half-duplex", "the same, with the input gate closed while a reply is playing", gatewayVADHalf},
		{"session-model-vad", "a call whose speech the model detects", modelVAD},
		{"session-model-vad-half-duplex", "the same, with the input gate closed while a reply is playing", modelVADHalf},
	}
}

// netNames returns the names of all nets of calls, whatever the settings are. A place or transition is
// in a net that has every option, or in one that has none.
func netNames() (event.NameSet, error) {
	names := event.NameSet{}
	for _, n := range shippedNets() {
		every := voicenets.Config{Greeting: true, GreetingFirm: true, Adaptive: true, Hints: true, Consent: true,
			Prompts: math.MaxUint8, ToolSlots: voicenets.SlotsMax, RepromptAfter: time.Minute}
		for _, c := range []voicenets.Config{every, {}} {
			c.Detection, c.HalfDuplex = n.config.Detection, n.config.HalfDuplex
			n.config = c
			p, err := n.program()
			if err != nil {
				return nil, err
			}
			names.Add(p)
		}
	}
	return names, nil
}

// defaultPrompts returns the prompts of a gateway without settings.
func defaultPrompts() voicenets.Prompts {
	return voicenets.Prompts(0).With(voicenets.Fallback).With(voicenets.Goodbye)
}

// findNet returns the net with a name; "" is the default. The error names the others, too.
func findNet(name string, others ...string) (shippedNet, error) {
	var names []string
	for _, n := range shippedNets() {
		if n.name == name || name == "" {
			return n, nil
		}
		names = append(names, n.name)
	}
	names = append(names, others...)
	return shippedNet{}, usagef("there is no net %q; %s", name,
		suggest(name, names, "the nets are "+strings.Join(names, ", ")))
}

// program compiles the net as calls run it.
func (n shippedNet) program() (*petri.Program, error) {
	net, err := voicenets.Session(n.config)
	if err != nil {
		return nil, err
	}
	return petri.Compile(net)
}

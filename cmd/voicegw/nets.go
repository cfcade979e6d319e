package main

import (
	"strings"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/voicenets"
)

// shippedNet is a net that calls run on.
type shippedNet struct {
	name, doc string
	config    voicenets.Config
}

// shippedNets are the sessions a gateway has, the default first.
func shippedNets() []shippedNet {
	manual := voicenets.Config{Greeting: true, Prompts: defaultPrompts()}
	server, deaf, serverDeaf := manual, manual, manual
	server.Detection, serverDeaf.Detection = voicenets.Server, voicenets.Server
	deaf.HalfDuplex, serverDeaf.HalfDuplex = true, true
	return []shippedNet{
		{"session", "a call whose speech the gateway detects", manual},
		{"session-half-duplex", "the same, deaf while a reply is playing", deaf},
		{"session-server", "a call whose speech the model detects", server},
		{"session-server-half-duplex", "the same, deaf while a reply is playing", serverDeaf},
	}
}

// defaultPrompts are the prompts of a gateway without settings.
func defaultPrompts() voicenets.Prompts {
	return voicenets.Prompts(0).With(voicenets.Fallback).With(voicenets.Goodbye)
}

// findNet returns the net of a name; "" is the default.
func findNet(name string) (shippedNet, error) {
	var names []string
	for _, n := range shippedNets() {
		if n.name == name || name == "" {
			return n, nil
		}
		names = append(names, n.name)
	}
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

package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/petri/dot"
	"github.com/voicegw/voicegw/voicenets"
)

// drawing returns the net that NAME or NAME/PART names. A part stands alone, with its ports.
func drawing(name string) (*petri.Program, dot.Options, error) {
	name, part, _ := strings.Cut(name, "/")
	if n, ok := findAgentNet(name); ok {
		return n.drawing(part)
	}
	var agents []string
	for _, n := range agentNets() {
		agents = append(agents, n.name)
	}
	n, err := findNet(name, agents...)
	if err != nil {
		return nil, dot.Options{}, err
	}
	if part == "" {
		p, err := n.program()
		return p, dot.Options{Title: n.name + ": " + n.doc}, err
	}
	sub, err := n.part(part)
	if err != nil {
		return nil, dot.Options{}, err
	}
	p, err := petri.Compile(petri.Alone(sub))
	return p, dot.Options{Title: fmt.Sprintf("%s/%s: a part of %s", n.name, part, n.doc), Ports: petri.Shared(sub)}, err
}

// part returns a part of the net as calls run it. If this session lacks the part, it is that of a
// session with every part.
func (n shippedNet) part(name string) (*petri.Net, error) {
	full := n.config
	full.Hints, full.ToolSlots, full.RepromptAfter = true, 1, 10*time.Second
	full.Prompts = full.Prompts.With(voicenets.Filler).With(voicenets.Reprompt)
	var names []string
	for _, c := range []voicenets.Config{n.config, full} {
		session, err := voicenets.Session(c)
		if err != nil {
			return nil, err
		}
		names = nil
		for _, sub := range session.Nets {
			if sub.Name == name {
				return sub, nil
			}
			names = append(names, sub.Name)
		}
	}
	return nil, usagef("%s has no part %q; %s", n.name, name,
		suggest(name, names, "its parts are "+strings.Join(names, ", ")))
}

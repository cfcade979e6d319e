package claims

import (
	"time"

	"github.com/voicegw/voicegw/voicenets"
)

// Shipped lists the sessions whose certificates ship with the program: those of every mode of a
// gateway, with and without a greeting, tools, consent, reprompts and hints, each with its default
// prompts. Timings do not matter (see relaxed), nor do features that change no slice.
func Shipped() []voicenets.Config {
	list := []voicenets.Config{{}, {HalfDuplex: true}, {Detection: voicenets.ModelVAD},
		{Detection: voicenets.ModelVAD, HalfDuplex: true}}
	for _, with := range []func(*voicenets.Config){
		func(c *voicenets.Config) { c.Greeting = true },
		func(c *voicenets.Config) { c.ToolSlots = 2 },
		func(c *voicenets.Config) { c.Consent = true },
		func(c *voicenets.Config) { c.RepromptAfter = 15 * time.Second },
		func(c *voicenets.Config) { c.Hints = true },
	} {
		for _, c := range list[:len(list):len(list)] {
			if with(&c); !c.Hints || gatewayVAD(c) && pauses(c) {
				list = append(list, c)
			}
		}
	}
	for i := range list {
		list[i].Prompts = usualPrompts(list[i])
	}
	return list
}

// usualPrompts are the prompts that a gateway has by default.
func usualPrompts(c voicenets.Config) voicenets.Prompts {
	p := voicenets.Prompts(0).With(voicenets.Fallback).With(voicenets.Goodbye)
	if c.Consent {
		p = p.With(voicenets.AskConsent)
	}
	if c.RepromptAfter > 0 {
		p = p.With(voicenets.Reprompt)
	}
	return p
}

package voicenets

import "time"

// Shipped are the sessions whose certificates ship with the program: those of
// every mode of a gateway, with and without a greeting, tools, consent, reprompts
// and hints, with the prompts that each of them has unless settings say
// otherwise. Timings do not matter (see relaxed), and neither do features that
// change no slice.
func Shipped() []Config {
	list := []Config{{}, {HalfDuplex: true}, {Detection: Server}, {Detection: Server, HalfDuplex: true}}
	for _, with := range []func(*Config){
		func(c *Config) { c.Greeting = true },
		func(c *Config) { c.ToolSlots = 2 },
		func(c *Config) { c.Consent = true },
		func(c *Config) { c.RepromptAfter = 15 * time.Second },
		func(c *Config) { c.Hints = true },
	} {
		for _, c := range list[:len(list):len(list)] {
			if with(&c); !c.Hints || c.manual() && c.pauses() {
				list = append(list, c)
			}
		}
	}
	for i := range list {
		list[i].Prompts = list[i].usualPrompts()
	}
	return list
}

// usualPrompts are those that a gateway has unless settings say otherwise.
func (c Config) usualPrompts() Prompts {
	p := Prompts(0).With(Fallback).With(Goodbye)
	if c.Consent {
		p = p.With(AskConsent)
	}
	if c.RepromptAfter > 0 {
		p = p.With(Reprompt)
	}
	return p
}

package voicenets

import (
	"testing"
	"time"

	"github.com/voicegw/voicegw/petri"
)

// variants are sessions that gateways run.
func variants() map[string]Config {
	list := baseVariants()
	list["zero"] = Config{}
	list["everything"] = everything()
	list["all prompts"] = Config{Detection: ModelVAD, Prompts: everyPrompt(), Consent: true, ToolSlots: 4,
		RepromptAfter: 20 * time.Second}
	return list
}

// baseVariants are the sessions of the gateway's four modes, with and without tools and a greeting.
func baseVariants() map[string]Config {
	list := map[string]Config{}
	for name, mode := range map[string]Config{
		"gateway VAD":             {},
		"gateway VAD half-duplex": {HalfDuplex: true},
		"model VAD":               {Detection: ModelVAD},
		"model VAD half-duplex":   {Detection: ModelVAD, HalfDuplex: true},
	} {
		mode.Prompts = Prompts(0).With(Fallback).With(Goodbye)
		list[name+", no greeting"] = mode
		mode.Greeting = true
		list[name] = mode
		mode.ToolSlots = 2
		list[name+" with tools"] = mode
		mode.Greeting = false
		list[name+" with tools, no greeting"] = mode
	}
	return list
}

func everyPrompt() Prompts {
	var all Prompts
	for p := range Prompt(0).KeyNames() {
		all = all.With(Prompt(p))
	}
	return all
}

// everything is a session with all that can be had.
func everything() Config {
	return Config{Greeting: true, GreetingFirm: true, Adaptive: true, Hints: true, Consent: true, Prompts: everyPrompt(),
		ToolSlots: 2, RepromptAfter: 10 * time.Second}
}

func compile(t testing.TB, n *petri.Net, err error) *petri.Program {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	p, err := petri.Compile(n)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// hasFirm says whether a reply must be heard to its end.
func hasFirm(c Config) bool {
	return c.Greeting && c.GreetingFirm || c.Prompts.Has(AskConsent) || c.Prompts.Has(Notify)
}

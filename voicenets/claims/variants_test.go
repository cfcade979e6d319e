package claims

import (
	"testing"
	"time"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/voicenets"
)

// variants are sessions that gateways run.
func variants() map[string]voicenets.Config {
	list := baseVariants()
	list["zero"] = voicenets.Config{}
	list["everything"] = everything()
	list["all prompts"] = voicenets.Config{Detection: voicenets.ModelVAD, Prompts: everyPrompt(), Consent: true,
		ToolSlots:     4,
		RepromptAfter: 20 * time.Second}
	return list
}

// baseVariants are the sessions of the gateway's four modes, with and without tools and a greeting.
func baseVariants() map[string]voicenets.Config {
	list := map[string]voicenets.Config{}
	for name, mode := range map[string]voicenets.Config{
		"gateway VAD":             {},
		"gateway VAD half-duplex": {HalfDuplex: true},
		"model VAD":               {Detection: voicenets.ModelVAD},
		"model VAD half-duplex":   {Detection: voicenets.ModelVAD, HalfDuplex: true},
	} {
		mode.Prompts = voicenets.Prompts(0).With(voicenets.Fallback).With(voicenets.Goodbye)
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

func everyPrompt() voicenets.Prompts {
	var all voicenets.Prompts
	for p := range voicenets.Prompt(0).KeyNames() {
		all = all.With(voicenets.Prompt(p))
	}
	return all
}

// everything is a session with all that can be had.
func everything() voicenets.Config {
	return voicenets.Config{Greeting: true, GreetingFirm: true, Adaptive: true, Hints: true, Consent: true,
		Prompts:   everyPrompt(),
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

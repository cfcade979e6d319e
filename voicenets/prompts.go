package voicenets

import "github.com/voicegw/voicegw/petri"

// promptsNet plays prompts: audio of the gateway's own. A prompt is a reply like one of the model;
// its frames come from the receiver of PlayPrompt. The net drops a due Filler, Fallback or Reprompt
// if a reply is playing or the caller has the turn.
func promptsNet(c Config) *petri.Net {
	n := &petri.Net{
		Name: "prompts",
		Ports: []petri.AnyPlace{PromptAudio, PromptEnd, PlayPrompt, PromptDue, Prompting, Replying, ReplyAudio, Firm, Parked,
			InTurn, Speaking, NotifyReply},
		Env:  []petri.Env{{Place: PromptAudio}, {Place: PromptEnd}},
		Out:  []petri.Output{{Place: PlayPrompt}, {Place: NotifyReply}},
		Caps: caps(1, Prompting, PromptDue),
		Transitions: []petri.Transition{
			{Name: "accept_prompt_frame", In: petri.Arcs{PromptAudio.Fresh()}, Read: petri.Arcs{Prompting},
				Inhibit: petri.Arcs{ReplyAudio.AtLeast(c.ReplyFramesMax)}, Out: petri.And(ReplyAudio)},
			{Name: "drop_prompt_frame", In: petri.Arcs{PromptAudio.Fresh()}, Inhibit: petri.Arcs{Prompting}},
			{Name: "drop_stale_prompt_frame", In: petri.Arcs{PromptAudio.Stale()}},
			{Name: "finish_prompt", In: petri.Arcs{PromptEnd.Fresh(), Prompting}},
			{Name: "drop_prompt_end", In: petri.Arcs{PromptEnd.Fresh()}, Inhibit: petri.Arcs{Prompting}},
			{Name: "drop_stale_prompt_end", In: petri.Arcs{PromptEnd.Stale()}},
			{Name: "drop_late_prompt", In: petri.Arcs{PromptDue.Is(Filler, Fallback, Reprompt)}, Read: petri.Arcs{Replying},
				Priority: 1},
			{Name: "drop_prompt_over_caller", In: petri.Arcs{PromptDue.Is(Filler, Fallback, Reprompt)},
				Read: petri.Arcs{InTurn}, Inhibit: petri.Arcs{Replying}, Priority: 1},
		},
	}
	var skipped []petri.HasKey
	for i := range Prompt(0).KeyNames() {
		p := Prompt(i)
		if !c.Prompts.Has(p) {
			if c.wants(p) {
				skipped = append(skipped, p)
			}
			continue
		}
		t := petri.Transition{Name: "begin_prompt_" + p.String(), In: petri.Arcs{PromptDue.Is(p)}, Bump: true,
			Inhibit: petri.Arcs{Replying, Parked, InTurn, Speaking},
			Out:     petri.And(Replying, Prompting, NotifyReply.Is(ReplyStarted), PlayPrompt.Fresh()),
			Action: func(f *petri.Firing) {
				NotifyReply.Put(f, Notice{Kind: ReplyStarted, Gen: f.Gen()})
				PlayPrompt.Put(f, Playing{Prompt: p, Gen: f.Gen()})
			}}
		if p == AskConsent || p == Notify {
			t.Reset = petri.Arcs{Firm}
			t.Out = petri.And(append(t.Out.Arcs(), Firm)...)
		}
		if p == Notify { // not before there is a connection to the model
			t.Read = petri.Arcs{Online}
		}
		n.Transitions = append(n.Transitions, t)
	}
	if len(skipped) > 0 {
		n.Transitions = append(n.Transitions, petri.Transition{Name: "skip_prompt", In: petri.Arcs{PromptDue.Is(skipped...)}})
	}
	if c.Prompts.Has(Notify) {
		n.Init = []petri.Token{PromptDue.Token(Notify)}
		n.Ports = append(n.Ports, Online)
	}
	return below(n, promptsLayer)
}

// wants reports whether a session may ask for a prompt that it does not have.
func (c Config) wants(p Prompt) bool { return c.asks(p) && p != Notify && p != Filler }

// asks reports whether anything in the session may ask for a prompt.
func (c Config) asks(p Prompt) bool {
	switch p {
	case AskConsent:
		return c.Consent
	case Filler:
		return c.ToolSlots > 0
	case Reprompt:
		return c.RepromptAfter > 0
	}
	return true
}

// asked returns the prompts of c that something in the session may ask for.
func (c Config) asked() (set Prompts) {
	for i := range Prompt(0).KeyNames() {
		if p := Prompt(i); c.Prompts.Has(p) && c.asks(p) {
			set = set.With(p)
		}
	}
	return set
}

package voicenets

import "github.com/voicegw/voicegw/petri"

// promptsNet plays audio of our own: it is a reply like the model's, whose
// frames come from whoever takes PlayPrompt. One whose time is over, because
// the model or the caller speaks now, is dropped.
func promptsNet(c Config) *petri.Net {
	n := &petri.Net{
		Name: "prompts",
		Ports: []petri.AnyPlace{PromptAudio, PromptEnd, PlayPrompt, promptDue, prompting, replying, replyAudio, firm, parked,
			inTurn, speaking, TellReply},
		Env:  []petri.Env{{Place: PromptAudio}, {Place: PromptEnd}},
		Out:  []petri.Output{{Place: PlayPrompt}, {Place: TellReply}},
		Caps: caps(1, prompting, promptDue),
		Transitions: []petri.Transition{
			{Name: "accept_prompt_frame", In: petri.Arcs{PromptAudio.Fresh()}, Read: petri.Arcs{prompting},
				Inhibit: petri.Arcs{replyAudio.AtLeast(c.ReplyFramesMax)}, Out: petri.And(replyAudio)},
			{Name: "drop_prompt_frame", In: petri.Arcs{PromptAudio.Fresh()}, Inhibit: petri.Arcs{prompting}},
			{Name: "drop_stale_prompt_frame", In: petri.Arcs{PromptAudio.Stale()}},
			{Name: "finish_prompt", In: petri.Arcs{PromptEnd.Fresh(), prompting}},
			{Name: "drop_prompt_end", In: petri.Arcs{PromptEnd.Fresh()}, Inhibit: petri.Arcs{prompting}},
			{Name: "drop_stale_prompt_end", In: petri.Arcs{PromptEnd.Stale()}},
			{Name: "drop_late_prompt", In: petri.Arcs{promptDue.Is(Filler, Fallback, Reprompt)}, Read: petri.Arcs{replying},
				Priority: 1},
			{Name: "drop_prompt_over_caller", In: petri.Arcs{promptDue.Is(Filler, Fallback, Reprompt)},
				Read: petri.Arcs{inTurn}, Inhibit: petri.Arcs{replying}, Priority: 1},
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
		t := petri.Transition{Name: "begin_prompt_" + p.String(), In: petri.Arcs{promptDue.Is(p)}, Bump: true,
			Inhibit: petri.Arcs{replying, parked, inTurn, speaking},
			Out:     petri.And(replying, prompting, TellReply.Is(ReplyStarted), PlayPrompt.Fresh()),
			Action: func(f *petri.Firing) {
				TellReply.Put(f, Notice{Kind: ReplyStarted, Gen: f.Gen()})
				PlayPrompt.Put(f, Playing{Prompt: p, Gen: f.Gen()})
			}}
		if p == AskConsent || p == Notify {
			t.Reset = petri.Arcs{firm}
			t.Out = petri.And(append(t.Out.Arcs(), firm)...)
		}
		n.Transitions = append(n.Transitions, t)
	}
	if len(skipped) > 0 {
		n.Transitions = append(n.Transitions, petri.Transition{Name: "skip_prompt", In: petri.Arcs{promptDue.Is(skipped...)}})
	}
	if c.Prompts.Has(Notify) {
		n.Init = []petri.Token{promptDue.Token(Notify)}
		n.Ports = append(n.Ports, online)
		for i := range n.Transitions { // nobody is there before
			if t := &n.Transitions[i]; t.Name == "begin_prompt_notify" {
				t.Read = petri.Arcs{online}
			}
		}
	}
	return below(n, promptsLayer)
}

// wants reports whether a session asks even for a prompt that it does not have.
func (c Config) wants(p Prompt) bool { return c.asks(p) && p != Notify && p != Filler }

// asks reports whether anything in the session asks for a prompt.
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

// asked are the prompts of a session that something asks for.
func (c Config) asked() (set Prompts) {
	for i := range Prompt(0).KeyNames() {
		if p := Prompt(i); c.Prompts.Has(p) && c.asks(p) {
			set = set.With(p)
		}
	}
	return set
}

package voicenets

import "github.com/voicegw/voicegw/petri"

// Hostile closes a session with an environment that keeps no protocol: every
// token may come at any time, acknowledgements may be of any generation and of
// what was never sent. What holds under it needs no trust in anybody.
func Hostile(c Config) (*petri.Net, error) {
	session, err := Session(c)
	if err != nil {
		return nil, err
	}
	return CloseHostile(session, c)
}

// CloseHostile closes a changed session of configuration c as Hostile does.
func CloseHostile(session *petri.Net, c Config) (*petri.Net, error) {
	automata := []*petri.Net{hostileCaller(c), hostilePeer(c), hostileModel(c), hostileLink(), hostileHost(c)}
	return petri.Close("hostile", session, append(heard(automata, session), watcher(c), auditor())...)
}

// lead is how many frames of a reply may wait in the net for the automata to
// send more: a restriction of the environment, so that a session with its real
// limits has a finite graph. A session that holds fewer is sent more than it
// can take.
const lead = 2

// ahead makes a move of a model that sends audio: only while fewer than lead
// frames wait.
func ahead(t petri.Transition) petri.Transition {
	t.Inhibit = append(t.Inhibit, replyAudio.AtLeast(lead))
	return t
}

// anytime is a move of the environment: it may happen at any time, or never.
func anytime(name string, in petri.Arcs, out ...petri.AnyArc) petri.Transition {
	return petri.Transition{Name: name, In: in, Out: petri.And(out...), When: petri.Anytime()}
}

// hostile is an automaton that sends whatever it likes, at any time.
type hostile struct{ *petri.Net }

func newHostile(name string) hostile { return hostile{&petri.Net{Name: name}} }

// send lets the automaton send tokens to a place: one of each key.
func (h hostile) send(p petri.AnyPlace, keys []string, is func(petri.Key) petri.Arc) {
	h.Ports = append(h.Ports, p)
	for k, name := range keys {
		h.Transitions = append(h.Transitions, anytime(p.String()+"_"+name, nil, is(petri.Key(k))))
	}
}

// sendOne lets it send tokens without a key.
func (h hostile) sendOne(p petri.AnyPlace) {
	h.Ports = append(h.Ports, p)
	h.Transitions = append(h.Transitions, anytime(p.String(), nil, p))
}

// is states a key of what is sent.
func is[T any](p petri.Place[T]) func(petri.Key) petri.Arc {
	return func(k petri.Key) petri.Arc { return p.Is(k) }
}

// hostileCaller gives any edge, text and digits, and works every switch.
func hostileCaller(c Config) *petri.Net {
	h := newHostile("caller")
	h.send(SpeechEdge, SpeechStart.KeyNames(), is(SpeechEdge))
	h.send(PeerMute, Off.KeyNames(), is(PeerMute))
	h.send(Hold, Off.KeyNames(), is(Hold))
	h.send(Protect, Off.KeyNames(), is(Protect))
	h.send(CallerDigit, (&Digits{}).KeyNames(), is(CallerDigit))
	h.sendOne(CallerText)
	if c.Consent {
		h.send(Consent, Off.KeyNames(), is(Consent))
	}
	if c.Hints && c.manual() && c.pauses() {
		h.send(Hint, BackChannel.KeyNames(), is(Hint))
	}
	return h.Net
}

// hostilePeer acknowledges anything, of the current or an earlier generation,
// and gives prompts that nobody asked for, or too late.
func hostilePeer(c Config) *petri.Net {
	const old petri.Place[Ack] = "old_ack"
	n := &petri.Net{
		Name:  "peer",
		Ports: []petri.AnyPlace{PeerAck, PromptAudio, PromptEnd, replyAudio},
		Init:  []petri.Token{old.Token(Ack{})},
		Transitions: []petri.Transition{
			anytime("acknowledge", nil, PeerAck.Fresh()),
			{Name: "acknowledge_late", In: petri.Arcs{old.Stale()}, Out: petri.And(PeerAck.Passing(old), aged.One()),
				When: petri.Anytime()},
			anytime("age", petri.Arcs{aged}, old.Fresh()),
			ahead(anytime("prompt", nil, PromptAudio.Fresh())),
			anytime("end_prompt", nil, PromptEnd.Fresh()),
			{Name: "end_prompt_late", In: petri.Arcs{old.Stale()}, Out: petri.And(PromptEnd.Passing(old), aged.One()),
				When: petri.Anytime()},
		},
	}
	return n
}

const aged petri.Place[petri.Unit] = "aged"

func hostileModel(c Config) *petri.Net {
	h := newHostile("gemini")
	h.Ports = []petri.AnyPlace{ModelAudio, replyAudio}
	h.Transitions = []petri.Transition{ahead(anytime("speak", nil, ModelAudio.Fresh()))}
	h.send(ModelSignal, Interrupted.KeyNames(), is(ModelSignal))
	if c.ToolSlots > 0 {
		h.sendOne(ToolCalled)
		h.send(ToolCancelled, Slot(0).KeyNames()[:min(c.ToolSlots+1, SlotsMax)], is(ToolCancelled))
		h.send(ToolDone, Slot(0).KeyNames()[:min(c.ToolSlots+1, SlotsMax)], is(ToolDone))
	}
	return h.Net
}

// hostileLink answers dials that nobody made, and breaks.
func hostileLink() *petri.Net {
	h := newHostile("network")
	h.send(Dialled, Fresh.KeyNames(), is(Dialled))
	h.send(GoAway, Soon.KeyNames(), is(GoAway))
	h.sendOne(LinkDown)
	h.sendOne(Handle)
	return h.Net
}

// hostileHost ends the call for any reason.
func hostileHost(Config) *petri.Net {
	h := newHostile("host")
	h.send(Over, HungUp.KeyNames(), is(Over))
	h.sendOne(Drain)
	h.sendOne(HandOff)
	return h.Net
}

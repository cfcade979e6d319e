package voicenets

import "github.com/voicegw/voicegw/petri"

// earsNet says when nobody may listen to the caller: while the microphone is
// muted, the call is on hold, input is protected or the caller has not agreed.
// Whatever was heard until then and has not gone up is dropped in the firing
// that closes the ear, and text is dropped as well, but for a mute. A hold also
// parks playout.
func earsNet(c Config) *petri.Net {
	const muted petri.Place[petri.Unit] = "muted"
	n := &petri.Net{
		Name: "ears",
		Ports: []petri.AnyPlace{PeerMute, Hold, Protect, CallerText, typed, deaf, held, protected, unconsented,
			CallerAudio, TellMode, TellReply,
			Clear, replying, parked, confirming, endMarked},
		Env:  []petri.Env{{Place: PeerMute}, {Place: Hold}, {Place: Protect}, {Place: CallerText, Capacity: 4}},
		Out:  []petri.Output{{Place: TellMode, Durable: true}, {Place: TellReply}, {Place: Clear}},
		Caps: caps(1, muted, held, protected, unconsented, parked),
		Transitions: []petri.Transition{
			{Name: "mute", In: petri.Arcs{PeerMute.Is(On)}, Reset: petri.Arcs{CallerAudio, muted, deaf},
				Out: petri.And(muted, deaf)},
			{Name: "unmute", In: petri.Arcs{PeerMute.Is(Off)}, Reset: petri.Arcs{muted}},
			{Name: "park_reply", Read: petri.Arcs{held, replying}, Inhibit: petri.Arcs{parked, confirming},
				Reset: petri.Arcs{endMarked}, Out: petri.And(parked, TellReply.Is(ReplyPaused), Clear.Is(ClearPlayout)),
				Action: tellPause},
			{Name: "park_playout", Read: petri.Arcs{held}, Inhibit: petri.Arcs{parked, replying}, Out: petri.And(parked)},
			{Name: "unpark_reply", In: petri.Arcs{parked}, Read: petri.Arcs{replying}, Inhibit: petri.Arcs{held},
				Out: petri.And(TellReply.Is(ReplyResumed)), Action: tell(TellReply, ReplyResumed)},
			{Name: "unpark_playout", In: petri.Arcs{parked}, Inhibit: petri.Arcs{held, replying}},
			{Name: "take_text", In: petri.Arcs{CallerText}, Inhibit: petri.Arcs{typed, held, protected, unconsented},
				Out: petri.And(typed)},
			{Name: "open_ear", In: petri.Arcs{deaf}, Inhibit: petri.Arcs{muted, held, protected, unconsented}, Priority: -1},
		},
	}
	for _, closed := range []petri.Place[petri.Unit]{held, protected, unconsented} {
		n.Transitions = append(n.Transitions, petri.Transition{Name: "drop_text_" + string(closed),
			In: petri.Arcs{CallerText}, Read: petri.Arcs{closed}, Inhibit: petri.Arcs{typed}})
	}
	n.Transitions = append(n.Transitions, closesEar("hold", Hold, held, HoldStarted, HoldEnded)...)
	n.Transitions = append(n.Transitions, closesEar("protect", Protect, protected, ProtectStarted, ProtectEnded)...)
	if c.Consent {
		addConsent(n, c)
	}
	return below(n, modesLayer)
}

// closesEar is a switch that closes the ear while it is on.
func closesEar(name string, by petri.Place[Switch], state petri.Place[petri.Unit], on,
	off NoticeKind) []petri.Transition {
	return []petri.Transition{
		{Name: name, In: petri.Arcs{by.Is(On)}, Inhibit: petri.Arcs{state}, Reset: petri.Arcs{CallerAudio, deaf},
			Out: petri.And(state, deaf, TellMode.Is(on)), Action: tell(TellMode, on)},
		{Name: name + "_again", In: petri.Arcs{by.Is(On)}, Read: petri.Arcs{state}},
		{Name: "un" + name, In: petri.Arcs{by.Is(Off), state}, Out: petri.And(TellMode.Is(off)), Action: tell(TellMode, off)},
		{Name: "un" + name + "_again", In: petri.Arcs{by.Is(Off)}, Inhibit: petri.Arcs{state}},
	}
}

// addConsent closes the ear until the caller agrees.
func addConsent(n *petri.Net, c Config) {
	const (
		unasked     petri.Place[petri.Unit] = "unasked"
		considering petri.Place[petri.Unit] = "considering"
	)
	n.Ports = append(n.Ports, Consent, promptDue, leaving, online)
	n.Env = append(n.Env, petri.Env{Place: Consent})
	n.Init = append(n.Init, unconsented.Token(petri.Unit{}), deaf.Token(petri.Unit{}), unasked.Token(petri.Unit{}))
	n.Caps = append(n.Caps, caps(1, unasked, considering)...)
	n.Transitions = append(n.Transitions,
		petri.Transition{Name: "ask_consent", In: petri.Arcs{unasked}, Read: petri.Arcs{online},
			Inhibit: petri.Arcs{promptDue, replying}, Reset: petri.Arcs{considering},
			Out: petri.And(considering, promptDue.Is(AskConsent), TellMode.Is(ConsentAsked)),
			Action: func(f *petri.Firing) {
				promptDue.Put(f, AskConsent)
				TellMode.Put(f, Notice{Kind: ConsentAsked, Gen: f.Gen()})
			}},
		petri.Transition{Name: "consent", In: petri.Arcs{Consent.Is(On), unconsented},
			Reset: petri.Arcs{considering, unasked, promptDue.Is(AskConsent)}, Out: petri.And(TellMode.Is(ConsentGiven)),
			Action: tell(TellMode, ConsentGiven)},
		petri.Transition{Name: "consent_again", In: petri.Arcs{Consent.Is(On)}, Inhibit: petri.Arcs{unconsented}},
		petri.Transition{Name: "withdraw_consent", In: petri.Arcs{Consent.Is(Off)}, Inhibit: petri.Arcs{unconsented},
			Reset: petri.Arcs{CallerAudio, deaf}, Out: petri.And(unconsented, deaf, unasked)},
		petri.Transition{Name: "refuse_consent", In: petri.Arcs{Consent.Is(Off)}, Read: petri.Arcs{unconsented}},
		petri.Transition{Name: "give_up_on_consent", In: petri.Arcs{considering}, When: petri.After(c.ConsentWait),
			Reset: petri.Arcs{leaving}, Out: petri.And(leaving.Is(NoConsent))},
	)
}

// Layers: the at-once transitions of a subnet with a lower layer fire when
// those with higher ones have come to rest.
const (
	promptsLayer = -5
	cutLayer     = -8
	textLayer    = -10
	modesLayer   = -15
	toolsLayer   = -20
	silenceLayer = -30
	linkLayer    = -40
	callLayer    = -50
)

// below puts the at-once transitions of a net into a layer.
func below(n *petri.Net, layer int) *petri.Net {
	for i := range n.Transitions {
		if n.Transitions[i].When.AtOnce() {
			n.Transitions[i].Priority += layer
		}
	}
	return n
}

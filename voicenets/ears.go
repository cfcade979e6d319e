package voicenets

import "github.com/voicegw/voicegw/petri"

// earsNet says when nobody may listen to the caller: while the microphone is
// muted, the call is on hold, input is protected or the caller has not agreed.
// What the caller says or types meanwhile is dropped as it comes; a mute closes
// the microphone alone. Speech before that counts only if it became a turn, so
// the firing that closes the ear drops the frames that wait for a decision.
//
// What was captured before a hold or protected input and has not gone up waits
// until it is over: text in typed, a turn that must be told again with the
// link, and the queue behind the net, which the firing that closes the ear
// holds (HoldUplink). It goes on in the order in which it came (ReleaseUplink,
// durable). A hold also parks playout.
func earsNet(c Config) *petri.Net {
	const muted petri.Place[petri.Unit] = "muted"
	n := &petri.Net{
		Name: "ears",
		Ports: []petri.AnyPlace{PeerMute, Hold, Protect, CallerText, typed, deaf, held, protected, unconsented,
			CallerAudio, TellMode, TellReply, TextLost, HoldUplink, ReleaseUplink,
			Clear, replying, parked, confirming, endMarked},
		Env: []petri.Env{{Place: PeerMute}, {Place: Hold}, {Place: Protect}, {Place: CallerText}},
		Out: []petri.Output{{Place: TellMode, Durable: true}, {Place: TellReply}, {Place: Clear}, {Place: TextLost},
			{Place: HoldUplink}, {Place: ReleaseUplink, Durable: true}},
		Caps: caps(1, muted, held, protected, unconsented, parked, withheld),
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
			{Name: "take_text", In: petri.Arcs{CallerText},
				Inhibit: petri.Arcs{typed.AtLeast(TypedMax), held, protected, unconsented}, Out: petri.And(typed)},
			{Name: "drop_text_full", In: petri.Arcs{CallerText}, Priority: -1, Out: petri.And(TextLost),
				Action: loseText(CallerText, LostFull)},
			{Name: "release_uplink", In: petri.Arcs{withheld}, Inhibit: petri.Arcs{held, protected, unconsented},
				Out: petri.And(ReleaseUplink), Priority: -1},
			{Name: "open_ear", In: petri.Arcs{deaf}, Inhibit: petri.Arcs{muted, held, protected, unconsented}, Priority: -1},
		},
	}
	for _, l := range []struct {
		closed petri.Place[petri.Unit]
		why    Loss
	}{{held, LostHeld}, {protected, LostProtected}, {unconsented, LostUnconsented}} {
		n.Transitions = append(n.Transitions, petri.Transition{Name: "drop_text_" + string(l.closed),
			In: petri.Arcs{CallerText}, Read: petri.Arcs{l.closed}, Out: petri.And(TextLost),
			Action: loseText(CallerText, l.why)})
	}
	n.Transitions = append(n.Transitions, closesEar("hold", Hold, held, HoldStarted, HoldEnded)...)
	n.Transitions = append(n.Transitions, closesEar("protect", Protect, protected, ProtectStarted, ProtectEnded)...)
	if c.Consent {
		addConsent(n, c)
	}
	return below(n, modesLayer)
}

// withheld is marked while the queue behind the net holds what is the caller's.
const withheld petri.Place[petri.Unit] = "withheld"

// unasked is marked while the caller is to be asked for consent.
const unasked petri.Place[petri.Unit] = "unasked"

// loseText drops a text and says why.
func loseText(from petri.Place[*Typed], why Loss) func(*petri.Firing) {
	return func(f *petri.Firing) {
		text := from.Get(f)
		text.Lost = why
		TextLost.Put(f, text)
	}
}

// closesEar is a switch that closes the ear, and holds the queue behind the
// net, while it is on.
func closesEar(name string, by petri.Place[Switch], state petri.Place[petri.Unit], on,
	off NoticeKind) []petri.Transition {
	return []petri.Transition{
		{Name: name, In: petri.Arcs{by.Is(On)}, Inhibit: petri.Arcs{state}, Reset: petri.Arcs{CallerAudio, deaf, withheld},
			Out: petri.And(state, deaf, withheld, HoldUplink, TellMode.Is(on)), Action: tell(TellMode, on)},
		{Name: name + "_again", In: petri.Arcs{by.Is(On)}, Read: petri.Arcs{state}},
		{Name: "un" + name, In: petri.Arcs{by.Is(Off), state}, Out: petri.And(TellMode.Is(off)), Action: tell(TellMode, off)},
		{Name: "un" + name + "_again", In: petri.Arcs{by.Is(Off)}, Inhibit: petri.Arcs{state}},
	}
}

// addConsent closes the ear until the caller agrees. Consent that is withdrawn
// drops, in the same firing, all that is kept of what the caller said, typed or
// pressed, the queue behind the net and the way back to what the model
// remembers; its connection is closed, and the next one begins anew. A reply
// that is being played is heard as far as it came, and its turn is not kept.
func addConsent(n *petri.Net, c Config) {
	const considering petri.Place[petri.Unit] = "considering"
	n.Ports = append(n.Ports, Consent, promptDue, leaving, online, DropUplink, CallerDigit, digits, entered,
		inTurn, owing, lastTurn,
		modelTurn, cutShort, lingering, unheard, weighing, lastHandle, renewal, ToModel, backlog,
		Transcript)
	n.Env = append(n.Env, petri.Env{Place: Consent})
	n.Out = append(n.Out, petri.Output{Place: DropUplink}, petri.Output{Place: ToModel})
	n.Init = append(n.Init, unconsented.Token(petri.Unit{}), deaf.Token(petri.Unit{}), unasked.Token(petri.Unit{}),
		withheld.Token(petri.Unit{}))
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
		withdrawal("withdraw_consent", petri.Transition{Inhibit: petri.Arcs{inTurn}}, c),
		petri.Transition{Name: "refuse_consent", In: petri.Arcs{Consent.Is(Off)}, Read: petri.Arcs{unconsented}},
		petri.Transition{Name: "give_up_on_consent", In: petri.Arcs{considering}, When: petri.After(c.ConsentWait),
			Reset: petri.Arcs{leaving}, Out: petri.And(leaving.Is(NoConsent))},
	)
	if c.manual() {
		n.Transitions = append(n.Transitions, withdrawal("withdraw_consent_in_turn", petri.Transition{
			In: petri.Arcs{inTurn}, Out: petri.And(ToModel.Is(ActivityEnd))}, c))
	}
}

// withdrawal takes consent back, and forgets what the caller said.
func withdrawal(name string, t petri.Transition, c Config) petri.Transition {
	t.Name = name
	t.In = append(petri.Arcs{Consent.Is(Off)}, t.In...)
	t.Inhibit = append(t.Inhibit, unconsented)
	t.Reset = petri.Arcs{CallerAudio, CallerText, CallerDigit, typed, digits, entered, owing, lastTurn,
		// what was captured
		modelTurn, cutShort, lingering, unheard, weighing, lastHandle, renewal, deaf, withheld, unasked,
		wordsAhead()}
	t.Out = petri.And(append(t.Out.Arcs(), unconsented, deaf, unasked, withheld, lastTurn, renewal, DropUplink)...)
	t.Action = func(f *petri.Firing) { lastTurn.Put(f, &CallerTurn{}) }
	if !c.manual() { // and what came while there was no connection
		t.Reset = append(t.Reset, backlog)
		t.Out = petri.And(append(t.Out.Arcs(), backlog)...)
		t.Action = func(f *petri.Firing) {
			lastTurn.Put(f, &CallerTurn{})
			backlog.Put(f, &CallerTurn{})
		}
	}
	return t
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

package voicenets

import "github.com/voicegw/voicegw/petri"

// inputGateNet closes the input gate while the caller is muted, the call is on hold, input is
// protected or the caller has not consented. Meanwhile it drops caller audio and text on arrival; a
// mute drops audio only. Speech before that counts only if it became a turn, so the firing that
// closes the gate drops the frames that wait for a decision.
//
// Input captured before a hold or protected input that has not gone up waits for its end. Text
// waits in PendingText. A turn to be repeated waits in linkNet. The queue behind the net waits
// because the firing that closes the gate holds it (HoldUplink). The input then goes up in the
// order in which it came (ReleaseUplink, which is durable). A hold also parks playout.
func inputGateNet(c Config) *petri.Net {
	const muted petri.Place[petri.Unit] = "muted"
	n := &petri.Net{
		Name: "input_gate",
		Ports: []petri.AnyPlace{PeerMute, Hold, Protect, CallerText, PendingText, InputClosed, Held, Protected, Unconsented,
			CallerAudio, NotifyMode, NotifyReply, TextLost, HoldUplink, ReleaseUplink,
			Clear, Replying, Parked, Confirming, EndMarked},
		Env: []petri.Env{{Place: PeerMute}, {Place: Hold}, {Place: Protect}, {Place: CallerText}},
		Out: []petri.Output{{Place: NotifyMode, Durable: true}, {Place: NotifyReply}, {Place: Clear}, {Place: TextLost},
			{Place: HoldUplink}, {Place: ReleaseUplink, Durable: true}},
		Caps: caps(1, muted, Held, Protected, Unconsented, Parked, uplinkHeld),
		Transitions: []petri.Transition{
			{Name: "mute", In: petri.Arcs{PeerMute.Is(On)}, Reset: petri.Arcs{CallerAudio, muted, InputClosed},
				Out: petri.And(muted, InputClosed)},
			{Name: "unmute", In: petri.Arcs{PeerMute.Is(Off)}, Reset: petri.Arcs{muted}},
			{Name: "park_reply", Read: petri.Arcs{Held, Replying}, Inhibit: petri.Arcs{Parked, Confirming},
				Reset: petri.Arcs{EndMarked}, Out: petri.And(Parked, NotifyReply.Is(ReplyPaused), Clear.Is(ClearPlayout)),
				Action: notifyPause},
			{Name: "park_playout", Read: petri.Arcs{Held}, Inhibit: petri.Arcs{Parked, Replying}, Out: petri.And(Parked)},
			{Name: "unpark_reply", In: petri.Arcs{Parked}, Read: petri.Arcs{Replying}, Inhibit: petri.Arcs{Held},
				Out: petri.And(NotifyReply.Is(ReplyResumed)), Action: notify(NotifyReply, ReplyResumed)},
			{Name: "unpark_playout", In: petri.Arcs{Parked}, Inhibit: petri.Arcs{Held, Replying}},
			{Name: "take_text", In: petri.Arcs{CallerText},
				Inhibit: petri.Arcs{PendingText.AtLeast(TypedMax), Held, Protected, Unconsented}, Out: petri.And(PendingText)},
			{Name: "drop_text_full", In: petri.Arcs{CallerText}, Priority: -1, Out: petri.And(TextLost),
				Action: loseText(CallerText, LostFull)},
			{Name: "release_uplink", In: petri.Arcs{uplinkHeld}, Inhibit: petri.Arcs{Held, Protected, Unconsented},
				Out: petri.And(ReleaseUplink), Priority: -1},
			{Name: "open_input", In: petri.Arcs{InputClosed}, Inhibit: petri.Arcs{muted, Held, Protected, Unconsented},
				Priority: -1},
		},
	}
	n.Transitions = append(n.Transitions, dropsText(CallerText)...)
	n.Transitions = append(n.Transitions, closesInput("hold", Hold, Held, HoldStarted, HoldEnded)...)
	n.Transitions = append(n.Transitions, closesInput("protect", Protect, Protected, ProtectStarted, ProtectEnded)...)
	if c.Consent {
		addConsent(n, c)
	}
	return below(n, modesLayer)
}

// uplinkHeld is marked while the queue behind the net holds the caller's input.
const uplinkHeld petri.Place[petri.Unit] = "uplink_held"

// ConsentDue is marked while the net has yet to ask the caller for consent.
const ConsentDue petri.Place[petri.Unit] = "consent_due"

// dropsText returns the transitions that drop a text which comes in a closed state.
func dropsText(from petri.Place[*Typed]) (list []petri.Transition) {
	name := map[petri.Place[*Typed]]string{CallerText: "text", Note: "note", Request: "request"}[from]
	for _, l := range []struct {
		closed petri.Place[petri.Unit]
		why    Loss
	}{{Held, LostHeld}, {Protected, LostProtected}, {Unconsented, LostUnconsented}} {
		list = append(list, petri.Transition{Name: "drop_" + name + "_" + string(l.closed), In: petri.Arcs{from},
			Read: petri.Arcs{l.closed}, Out: petri.And(TextLost), Action: loseText(from, l.why)})
	}
	return list
}

// loseText returns an action that drops a text and reports the reason.
func loseText(from petri.Place[*Typed], why Loss) func(*petri.Firing) {
	return func(f *petri.Firing) {
		text := from.Get(f)
		text.Lost = why
		TextLost.Put(f, text)
	}
}

// closesInput returns the transitions of a switch that, while it is on, closes the input gate and
// holds the queue behind the net.
func closesInput(name string, by petri.Place[Switch], state petri.Place[petri.Unit], on,
	off NoticeKind) []petri.Transition {
	return []petri.Transition{
		{Name: name, In: petri.Arcs{by.Is(On)}, Inhibit: petri.Arcs{state},
			Reset: petri.Arcs{CallerAudio, InputClosed, uplinkHeld},
			Out:   petri.And(state, InputClosed, uplinkHeld, HoldUplink, NotifyMode.Is(on)), Action: notify(NotifyMode, on)},
		{Name: name + "_again", In: petri.Arcs{by.Is(On)}, Read: petri.Arcs{state}},
		{Name: "un" + name, In: petri.Arcs{by.Is(Off), state}, Out: petri.And(NotifyMode.Is(off)),
			Action: notify(NotifyMode, off)},
		{Name: "un" + name + "_again", In: petri.Arcs{by.Is(Off)}, Inhibit: petri.Arcs{state}},
	}
}

// addConsent closes the input gate until the caller consents. The firing that withdraws consent
// drops everything kept of what the caller said, typed or pressed, the queue behind the net, and
// the handle to what the model remembers. The net closes the connection, and the next one begins a
// new conversation. A reply that is playing is played as far as it came, and its turn is not kept.
func addConsent(n *petri.Net, c Config) {
	const consentPending petri.Place[petri.Unit] = "consent_pending"
	n.Ports = append(n.Ports, Consent, Note, Request, PendingRequest, PromptDue,
		Ending, Online, DropUplink, CallerDigit, Entry, EntryComplete,
		InTurn, ReplyPending, LastTurn,
		ModelTurn, ReplyCutShort, Lingering, PendingSpeech, DelayingReply, LastHandle, Renewal, ToModel, Backlog,
		Transcript)
	n.Env = append(n.Env, petri.Env{Place: Consent})
	n.Out = append(n.Out, petri.Output{Place: DropUplink}, petri.Output{Place: ToModel})
	n.Init = append(n.Init, Unconsented.Token(petri.Unit{}), InputClosed.Token(petri.Unit{}),
		ConsentDue.Token(petri.Unit{}),
		uplinkHeld.Token(petri.Unit{}))
	n.Caps = append(n.Caps, caps(1, ConsentDue, consentPending)...)
	n.Transitions = append(n.Transitions,
		petri.Transition{Name: "ask_consent", In: petri.Arcs{ConsentDue}, Read: petri.Arcs{Online},
			Inhibit: petri.Arcs{PromptDue, Replying}, Reset: petri.Arcs{consentPending},
			Out: petri.And(consentPending, PromptDue.Is(AskConsent), NotifyMode.Is(ConsentAsked)),
			Action: func(f *petri.Firing) {
				PromptDue.Put(f, AskConsent)
				NotifyMode.Put(f, Notice{Kind: ConsentAsked, Gen: f.Gen()})
			}},
		petri.Transition{Name: "consent", In: petri.Arcs{Consent.Is(On), Unconsented},
			Reset: petri.Arcs{consentPending, ConsentDue, PromptDue.Is(AskConsent)}, Out: petri.And(NotifyMode.Is(ConsentGiven)),
			Action: notify(NotifyMode, ConsentGiven)},
		petri.Transition{Name: "consent_again", In: petri.Arcs{Consent.Is(On)}, Inhibit: petri.Arcs{Unconsented}},
		withdrawal("withdraw_consent", petri.Transition{Inhibit: petri.Arcs{InTurn}}, c),
		petri.Transition{Name: "refuse_consent", In: petri.Arcs{Consent.Is(Off)}, Read: petri.Arcs{Unconsented}},
		petri.Transition{Name: "give_up_on_consent", In: petri.Arcs{consentPending}, When: petri.After(c.ConsentWait),
			Reset: petri.Arcs{Ending}, Out: petri.And(Ending.Is(NoConsent))},
	)
	if c.gatewayVAD() {
		n.Transitions = append(n.Transitions, withdrawal("withdraw_consent_in_turn", petri.Transition{
			In: petri.Arcs{InTurn}, Out: petri.And(ToModel.Is(ActivityEnd))}, c))
	}
}

// withdrawal completes a transition that withdraws consent and drops the caller's input.
func withdrawal(name string, t petri.Transition, c Config) petri.Transition {
	t.Name = name
	t.In = append(petri.Arcs{Consent.Is(Off)}, t.In...)
	t.Inhibit = append(t.Inhibit, Unconsented)
	t.Reset = petri.Arcs{CallerAudio, CallerText, Note, Request, CallerDigit, PendingText, PendingRequest,
		Entry, EntryComplete, ReplyPending, LastTurn,
		// above: the captured input; below: the state that follows from it
		ModelTurn, ReplyCutShort, Lingering, PendingSpeech, DelayingReply, LastHandle, Renewal, InputClosed, uplinkHeld,
		ConsentDue,
		transcriptAhead()}
	t.Out = petri.And(append(t.Out.Arcs(), Unconsented, InputClosed, ConsentDue, uplinkHeld, LastTurn, Renewal,
		DropUplink)...)
	t.Action = func(f *petri.Firing) { LastTurn.Put(f, &CallerTurn{}) }
	if !c.gatewayVAD() { // drop the frames from the time without a connection too
		t.Reset = append(t.Reset, Backlog)
		t.Out = petri.And(append(t.Out.Arcs(), Backlog)...)
		t.Action = func(f *petri.Firing) {
			LastTurn.Put(f, &CallerTurn{})
			Backlog.Put(f, &CallerTurn{})
		}
	}
	return t
}

// Layers of subnets. The at-once transitions of a layer fire only when no at-once transition of a
// higher layer is enabled.
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

// below moves the at-once transitions of a net into a layer. It returns the net.
func below(n *petri.Net, layer int) *petri.Net {
	for i := range n.Transitions {
		if n.Transitions[i].When.AtOnce() {
			n.Transitions[i].Priority += layer
		}
	}
	return n
}

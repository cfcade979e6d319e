package voicenets

import (
	"fmt"
	"slices"

	"github.com/voicegw/voicegw/petri"
)

// linkNet controls the connection to the model. There is at most one at a time. The net dials,
// keeps the newest handle and replaces connections. It replaces a working connection at a quiet
// moment before the model ends it, or at the latest when that end is near. It dials again when a
// connection breaks, with a budget of retries.
//
// The net repeats to a new connection what the old one may not have received: the caller's open
// turn, or the turn that waits for its reply. During a hold or protected input no input of the
// caller leaves in this way. A turn is repeated afterwards. A dial that would have to send the
// conversation, because there is no handle to resume with, waits.
//
// Each dial spends a credit, and one credit comes back each DialEvery. So a model that ends each
// connection as it begins is dialled DialsMax times at once, and then once each DialEvery.
func linkNet(c Config) *petri.Net {
	n := &petri.Net{
		Name: "link",
		Ports: append([]petri.AnyPlace{Dial, Dialled, LinkDown, CloseLink, UseLink, Handle, GoAway, TurnAgain, NotifyMode,
			Online, LastHandle, Renewal, InTurn, ReplyPending, Replying, ReplyCutShort, CutUnreported, Speaking, ModelTurn,
			TurnEndPending, Discarding,
			Ending, CallEnded, Hangup, Held, Protected, Unconsented, Backlog, Transcript}, places(runningSlots(c))...),
		Env: []petri.Env{{Place: Dialled}, {Place: LinkDown}, {Place: Handle}, {Place: GoAway}},
		Out: []petri.Output{{Place: Dial}, {Place: CloseLink}, {Place: UseLink}, {Place: TurnAgain},
			{Place: Hangup}, {Place: NotifyMode, Durable: true}},
		Init: append(slices.Repeat([]petri.Token{dialCredit.Token(petri.Unit{})}, c.DialsMax),
			dialNow.Token(petri.Unit{})),
		Sinks: []petri.AnyPlace{modelGivenUp},
		Caps: append(caps(1, dialNow, dialBlocked, dialling, backingOff, Online, Closing, goingAway,
			restoring, ConnectedBefore,
			LastHandle,
			Renewal, CutUnreported, Ending, modelGivenUp), petri.Cap{Place: retriesSpent, Max: len(c.Backoff)},
			petri.Cap{Place: dialCredit, Max: c.DialsMax}),
	}
	if !c.gatewayVAD() {
		n.Caps = append(n.Caps, caps(1, backlogDue)...)
	}
	n.Transitions = append(n.Transitions, dialTransitions(c)...)
	n.Transitions = append(n.Transitions, restoreTransitions(c)...)
	n.Transitions = append(n.Transitions, lossTransitions(c)...)
	n.Transitions = append(n.Transitions, rotationTransitions(c)...)
	return below(n, linkLayer)
}

// The private places of the connection; claims name the exported ones. Exactly one of dialNow,
// dialBlocked, dialling, backingOff, Closing, modelGivenUp and the port Online is marked.
const (
	dialNow         petri.Place[petri.Unit] = "dial_now"         // a dial is due
	dialBlocked     petri.Place[petri.Unit] = "dial_blocked"     // the dial waits: the conversation must not leave now
	dialCredit      petri.Place[petri.Unit] = "dial_credit"      // one token for each dial that may begin now
	dialling        petri.Place[petri.Unit] = "dialling"         // a dial is under way
	backingOff      petri.Place[petri.Unit] = "backing_off"      // the net waits before the next dial
	Closing         petri.Place[petri.Unit] = "closing"          // the connection is being closed, to be replaced
	retriesSpent    petri.Place[petri.Unit] = "retries_spent"    // one token for each retry in a row
	goingAway       petri.Place[Urgency]    = "going_away"       // the connection is due for replacement
	restoring       petri.Place[petri.Unit] = "restoring"        // a new connection is to get the turn again
	ConnectedBefore petri.Place[petri.Unit] = "connected_before" // the call has had a connection
	modelGivenUp    petri.Place[petri.Unit] = "model_given_up"   // the net dials no more
	backlogDue      petri.Place[petri.Unit] = "backlog_due"      // model VAD: a new connection is to get the backlog
)

// dialTransitions returns the transitions that open connections.
func dialTransitions(c Config) []petri.Transition {
	up := func(name string, how DialResult, read, inhibit, out petri.Arcs) petri.Transition {
		t := petri.Transition{Name: name, In: petri.Arcs{Dialled.Is(how), dialling}, Read: read, Inhibit: inhibit,
			Reset: petri.Arcs{TurnEndPending, Discarding, restoring, ConnectedBefore}}
		if !c.gatewayVAD() {
			t.Reset, out = append(t.Reset, backlogDue), append(out, backlogDue)
		}
		t.Out = petri.And(append(petri.Arcs{Online, ConnectedBefore, restoring, UseLink.Passing(Dialled)}, out...)...)
		return t
	}
	back := func(t petri.Transition) petri.Transition {
		t.Action = func(f *petri.Firing) {
			UseLink.Put(f, Dialled.Get(f))
			NotifyMode.Put(f, Notice{Kind: LinkBack, Gen: f.Gen()})
		}
		return t
	}
	tries := len(c.Backoff)
	list := []petri.Transition{
		{Name: "dial_first", In: petri.Arcs{dialNow, dialCredit}, Inhibit: petri.Arcs{ConnectedBefore},
			Reset: petri.Arcs{Renewal}, Out: petri.And(dialling, Dial), Action: func(f *petri.Firing) { Dial.Put(f, nil) }},
		{Name: "dial_resuming", In: petri.Arcs{dialNow, dialCredit}, Read: petri.Arcs{LastHandle, ConnectedBefore},
			Reset: petri.Arcs{Renewal}, Out: petri.And(dialling, Dial.Passing(LastHandle))},
		{Name: "dial_afresh", In: petri.Arcs{dialNow, dialCredit}, Read: petri.Arcs{ConnectedBefore},
			Reset:   petri.Arcs{Renewal},
			Inhibit: petri.Arcs{LastHandle, Held, Protected}, Out: petri.And(dialling, Dial),
			Action: func(f *petri.Firing) { Dial.Put(f, nil) }},
		{Name: "block_dial_held", In: petri.Arcs{dialNow}, Read: petri.Arcs{ConnectedBefore, Held},
			Inhibit: petri.Arcs{LastHandle},
			Out:     petri.And(dialBlocked)},
		{Name: "block_dial_protected", In: petri.Arcs{dialNow}, Read: petri.Arcs{ConnectedBefore, Protected},
			Inhibit: petri.Arcs{LastHandle, Held}, Out: petri.And(dialBlocked)},
		{Name: "unblock_dial", In: petri.Arcs{dialBlocked}, Inhibit: petri.Arcs{Held, Protected}, Out: petri.And(dialNow)},
		{Name: "regain_dial", Inhibit: petri.Arcs{dialCredit.AtLeast(c.DialsMax)}, When: petri.After(c.DialEvery),
			Out: petri.And(dialCredit)},
		up("connect", Fresh, nil, petri.Arcs{ConnectedBefore}, nil),
		up("connect_resumed", Resumed, nil, petri.Arcs{ConnectedBefore}, nil),
		back(up("reconnect_afresh", Fresh, petri.Arcs{ConnectedBefore}, nil, petri.Arcs{NotifyMode.Is(LinkBack)})),
		back(up("reconnect", Resumed, petri.Arcs{ConnectedBefore}, nil, petri.Arcs{NotifyMode.Is(LinkBack)})),
		{Name: "fail_first_dial", In: petri.Arcs{Dialled.Is(Unreachable, Refused), dialling},
			Inhibit: petri.Arcs{ConnectedBefore}, Out: petri.And(modelGivenUp, CallEnded, Hangup.Is(ModelLost))},
		{Name: "fail_dial", In: petri.Arcs{Dialled.Is(Unreachable), dialling}, Read: petri.Arcs{ConnectedBefore},
			Inhibit: petri.Arcs{retriesSpent.AtLeast(tries)}, Out: petri.And(backingOff, retriesSpent)},
		{Name: "give_up_model", In: petri.Arcs{Dialled.Is(Unreachable), dialling},
			Read: petri.Arcs{ConnectedBefore, retriesSpent.AtLeast(tries)}, Reset: petri.Arcs{Ending},
			Out: petri.And(modelGivenUp, Ending.Is(ModelLost))},
		{Name: "drop_refused_handle", In: petri.Arcs{Dialled.Is(Refused), dialling, LastHandle},
			Read: petri.Arcs{ConnectedBefore},
			Out:  petri.And(dialNow)},
		{Name: "give_up_refusing_model", In: petri.Arcs{Dialled.Is(Refused), dialling}, Read: petri.Arcs{ConnectedBefore},
			Inhibit: petri.Arcs{LastHandle}, Reset: petri.Arcs{Ending}, Out: petri.And(modelGivenUp, Ending.Is(ModelLost))},
		{Name: "withhold_dial", In: petri.Arcs{Dialled.Is(Withheld), dialling}, Out: petri.And(dialNow)},
		{Name: "ignore_dial", In: petri.Arcs{Dialled}, Inhibit: petri.Arcs{dialling}},
		{Name: "count_stable", In: petri.Arcs{retriesSpent.All()}, Read: petri.Arcs{Online}, When: petri.After(c.Stable)},
		{Name: "keep_handle", In: petri.Arcs{Handle}, Read: petri.Arcs{Online}, Reset: petri.Arcs{LastHandle},
			Out: petri.And(LastHandle)},
		{Name: "ignore_handle", In: petri.Arcs{Handle}, Inhibit: petri.Arcs{Online}},
	}
	for i, d := range c.Backoff {
		t := petri.Transition{Name: fmt.Sprintf("retry_%d", i+1), In: petri.Arcs{backingOff},
			Read: petri.Arcs{retriesSpent.AtLeast(i + 1)}, When: petri.After(d), Out: petri.And(dialNow)}
		if i+1 < tries {
			t.Inhibit = petri.Arcs{retriesSpent.AtLeast(i + 2)}
		}
		list = append(list, t)
	}
	return list
}

// restoreTransitions returns the transitions that repeat the caller's turn to a new connection.
// With model VAD they also send the frames that came while there was no connection.
func restoreTransitions(c Config) []petri.Transition {
	again := func(open bool, from petri.Place[*CallerTurn]) func(*petri.Firing) {
		return func(f *petri.Firing) {
			turn := *from.Get(f)
			turn.Open = open
			TurnAgain.Put(f, &turn)
		}
	}
	list := []petri.Transition{
		{Name: "restore_open_turn", In: petri.Arcs{restoring}, Read: petri.Arcs{InTurn, Online},
			Inhibit: petri.Arcs{Held, Protected, Unconsented}, Out: petri.And(TurnAgain), Action: again(true, InTurn)},
		{Name: "restore_closed_turn", In: petri.Arcs{restoring}, Read: petri.Arcs{ReplyPending, Online},
			Inhibit: petri.Arcs{InTurn, Replying, Held, Protected, Unconsented},
			Reset:   petri.Arcs{ModelTurn, CutUnreported}, Out: petri.And(ModelTurn, TurnAgain),
			Action: again(false, ReplyPending)},
		{Name: "repeat_cut_turn", In: petri.Arcs{CutUnreported}, Read: petri.Arcs{Online, ReplyPending},
			Inhibit: petri.Arcs{restoring, InTurn, Replying, Held, Protected, Unconsented},
			Reset:   petri.Arcs{ModelTurn}, Out: petri.And(ModelTurn, TurnAgain), Action: again(false, ReplyPending)},
		{Name: "forget_unreported_cut", In: petri.Arcs{CutUnreported}, Inhibit: petri.Arcs{ReplyCutShort, ReplyPending}},
		{Name: "restore_nothing", In: petri.Arcs{restoring}, Read: petri.Arcs{Online},
			Inhibit: petri.Arcs{Held, Protected}, Priority: -1},
	}
	if !c.gatewayVAD() {
		list = append(list, petri.Transition{Name: "restore_backlog", In: petri.Arcs{backlogDue, Backlog},
			Read: petri.Arcs{Online}, Inhibit: petri.Arcs{Held, Protected, Unconsented}, Out: petri.And(Backlog, TurnAgain),
			Action: func(f *petri.Firing) {
				TurnAgain.Put(f, Backlog.Get(f))
				Backlog.Put(f, &CallerTurn{})
			}})
	}
	return list
}

// lossTransitions returns the transitions for a connection that breaks.
func lossTransitions(c Config) []petri.Transition {
	tries := len(c.Backoff)
	list := []petri.Transition{
		{Name: "lose_link", In: petri.Arcs{LinkDown, Online}, Inhibit: petri.Arcs{retriesSpent.AtLeast(tries)},
			Reset: petri.Arcs{TurnEndPending, Discarding, goingAway, Renewal, transcriptAhead()},
			Out:   petri.And(backingOff, retriesSpent, NotifyMode.Is(LinkLost)), Action: notify(NotifyMode, LinkLost)},
		{Name: "lose_link_for_good", In: petri.Arcs{LinkDown, Online}, Read: petri.Arcs{retriesSpent.AtLeast(tries)},
			Reset: petri.Arcs{TurnEndPending, Discarding, goingAway, Renewal, Ending, transcriptAhead()},
			Out:   petri.And(modelGivenUp, Ending.Is(ModelLost), NotifyMode.Is(LinkLost)), Action: loseForGood},
		{Name: "replace_link", In: petri.Arcs{LinkDown, Closing}, Reset: petri.Arcs{TurnEndPending, Discarding},
			Out: petri.And(dialNow)},
		{Name: "ignore_link_down", In: petri.Arcs{LinkDown}, Inhibit: petri.Arcs{Online, Closing}},
		{Name: "cut_reply_short", In: petri.Arcs{ModelTurn}, Read: petri.Arcs{Replying},
			Inhibit: petri.Arcs{Online, ReplyPending},
			Reset:   petri.Arcs{ReplyCutShort, CutUnreported}, Out: petri.And(ReplyCutShort, CutUnreported),
			Priority: cutLayer - linkLayer},
	}
	if c.Prompts != 0 { // while a prompt plays, the reply has not begun
		list = append(list, petri.Transition{Name: "lose_turn_behind_prompt", In: petri.Arcs{ModelTurn},
			Read: petri.Arcs{Replying, ReplyPending}, Inhibit: petri.Arcs{Online}, Priority: cutLayer - linkLayer})
	}
	return list
}

// loseForGood reports the loss of the last connection and asks for the end of the call with
// ModelLost.
func loseForGood(f *petri.Firing) {
	Ending.Put(f, ModelLost)
	NotifyMode.Put(f, Notice{Kind: LinkLost, Gen: f.Gen()})
}

// rotationTransitions returns the transitions that replace a working connection.
func rotationTransitions(c Config) []petri.Transition {
	closed := petri.And(Closing, CloseLink, NotifyMode.Is(LinkLost))
	rotate := func(name string, t petri.Transition) petri.Transition {
		t.Name, t.In, t.Out = name, append(petri.Arcs{Online}, t.In...), closed
		t.Reset = append(t.Reset, TurnEndPending, Discarding, transcriptAhead())
		t.Action = notify(NotifyMode, LinkLost)
		return t
	}
	busy := append(petri.Arcs{InTurn, ModelTurn, ReplyPending, Speaking}, runningSlots(c)...)
	return []petri.Transition{
		{Name: "note_go_away", In: petri.Arcs{GoAway.Is(Later)}, Read: petri.Arcs{Online}, Inhibit: petri.Arcs{goingAway},
			Out: petri.And(goingAway.Is(Later))},
		{Name: "note_go_away_soon", In: petri.Arcs{GoAway.Is(Soon)}, Read: petri.Arcs{Online},
			Inhibit: petri.Arcs{goingAway.Is(Soon)},
			Reset:   petri.Arcs{goingAway}, Out: petri.And(goingAway.Is(Soon))},
		{Name: "ignore_go_away", In: petri.Arcs{GoAway}, Priority: -1}, // a repetition does not delay the replacement
		{Name: "age_link", Read: petri.Arcs{Online}, Inhibit: petri.Arcs{goingAway}, When: petri.After(c.RotateAfter),
			Out: petri.And(goingAway.Is(Later))},
		rotate("rotate_in_quiet", petri.Transition{In: petri.Arcs{goingAway}, Inhibit: busy}),
		rotate("rotate_in_wait", petri.Transition{In: petri.Arcs{goingAway.Is(Later)},
			Inhibit: append(petri.Arcs{Replying, InTurn, Speaking}, runningSlots(c)...), When: petri.After(c.RotateSoon)}),
		rotate("rotate_soon", petri.Transition{In: petri.Arcs{goingAway.Is(Soon)}, When: petri.After(c.RotateSoon)}),
		rotate("rotate_later", petri.Transition{In: petri.Arcs{goingAway.Is(Later)}, When: petri.After(c.RotateWithin)}),
		rotate("renew", petri.Transition{In: petri.Arcs{Renewal}, Reset: petri.Arcs{goingAway}}),
	}
}

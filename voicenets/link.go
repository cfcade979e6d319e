package voicenets

import (
	"fmt"
	"slices"

	"github.com/voicegw/voicegw/petri"
)

// linkNet is the connection to the model: at most one at a time, whatever
// happens. It dials, keeps the newest handle, replaces the connection at a quiet
// moment before the model ends it, or when that is at hand, and one that broke at
// once, with a budget of retries. A new connection is told what the old one may
// not have heard: the caller's open turn, or the one that waits for its reply.
// What the caller said leaves by neither while the call is on hold or input is
// protected: a turn is told again after that, and a dial that would have to tell
// the conversation, because there is no handle to resume with, waits. A model
// that ends each connection as it begins is dialled DialsMax times at once, and
// then once in DialEvery: each dial spends a credit, and credits come back.
func linkNet(c Config) *petri.Net {
	p := linkPlaces()
	n := &petri.Net{
		Name: "link",
		Ports: append([]petri.AnyPlace{Dial, Dialled, LinkDown, CloseLink, UseLink, Handle, GoAway, TurnAgain, TellMode,
			online, lastHandle, renewal, inTurn, owing, replying, cutShort, untold, speaking, modelTurn, owedEnd, discarding,
			leaving, over, Hangup, held, protected, unconsented, backlog, Transcript}, places(runningSlots(c))...),
		Env: []petri.Env{{Place: Dialled}, {Place: LinkDown}, {Place: Handle}, {Place: GoAway}},
		Out: []petri.Output{{Place: Dial}, {Place: CloseLink}, {Place: UseLink}, {Place: TurnAgain},
			{Place: Hangup}, {Place: TellMode, Durable: true}},
		Init: append(slices.Repeat([]petri.Token{p.credit.Token(petri.Unit{})}, c.DialsMax),
			p.dialNow.Token(petri.Unit{})),
		Sinks: []petri.AnyPlace{p.lost},
		Caps: append(caps(1, p.dialNow, p.barred, p.dialling, p.waiting, online, p.closing, p.goingAway,
			p.restoring, p.served,
			lastHandle,
			renewal, untold, leaving, p.lost), petri.Cap{Place: p.spent, Max: len(c.Backoff)},
			petri.Cap{Place: p.credit, Max: c.DialsMax}),
	}
	if !c.manual() {
		n.Caps = append(n.Caps, caps(1, p.untoldAudio)...)
	}
	n.Transitions = append(n.Transitions, p.dials(c)...)
	n.Transitions = append(n.Transitions, p.restores(c)...)
	n.Transitions = append(n.Transitions, p.losses(c)...)
	n.Transitions = append(n.Transitions, p.rotations(c)...)
	return below(n, linkLayer)
}

// link are the private places of the connection. One of dialNow, barred,
// dialling, waiting, closing, lost and the port online is marked.
type link struct {
	dialNow   petri.Place[petri.Unit] // a connection is to be dialled
	credit    petri.Place[petri.Unit] // so many dials may begin now
	dialling  petri.Place[petri.Unit] // it is being dialled
	waiting   petri.Place[petri.Unit] // before the next try
	closing   petri.Place[petri.Unit] // it is being closed, to be replaced
	spent     petri.Place[petri.Unit] // tries in a row
	goingAway petri.Place[Urgency]    // it shall be replaced
	restoring petri.Place[petri.Unit] // it is to be told what the old one may not have heard
	served    petri.Place[petri.Unit] // there was a connection before
	lost      petri.Place[petri.Unit] // the model is given up

	barred      petri.Place[petri.Unit] // a dial waits, because what it has to tell must not leave now
	untoldAudio petri.Place[petri.Unit] // server mode: a new connection is to get the backlog
}

func linkPlaces() link {
	return link{"dial_now", "dial_credit", "dialling", "waiting", "closing", "spent", "going_away", "restoring", "served",
		"lost", "dial_barred", "untold_audio"}
}

// dials open connections.
func (p link) dials(c Config) []petri.Transition {
	up := func(name string, how DialResult, read, inhibit, out petri.Arcs) petri.Transition {
		t := petri.Transition{Name: name, In: petri.Arcs{Dialled.Is(how), p.dialling}, Read: read, Inhibit: inhibit,
			Reset: petri.Arcs{owedEnd, discarding, p.restoring, p.served}}
		if !c.manual() {
			t.Reset, out = append(t.Reset, p.untoldAudio), append(out, p.untoldAudio)
		}
		t.Out = petri.And(append(petri.Arcs{online, p.served, p.restoring, UseLink.Passing(Dialled)}, out...)...)
		return t
	}
	back := func(t petri.Transition) petri.Transition {
		t.Action = func(f *petri.Firing) {
			UseLink.Put(f, Dialled.Get(f))
			TellMode.Put(f, Notice{Kind: LinkBack, Gen: f.Gen()})
		}
		return t
	}
	tries := len(c.Backoff)
	list := []petri.Transition{
		{Name: "dial_first", In: petri.Arcs{p.dialNow, p.credit}, Inhibit: petri.Arcs{p.served},
			Reset: petri.Arcs{renewal}, Out: petri.And(p.dialling, Dial), Action: func(f *petri.Firing) { Dial.Put(f, nil) }},
		{Name: "dial_resuming", In: petri.Arcs{p.dialNow, p.credit}, Read: petri.Arcs{lastHandle, p.served},
			Reset: petri.Arcs{renewal}, Out: petri.And(p.dialling, Dial.Passing(lastHandle))},
		{Name: "dial_afresh", In: petri.Arcs{p.dialNow, p.credit}, Read: petri.Arcs{p.served}, Reset: petri.Arcs{renewal},
			Inhibit: petri.Arcs{lastHandle, held, protected}, Out: petri.And(p.dialling, Dial),
			Action: func(f *petri.Firing) { Dial.Put(f, nil) }},
		{Name: "bar_dial_held", In: petri.Arcs{p.dialNow}, Read: petri.Arcs{p.served, held}, Inhibit: petri.Arcs{lastHandle},
			Out: petri.And(p.barred)},
		{Name: "bar_dial_protected", In: petri.Arcs{p.dialNow}, Read: petri.Arcs{p.served, protected},
			Inhibit: petri.Arcs{lastHandle, held}, Out: petri.And(p.barred)},
		{Name: "unbar_dial", In: petri.Arcs{p.barred}, Inhibit: petri.Arcs{held, protected}, Out: petri.And(p.dialNow)},
		{Name: "regain_dial", Inhibit: petri.Arcs{p.credit.AtLeast(c.DialsMax)}, When: petri.After(c.DialEvery),
			Out: petri.And(p.credit)},
		up("connect", Fresh, nil, petri.Arcs{p.served}, nil),
		up("connect_oddly", Resumed, nil, petri.Arcs{p.served}, nil),
		back(up("reconnect_afresh", Fresh, petri.Arcs{p.served}, nil, petri.Arcs{TellMode.Is(LinkBack)})),
		back(up("reconnect", Resumed, petri.Arcs{p.served}, nil, petri.Arcs{TellMode.Is(LinkBack)})),
		{Name: "fail_first_dial", In: petri.Arcs{Dialled.Is(Unreachable, Turned), p.dialling},
			Inhibit: petri.Arcs{p.served}, Out: petri.And(p.lost, over, Hangup.Is(ModelLost))},
		{Name: "fail_dial", In: petri.Arcs{Dialled.Is(Unreachable), p.dialling}, Read: petri.Arcs{p.served},
			Inhibit: petri.Arcs{p.spent.AtLeast(tries)}, Out: petri.And(p.waiting, p.spent)},
		{Name: "give_up_model", In: petri.Arcs{Dialled.Is(Unreachable), p.dialling},
			Read: petri.Arcs{p.served, p.spent.AtLeast(tries)}, Reset: petri.Arcs{leaving},
			Out: petri.And(p.lost, leaving.Is(ModelLost))},
		{Name: "drop_refused_handle", In: petri.Arcs{Dialled.Is(Turned), p.dialling, lastHandle}, Read: petri.Arcs{p.served},
			Out: petri.And(p.dialNow)},
		{Name: "be_turned_away", In: petri.Arcs{Dialled.Is(Turned), p.dialling}, Read: petri.Arcs{p.served},
			Inhibit: petri.Arcs{lastHandle}, Reset: petri.Arcs{leaving}, Out: petri.And(p.lost, leaving.Is(ModelLost))},
		{Name: "withhold_dial", In: petri.Arcs{Dialled.Is(Withheld), p.dialling}, Out: petri.And(p.dialNow)},
		{Name: "ignore_dial", In: petri.Arcs{Dialled}, Inhibit: petri.Arcs{p.dialling}},
		{Name: "count_stable", In: petri.Arcs{p.spent.All()}, Read: petri.Arcs{online}, When: petri.After(c.Stable)},
		{Name: "keep_handle", In: petri.Arcs{Handle}, Read: petri.Arcs{online}, Reset: petri.Arcs{lastHandle},
			Out: petri.And(lastHandle)},
		{Name: "ignore_handle", In: petri.Arcs{Handle}, Inhibit: petri.Arcs{online}},
	}
	for i, d := range c.Backoff {
		t := petri.Transition{Name: fmt.Sprintf("retry_%d", i+1), In: petri.Arcs{p.waiting},
			Read: petri.Arcs{p.spent.AtLeast(i + 1)}, When: petri.After(d), Out: petri.And(p.dialNow)}
		if i+1 < tries {
			t.Inhibit = petri.Arcs{p.spent.AtLeast(i + 2)}
		}
		list = append(list, t)
	}
	return list
}

// restores tell a new connection of the caller's turn, and in server mode what
// came while there was none.
func (p link) restores(c Config) []petri.Transition {
	again := func(open bool, from petri.Place[*CallerTurn]) func(*petri.Firing) {
		return func(f *petri.Firing) {
			turn := *from.Get(f)
			turn.Open = open
			TurnAgain.Put(f, &turn)
		}
	}
	list := []petri.Transition{
		{Name: "restore_open_turn", In: petri.Arcs{p.restoring}, Read: petri.Arcs{inTurn, online},
			Inhibit: petri.Arcs{held, protected, unconsented}, Out: petri.And(TurnAgain), Action: again(true, inTurn)},
		{Name: "restore_closed_turn", In: petri.Arcs{p.restoring}, Read: petri.Arcs{owing, online},
			Inhibit: petri.Arcs{inTurn, replying, held, protected, unconsented},
			Reset:   petri.Arcs{modelTurn, untold}, Out: petri.And(modelTurn, TurnAgain), Action: again(false, owing)},
		{Name: "tell_cut_turn", In: petri.Arcs{untold}, Read: petri.Arcs{online, owing},
			Inhibit: petri.Arcs{p.restoring, inTurn, replying, held, protected, unconsented},
			Reset:   petri.Arcs{modelTurn}, Out: petri.And(modelTurn, TurnAgain), Action: again(false, owing)},
		{Name: "forget_untold", In: petri.Arcs{untold}, Inhibit: petri.Arcs{cutShort, owing}},
		{Name: "restore_nothing", In: petri.Arcs{p.restoring}, Read: petri.Arcs{online},
			Inhibit: petri.Arcs{held, protected}, Priority: -1},
	}
	if !c.manual() {
		list = append(list, petri.Transition{Name: "restore_backlog", In: petri.Arcs{p.untoldAudio, backlog},
			Read: petri.Arcs{online}, Inhibit: petri.Arcs{held, protected, unconsented}, Out: petri.And(backlog, TurnAgain),
			Action: func(f *petri.Firing) {
				TurnAgain.Put(f, backlog.Get(f))
				backlog.Put(f, &CallerTurn{})
			}})
	}
	return list
}

// losses are connections that break.
func (p link) losses(c Config) []petri.Transition {
	tries := len(c.Backoff)
	list := []petri.Transition{
		{Name: "lose_link", In: petri.Arcs{LinkDown, online}, Inhibit: petri.Arcs{p.spent.AtLeast(tries)},
			Reset: petri.Arcs{owedEnd, discarding, p.goingAway, renewal, wordsAhead()},
			Out:   petri.And(p.waiting, p.spent, TellMode.Is(LinkLost)), Action: tell(TellMode, LinkLost)},
		{Name: "lose_link_for_good", In: petri.Arcs{LinkDown, online}, Read: petri.Arcs{p.spent.AtLeast(tries)},
			Reset: petri.Arcs{owedEnd, discarding, p.goingAway, renewal, leaving, wordsAhead()},
			Out:   petri.And(p.lost, leaving.Is(ModelLost), TellMode.Is(LinkLost)), Action: loseForGood},
		{Name: "replace_link", In: petri.Arcs{LinkDown, p.closing}, Reset: petri.Arcs{owedEnd, discarding},
			Out: petri.And(p.dialNow)},
		{Name: "ignore_link_down", In: petri.Arcs{LinkDown}, Inhibit: petri.Arcs{online, p.closing}},
		{Name: "cut_reply_short", In: petri.Arcs{modelTurn}, Read: petri.Arcs{replying}, Inhibit: petri.Arcs{online, owing},
			Reset: petri.Arcs{cutShort, untold}, Out: petri.And(cutShort, untold), Priority: cutLayer - linkLayer},
	}
	if c.Prompts != 0 { // behind one the reply has not begun
		list = append(list, petri.Transition{Name: "lose_turn_behind_prompt", In: petri.Arcs{modelTurn},
			Read: petri.Arcs{replying, owing}, Inhibit: petri.Arcs{online}, Priority: cutLayer - linkLayer})
	}
	return list
}

func loseForGood(f *petri.Firing) {
	leaving.Put(f, ModelLost)
	TellMode.Put(f, Notice{Kind: LinkLost, Gen: f.Gen()})
}

// rotations replace a connection that works still.
func (p link) rotations(c Config) []petri.Transition {
	closed := petri.And(p.closing, CloseLink, TellMode.Is(LinkLost))
	rotate := func(name string, t petri.Transition) petri.Transition {
		t.Name, t.In, t.Out = name, append(petri.Arcs{online}, t.In...), closed
		t.Reset = append(t.Reset, owedEnd, discarding, wordsAhead())
		t.Action = tell(TellMode, LinkLost)
		return t
	}
	busy := append(petri.Arcs{inTurn, modelTurn, owing, speaking}, runningSlots(c)...)
	return []petri.Transition{
		{Name: "note_go_away", In: petri.Arcs{GoAway.Is(Later)}, Read: petri.Arcs{online}, Inhibit: petri.Arcs{p.goingAway},
			Out: petri.And(p.goingAway.Is(Later))},
		{Name: "hurry", In: petri.Arcs{GoAway.Is(Soon)}, Read: petri.Arcs{online}, Inhibit: petri.Arcs{p.goingAway.Is(Soon)},
			Reset: petri.Arcs{p.goingAway}, Out: petri.And(p.goingAway.Is(Soon))},
		{Name: "ignore_go_away", In: petri.Arcs{GoAway}, Priority: -1}, // a repetition does not put it off
		{Name: "age_link", Read: petri.Arcs{online}, Inhibit: petri.Arcs{p.goingAway}, When: petri.After(c.RotateAfter),
			Out: petri.And(p.goingAway.Is(Later))},
		rotate("rotate_in_quiet", petri.Transition{In: petri.Arcs{p.goingAway}, Inhibit: busy}),
		rotate("rotate_in_wait", petri.Transition{In: petri.Arcs{p.goingAway.Is(Later)},
			Inhibit: append(petri.Arcs{replying, inTurn, speaking}, runningSlots(c)...), When: petri.After(c.RotateSoon)}),
		rotate("rotate_soon", petri.Transition{In: petri.Arcs{p.goingAway.Is(Soon)}, When: petri.After(c.RotateSoon)}),
		rotate("rotate_later", petri.Transition{In: petri.Arcs{p.goingAway.Is(Later)}, When: petri.After(c.RotateWithin)}),
		rotate("renew", petri.Transition{In: petri.Arcs{renewal}, Reset: petri.Arcs{p.goingAway}}),
	}
}

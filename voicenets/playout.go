package voicenets

import (
	"time"

	"github.com/voicegw/voicegw/petri"
)

// playoutNet hands the reply to the peer: at most BudgetFrames that are not
// acknowledged. A pause takes them back; resuming hands them over again, first
// of all. A reply of which everything was played ends, and the next one has a
// generation of its own.
func playoutNet(c Config) *petri.Net {
	const ackWatch petri.Place[petri.Unit] = "ack_watch"
	budget := c.BudgetFrames
	rest := petri.Arcs{replyAudio, unacked, unplayed, prompting, confirming, parked}
	n := &petri.Net{
		Name: "playout",
		Ports: []petri.AnyPlace{AudioDown, PeerAck, TellReply, Mark, Presumed, replying, replyAudio, unacked, unplayed,
			endMarked, modelTurn, owedEnd, owing, asked, weighing, confirming, parked, prompting, firm,
			cutShort, lastTurn, unconsented},
		Env:  []petri.Env{{Place: PeerAck}},
		Out:  []petri.Output{{Place: AudioDown}, {Place: TellReply}, {Place: Mark}, {Place: Presumed}},
		Init: []petri.Token{ackWatch.Token(petri.Unit{}), lastTurn.Token(&CallerTurn{})},
		Caps: append(caps(1, endMarked, ackWatch, firm, cutShort, lastTurn), caps(budget, unacked, unplayed)...),
		Transitions: []petri.Transition{
			{Name: "begin_reply", Read: petri.Arcs{replyAudio.Fresh(), modelTurn}, Inhibit: petri.Arcs{replying, parked},
				Reset: petri.Arcs{owedEnd, owing, asked}, Out: petri.And(replying, TellReply.Is(ReplyStarted)),
				Action: tell(TellReply, ReplyStarted)},
			{Name: "begin_unasked_reply", Read: petri.Arcs{replyAudio.Fresh()}, Inhibit: petri.Arcs{replying, modelTurn, parked},
				Reset: petri.Arcs{owedEnd, owing, asked}, Out: petri.And(replying, modelTurn, TellReply.Is(ReplyStarted)),
				Action: tell(TellReply, ReplyStarted)},
			{Name: "send_frame", In: petri.Arcs{replyAudio.Fresh()}, Read: petri.Arcs{replying},
				Inhibit: petri.Arcs{unacked.AtLeast(budget), unplayed, confirming, parked, weighing},
				Out:     petri.And(AudioDown.Fresh(), unacked)},
			{Name: "return_budget", In: petri.Arcs{PeerAck.Fresh(), unacked.Fresh(), ackWatch}, Out: petri.And(ackWatch)},
			{Name: "drop_stale_ack", In: petri.Arcs{PeerAck.Stale()}},
			{Name: "drop_unowed_ack", In: petri.Arcs{PeerAck.Fresh()}, Inhibit: petri.Arcs{unacked, unplayed}},
			{Name: "presume_played", In: petri.Arcs{unacked.Fresh().All()}, Read: petri.Arcs{ackWatch},
				When: petri.After(time.Duration(budget)*20*time.Millisecond + c.AckTimeout), Out: petri.And(Presumed)},
			{Name: "mark_end", Read: petri.Arcs{replying, unacked.Fresh()},
				Inhibit: petri.Arcs{replyAudio, unplayed, modelTurn, prompting, confirming, parked, endMarked},
				Out:     petri.And(endMarked, Mark.Is(MarkEnd)), Action: tell(Mark, MarkEnd)},
			{Name: "end_reply", In: petri.Arcs{replying}, Reset: petri.Arcs{endMarked, firm}, Bump: true,
				Inhibit: with(rest, modelTurn, cutShort),
				Out:     petri.And(TellReply.Is(ReplyComplete)), Action: tellBefore(TellReply, ReplyComplete)},
			{Name: "presume_turn_complete", In: petri.Arcs{modelTurn}, Read: petri.Arcs{replying},
				Inhibit: rest, When: petri.After(c.SilentTurn)},
		},
	}
	n.Transitions = append(n.Transitions, endCutReply(c, with(rest, modelTurn))...)
	for _, paused := range []petri.Place[petri.Unit]{confirming, parked} {
		n.Transitions = append(n.Transitions,
			petri.Transition{Name: "take_back_" + string(paused), In: petri.Arcs{unacked.Fresh()}, Read: petri.Arcs{paused},
				Out: petri.And(unplayed)},
			petri.Transition{Name: "note_played_" + string(paused), In: petri.Arcs{PeerAck.Fresh(), unplayed.Fresh()},
				Read: petri.Arcs{paused}})
	}
	n.Transitions = append(n.Transitions,
		petri.Transition{Name: "play_again", In: petri.Arcs{unplayed.Fresh()}, Read: petri.Arcs{replying},
			Inhibit: petri.Arcs{unacked.AtLeast(budget), confirming, parked}, Out: petri.And(AudioDown.Fresh(), unacked)})
	return n
}

// endCutReply ends a reply whose connection was lost before the model had given
// all of it: what came was heard. The caller's turn is owed an answer again,
// unless it was forgotten with withdrawn consent.
func endCutReply(c Config, rest petri.Arcs) []petri.Transition {
	end := petri.Transition{Name: "end_cut_reply", In: petri.Arcs{replying, cutShort, lastTurn}, Inhibit: rest,
		Reset: petri.Arcs{endMarked, firm, owing}, Bump: true, Out: petri.And(TellReply.Is(ReplyLost), lastTurn, owing),
		Action: func(f *petri.Firing) {
			TellReply.Put(f, Notice{Kind: ReplyLost, Gen: f.Gen() - 1})
			turn := *lastTurn.Get(f)
			turn.Cut, turn.Open = true, false
			owe(f, &turn)
		}}
	if !c.Consent {
		return []petri.Transition{end}
	}
	end.Inhibit = with(rest, unconsented)
	return []petri.Transition{end, {Name: "end_cut_reply_unconsented", In: petri.Arcs{replying, cutShort},
		Read: petri.Arcs{unconsented}, Inhibit: rest, Reset: petri.Arcs{endMarked, firm}, Bump: true,
		Out: petri.And(TellReply.Is(ReplyLost)), Action: tellBefore(TellReply, ReplyLost)}}
}

// tellBefore produces one notice about the generation that a Bump ends.
func tellBefore(place petri.Place[Notice], kind NoticeKind) func(*petri.Firing) {
	return func(f *petri.Firing) { place.Put(f, Notice{Kind: kind, Gen: f.Gen() - 1}) }
}

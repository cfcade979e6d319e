package voicenets

import (
	"time"

	"github.com/voicegw/voicegw/petri"
)

// playoutNet hands the reply to the peer, at most BudgetFrames that are not acknowledged. A pause
// takes these frames back. When the reply resumes, the net hands them over again before any other.
// A reply ends when all of it was played; the next one gets its own generation.
func playoutNet(c Config) *petri.Net {
	const ackTimer petri.Place[petri.Unit] = "ack_timer"
	budget := c.BudgetFrames
	rest := petri.Arcs{ReplyAudio, Unacked, Unplayed, Prompting, Confirming, Parked}
	n := &petri.Net{
		Name: "playout",
		Ports: []petri.AnyPlace{AudioDown, PeerAck, NotifyReply, Mark, PresumedPlayed, Replying, ReplyAudio, Unacked,
			Unplayed,
			EndMarked, ModelTurn, TurnEndPending, ReplyPending, Reprompted, DelayingReply, Confirming, Parked, Prompting, Firm,
			ReplyCutShort, LastTurn, Unconsented},
		Env:  []petri.Env{{Place: PeerAck}},
		Out:  []petri.Output{{Place: AudioDown}, {Place: NotifyReply}, {Place: Mark}, {Place: PresumedPlayed}},
		Init: []petri.Token{ackTimer.Token(petri.Unit{}), LastTurn.Token(&CallerTurn{})},
		Caps: append(caps(1, EndMarked, ackTimer, Firm, ReplyCutShort, LastTurn), caps(budget, Unacked, Unplayed)...),
		Transitions: []petri.Transition{
			{Name: "begin_reply", Read: petri.Arcs{ReplyAudio.Fresh(), ModelTurn}, Inhibit: petri.Arcs{Replying, Parked},
				Reset: petri.Arcs{TurnEndPending, ReplyPending, Reprompted}, Out: petri.And(Replying, NotifyReply.Is(ReplyStarted)),
				Action: notify(NotifyReply, ReplyStarted)},
			{Name: "begin_unrequested_reply", Read: petri.Arcs{ReplyAudio.Fresh()},
				Inhibit: petri.Arcs{Replying, ModelTurn, Parked},
				Reset:   petri.Arcs{TurnEndPending, ReplyPending, Reprompted}, Out: petri.And(Replying, ModelTurn,
					NotifyReply.Is(ReplyStarted)),
				Action: notify(NotifyReply, ReplyStarted)},
			{Name: "send_frame", In: petri.Arcs{ReplyAudio.Fresh()}, Read: petri.Arcs{Replying},
				Inhibit: petri.Arcs{Unacked.AtLeast(budget), Unplayed, Confirming, Parked, DelayingReply},
				Out:     petri.And(AudioDown.Fresh(), Unacked)},
			{Name: "return_budget", In: petri.Arcs{PeerAck.Fresh(), Unacked.Fresh(), ackTimer}, Out: petri.And(ackTimer)},
			{Name: "drop_stale_ack", In: petri.Arcs{PeerAck.Stale()}},
			{Name: "drop_unexpected_ack", In: petri.Arcs{PeerAck.Fresh()}, Inhibit: petri.Arcs{Unacked, Unplayed}},
			{Name: "presume_played", In: petri.Arcs{Unacked.Fresh().All()}, Read: petri.Arcs{ackTimer},
				When: petri.After(time.Duration(budget)*20*time.Millisecond + c.AckTimeout), Out: petri.And(PresumedPlayed)},
			{Name: "mark_end", Read: petri.Arcs{Replying, Unacked.Fresh()},
				Inhibit: petri.Arcs{ReplyAudio, Unplayed, ModelTurn, Prompting, Confirming, Parked, EndMarked},
				Out:     petri.And(EndMarked, Mark.Is(MarkEnd)), Action: notify(Mark, MarkEnd)},
			{Name: "end_reply", In: petri.Arcs{Replying}, Reset: petri.Arcs{EndMarked, Firm}, Bump: true,
				Inhibit: with(rest, ModelTurn, ReplyCutShort),
				Out:     petri.And(NotifyReply.Is(ReplyComplete)), Action: notifyBefore(NotifyReply, ReplyComplete)},
			{Name: "presume_turn_complete", In: petri.Arcs{ModelTurn}, Read: petri.Arcs{Replying},
				Inhibit: rest, When: petri.After(c.SilentTurn)},
		},
	}
	n.Transitions = append(n.Transitions, endCutReply(c, with(rest, ModelTurn))...)
	for _, paused := range []petri.Place[petri.Unit]{Confirming, Parked} {
		n.Transitions = append(n.Transitions,
			petri.Transition{Name: "take_back_" + string(paused), In: petri.Arcs{Unacked.Fresh()}, Read: petri.Arcs{paused},
				Out: petri.And(Unplayed)},
			petri.Transition{Name: "note_played_" + string(paused), In: petri.Arcs{PeerAck.Fresh(), Unplayed.Fresh()},
				Read: petri.Arcs{paused}})
	}
	n.Transitions = append(n.Transitions,
		petri.Transition{Name: "play_again", In: petri.Arcs{Unplayed.Fresh()}, Read: petri.Arcs{Replying},
			Inhibit: petri.Arcs{Unacked.AtLeast(budget), Confirming, Parked}, Out: petri.And(AudioDown.Fresh(), Unacked)})
	return n
}

// endCutReply ends a reply whose connection was lost before the model had sent all of it. The reply
// was played as far as it came. A reply to the caller's turn is pending again, unless the net
// dropped that turn because consent was withdrawn.
func endCutReply(c Config, rest petri.Arcs) []petri.Transition {
	end := petri.Transition{Name: "end_cut_reply", In: petri.Arcs{Replying, ReplyCutShort, LastTurn}, Inhibit: rest,
		Reset: petri.Arcs{EndMarked, Firm, ReplyPending}, Bump: true, Out: petri.And(NotifyReply.Is(ReplyLost), LastTurn,
			ReplyPending),
		Action: func(f *petri.Firing) {
			NotifyReply.Put(f, Notice{Kind: ReplyLost, Gen: f.Gen() - 1})
			turn := *LastTurn.Get(f)
			turn.Cut, turn.Open = true, false
			awaitReply(f, &turn)
		}}
	if !c.Consent {
		return []petri.Transition{end}
	}
	end.Inhibit = with(rest, Unconsented)
	return []petri.Transition{end, {Name: "end_cut_reply_unconsented", In: petri.Arcs{Replying, ReplyCutShort},
		Read: petri.Arcs{Unconsented}, Inhibit: rest, Reset: petri.Arcs{EndMarked, Firm}, Bump: true,
		Out: petri.And(NotifyReply.Is(ReplyLost)), Action: notifyBefore(NotifyReply, ReplyLost)}}
}

// notifyBefore returns an action that produces one notice about the generation that a Bump ends.
func notifyBefore(place petri.Place[Notice], kind NoticeKind) func(*petri.Firing) {
	return func(f *petri.Firing) { place.Put(f, Notice{Kind: kind, Gen: f.Gen() - 1}) }
}

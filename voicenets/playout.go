package voicenets

import (
	"time"

	"github.com/voicegw/voicegw/petri"
)

// playoutNet hands the reply to the peer: at most BudgetFrames that are not
// acknowledged. A pause takes them back; resuming hands them over again, first
// of all.
func playoutNet(c Config) *petri.Net {
	const ackWatch petri.Place[petri.Unit] = "ack_watch"
	budget := c.BudgetFrames
	n := &petri.Net{
		Name: "playout",
		Ports: []petri.AnyPlace{AudioDown, PeerAck, TellReply, Mark, Presumed, replying, replyAudio, unacked, unplayed,
			endMarked,
			modelTurn, owedEnd, confirming},
		Env:  []petri.Env{{Place: PeerAck}},
		Out:  []petri.Output{{Place: AudioDown}, {Place: TellReply}, {Place: Mark}, {Place: Presumed}},
		Init: []petri.Token{ackWatch.Token(petri.Unit{})},
		Caps: append(caps(1, endMarked, ackWatch), caps(budget, unacked, unplayed)...),
		Transitions: []petri.Transition{
			{Name: "begin_unasked_reply", Read: petri.Arcs{replyAudio.Fresh()}, Inhibit: petri.Arcs{replying, modelTurn},
				Reset: petri.Arcs{owedEnd}, Out: petri.And(replying, modelTurn, TellReply.Is(ReplyStarted)),
				Action: tell(TellReply, ReplyStarted)},
			{Name: "send_frame", In: petri.Arcs{replyAudio.Fresh()}, Read: petri.Arcs{replying},
				Inhibit: petri.Arcs{unacked.AtLeast(budget), unplayed, confirming}, Out: petri.And(AudioDown.Fresh(), unacked)},
			{Name: "return_budget", In: petri.Arcs{PeerAck.Fresh(), unacked.Fresh(), ackWatch}, Out: petri.And(ackWatch)},
			{Name: "drop_stale_ack", In: petri.Arcs{PeerAck.Stale()}},
			{Name: "drop_unowed_ack", In: petri.Arcs{PeerAck.Fresh()}, Inhibit: petri.Arcs{unacked, unplayed}},
			{Name: "presume_played", In: petri.Arcs{unacked.Fresh().All()}, Read: petri.Arcs{ackWatch},
				When: petri.After(time.Duration(budget)*20*time.Millisecond + c.AckTimeout), Out: petri.And(Presumed)},
			{Name: "mark_end", Read: petri.Arcs{replying, unacked.Fresh()},
				Inhibit: petri.Arcs{replyAudio, unplayed, modelTurn, confirming, endMarked},
				Out:     petri.And(endMarked, Mark.Is(MarkEnd)), Action: tell(Mark, MarkEnd)},
			{Name: "end_reply", In: petri.Arcs{replying}, Reset: petri.Arcs{endMarked},
				Inhibit: petri.Arcs{replyAudio, unacked, unplayed, modelTurn, confirming},
				Out:     petri.And(TellReply.Is(ReplyComplete)), Action: tell(TellReply, ReplyComplete)},
			{Name: "presume_turn_complete", In: petri.Arcs{modelTurn}, Read: petri.Arcs{replying},
				Inhibit: petri.Arcs{replyAudio, unacked, unplayed, confirming}, When: petri.After(c.SilentTurn)},
		},
	}
	if c.Detection == Manual || c.Greeting {
		n.Transitions = append(n.Transitions, petri.Transition{
			Name: "begin_reply", Read: petri.Arcs{replyAudio.Fresh(), modelTurn}, Inhibit: petri.Arcs{replying},
			Reset: petri.Arcs{owedEnd}, Out: petri.And(replying, TellReply.Is(ReplyStarted)),
			Action: tell(TellReply, ReplyStarted)})
	}
	if c.HalfDuplex {
		return strip(n, confirming, unplayed)
	}
	n.Transitions = append(n.Transitions,
		petri.Transition{Name: "take_back", In: petri.Arcs{unacked.Fresh()}, Read: petri.Arcs{confirming},
			Out: petri.And(unplayed)},
		petri.Transition{Name: "note_played_before_pause", In: petri.Arcs{PeerAck.Fresh(), unplayed.Fresh()},
			Read: petri.Arcs{confirming}},
		petri.Transition{Name: "play_again", In: petri.Arcs{unplayed.Fresh()}, Read: petri.Arcs{replying},
			Inhibit: petri.Arcs{unacked.AtLeast(budget), confirming}, Out: petri.And(AudioDown.Fresh(), unacked)})
	return n
}

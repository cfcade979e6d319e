package console

import (
	"time"

	"github.com/voicegw/voicegw/petri"
)

// A Stage is a part of the latency of a turn. Times are in milliseconds; From is since the call began.
type Stage struct {
	Name string  `json:"name"`
	From float64 `json:"from"`
	MS   float64 `json:"ms"`
}

// The stages of a turn, in their order. Connecting is the first connection, and reconnecting a later one. The model has
// what is left of the time from the end of the turn to its first audio.
const (
	stageEndOfTurn    = "end of turn"
	stageReconnecting = "reconnecting"
	stageConnecting   = "connecting"
	stageFunction     = "function"
	stageModel        = "model"
	stageGateway      = "gateway"
	stageCaller       = "caller's side"
)

// spent is the time of a turn in which the model could not answer.
type spent struct{ reconnecting, connecting, function time.Duration }

// waits tells where the time of a turn goes, from one event to the next.
type waits struct {
	at    time.Duration // of the event before
	why   string        // a stage, "" if none but the model takes the time
	hole  bool          // nothing of the reply is heard, and nothing waits
	since time.Duration // of the hole
	of    int           // the turn with the hole
}

// holeMin is how long a reply must be silent to be silent in the middle.
const holeMin = 200 * time.Millisecond

// pass adds the time since the event before to the turn that waits for its reply.
func (w *waits) pass(turn *Turn, at time.Duration) {
	took := at - w.at
	w.at = at
	if turn == nil || turn.TurnEnded == 0 || turn.ModelFirst > 0 || turn.SentFirst > 0 || turn.Ended > 0 {
		return
	}
	switch w.why {
	case stageReconnecting:
		turn.spent.reconnecting += took
	case stageConnecting:
		turn.spent.connecting += took
	case stageFunction:
		turn.spent.function += took
	}
}

// look notes what takes the time from now on. It reports whether the turn was silent in its middle.
func (w *waits) look(tr *petri.Tracker, s *spots, turn *Turn) bool {
	switch {
	case !has(tr, s.online) && has(tr, s.connected):
		w.why = stageReconnecting
	case !has(tr, s.online):
		w.why = stageConnecting
	case has(tr, s.tools...):
		w.why = stageFunction
	default:
		w.why = ""
	}
	replying := turn != nil && turn.SentFirst > 0 && turn.Ended == 0 && has(tr, s.replying)
	hole := replying && !has(tr, s.waiting, s.unacked, s.unplayed, s.confirming, s.parked, s.held)
	was := w.hole
	w.hole = hole
	if hole && !was {
		w.since, w.of = w.at, turn.N
	}
	if !was || hole || !replying || w.of != turn.N || w.at-w.since < holeMin {
		return false
	}
	turn.SilentMS += int((w.at - w.since).Milliseconds())
	return true
}

// stages returns the parts of the latency that are known.
func (t *Turn) stages() []Stage {
	var list []Stage
	add := func(name string, from, took float64) float64 {
		list = append(list, Stage{Name: name, From: round(from), MS: round(took)})
		return from + took
	}
	between := func(name string, from, to float64) {
		if from > 0 && to > 0 {
			add(name, from, max(to-from, 0))
		}
	}
	between(stageEndOfTurn, t.SpeechEnded, t.TurnEnded)
	at := t.TurnEnded
	for _, one := range []struct {
		name string
		took time.Duration
	}{{stageConnecting, t.spent.connecting}, {stageReconnecting, t.spent.reconnecting},
		{stageFunction, t.spent.function}} {
		if one.took > 0 {
			at = add(one.name, at, ms(one.took))
		}
	}
	between(stageModel, at, t.ModelFirst)
	between(stageGateway, t.ModelFirst, t.SentFirst)
	between(stageCaller, t.SentFirst, t.PlayedFirst)
	return list
}

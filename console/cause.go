package console

import (
	"fmt"
	"time"

	"github.com/voicegw/voicegw/petri"
)

// The keys of causes.
const (
	keyOver        = "over"
	keyEnding      = "ending"
	keyHold        = "hold"
	keyProtected   = "protected"
	keyConsent     = "consent"
	keyPaused      = "paused"
	keySpeaking    = "speaking"
	keyDelayed     = "reply_delayed"
	keyStalled     = "reply_stalled"
	keyCaller      = "caller"
	keyEndpointing = "endpointing"
	keyConnecting  = "connecting"
	keyLost        = "model_lost"
	keyTool        = "tool"
	keyPrompt      = "prompt_due"
	keyModelSlow   = "model_slow"
	keyMuted       = "muted"
	keyIdle        = "caller_silent"
)

// titles names causes in a list.
var titles = map[string]string{
	keyOver: "the call is over", keyEnding: "the call ends", keyHold: "the call on hold",
	keyProtected: "protected input", keyConsent: "no consent yet", keyPaused: "the reply paused",
	keySpeaking: "the reply begins or ends", keyDelayed: "the reply delayed by a sound",
	keyStalled: "the model stopped sending",
	keyCaller:  "the caller's turn", keyEndpointing: "waiting whether the caller goes on",
	keyConnecting: "the model being dialled", keyLost: "no connection to the model", keyTool: "a function that runs",
	keyPrompt: "a prompt that waits", keyModelSlow: "the model has the turn", keyMuted: "the caller is muted",
	keyIdle: "nobody's turn but the caller's",
}

// cause says why the call is as it is.
func (w *why) cause(t *petri.Tracker, at time.Duration, turn *Turn) Cause {
	phase := w.spots.phase(t)
	key, say := w.find(t, phase)
	if w.now.Key != key { // a new one
		w.since = map[string]time.Duration{key: at}
	}
	return Cause{From: ms(at), Key: key, Phase: phase, Text: say(clock(ms(w.since[key])), turn)}
}

// words says a cause: since is when it began.
type words func(since string, turn *Turn) string

// fixed are words that depend on nothing but when.
func fixed(format string) words {
	return func(since string, _ *Turn) string { return fmt.Sprintf(format, since) }
}

// find returns the key of the cause, and its words.
func (w *why) find(t *petri.Tracker, phase Phase) (string, words) {
	s := w.spots
	switch phase {
	case Over:
		return keyOver, fixed("The call ended at %s.")
	case Ending:
		return keyEnding, fixed("The call ends: the end was decided at %s, and only the farewell is still played.")
	case Held:
		return keyHold, w.hold(t)
	case Protected:
		return keyProtected, fixed("Input has been protected since %s, as for a card number: nothing that the caller says " +
			"or presses goes to the model, and the model is not asked to speak.")
	case Consent:
		return keyConsent, fixed("The gateway has waited for the caller's consent since %s, so nothing of the caller's " +
			"goes to the model.")
	case Paused:
		return keyPaused, w.then("The reply has been paused since %s, because the caller made a sound over it.",
			"Confirmed speech interrupts the reply; otherwise it goes on", w.due(t, "resume_unconfirmed"))
	case Speaking:
		return w.speaking(t)
	case Caller:
		if !has(t, s.speaking) && has(t, s.lingering) {
			return keyEndpointing, w.then("The caller stopped speaking at %s, and the net waits whether more comes.",
				"It ends the turn", w.due(t, "end_turn_brisk", "end_turn_patient", "end_turn_very_patient"))
		}
		return keyCaller, fixed("It has been the caller's turn since %s.")
	case Connecting:
		return keyConnecting, fixed("The model has been dialled since %s, and there is no connection to it yet.")
	case Offline:
		return keyLost, w.lost(t)
	case Tool:
		return keyTool, w.then("The model called a function at %s, and the function has not returned. The model waits "+
			"for its result.", "The net stops waiting", w.due(t, "time_out_call"))
	case Thinking:
		return w.thinking(t)
	}
	if has(t, s.muted) {
		return keyMuted, fixed("The caller is muted, no reply is pending, and nobody has spoken since %s.")
	}
	return keyIdle, w.then("Nobody has spoken since %s and no reply is pending: the gateway listens to the caller, who "+
		"is silent.", "The net notices the silence", w.due(t, "notice_silence", "notice_silence_again"))
}

// then adds what happens next and when, if a timer for it runs.
func (w *why) then(format, next, due string) words {
	if due == "" {
		return fixed(format)
	}
	return fixed(format + " " + next + " " + due + ".")
}

func (w *why) hold(t *petri.Tracker) words {
	const held = "The call has been on hold since %s: nothing is played, and nothing that the caller says goes to the " +
		"model."
	switch {
	case has(t, w.spots.replying):
		return fixed(held + " A reply was paused; it goes on when the hold ends.")
	case has(t, w.spots.waiting):
		return fixed(held + " A reply of the model is here; it begins when the hold ends.")
	case has(t, w.spots.pending):
		return fixed(held + " The caller's turn waits for its reply meanwhile.")
	}
	return fixed(held + " No timer ends a hold.")
}

func (w *why) speaking(t *petri.Tracker) (string, words) {
	s := w.spots
	switch {
	case has(t, s.delaying):
		return keyDelayed, w.then("The reply has been here since %s, but a sound that may be the caller's delays it.",
			"It begins at the latest", w.due(t, "end_reply_delay_unconfirmed"))
	case !has(t, s.unacked, s.waiting) && has(t, s.modelTurn):
		return keyStalled, w.then("The model stopped sending in the middle of its reply: everything that came was played by "+
			"%s.", "If no more comes, the net ends the reply", w.due(t, "presume_turn_complete"))
	case has(t, s.prompting):
		return keySpeaking, fixed("A prompt of the gateway has been playing since %s.")
	}
	return keySpeaking, fixed("A reply has been playing since %s.")
}

// lost says what becomes of the connection to the model.
func (w *why) lost(t *petri.Tracker) words {
	const lost = "There has been no connection to the model since %s. "
	s := w.spots
	switch {
	case has(t, s.givenUp):
		return fixed(lost + "The net has given up dialling, and ends the call.")
	case has(t, s.backingOff):
		return w.then(lost+"It broke, or could not be made.", "The net dials again", w.due(t, "retry"))
	case has(t, s.dialling):
		return fixed(lost + "A dial is under way and has not been answered.")
	case has(t, s.closing):
		return fixed(lost + "The old one is being closed, to be replaced.")
	case has(t, s.blocked):
		return fixed(lost + "A new one would have to send the conversation, which must not leave now: the dial waits.")
	}
	return w.then(lost+"It has been dialled too often, and the next dial waits for a credit.", "It comes",
		w.due(t, "regain_dial"))
}

// thinking says what the caller's turn waits for.
func (w *why) thinking(t *petri.Tracker) (string, words) {
	s := w.spots
	if has(t, s.promptDue) {
		return keyPrompt, fixed("A prompt of the gateway has been waiting since %s.")
	}
	asked, next := "", w.due(t, "nudge")
	switch {
	case has(t, s.renewed):
		asked, next = " The net has asked it again and has replaced the connection.", w.due(t, "play_fallback")
	case has(t, s.nudged):
		asked, next = " The net has asked it again.", w.due(t, "renew_link")
	}
	step := ""
	if next != "" {
		step = " If it stays silent, the net " + nextStep(s, t) + " " + next + "."
	}
	return keyModelSlow, func(since string, turn *Turn) string {
		if turn != nil && turn.TurnEnded > 0 && turn.Ended == 0 {
			since = clock(turn.TurnEnded)
		}
		return fmt.Sprintf("The model has had the caller's turn since %s and has sent no audio: the model is slow.%s%s",
			since, asked, step)
	}
}

func nextStep(s *spots, t *petri.Tracker) string {
	switch {
	case has(t, s.renewed):
		return "plays the fallback prompt"
	case has(t, s.nudged):
		return "replaces the connection and repeats the turn"
	}
	return "asks it again"
}

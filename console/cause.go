package console

import (
	"fmt"
	"math"
	"strings"
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
	keyModelTurn   = "model_turn" // its time to answer
	keyModelSlow   = "model_slow" // which it exceeds
	keyMuted       = "muted"
	keyIdle        = "caller_silent"
)

// titles names causes in a list.
var titles = map[string]string{
	keyOver: "the end of the call", keyEnding: "the farewell", keyHold: "the call on hold",
	keyProtected: "protected input", keyConsent: "no consent yet", keyPaused: "the reply paused",
	keySpeaking: "the reply begins or ends", keyDelayed: "the reply delayed by a sound",
	keyStalled: "the model stopped sending",
	keyCaller:  "the caller's turn", keyEndpointing: "waiting whether the caller goes on",
	keyConnecting: "the model being dialled", keyLost: "no connection to the model", keyTool: "a function that runs",
	keyPrompt: "a prompt that waits", keyModelTurn: "the model's turn", keyModelSlow: "the model's turn",
	keyMuted: "the caller muted",
	keyIdle:  "nobody's turn but the caller's",
}

// slowAfter is how long the model may take to answer before it is called slow.
const slowAfter = time.Second

// cause says why the call is as it is.
func (w *why) cause(t *petri.Tracker, at time.Duration, turn *Turn) Cause {
	phase := w.spots.phase(t)
	key, says := w.find(t, phase)
	if w.key != key { // a new one
		w.key, w.since = key, ms(at)
	}
	c := Cause{From: ms(at), Key: key, Phase: phase, words: says, since: w.since}
	if key == keyModelTurn {
		c.words, c.since = w.asked(says, turn)
		if c.From >= c.since+ms(slowAfter) {
			c = c.slow()
		}
	}
	c.Text = c.present()
	return c
}

// words say a cause.
type words struct {
	is, was string // while it lasts, and later; %s is when it began
	next    step
	tail    string // what follows is and was
}

// step is what happens next if nothing changes.
type step struct {
	will, did string
	due       float64 // 0 if nothing happens
	name      string  // of the transition
}

func (s step) at() string { return fmt.Sprintf("at %s (%s).", clock(s.due), s.name) }

// present says a cause that lasts.
func (c *Cause) present() string {
	text := fmt.Sprintf(c.words.is, clock(c.since)) + c.words.tail
	if c.words.next.due > 0 {
		text += " " + c.words.next.will + " " + c.words.next.at()
	}
	return text
}

// past says a cause that has lasted until to. A step that did not come is not said.
func (c *Cause) past(to float64) string {
	text := fmt.Sprintf(c.words.was, clock(c.since)) + c.words.tail
	if next := c.words.next; next.did != "" && next.due > 0 && math.Abs(next.due-to) < 1 {
		text += " " + next.did + " " + next.at()
	}
	return text
}

// slow returns the cause from when the model is slow.
func (c Cause) slow() Cause {
	c.From = max(c.From, round(c.since+ms(slowAfter)))
	c.Key = keyModelSlow
	c.words.is = strings.Replace(c.words.is, "has not answered yet", "has sent no audio: the model is slow", 1)
	c.words.was = strings.TrimRight(c.words.was, ".") + " and sent no audio: the model was slow."
	c.Text = c.present()
	return c
}

// asked completes the words of a turn that the model has, and returns when it could begin to answer.
func (w *why) asked(says words, turn *Turn) (words, float64) {
	what, when, since := "the caller's turn", "", w.since
	if turn != nil && turn.TurnEnded > 0 && turn.Ended == 0 {
		since = turn.TurnEnded
	}
	if w.ends.connected > since {
		when, since = ", when the connection was made,", w.ends.connected
	}
	if w.ends.result > since {
		what, when, since = "the result of the function", "", w.ends.result
	}
	says.is = "The model has had " + what + " since %s" + when + " and has not answered yet."
	says.was = "The model had " + what + " from %s on" + when + "."
	return says, since
}

// find returns the key of the cause, and its words.
func (w *why) find(t *petri.Tracker, phase Phase) (string, words) {
	s := w.spots
	switch phase {
	case Over:
		return keyOver, lasting("The call ended at %s.", "The call ended at %s.")
	case Ending:
		const ends = "The call ends: the end was decided at %s, and only the farewell is still played."
		return keyEnding, lasting(ends, "The end of the call was decided at %s, and only the farewell was still to come.")
	case Held:
		return keyHold, w.hold(t)
	case Protected:
		return keyProtected, lasting("Input has been protected since %s, as for a card number: nothing that the caller says "+
			"or presses goes to the model, and the model is not asked to speak.", "Input was protected from %s on, as for a "+
			"card number: nothing that the caller said or pressed went to the model, and the model was not asked to speak.")
	case Consent:
		return keyConsent, lasting("The gateway has waited for the caller's consent since %s, so nothing of the caller's "+
			"goes to the model.", "The gateway waited for the caller's consent from %s on, so nothing of the caller's went "+
			"to the model.")
	case Paused:
		return keyPaused, words{is: "The reply has been paused since %s, because the caller made a sound over it.",
			was: "The reply was paused at %s, because the caller made a sound over it.",
			next: w.due(t, "Confirmed speech interrupts the reply; otherwise it goes on", "It went on",
				"resume_unconfirmed")}
	case Speaking:
		return w.speaking(t)
	case Caller:
		if !has(t, s.speaking) && has(t, s.lingering) {
			return keyEndpointing, words{is: "The caller stopped speaking at %s, and the gateway waits whether more comes.",
				was: "The caller stopped speaking at %s, and the gateway waited whether more came.",
				next: w.due(t, "It ends the turn", "It ended the turn", "end_turn_brisk", "end_turn_patient",
					"end_turn_very_patient")}
		}
		return keyCaller, lasting("It has been the caller's turn since %s.", "It was the caller's turn from %s on.")
	case Connecting:
		return keyConnecting, lasting("The model has been dialled since %s, and there is no connection to it yet.",
			"The model was dialled from %s on, and there was no connection to it yet.")
	case Offline:
		return keyLost, w.lost(t)
	case Tool:
		return keyTool, words{is: "The model called a function at %s, and the function has not returned. The model " +
			"waits for its result.", was: "The model called a function at %s and waited for its result.",
			next: w.due(t, "The gateway stops waiting", "", "time_out_call")}
	case Thinking:
		return w.thinking(t)
	}
	return w.idle(t)
}

func lasting(is, was string) words { return words{is: is, was: was} }

func (w *why) idle(t *petri.Tracker) (string, words) {
	if has(t, w.spots.muted) {
		return keyMuted, lasting("The caller is muted, no reply is pending, and nobody has spoken since %s.",
			"The caller was muted, no reply was pending, and nobody spoke from %s on.")
	}
	return keyIdle, words{is: "Nobody has spoken since %s and no reply is pending: the gateway listens to the caller, " +
		"who is silent.", was: "Nobody spoke from %s on and no reply was pending: the gateway listened to the caller, who " +
		"was silent.", next: w.due(t, "The gateway notices the silence", "The gateway noticed the silence", "notice_silence",
		"notice_silence_again")}
}

func (w *why) hold(t *petri.Tracker) words {
	says := lasting("The call has been on hold since %s: nothing is played, and nothing that the caller says goes to the "+
		"model.", "The call was on hold from %s on: nothing was played, and nothing that the caller said went to the model.")
	add := func(is, was string) { says.is, says.was = says.is+is, says.was+was }
	switch {
	case has(t, w.spots.replying):
		add(" A reply was paused; it goes on when the hold ends.", " A reply was paused.")
	case has(t, w.spots.waiting):
		add(" A reply of the model is here; it begins when the hold ends.", " A reply of the model was here.")
	case has(t, w.spots.pending):
		add(" The caller's turn waits for its reply meanwhile.", " The caller's turn waited for its reply meanwhile.")
	default:
		add(" No timer ends a hold.", "")
	}
	return says
}

func (w *why) speaking(t *petri.Tracker) (string, words) {
	s := w.spots
	switch {
	case has(t, s.delaying):
		return keyDelayed, words{is: "The reply has been here since %s, but a sound that may be the caller's delays it.",
			was:  "The reply was here at %s, but a sound that might have been the caller's delayed it.",
			next: w.due(t, "It begins at the latest", "", "end_reply_delay_unconfirmed")}
	case !has(t, s.unacked, s.waiting) && has(t, s.modelTurn):
		return keyStalled, words{is: "The model stopped sending in the middle of its reply: everything that came was " +
			"played by %s.", was: "The model stopped sending in the middle of its reply: everything that had come was " +
			"played by %s.",
			next: w.due(t, "If no more comes, the gateway ends the reply", "The gateway ended the reply",
				"presume_turn_complete")}
	case has(t, s.prompting):
		return keySpeaking, lasting("A prompt of the gateway has been playing since %s.",
			"A prompt of the gateway was playing from %s on.")
	}
	return keySpeaking, lasting("A reply has been playing since %s.", "A reply was playing from %s on.")
}

// lost says what becomes of the connection to the model.
func (w *why) lost(t *petri.Tracker) words {
	says := lasting("There has been no connection to the model since %s.",
		"There was no connection to the model from %s on.")
	add := func(is, was string) { says.is, says.was = says.is+" "+is, says.was+was }
	s := w.spots
	switch {
	case has(t, s.givenUp):
		add("The gateway has given up dialling, and ends the call.", " The gateway gave up dialling.")
	case has(t, s.backingOff):
		add("It broke, or could not be made.", " It broke, or could not be made.")
		says.next = w.due(t, "The gateway dials again", "The gateway dialled again", "retry")
	case has(t, s.dialling):
		add("A dial is under way and has not been answered.", "")
	case has(t, s.closing):
		add("The old one is being closed, to be replaced.", " The old one was closed, to be replaced.")
	case has(t, s.blocked):
		add("A new one would have to send the conversation, which must not leave now: the dial waits.",
			" A new one would have had to send the conversation, which must not leave then: the dial waited.")
	default:
		add("It has been dialled too often, and the next dial waits for a credit.",
			" It had been dialled too often, and the next dial waited for a credit.")
		says.next = w.due(t, "It comes", "It came", "regain_dial")
	}
	return says
}

// thinking says what the caller's turn waits for. The words are completed by asked.
func (w *why) thinking(t *petri.Tracker) (string, words) {
	s := w.spots
	if has(t, s.promptDue) {
		return keyPrompt, lasting("A prompt of the gateway has been waiting since %s.",
			"A prompt of the gateway was waiting from %s on.")
	}
	const still = "If it stays silent, the gateway "
	switch {
	case has(t, s.renewed):
		return keyModelTurn, words{tail: " The gateway has asked it again and has replaced the connection.",
			next: w.due(t, still+"plays the fallback prompt", "", "play_fallback")}
	case has(t, s.nudged):
		return keyModelTurn, words{tail: " The gateway has asked it again.",
			next: w.due(t, still+"replaces the connection and repeats the turn", "The gateway replaced the connection",
				"renew_link")}
	}
	return keyModelTurn, words{next: w.due(t, still+"asks it again", "The gateway asked it again", "nudge")}
}

package voicenets

import (
	"github.com/voicegw/voicegw/petri"
)

// Edge is an edge of the caller's speech that a detector reports.
type Edge uint8

// The edges of speech. A detector sends SpeechStart, then SpeechMore every 100 ms and at most one
// SpeechConfirm, then SpeechStop.
const (
	SpeechStart   Edge = iota
	SpeechMore         // speech goes on
	SpeechConfirm      // there was too much speech for a cough
	SpeechStop
)

// Key returns e as a key.
func (e Edge) Key() petri.Key { return petri.Key(e) }

// KeyNames returns the names of the edges.
func (Edge) KeyNames() []string { return []string{"start", "more", "confirm", "stop"} }

// String returns the name of the edge.
func (e Edge) String() string { return e.KeyNames()[e] }

// Opinion is the opinion of the integrator's recogniser about speech over a reply.
type Opinion uint8

// The opinions.
const (
	BackChannel Opinion = iota // a word such as "mhm": the caller is listening
	RealSpeech                 // the caller wants to speak
)

// Key returns o as a key.
func (o Opinion) Key() petri.Key { return petri.Key(o) }

// KeyNames returns the names of the opinions.
func (Opinion) KeyNames() []string { return []string{"back_channel", "real_speech"} }

// Signal is what the model reports about its turn.
type Signal uint8

// The signals of a model.
const (
	Interrupted Signal = iota
	GenerationComplete
	TurnComplete
)

// Key returns s as a key.
func (s Signal) Key() petri.Key { return petri.Key(s) }

// KeyNames returns the names of the signals.
func (Signal) KeyNames() []string {
	return []string{"interrupted", "generation_complete", "turn_complete"}
}

// String returns the name of the signal.
func (s Signal) String() string { return s.KeyNames()[s] }

// Command is a command of the net to the model.
type Command uint8

// The commands to a model.
const (
	ActivityStart Command = iota
	ActivityEnd
	Greet // ask for the configured greeting
	Nudge // ask for the reply that did not come
)

// Key returns c as a key.
func (c Command) Key() petri.Key { return petri.Key(c) }

// KeyNames returns the names of the commands.
func (Command) KeyNames() []string {
	return []string{"activity_start", "activity_end", "greet", "nudge"}
}

// String returns the name of the command.
func (c Command) String() string { return c.KeyNames()[c] }

// DialResult is the result of a dial.
type DialResult uint8

// The results of a dial.
const (
	Fresh       DialResult = iota // a connection with a new conversation
	Resumed                       // a connection that resumes the conversation
	Unreachable                   // no connection; another try may succeed
	Refused                       // the model refused: this handle, or any connection
	Withheld                      // given up: the conversation that it had to send must not leave now
)

// Key returns r as a key.
func (r DialResult) Key() petri.Key { return petri.Key(r) }

// KeyNames returns the names of the results.
func (DialResult) KeyNames() []string {
	return []string{"fresh", "resumed", "unreachable", "refused", "withheld"}
}

// Urgency is how soon the model will end the connection.
type Urgency uint8

// The urgencies.
const (
	Soon  Urgency = iota // the end is near
	Later                // there may be time for a whole reply
)

// Key returns u as a key.
func (u Urgency) Key() petri.Key { return petri.Key(u) }

// KeyNames returns the names of the urgencies.
func (Urgency) KeyNames() []string { return []string{"soon", "later"} }

// Speaker is a side of a call: the caller or the model.
type Speaker uint8

// The two sides.
const (
	Caller Speaker = iota
	Model
)

// Key returns s as a key.
func (s Speaker) Key() petri.Key { return petri.Key(s) }

// Switch is on or off.
type Switch uint8

// The positions of a switch.
const (
	Off Switch = iota
	On
)

// Key returns s as a key.
func (s Switch) Key() petri.Key { return petri.Key(s) }

// KeyNames returns the names of the positions.
func (Switch) KeyNames() []string { return []string{"off", "on"} }

// String returns the name of the position.
func (s Switch) String() string { return s.KeyNames()[s] }

// Prompt is a kind of audio that the gateway plays itself.
type Prompt uint8

// The prompts.
const (
	AskConsent Prompt = iota // asks the caller for consent
	Notify                   // a notice at the beginning; the caller cannot interrupt it
	Filler                   // played while a tool takes its time
	Fallback                 // the model has no reply
	Reprompt                 // asks whether the caller is still there
	Goodbye                  // the call ends
)

// Key returns p as a key.
func (p Prompt) Key() petri.Key { return petri.Key(p) }

// KeyNames returns the names of the prompts.
func (Prompt) KeyNames() []string {
	return []string{"ask_consent", "notify", "filler", "fallback", "reprompt", "goodbye"}
}

// String returns the name of the prompt.
func (p Prompt) String() string { return p.KeyNames()[p] }

// Slot numbers the places where tools run, one tool in each.
type Slot uint8

// SlotsMax is the most tools that may run at one time.
const SlotsMax = 8

// Key returns s as a key.
func (s Slot) Key() petri.Key { return petri.Key(s) }

// KeyNames returns the names of the slots.
func (Slot) KeyNames() []string { return []string{"0", "1", "2", "3", "4", "5", "6", "7"} }

// ToolHow is the way in which a tool call ends for the model.
type ToolHow uint8

// The ends of a tool call that the net reports to the model.
const (
	Answered     ToolHow = iota // with the function's result
	AnsweredLate                // as Answered, but the caller has begun another turn: the model must not speak it
	TimedOut                    // the function took too long
	TooMany                     // every slot was taken
)

// String returns the name of the end.
func (h ToolHow) String() string {
	return []string{"answered", "answered late", "timed out", "too many calls at once"}[h]
}

// End is the reason why a call is over.
type End uint8

// The reasons for the end of a call.
const (
	HungUp       End = iota // the caller hung up
	PeerLost                // the connection to the caller broke
	PeerStalled             // the caller's side stopped reading
	ModelLost               // the gateway can no longer reach the model
	GoingAway               // the gateway shuts down
	MaxDuration             // the call reached its longest duration
	Transferred             // a transfer target took over the call
	CallerSilent            // the caller was silent for too long
	NoConsent               // the caller did not consent
	Done                    // the host ended the call
)

// Key returns e as a key.
func (e End) Key() petri.Key { return petri.Key(e) }

// KeyNames returns the names of the ends.
func (End) KeyNames() []string {
	return []string{"hung_up", "peer_lost", "peer_stalled", "model_lost", "going_away", "max_duration", "transferred",
		"caller_silent", "no_consent", "done"}
}

// String returns the name of the end.
func (e End) String() string { return e.KeyNames()[e] }

// NoticeKind is what a notice reports to the peer.
type NoticeKind uint8

// The kinds of notice.
const (
	SpeechHeard    NoticeKind = iota // the caller's speech began
	SpeechOver                       // the caller's speech ended
	ReplyStarted                     // the model's reply begins
	ReplyPaused                      // the reply is paused: the caller may be speaking, or the call is on hold
	ReplyResumed                     // the reply goes on: it was no interruption, or the hold is over
	ReplyCut                         // the caller interrupted the reply
	ReplyComplete                    // the reply was played to its end
	ReplyLost                        // its connection was lost; the reply was played as far as it came
	ClearPlayout                     // drop the audio that was not played
	MarkEnd                          // report when the last frame is played
	HoldStarted                      // the call is on hold
	HoldEnded                        // the call is no longer on hold
	ConsentAsked                     // the caller is asked for consent
	ConsentGiven                     // the caller consented
	ProtectStarted                   // protected input began
	ProtectEnded                     // protected input ended
	LinkLost                         // the connection to the model is being replaced
	LinkBack                         // there is a new connection to the model
	NoReply                          // the model has no reply to give
)

// Key returns k as a key.
func (k NoticeKind) Key() petri.Key { return petri.Key(k) }

// KeyNames returns the names of the kinds.
func (NoticeKind) KeyNames() []string {
	return []string{"speech_heard", "speech_over", "reply_started", "reply_paused", "reply_resumed", "reply_cut",
		"reply_complete", "reply_lost", "clear_playout", "mark_end", "hold_started", "hold_ended", "consent_asked",
		"consent_given", "protect_started", "protect_ended", "link_lost", "link_back", "no_reply"}
}

// String returns the name of the kind.
func (k NoticeKind) String() string { return k.KeyNames()[k] }

// Certainty is how certain it is that a sound is speech, before the sound has a turn.
type Certainty uint8

// The certainties.
const (
	Tentative Certainty = iota // the sound may be a noise
	Confirmed                  // the speech was confirmed
)

// Key returns c as a key.
func (c Certainty) Key() petri.Key { return petri.Key(c) }

// KeyNames returns the names of the certainties.
func (Certainty) KeyNames() []string { return []string{"tentative", "confirmed"} }

// Patience is the level of how long the net waits after the end of speech before it ends the turn:
// an index into Config.Linger.
type Patience uint8

// Key returns l as a key.
func (l Patience) Key() petri.Key { return petri.Key(l) }

// KeyNames returns the names of the levels.
func (Patience) KeyNames() []string { return []string{"brisk", "patient", "very_patient"} }

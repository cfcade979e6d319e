package voicenets

import (
	"github.com/voicegw/voicegw/petri"
)

// Edge is an edge of the caller's speech, as a detector saw it.
type Edge uint8

// The edges of speech. A detector gives Start, then More every 100 ms and
// perhaps one Confirm, then Stop.
const (
	SpeechStart   Edge = iota
	SpeechMore         // speech goes on
	SpeechConfirm      // it was enough speech to be no cough
	SpeechStop
)

// Key returns e as a key.
func (e Edge) Key() petri.Key { return petri.Key(e) }

// KeyNames names the edges.
func (Edge) KeyNames() []string { return []string{"start", "more", "confirm", "stop"} }

// String is the edge in a word.
func (e Edge) String() string { return e.KeyNames()[e] }

// Opinion is what a recogniser of the integrator's thinks of speech over a
// reply.
type Opinion uint8

// The opinions.
const (
	BackChannel Opinion = iota // a word such as "mhm": the caller listens
	RealSpeech                 // the caller wants to speak
)

// Key returns o as a key.
func (o Opinion) Key() petri.Key { return petri.Key(o) }

// KeyNames names the opinions.
func (Opinion) KeyNames() []string { return []string{"back_channel", "real_speech"} }

// Signal is what the model says of its turn.
type Signal uint8

// The signals of a model.
const (
	Interrupted Signal = iota
	GenerationComplete
	TurnComplete
)

// Key returns s as a key.
func (s Signal) Key() petri.Key { return petri.Key(s) }

// KeyNames names the signals.
func (Signal) KeyNames() []string {
	return []string{"interrupted", "generation_complete", "turn_complete"}
}

// String is the signal in a word.
func (s Signal) String() string { return s.KeyNames()[s] }

// Command is what the net asks of the model.
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

// KeyNames names the commands.
func (Command) KeyNames() []string {
	return []string{"activity_start", "activity_end", "greet", "nudge"}
}

// String is the command in a word.
func (c Command) String() string { return c.KeyNames()[c] }

// DialResult is what became of a dial.
type DialResult uint8

// The results of a dial.
const (
	Fresh       DialResult = iota // a connection with a conversation that begins
	Resumed                       // a connection with the conversation that was
	Unreachable                   // none; worth another try
	Turned                        // turned away: with this handle, or for good
	Withheld                      // given up: what it had to tell must not leave now
)

// Key returns r as a key.
func (r DialResult) Key() petri.Key { return petri.Key(r) }

// KeyNames names the results.
func (DialResult) KeyNames() []string {
	return []string{"fresh", "resumed", "unreachable", "turned_away", "withheld"}
}

// Urgency is how soon the model will end the connection.
type Urgency uint8

// The urgencies.
const (
	Soon  Urgency = iota // its end is at hand
	Later                // a reply may well be given to its end
)

// Key returns u as a key.
func (u Urgency) Key() petri.Key { return petri.Key(u) }

// KeyNames names the urgencies.
func (Urgency) KeyNames() []string { return []string{"soon", "later"} }

// Speaker tells the two sides of a call apart.
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

// KeyNames names the positions.
func (Switch) KeyNames() []string { return []string{"off", "on"} }

// String is the position in a word.
func (s Switch) String() string { return s.KeyNames()[s] }

// Prompt is audio of our own.
type Prompt uint8

// The prompts.
const (
	AskConsent Prompt = iota // asks the caller to agree to be listened to
	Notify                   // a notice that must be heard: it cannot be interrupted
	Filler                   // bridges the time a tool takes
	Fallback                 // no reply can be had
	Reprompt                 // is the caller still there?
	Goodbye                  // the call ends
)

// Key returns p as a key.
func (p Prompt) Key() petri.Key { return petri.Key(p) }

// KeyNames names the prompts.
func (Prompt) KeyNames() []string {
	return []string{"ask_consent", "notify", "filler", "fallback", "reprompt", "goodbye"}
}

// String is the prompt in a word.
func (p Prompt) String() string { return p.KeyNames()[p] }

// Slot is one of the places where tools run.
type Slot uint8

// SlotsMax is the most tools that may run at one time.
const SlotsMax = 8

// Key returns s as a key.
func (s Slot) Key() petri.Key { return petri.Key(s) }

// KeyNames names the slots.
func (Slot) KeyNames() []string { return []string{"0", "1", "2", "3", "4", "5", "6", "7"} }

// ToolHow says how a tool call ends for the model.
type ToolHow uint8

// The ends of a tool call that the model is told of.
const (
	Answered     ToolHow = iota // with the function's result
	AnsweredLate                // the same, but the caller has begun another turn: it must not be spoken
	TimedOut                    // the function took too long
	TooMany                     // all slots were taken
)

// String is the end in words.
func (h ToolHow) String() string {
	return []string{"answered", "answered late", "timed out", "too many calls at once"}[h]
}

// End is why a call is over.
type End uint8

// The ends of a call.
const (
	HungUp       End = iota // the caller hung up
	PeerLost                // the connection to the caller broke
	PeerStalled             // the caller's side stopped reading
	ModelLost               // the model cannot be reached any more
	GoingAway               // the gateway shuts down
	MaxDuration             // the call reached its longest duration
	Transferred             // somebody else takes the call
	CallerSilent            // nothing was heard from the caller for too long
	NoConsent               // the caller did not agree to be listened to
	Done                    // the host ended it
)

// Key returns e as a key.
func (e End) Key() petri.Key { return petri.Key(e) }

// KeyNames names the ends.
func (End) KeyNames() []string {
	return []string{"hung_up", "peer_lost", "peer_stalled", "model_lost", "going_away", "max_duration", "transferred",
		"caller_silent", "no_consent", "done"}
}

// String is the end in a word.
func (e End) String() string { return e.KeyNames()[e] }

// NoticeKind says what the peer is told.
type NoticeKind uint8

// The kinds of notice.
const (
	SpeechHeard    NoticeKind = iota // the caller's speech began
	SpeechOver                       // it ended
	ReplyStarted                     // the model's reply begins
	ReplyPaused                      // held back: the caller may be speaking, or the call is on hold
	ReplyResumed                     // it was no interruption, or the hold is over
	ReplyCut                         // the caller interrupted
	ReplyComplete                    // the reply was heard to its end
	ReplyLost                        // what came of it was heard, then its connection was lost
	ClearPlayout                     // drop what was not played
	MarkEnd                          // tell when the last frame was played
	HoldStarted                      // the call is on hold
	HoldEnded                        // no longer
	ConsentAsked                     // the caller is asked to agree
	ConsentGiven                     // the caller agreed
	ProtectStarted                   // protected input began
	ProtectEnded                     // it ended
	LinkLost                         // the connection to the model is being replaced
	LinkBack                         // there is a new one
	NoReply                          // the model has no reply to give
)

// Key returns k as a key.
func (k NoticeKind) Key() petri.Key { return petri.Key(k) }

// KeyNames names the kinds.
func (NoticeKind) KeyNames() []string {
	return []string{"speech_heard", "speech_over", "reply_started", "reply_paused", "reply_resumed", "reply_cut",
		"reply_complete", "reply_lost", "clear_playout", "mark_end", "hold_started", "hold_ended", "consent_asked",
		"consent_given", "protect_started", "protect_ended", "link_lost", "link_back", "no_reply"}
}

// String names the kind.
func (k NoticeKind) String() string { return k.KeyNames()[k] }

// certainty is what is known of speech that has no turn yet.
type certainty uint8

// The certainties.
const (
	supposed certainty = iota // it may be a noise
	certain                   // it was confirmed
)

// Certainty is the colour of the place unheard, for a part of an integrator's
// own; Supposed and Certain are its values.
type Certainty = certainty

// The certainties, for a part of an integrator's own.
const (
	Supposed = supposed
	Certain  = certain
)

// Key returns c as a key.
func (c certainty) Key() petri.Key { return petri.Key(c) }

// KeyNames names the certainties.
func (certainty) KeyNames() []string { return []string{"supposed", "certain"} }

// patienceLevel is how long a caller is waited for who stopped speaking.
type patienceLevel uint8

// Key returns l as a key.
func (l patienceLevel) Key() petri.Key { return petri.Key(l) }

// KeyNames names the levels.
func (patienceLevel) KeyNames() []string { return []string{"brisk", "patient", "very_patient"} }

package voicenets

import "github.com/voicegw/voicegw/petri"

// Places through which tokens enter a session.
const (
	SpeechEdge  petri.Place[Edge]         = "speech_edge"  // the detector, or the button to talk
	Hint        petri.Place[Opinion]      = "hint"         // what a recogniser of its own thinks of speech over a reply
	CallerAudio petri.Place[*CallerFrame] = "caller_audio" // the microphone, every frame
	CallerText  petri.Place[*Typed]       = "caller_text"  // what the caller typed, or the host says for the caller
	CallerDigit petri.Place[*Digits]      = "caller_digit" // a key of the phone
	PeerAck     petri.Place[Ack]          = "peer_ack"     // one per frame that was played
	PeerMute    petri.Place[Switch]       = "peer_mute"    // the microphone's switch
	Hold        petri.Place[Switch]       = "hold"         // the call is put on hold, or taken back
	Consent     petri.Place[Switch]       = "consent"      // the caller agrees to be listened to, or no longer does
	Protect     petri.Place[Switch]       = "protect"      // protected input begins or ends

	ModelAudio  petri.Place[*ModelFrame] = "model_audio"  // the model's voice, in frames
	ModelSignal petri.Place[Signal]      = "model_signal" // what the model says of its turn
	Transcript  petri.Place[*Words]      = "transcript"   // what either side said
	Handle      petri.Place[*Resumption] = "handle"       // how to resume the conversation on another connection
	GoAway      petri.Place[Urgency]     = "go_away"      // the model will end the connection
	Dialled     petri.Place[*Dialling]   = "dialled"      // what became of a dial
	LinkDown    petri.Place[petri.Unit]  = "link_down"    // the connection is gone, and closed

	ToolCalled    petri.Place[*ToolCall] = "tool_called"    // the model calls a function
	ToolDone      petri.Place[*ToolEnd]  = "tool_done"      // a function returned, in whatever way
	ToolCancelled petri.Place[*ToolCall] = "tool_cancelled" // the model wants no result of this call

	PromptAudio petri.Place[*ReplyFrame] = "prompt_audio" // a configured prompt, in frames
	PromptEnd   petri.Place[Ack]         = "prompt_end"   // all of it is given

	HandOff petri.Place[*Target]    = "hand_off" // somebody else shall take the call
	Drain   petri.Place[petri.Unit] = "drain"    // the gateway shuts down: end at a quiet moment
	Over    petri.Place[End]        = "over"     // the call is over
)

// Places through which tokens leave a session. What goes to one side, frames
// and all else, is one sequence in the order of the firings.
const (
	AudioUp   petri.Place[*CallerFrame] = "audio_up"   // to the model
	ToModel   petri.Place[Command]      = "to_model"   // to the model, in order with AudioUp
	TextUp    petri.Place[*Typed]       = "text_up"    // to the model
	TurnAgain petri.Place[*CallerTurn]  = "turn_again" // to the model: the turn it may not have heard, from its start
	ToolReply petri.Place[*ToolEnd]     = "tool_reply" // to the model
	UseLink   petri.Place[*Dialling]    = "use_link"   // from here on, this is the model

	HoldUplink    petri.Place[petri.Unit] = "hold_uplink"    // to the model's queue: what is the caller's waits
	ReleaseUplink petri.Place[petri.Unit] = "release_uplink" // to the model's queue: it goes on
	DropUplink    petri.Place[petri.Unit] = "drop_uplink"    // to the model's queue: drop it, and forget the conversation

	Dial      petri.Place[*Resumption] = "dial"       // open a connection, resuming if there is a handle
	CloseLink petri.Place[petri.Unit]  = "close_link" // close it; LinkDown follows

	AudioDown  petri.Place[*ReplyFrame] = "audio_down"  // to the peer
	TellSpeech petri.Place[Notice]      = "tell_speech" // to the peer: the caller was heard
	TellReply  petri.Place[Notice]      = "tell_reply"  // to the peer: where the reply stands
	TellMode   petri.Place[Notice]      = "tell_mode"   // to the peer: what the call is like now
	Clear      petri.Place[Notice]      = "clear"       // to the peer: drop what was not played
	Mark       petri.Place[Notice]      = "mark"        // to the peer: tell when this is reached
	Show       petri.Place[*Words]      = "show"        // transcripts to the peer
	Transfer   petri.Place[*Target]     = "transfer"    // to the peer: who takes the call over
	TextLost   petri.Place[*Typed]      = "text_lost"   // to the peer: this text does not go to the model

	FramesEnded petri.Place[petri.Unit] = "frames_ended" // to the detector: its frames stopped coming
	Presumed    petri.Place[petri.Unit] = "presumed"     // acknowledgements never came
	PlayPrompt  petri.Place[Playing]    = "play_prompt"  // give the prompt's audio
	StartTool   petri.Place[*ToolRun]   = "start_tool"   // call the function
	StopTool    petri.Place[*ToolRun]   = "stop_tool"    // its result is not wanted any more
	Collected   petri.Place[*Digits]    = "collected"    // digits for the host alone
	Hangup      petri.Place[End]        = "hangup"       // close the call
)

// Places that subnets share with one another. A subnet of an integrator's own
// lists those it needs in its Ports.
const (
	quiet     petri.Place[petri.Unit] = "quiet"     // no speech is open
	speaking  petri.Place[petri.Unit] = "speaking"  // speech is open
	began     petri.Place[petri.Unit] = "began"     // speech just began
	confirmed petri.Place[petri.Unit] = "confirmed" // it just proved to be speech
	ended     petri.Place[petri.Unit] = "ended"     // it just ended
	deaf      petri.Place[petri.Unit] = "deaf"      // nothing the caller says may go up

	inTurn     petri.Place[*CallerTurn] = "in_turn"    // the caller's turn is open at the model
	owing      petri.Place[*CallerTurn] = "owing"      // a turn of the caller that waits for its reply
	said       petri.Place[petri.Unit]  = "said"       // something was said for certain, and is not answered
	awaited    petri.Place[petri.Unit]  = "awaited"    // the caller's turn is over so lately that an answer may come
	lastTurn   petri.Place[*CallerTurn] = "last_turn"  // the caller's newest turn that is over
	cutShort   petri.Place[petri.Unit]  = "cut_short"  // the reply that is played is not given to its end
	untold     petri.Place[petri.Unit]  = "untold"     // nor does the model know of that yet
	overdue    petri.Place[petri.Unit]  = "reply_owed" // the deadline of a turn is over, and nobody was told yet
	weighing   petri.Place[petri.Unit]  = "weighing"   // the reply may not begin yet: is it speech?
	asked      petri.Place[petri.Unit]  = "asked"      // whether the caller is there, and nothing was heard since
	confirming petri.Place[petri.Unit]  = "confirming" // the reply is paused: is it an interruption?
	lingering  petri.Place[petri.Unit]  = "lingering"  // speech ended; the turn does if nothing follows
	unheard    petri.Place[certainty]   = "unheard"    // speech that has no turn yet
	typed      petri.Place[*Typed]      = "typed"      // text that waits for its turn

	modelTurn  petri.Place[petri.Unit] = "model_turn" // the model is to give a reply, or gives it
	owedEnd    petri.Place[petri.Unit] = "owed_end"   // the model still owes the turn complete of an earlier turn
	discarding petri.Place[petri.Unit] = "discarding" // audio of an interrupted turn may still come

	replying   petri.Place[petri.Unit]  = "replying"    // a reply is being played
	replyAudio petri.Place[*ReplyFrame] = "reply_audio" // accepted, not yet handed over
	unacked    petri.Place[*ReplyFrame] = "unacked"     // handed over, not yet played
	unplayed   petri.Place[*ReplyFrame] = "unplayed"    // taken back by a pause
	endMarked  petri.Place[petri.Unit]  = "end_marked"  // the end of the reply was marked
	firm       petri.Place[petri.Unit]  = "firm"        // the reply must not be interrupted
	parked     petri.Place[petri.Unit]  = "parked"      // nothing is played, because the call is on hold
	prompting  petri.Place[petri.Unit]  = "prompting"   // the reply is a prompt of ours, which is not all given yet
	promptDue  petri.Place[Prompt]      = "prompt_due"  // a prompt waits to be played

	held        petri.Place[petri.Unit]  = "held"        // the call is on hold
	protected   petri.Place[petri.Unit]  = "protected"   // protected input
	unconsented petri.Place[petri.Unit]  = "unconsented" // the caller has not agreed
	online      petri.Place[petri.Unit]  = "online"      // the model can be reached
	lastHandle  petri.Place[*Resumption] = "last_handle" // the newest handle to resume with
	renewal     petri.Place[petri.Unit]  = "renewal"     // a new connection is wanted
	leaving     petri.Place[End]         = "leaving"     // the call ends when the last words are said
	greet       petri.Place[petri.Unit]  = "greet"       // the greeting is to be asked for
	over        petri.Place[petri.Unit]  = "call_ended"
)

package voicenets

import "github.com/voicegw/voicegw/petri"

// Places through which tokens enter a session.
const (
	SpeechEdge  petri.Place[Edge]         = "speech_edge"  // an edge of the caller's speech (detector or button)
	Hint        petri.Place[Opinion]      = "hint"         // the opinion of a recogniser about speech over a reply
	CallerAudio petri.Place[*CallerFrame] = "caller_audio" // every frame of the caller's microphone
	CallerText  petri.Place[*Typed]       = "caller_text"  // text of the caller, or of the host for the caller
	Note        petri.Place[*Typed]       = "note"         // text for the model to know, not to answer
	Request     petri.Place[*Typed]       = "request"      // text that asks the model to speak, when it may
	CallerDigit petri.Place[*Digits]      = "caller_digit" // a key of the phone
	PeerAck     petri.Place[Ack]          = "peer_ack"     // one token for each frame that was played
	PeerMute    petri.Place[Switch]       = "peer_mute"    // the microphone is muted or unmuted
	Hold        petri.Place[Switch]       = "hold"         // the call is put on hold or taken back
	Consent     petri.Place[Switch]       = "consent"      // the caller gives or withdraws consent
	Protect     petri.Place[Switch]       = "protect"      // protected input begins or ends

	ModelAudio  petri.Place[*ModelFrame]         = "model_audio"  // the model's voice, in frames
	ModelSignal petri.Place[Signal]              = "model_signal" // what the model reports about its turn
	Transcript  petri.Place[*TranscriptFragment] = "transcript"   // a fragment of what either side said
	Handle      petri.Place[*Resumption]         = "handle"       // how to resume the conversation on another connection
	GoAway      petri.Place[Urgency]             = "go_away"      // the model will end the connection
	Dialled     petri.Place[*Dialling]           = "dialled"      // the result of a dial
	LinkDown    petri.Place[petri.Unit]          = "link_down"    // the connection is gone, and closed

	ToolCalled    petri.Place[*ToolCall] = "tool_called"    // the model calls a function
	ToolDone      petri.Place[*ToolEnd]  = "tool_done"      // a function returned, failed or was stopped
	ToolCancelled petri.Place[*ToolCall] = "tool_cancelled" // the model has cancelled this call

	PromptAudio petri.Place[*ReplyFrame] = "prompt_audio" // a configured prompt, in frames
	PromptEnd   petri.Place[Ack]         = "prompt_end"   // the last frame of a prompt was sent

	HandOff petri.Place[*Target]    = "hand_off" // transfer the call to this target
	Drain   petri.Place[petri.Unit] = "drain"    // the gateway shuts down: end the call at a quiet moment
	Over    petri.Place[End]        = "over"     // the call is over
)

// Places through which tokens leave a session. All tokens for one side, frames included, form one
// sequence in the order of the firings.
const (
	AudioUp   petri.Place[*CallerFrame] = "audio_up"   // a frame for the model
	ToModel   petri.Place[Command]      = "to_model"   // a command for the model, in order with AudioUp
	TextUp    petri.Place[*Typed]       = "text_up"    // text for the model
	NoteUp    petri.Place[*Typed]       = "note_up"    // text for the model to know, not to answer
	GiveNotes petri.Place[petri.Unit]   = "give_notes" // the model is idle: give it the notes
	TurnAgain petri.Place[*CallerTurn]  = "turn_again" // the turn that the model may not have received, from its start
	ToolReply petri.Place[*ToolEnd]     = "tool_reply" // the result of a tool call, for the model
	UseLink   petri.Place[*Dialling]    = "use_link"   // from here on, use this connection

	HoldUplink    petri.Place[petri.Unit] = "hold_uplink"    // the queue to the model keeps what came from the caller
	ReleaseUplink petri.Place[petri.Unit] = "release_uplink" // the queue to the model sends again
	DropUplink    petri.Place[petri.Unit] = "drop_uplink"    // the queue to the model drops everything

	Dial      petri.Place[*Resumption] = "dial"       // open a connection, resuming if there is a handle
	CloseLink petri.Place[petri.Unit]  = "close_link" // close the connection; LinkDown follows

	AudioDown    petri.Place[*ReplyFrame]         = "audio_down"    // a frame for the peer
	NotifySpeech petri.Place[Notice]              = "notify_speech" // to the peer: the caller's speech began or ended
	NotifyReply  petri.Place[Notice]              = "notify_reply"  // to the peer: the reply's state changed
	NotifyMode   petri.Place[Notice]              = "notify_mode"   // to the peer: the call's mode changed
	Clear        petri.Place[Notice]              = "clear"         // to the peer: drop what was not played
	Mark         petri.Place[Notice]              = "mark"          // to the peer: report when this point is played
	Show         petri.Place[*TranscriptFragment] = "show"          // a fragment of a transcript, for the peer
	Transfer     petri.Place[*Target]             = "transfer"      // to the peer: the target that takes the call over
	TextLost     petri.Place[*Typed]              = "text_lost"     // to the peer: this text does not go to the model

	FramesEnded    petri.Place[petri.Unit] = "frames_ended"    // to the detector: its frames stopped coming
	PresumedPlayed petri.Place[petri.Unit] = "presumed_played" // frames count as played without an acknowledgement
	PlayPrompt     petri.Place[Playing]    = "play_prompt"     // send the audio of this prompt
	StartTool      petri.Place[*ToolRun]   = "start_tool"      // call the function
	StopTool       petri.Place[*ToolRun]   = "stop_tool"       // stop the function: its result is not needed any more
	Collected      petri.Place[*Digits]    = "collected"       // digits for the host alone
	Hangup         petri.Place[End]        = "hangup"          // close the call
)

// Places that subnets share with one another. An integrator's own subnet lists those it needs in
// its Ports.
const (
	Quiet           petri.Place[petri.Unit] = "quiet"            // no speech is open
	Speaking        petri.Place[petri.Unit] = "speaking"         // speech is open
	SpeechBegan     petri.Place[petri.Unit] = "speech_began"     // speech began just now
	SpeechConfirmed petri.Place[petri.Unit] = "speech_confirmed" // speech was confirmed just now
	SpeechEnded     petri.Place[petri.Unit] = "speech_ended"     // speech ended just now
	InputClosed     petri.Place[petri.Unit] = "input_closed"     // the input gate is closed: no caller audio goes up

	InTurn         petri.Place[*CallerTurn] = "in_turn"         // the caller's turn is open at the model
	ReplyPending   petri.Place[*CallerTurn] = "reply_pending"   // a turn of the caller that waits for its reply
	Unanswered     petri.Place[petri.Unit]  = "unanswered"      // confirmed speech or text has no answer yet
	AnswerExpected petri.Place[petri.Unit]  = "answer_expected" // the turn ended so recently that an answer may come
	LastTurn       petri.Place[*CallerTurn] = "last_turn"       // the caller's newest turn that has ended
	ReplyCutShort  petri.Place[petri.Unit]  = "reply_cut_short" // the connection was lost before all of the reply came
	CutUnreported  petri.Place[petri.Unit]  = "cut_unreported"  // the model does not know yet that its reply was cut
	ReplyOverdue   petri.Place[petri.Unit]  = "reply_overdue"   // a turn's deadline has passed without a notice yet
	DelayingReply  petri.Place[petri.Unit]  = "delaying_reply"  // the reply must not begin yet: the sound may be speech
	Reprompted     petri.Place[petri.Unit]  = "reprompted"      // the caller was reprompted, and has not answered yet
	Confirming     petri.Place[petri.Unit]  = "confirming"      // the reply is paused: the sound may be an interruption
	Lingering      petri.Place[petri.Unit]  = "lingering"       // speech ended; the turn ends if no more speech follows
	PendingSpeech  petri.Place[Certainty]   = "pending_speech"  // speech that has no turn yet
	PendingText    petri.Place[*Typed]      = "pending_text"    // text that waits for its turn
	PendingRequest petri.Place[*Typed]      = "pending_request" // a request to speak that waits for its turn

	ModelTurn      petri.Place[petri.Unit] = "model_turn"       // the model gives a reply, or is expected to
	TurnEndPending petri.Place[petri.Unit] = "turn_end_pending" // the model has not yet completed an earlier turn
	Discarding     petri.Place[petri.Unit] = "discarding"       // audio of an interrupted turn may still come

	Replying   petri.Place[petri.Unit]  = "replying"    // a reply is being played
	ReplyAudio petri.Place[*ReplyFrame] = "reply_audio" // accepted frames that were not handed over yet
	Unacked    petri.Place[*ReplyFrame] = "unacked"     // frames that were handed over and not acknowledged yet
	Unplayed   petri.Place[*ReplyFrame] = "unplayed"    // frames that a pause took back
	EndMarked  petri.Place[petri.Unit]  = "end_marked"  // the end of the reply was marked
	Firm       petri.Place[petri.Unit]  = "firm"        // the reply must not be interrupted
	Parked     petri.Place[petri.Unit]  = "parked"      // nothing is played, because the call is on hold
	Prompting  petri.Place[petri.Unit]  = "prompting"   // the reply is a prompt, and more of it will come
	PromptDue  petri.Place[Prompt]      = "prompt_due"  // a prompt that waits to be played

	Held        petri.Place[petri.Unit]  = "held"         // the call is on hold
	Protected   petri.Place[petri.Unit]  = "protected"    // protected input
	Unconsented petri.Place[petri.Unit]  = "unconsented"  // the caller has not consented
	Online      petri.Place[petri.Unit]  = "online"       // there is a connection to the model
	LastHandle  petri.Place[*Resumption] = "last_handle"  // the newest handle to resume with
	Renewal     petri.Place[petri.Unit]  = "renewal"      // the connection shall be replaced
	Ending      petri.Place[End]         = "ending"       // the call ends after its last prompt
	GreetingDue petri.Place[petri.Unit]  = "greeting_due" // the model is to be asked for the greeting
	CallEnded   petri.Place[petri.Unit]  = "call_ended"   // the call has ended
)

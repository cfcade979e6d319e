package voicenets

import "github.com/voicegw/voicegw/petri"

// Places through which tokens enter a session.
const (
	SpeechEdge  petri.Place[Edge]         = "speech_edge"  // the detector
	CallerAudio petri.Place[*CallerFrame] = "caller_audio" // the microphone, every frame
	ModelAudio  petri.Place[*ReplyFrame]  = "model_audio"  // the model's voice, in frames
	ModelSignal petri.Place[Signal]       = "model_signal" // what the model says of its turn
	Transcript  petri.Place[*Words]       = "transcript"   // what either side said
	PeerAck     petri.Place[Ack]          = "peer_ack"     // one per frame that was played
	PeerMute    petri.Place[Switch]       = "peer_mute"    // the microphone's switch
	Over        petri.Place[End]          = "over"         // the call is over
)

// Places through which tokens leave a session. What goes to one side, frames
// and all else, is one sequence in the order of the firings.
const (
	AudioUp     petri.Place[*CallerFrame] = "audio_up"     // to the model
	ToModel     petri.Place[Command]      = "to_model"     // to the model, in order with AudioUp
	AudioDown   petri.Place[*ReplyFrame]  = "audio_down"   // to the peer
	TellSpeech  petri.Place[Notice]       = "tell_speech"  // to the peer: the caller was heard
	TellReply   petri.Place[Notice]       = "tell_reply"   // to the peer: where the reply stands
	Clear       petri.Place[Notice]       = "clear"        // to the peer: drop what was not played
	Mark        petri.Place[Notice]       = "mark"         // to the peer: tell when this is reached
	Show        petri.Place[*Words]       = "show"         // transcripts to the peer
	FramesEnded petri.Place[petri.Unit]   = "frames_ended" // to the detector: its frames stopped coming
	Presumed    petri.Place[petri.Unit]   = "presumed"     // acknowledgements never came
	Hangup      petri.Place[End]          = "hangup"       // close the call
)

// Places that subnets share with one another.
const (
	quiet     petri.Place[petri.Unit] = "quiet"     // no speech is open
	speaking  petri.Place[petri.Unit] = "speaking"  // speech is open
	began     petri.Place[petri.Unit] = "began"     // speech just began
	confirmed petri.Place[petri.Unit] = "confirmed" // it just proved to be speech
	ended     petri.Place[petri.Unit] = "ended"     // it just ended

	inTurn     petri.Place[petri.Unit] = "in_turn"    // the caller's turn is open at the model
	confirming petri.Place[petri.Unit] = "confirming" // the reply is paused: is it an interruption?
	muted      petri.Place[petri.Unit] = "muted"

	modelTurn  petri.Place[petri.Unit] = "model_turn" // the model owes a reply, or gives it
	owedEnd    petri.Place[petri.Unit] = "owed_end"   // the model still owes the turn complete of an earlier turn
	discarding petri.Place[petri.Unit] = "discarding" // audio of an interrupted turn may still come

	replying   petri.Place[petri.Unit]  = "replying"    // a reply is being played
	replyAudio petri.Place[*ReplyFrame] = "reply_audio" // accepted, not yet handed over
	unacked    petri.Place[*ReplyFrame] = "unacked"     // handed over, not yet played
	unplayed   petri.Place[*ReplyFrame] = "unplayed"    // taken back by a pause
	endMarked  petri.Place[petri.Unit]  = "end_marked"  // the end of the reply was marked
	over       petri.Place[petri.Unit]  = "call_ended"
)

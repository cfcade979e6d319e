package wsclient

import (
	"time"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/transport"
)

// Limits of what a call keeps of the gateway's messages. The client hangs up on a gateway that
// exceeds them.
const (
	EventsMax   = 10000    // messages; later ones are not kept
	WordsLenMax = 300      // bytes of a note, and of Message; the rest is cut off
	keptMax     = 16 << 20 // bytes of everything kept besides the audio
	aheadMax    = time.Minute
)

// Report is the result of a call. As JSON it is one object for machines.
type Report struct {
	ConnectedMS int64 `json:"connected_ms"` // from the dial to ready
	Turns       int   `json:"turns"`        // replies that began

	// FirstAudioMS is, for each reply to the caller, the time from the end of the caller's last
	// loud frame to the first loud audio of the reply on the playout clock.
	FirstAudioMS []int64 `json:"first_audio_ms"`

	Interruptions int `json:"interruptions"` // replies that ended as interrupted
	Pauses        int `json:"pauses"`        // replies that were paused, whether resumed or not

	// BargeInSilenceMS is, for each reply that the caller interrupted, the time from the start of
	// the first loud frame spoken over it to the end of its last loud audio on the playout clock.
	BargeInSilenceMS []int64 `json:"barge_in_silence_ms"`

	FramesSent     int      `json:"frames_sent"`     // of 20 ms
	FramesReceived int      `json:"frames_received"` // audio messages
	FramesCleared  int      `json:"frames_cleared"`  // of 20 ms, received and dropped before playout
	Closed         string   `json:"closed"`          // the reason
	Consent        string   `json:"consent"`         // consent: "" not asked, "asked", "given"
	Message        string   `json:"message"`         // the reason as a sentence for people, in one line
	Notes          []string `json:"notes,omitempty"` // notes for the reader of the report, a line each

	Reason transport.Reason `json:"-"`
	Ready  transport.Ready  `json:"-"`
	Heard  audio.PCM        `json:"-"` // what was audible, from ready to the end of the call
	Came   audio.PCM        `json:"-"` // the received audio without pauses, one message after the other
	Spans  []audio.Span     `json:"-"` // which samples of Heard belong to which reply
	Events []Event          `json:"-"` // the first 10,000 messages but audio and net, in order
}

// Event is a message and when it came, since ready. Its slices are empty.
type Event struct {
	At time.Duration
	transport.Message
}

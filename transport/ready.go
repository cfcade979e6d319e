package transport

import "time"

// What ready promises of every call.
const (
	FrameMS = 20  // length of the frames the gateway sends
	AckMS   = 100 // how often the far end acknowledges while audio plays
)

// Ready accepts a call. Zero rates, detection and message limit are filled in by the door: the rates and the detection
// of the hello ("manual" when it left it open), and the door's own limit.
type Ready struct {
	Call            string // id of the call, for logs and people
	InputRateHz     int
	OutputRateHz    int
	Budget          time.Duration // audio handed over and not acknowledged, at most
	Detection       Detection
	Model           Model
	Greeting        bool // the model speaks first
	MessageBytesMax int
	CallMax         time.Duration // longest duration of the call
}

// Model is what the far end is told of the model.
type Model struct {
	Name     string
	Embedded bool // nothing leaves this machine
}

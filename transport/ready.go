package transport

import "time"

// What ready promises of every call.
const (
	FrameMS = 20  // length of the frames the gateway sends
	AckMS   = 100 // how often the far end acknowledges while audio plays
)

// Ready accepts a call. The gateway may leave rates, detection and message limit to the door, which completes them.
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

// Complete sets what is zero: the rates and the detection of the hello ("manual" when that left it open), and the limit
// of the door's own messages.
func (r *Ready) Complete(h *Hello, messageBytesMax int) {
	if r.InputRateHz == 0 {
		r.InputRateHz = h.InputRateHz
	}
	if r.OutputRateHz == 0 {
		r.OutputRateHz = h.OutputRateHz
	}
	if r.Detection == DetectionDefault {
		r.Detection = h.Detection
	}
	if r.Detection == DetectionDefault {
		r.Detection = DetectionManual
	}
	if r.MessageBytesMax == 0 {
		r.MessageBytesMax = messageBytesMax
	}
}

// Model is what the far end is told of the model.
type Model struct {
	Name     string
	Embedded bool // nothing leaves this machine
}

package transport

import "time"

// These constants are what ready promises for every call.
const (
	FrameMS = 20  // length of the frames the gateway sends
	AckMS   = 100 // how often the far end acknowledges while audio plays
)

// Ready accepts a call. The gateway may leave rates, detection and message limit zero; the endpoint
// completes them.
type Ready struct {
	Call            string // id of the call, for logs and people
	InputRateHz     int
	OutputRateHz    int
	Budget          time.Duration // audio sent and not acknowledged, at most
	Detection       Detection
	Model           Model
	Greeting        bool // the model speaks first
	MessageBytesMax int
	CallMax         time.Duration // longest duration of the call
	Voice           string        // "" means the model's own choice
	// Resume says how to go on with the call when its connection breaks; the endpoint sets it.
	Resume Resumable
	// Schedules says that the model takes Event.Scheduling with results of non-blocking tools.
	Schedules bool
	// Refused are the fields of Hello.Session that the call does not follow. The endpoint tells its
	// client.
	Refused []*FieldError
}

// Complete sets the zero fields: the rates and the detection of the hello ("manual" if the hello
// has none), and the limit of the endpoint's own messages.
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
		r.Detection = DetectionGatewayVAD
	}
	if r.MessageBytesMax == 0 {
		r.MessageBytesMax = messageBytesMax
	}
}

// Model is what ready says about the model.
type Model struct {
	Name     string
	Embedded bool // the embedded model: nothing leaves this machine
}

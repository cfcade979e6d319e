package wsclient

import (
	"errors"

	"github.com/voicegw/voicegw/transport"
)

// errTooMuch ends a call whose gateway sends more than a call can keep.
var errTooMuch = errors.New("wsclient: the gateway sent more than a call of this length has")

// kept counts what a call keeps of the gateway's messages: at most as much audio as the longest
// call has, plus a minute, and keptMax bytes of everything else.
type kept struct {
	samples, samplesMax int
	bytes               int
}

// messageBytes is the assumed size of a message, a turn, a mark or a note besides its text.
const messageBytes = 512

// sound counts samples and reports whether they may be kept.
func (k *kept) sound(samples int) bool {
	k.samples += samples
	return k.samples <= k.samplesMax
}

// message counts what the call keeps of a message, and reports whether it may be kept.
func (k *kept) message(m *transport.Message) bool {
	switch m.Kind {
	case transport.MessageNet, transport.MessageNetGraph: // nothing of them is kept
		return true
	}
	k.bytes += messageBytes + len(m.ID) + len(m.Name) + len(m.Code) + len(m.Text)
	return k.bytes <= keptMax
}

// overrun ends the call.
func (c *call) overrun() {
	c.note("the gateway sent more than a call of this length has, and was hung up on")
	c.ended = &transport.Ended{Reason: transport.ReasonMessageTooBig, Message: "The gateway sent too much.",
		Err: errTooMuch}
}

// soundMax returns how many samples may be received in a call.
func (c *Config) soundMax(rateHz int) int {
	return int((c.Max + aheadMax).Milliseconds() * int64(rateHz) / 1000)
}

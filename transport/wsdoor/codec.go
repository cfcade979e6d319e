package wsdoor

import (
	"errors"
	"net/http"
	"time"

	"github.com/voicegw/voicegw/transport"
)

// Protocol is what a door must know of a protocol besides its words.
type Protocol struct {
	Name         string   // Hello.Door, and in logs
	Binary       bool     // sends binary frames, not text
	Subprotocols []string // that are agreed to when they are offered; a client that offers none is welcome too
	// Token finds who calls in the request, "" for nobody.
	Token func(r *http.Request) string
	// Codec makes the codec of a call.
	Codec func(r *http.Request) Codec
	// Lead, unless it is 0, paces audio: no more than this is sent ahead of what was heard. It is for far ends that
	// play on to the end of what they got, whatever they are told.
	Lead time.Duration
	// ClearWait is how long a clear waits for the far end's own account of what was heard: see Inbox.Heard.
	ClearWait time.Duration
}

// Codec speaks a protocol, for one call. Its methods are called one at a time. Those that take an Outbox may put any
// number of messages there; what they put is sent in that order.
type Codec interface {
	// Greet reads the first messages of the far end with next, and fills in what they say of the call. hello has rates
	// that work (16 kHz in, 24 kHz out), the token, the door and the remote address already. An error other than next's
	// is a *transport.Ended, and ends the call so; or ErrUnread, when the last message belongs to the call already.
	Greet(hello *transport.Hello, next func() (Inbound, error), out *Outbox) error
	// Ready accepts the call.
	Ready(r transport.Ready, out *Outbox)
	// Read turns a message of the far end into events and answers. An error, a *transport.Ended, ends the call. A
	// message without meaning is nothing, and counted where in.Unknown is called.
	Read(m Inbound, in *Inbox, out *Outbox) error
	// Audio appends the message that carries a frame of the reply. When it appends nothing, nothing is sent.
	Audio(dst []byte, generation uint64, pcm []int16) []byte
	// Message tells the far end.
	Message(m *transport.Message, out *Outbox)
	// Bye says the last words, and with which code and reason the WebSocket closes. The code must be one that may be
	// sent, the reason at most 123 bytes: see CloseCode.
	Bye(e *transport.Ended, out *Outbox) (code int, reason string)
}

// ClearWatcher is a Codec that wants to know what was heard when it was told to clear. Its method is called as those of
// Codec are, when that is settled.
type ClearWatcher interface {
	Cleared(generation uint64, playedMS int64)
}

// ErrUnread says that the message which Greet read last is the first one for Read.
var ErrUnread = errors.New("the message is none of the greeting")

// Inbound is a message of the far end. Data is valid until the next one is read.
type Inbound struct {
	Binary bool
	Data   []byte
}

// Outbox collects messages to be sent.
type Outbox struct{ messages [][]byte }

// Put adds a message, which it keeps.
func (o *Outbox) Put(b []byte) { o.messages = append(o.messages, b) }

// Take empties the box.
func (o *Outbox) Take() [][]byte {
	m := o.messages
	o.messages = nil
	return m
}

// CloseCode is a reason in the codes of RFC 6455 section 7.4.1, which every client understands, and its words, cut to
// what fits into a close frame.
func CloseCode(e *transport.Ended) (code int, reason string) {
	code = e.Reason.Code()
	switch e.Reason {
	case transport.ReasonMaxDuration:
		code = 1000
	case transport.ReasonBadHello, transport.ReasonSecondHello, transport.ReasonEventBeforeHello,
		transport.ReasonAudioBeforeReady:
		code = 1007
	case transport.ReasonUnauthorized, transport.ReasonHelloTimeout, transport.ReasonIdleTimeout,
		transport.ReasonPeerStalled:
		code = 1008
	case transport.ReasonModelRefused, transport.ReasonModelTimeout, transport.ReasonModelLost:
		code = 1011
	}
	return code, Cut(e.Message, closeReasonMax)
}

const closeReasonMax = 123 // RFC 6455 section 5.5

// End makes the error of a call that is over; an empty message means the reason's own.
func End(r transport.Reason, message string, err error) *transport.Ended {
	if message == "" {
		message = r.Message()
	}
	return &transport.Ended{Reason: r, Message: message, Err: err}
}

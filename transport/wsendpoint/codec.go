package wsendpoint

import (
	"errors"
	"net/http"
	"time"

	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/wsconn"
)

// Protocol is what an endpoint must know about a protocol besides its messages.
type Protocol struct {
	Name         string   // Hello.Endpoint, and in logs
	Binary       bool     // sends binary frames instead of text
	Subprotocols []string // accepted subprotocols; a client that offers none is accepted too
	// Token finds the caller's token in the request; "" means no token.
	Token func(r *http.Request) string
	// Codec makes the codec of a call.
	Codec func(r *http.Request) Codec
	// Lead, unless it is 0, paces audio: the endpoint sends at most this much ahead of what was
	// played. It is for far ends that ignore a clear and play everything they received.
	Lead time.Duration
	// NoCall is the text of the refusal when a client shows the handle of no call that it may go on
	// with: see resumer. "" means that calls of the protocol cannot be resumed.
	NoCall string
	// ClearWait is how long a clear waits for the far end's own report of what was played: see
	// Inbox.Heard.
	ClearWait time.Duration
}

// Codec encodes and decodes the protocol of one call. Its methods are called one at a time. A
// method that takes an Outbox may put any number of messages there; they are sent in that order.
type Codec interface {
	// Greet reads the first messages of the far end with next, and puts their settings into hello.
	// hello already has valid rates (16 kHz in, 24 kHz out), the token, the endpoint and the remote
	// address. An error other than next's is a *transport.Ended, which ends the call, or ErrUnread,
	// when the last message already belongs to the call.
	Greet(hello *transport.Hello, next func() (wsconn.Message, error), out *Outbox) error
	// Ready accepts the call.
	Ready(r transport.Ready, out *Outbox)
	// Read turns a message of the far end into events and answers. An error, a *transport.Ended,
	// ends the call. Read ignores a message without meaning and counts it with in.Unknown.
	Read(m wsconn.Message, in *Inbox, out *Outbox) error
	// Audio appends the message that carries a frame of the reply. It may append nothing; then
	// nothing is sent.
	Audio(dst []byte, generation uint64, pcm []int16) []byte
	// Message encodes m for the far end.
	Message(m *transport.Message, out *Outbox)
	// Bye puts the last messages into the Outbox, and returns the code and the reason of the close
	// frame. The code must be one that may be sent, the reason at most 123 bytes: see CloseCode.
	Bye(e *transport.Ended, out *Outbox) (code int, reason string)
}

// settler is a Codec whose far end may add messages to the greeting. While Settle returns more than
// 0, next waits only that long for another message, and then returns ErrSettled.
type settler interface {
	Settle() time.Duration
}

// audioAnnouncer is a Codec that may have messages for the far end before a frame, in a protocol
// without a lead.
type audioAnnouncer interface {
	Announce(generation uint64, out *Outbox)
}

// clearWatcher is a Codec that needs to know how much was played before a clear. Its method is
// called like those of Codec, when the amount is settled.
type clearWatcher interface {
	Cleared(generation uint64, playedMS int64)
}

// ErrUnread says that the last message that Greet read belongs to the call: it is the first one for
// Read.
var ErrUnread = errors.New("the message does not belong to the greeting")

// ErrSettled is the error of next when no further message came within the time that Settle returns.
var ErrSettled = errors.New("the greeting is over: no further message came")

// Outbox collects messages to be sent.
type Outbox struct{ messages [][]byte }

// Put adds a message, which the Outbox keeps.
func (o *Outbox) Put(b []byte) { o.messages = append(o.messages, b) }

// Take returns the messages and empties the Outbox.
func (o *Outbox) Take() [][]byte {
	m := o.messages
	o.messages = nil
	return m
}

// CloseCode returns the code and the reason of the close frame for a foreign protocol: a code of
// RFC 6455, which every client understands, and the message, cut to fit into the frame.
func CloseCode(e *transport.Ended) (code int, reason string) {
	return e.Reason.StandardCode(), transport.Cut(e.Message, closeReasonMax)
}

const closeReasonMax = 123 // RFC 6455 section 5.5

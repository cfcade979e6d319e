package ws

import (
	"errors"

	"github.com/voicegw/voicegw/transport"
)

// The functions below are for endpoints that carry the same events over another transport, such as
// a data channel.

// DecodeHello reads a hello. [transport.Hello.Check] decides whether the gateway offers its values.
func DecodeHello(b []byte) (transport.Hello, error) { return decodeHello(b) }

// DecodeEvent fills ev, which must have been reset, from an event of a client that is not a hello.
// The error is for people; see [IsUnknown] and [IsHello]. An acknowledgement without a mark costs
// no allocation.
func DecodeEvent(b []byte, ev *transport.Event) error { return decodeEvent(b, ev) }

// IsUnknown reports whether [DecodeEvent] or [DecodeMessage] found a type of another version: the
// caller ignores it.
func IsUnknown(err error) bool { return errors.Is(err, errUnknown) }

// IsHello reports whether [DecodeEvent] found a hello.
func IsHello(err error) bool { return errors.Is(err, errHello) }

// AppendEvent appends an event of a client, other than hello and audio.
func AppendEvent(dst []byte, ev *transport.Event) ([]byte, error) { return appendEvent(dst, ev) }

// AppendHello appends a hello.
func AppendHello(dst []byte, h transport.Hello) []byte { return appendHello(dst, h) }

// AppendReady appends the event that accepts a call.
func AppendReady(dst []byte, r transport.Ready) []byte { return appendReady(dst, r) }

// AppendMessage appends a message of the gateway, other than ready, audio and bye.
func AppendMessage(dst []byte, m *transport.Message) ([]byte, error) { return appendMessage(dst, m) }

// AppendBye appends the last event of a call.
func AppendBye(dst []byte, reason transport.Reason, message string) []byte {
	return appendBye(dst, reason.String(), message)
}

// DecodeMessage fills m, which must have been reset, from an event of a gateway. It reports a ready
// as unknown.
func DecodeMessage(b []byte, m *transport.Message) error { return decodeMessage(b, m) }

package rtvi

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/wsconn"
	"github.com/voicegw/voicegw/transport/wsendpoint"
)

// Channel encodes and decodes RTVI for one call whose messages go over the data channel of WebRTC,
// as text without frames. It is an rtc.Dialect, for rtc.Endpoint.SmallWebRTC.
type Channel struct {
	codec codec
	in    *wsendpoint.Inbox
}

// NewChannel makes the dialect of a call.
func NewChannel() *Channel { return &Channel{in: wsendpoint.NewInbox(wsendpoint.InputRateHz)} }

// signalling is a message of Pipecat's SmallWebRTCTransport beside RTVI's.
type signalling struct {
	Type    string `json:"type"`
	Message struct {
		Type     string `json:"type"`
		Receiver int    `json:"receiver_index"`
		Enabled  bool   `json:"enabled"`
	} `json:"message"`
}

// peerLeft tells the client that the call is over.
const peerLeft = `{"type":"signalling","message":{"type":"peerLeft"}}`

// isPing reports whether a message only keeps the channel alive.
func isPing(data []byte) bool { return bytes.HasPrefix(data, []byte("ping")) }

// errMore says that the greeting goes on with the next message.
var errMore = errors.New("the greeting is not over")

// Greet waits for client-ready. It passes over pings and signalling.
func (c *Channel) Greet(data []byte) (answers [][]byte, over bool, err error) {
	if isPing(data) {
		return nil, false, nil
	}
	var out wsendpoint.Outbox
	var hello transport.Hello // the settings of the call came with the offer
	read := false
	err = c.codec.Greet(&hello, func() (wsconn.Message, error) {
		if read {
			return wsconn.Message{}, errMore
		}
		read = true
		return wsconn.Message{Data: data}, nil
	}, &out)
	if errors.Is(err, errMore) {
		return nil, false, nil
	}
	return unframed(&out), err == nil, err
}

// Ready sends bot-ready.
func (c *Channel) Ready(r transport.Ready) [][]byte {
	var out wsendpoint.Outbox
	c.codec.Ready(r, &out)
	return unframed(&out)
}

// Read reads a message. A microphone that is switched off mutes the caller.
func (c *Channel) Read(data []byte) (events []transport.Event, answers [][]byte, err error) {
	if isPing(data) {
		return nil, nil, nil
	}
	var s signalling
	if json.Unmarshal(data, &s) == nil && s.Type == "signalling" {
		if s.Message.Type == "trackStatus" && s.Message.Receiver == 0 {
			events = []transport.Event{{Kind: transport.EventMute, On: !s.Message.Enabled}}
		}
		return events, nil, nil
	}
	var out wsendpoint.Outbox
	err = c.codec.Read(wsconn.Message{Data: data}, c.in, &out)
	for ev := (transport.Event{}); c.in.Next(&ev); {
		events = append(events, ev)
	}
	return events, unframed(&out), err
}

// Message encodes the messages that the protocol has a form for.
func (c *Channel) Message(m *transport.Message) [][]byte {
	var out wsendpoint.Outbox
	c.codec.Message(m, &out)
	return unframed(&out)
}

// Bye sends why a call fails, and that it is over.
func (c *Channel) Bye(e *transport.Ended) [][]byte {
	var out wsendpoint.Outbox
	c.codec.Bye(e, &out)
	return append(unframed(&out), []byte(peerLeft))
}

// unframed takes messages out of their frames.
func unframed(out *wsendpoint.Outbox) (messages [][]byte) {
	for _, b := range out.Take() {
		if f, err := decodeFrame(b); err == nil {
			messages = append(messages, f.data)
		}
	}
	return messages
}

package mediastream

import (
	"encoding/base64"
	"errors"
	"slices"
	"strconv"

	"github.com/voicegw/voicegw/internal/jsonscan"
)

var (
	errNotJSON   = errors.New("a message must be a JSON object")
	errNumber    = errors.New("a number is not a whole number")
	errNoEvent   = errors.New("a message must have an \"event\"")
	errNoPayload = errors.New("media must have a payload in base64")
)

// message is one message of a carrier; its slices alias the message.
type message struct {
	raw                      []byte
	event                    string // one of the known events, "" for another
	stream                   []byte // the id of the stream
	start, media, mark, dtmf []byte // raw objects
}

// known returns the common event of this name, "" for another name. It allocates nothing.
func known(event []byte) string {
	for _, name := range [...]string{"media", "mark", "dtmf", "start", "connected", "stop", "error"} {
		if string(event) == name {
			return name
		}
	}
	return ""
}

// readMessage reads a message whose carrier is not known yet.
func readMessage(b []byte) (message, error) { return (&carrier{}).read(b) }

// read reads the outer object of a message. An unknown event is not an error.
func (c *carrier) read(b []byte) (message, error) {
	m := message{raw: b}
	said := false
	o := jsonscan.Open(b)
	for key, value, ok := o.Next(); ok; key, value, ok = o.Next() {
		switch string(key) {
		case "event":
			event := jsonscan.Unquote(value)
			if said, m.event = event != nil, known(event); m.event == "" {
				m.event = c.events[string(event)]
			}
		case "start":
			m.start = value
		case "media":
			m.media = value
		case "mark":
			m.mark = value
		case "dtmf":
			m.dtmf = value
		case c.streamID:
			m.stream = jsonscan.Unquote(value)
		}
	}
	if !o.Complete() {
		return m, errNotJSON
	}
	if !said {
		return m, errNoEvent
	}
	return m, nil
}

// markName returns the name of a returned mark.
func (c *carrier) markName(m *message) []byte {
	if c.returned != nil {
		return c.returned(m)
	}
	return member(m.mark, "name")
}

// member returns the text of one member of a raw object, nil when it is absent.
func member(raw []byte, name string) []byte {
	o := jsonscan.Open(raw)
	for key, value, ok := o.Next(); ok; key, value, ok = o.Next() {
		if string(key) == name {
			return jsonscan.Unquote(value)
		}
	}
	return nil
}

// media is a piece of audio; its slices alias the message.
type media struct {
	chunk   uint64 // from 1; 0 where the carrier does not count
	track   []byte
	payload []byte // base64
}

// readMedia reads the inner object of a media message.
func readMedia(raw []byte) (m media, err error) {
	o := jsonscan.Open(raw)
	for key, value, ok := o.Next(); ok; key, value, ok = o.Next() {
		switch string(key) {
		case "chunk":
			if m.chunk, err = number(value); err != nil {
				return m, err
			}
		case "track":
			m.track = jsonscan.Unquote(value)
		case "payload":
			if m.payload = jsonscan.Unquote(value); m.payload == nil {
				return m, errNoPayload
			}
		}
	}
	if !o.Complete() || m.payload == nil {
		return m, errNoPayload
	}
	return m, nil
}

// ours reports whether m is caller audio. What the caller hears is "outbound".
func (m *media) ours() bool {
	return string(m.track) != "outbound" && string(m.track) != "outbound_track"
}

// decode appends the bytes of the payload to dst.
func (m *media) decode(dst []byte) ([]byte, error) {
	dst = slices.Grow(dst, base64.StdEncoding.DecodedLen(len(m.payload)))
	n, err := base64.StdEncoding.Decode(dst[:cap(dst)], m.payload)
	if err != nil {
		return dst, errNoPayload
	}
	return dst[:n], nil
}

// number reads an integer, with or without quotes; 0 for nothing.
func number(value []byte) (uint64, error) {
	if len(value) >= 2 && value[0] == '"' {
		value = value[1 : len(value)-1]
	}
	if len(value) == 0 || string(value) == "null" {
		return 0, nil
	}
	n, err := strconv.ParseUint(string(value), 10, 63)
	if err != nil {
		return 0, errNumber
	}
	return n, nil
}

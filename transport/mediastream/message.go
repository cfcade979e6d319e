package mediastream

import (
	"encoding/base64"
	"errors"
	"slices"
)

var (
	errNoEvent   = errors.New("a message must have an \"event\"")
	errNoPayload = errors.New("media must have a payload in base64")
)

// message is one message of a carrier, in parts that alias it.
type message struct {
	event                    string // one of those known, "" for another
	stream                   []byte // id of the stream
	name                     []byte // of a mark, where it is no part of one
	start, media, mark, dtmf []byte // raw objects
	headers                  []byte // Plivo's extra headers
}

// known is the event of this name that means something here, "" for another. It allocates nothing.
func known(event []byte) string {
	for _, name := range [...]string{"media", "mark", "playedStream", "clearedAudio", "dtmf", "start", "connected", "stop",
		"error"} {
		if string(event) == name {
			return name
		}
	}
	return ""
}

// readMessage reads the outside of a message. An event that is not known is no error.
func readMessage(b []byte) (message, error) {
	var m message
	said := false
	o := openObject(b)
	for {
		key, value, ok := o.next()
		if !ok {
			break
		}
		switch string(key) {
		case "event":
			m.event = known(text(value))
			said = text(value) != nil
		case "streamSid", "stream_id", "streamId", "stream_sid":
			m.stream = text(value)
		case "name":
			m.name = text(value)
		case "start":
			m.start = value
		case "media":
			m.media = value
		case "mark":
			m.mark = value
		case "dtmf":
			m.dtmf = value
		case "extra_headers":
			m.headers = text(value)
		}
	}
	if err := o.end(); err != nil {
		return m, err
	}
	if !said {
		return m, errNoEvent
	}
	return m, nil
}

// member is the text of one member of a raw object, nil when there is none.
func member(raw []byte, name string) []byte {
	o := openObject(raw)
	for {
		key, value, ok := o.next()
		if !ok {
			return nil
		}
		if string(key) == name {
			return text(value)
		}
	}
}

// media is a piece of sound, in parts that alias its message.
type media struct {
	chunk   uint64 // from 1; 0 where the carrier does not count
	track   []byte
	payload []byte // base64
}

// readMedia reads the inside of a media message.
func readMedia(raw []byte) (m media, err error) {
	o := openObject(raw)
	for {
		key, value, ok := o.next()
		if !ok {
			break
		}
		switch string(key) {
		case "chunk":
			if m.chunk, err = number(value); err != nil {
				return m, err
			}
		case "track":
			m.track = text(value)
		case "payload":
			if m.payload = text(value); m.payload == nil {
				return m, errNoPayload
			}
		}
	}
	if err := o.end(); err != nil || m.payload == nil {
		return m, errNoPayload
	}
	return m, nil
}

// ours reports whether it is what the caller said. What the caller hears is "outbound".
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

package phonetest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/voicegw/voicegw/transport/phone"
)

// Stream is the id of every stream.
const Stream = "MZ1"

// dialect is the wire format of a carrier.
type dialect struct {
	name        string
	subprotocol string      // "" for none
	codec       phone.Codec // the default codec of streams
	keepsMarks  bool        // marks of dropped audio do not return

	opening  func(c *Config) [][]byte                                   // the messages with which a stream begins
	media    func(c *Config, n int, coded []byte) (b []byte, text bool) // a message with audio; n counts from 1
	digit    func(c *Config, d string) []byte                           // a pressed key
	returned func(c *Config, name string) []byte                        // a returned mark
	cleared  func(c *Config) []byte                                     // the answer to a clear, nil for none
	stop     func(c *Config) []byte                                     // the end of the stream, nil for none
	read     func(c *Config, b []byte, text bool) (order, error)        // a message of the endpoint
}

func dialects() []dialect {
	return []dialect{twilio(), telnyx(), plivo(), exotel(), asterisk(), asteriskPlain()}
}

// find returns the dialect of a name; there must be one.
func find(name string) *dialect {
	for _, d := range dialects() {
		if d.name == name {
			return &d
		}
	}
	panic(fmt.Sprintf("phonetest: there is no dialect %q", name))
}

// order is a message of an endpoint.
type order struct {
	what  string // media, mark, clear, hangup, or an unknown name
	name  string // of a mark
	coded []byte // of media
}

// object is a JSON object.
type object map[string]any

func (o object) bytes() []byte {
	b, err := json.Marshal(o)
	if err != nil {
		panic(fmt.Sprintf("phonetest: %v", err)) // the input comes from this package only
	}
	return b
}

// event returns a message about the stream, whose id is the member key.
func event(key, name string, members object) []byte {
	members["event"], members[key] = name, Stream
	return members.bytes()
}

// sound returns the inner object of a media message.
func sound(n int, coded []byte) object {
	return object{"track": "inbound", "chunk": strconv.Itoa(n), "timestamp": strconv.Itoa((n - 1) * 20),
		"payload": base64.StdEncoding.EncodeToString(coded)}
}

// pressed returns a key press in the form that most carriers use.
func pressed(key string) func(*Config, string) []byte {
	return func(_ *Config, d string) []byte {
		return event(key, "dtmf", object{"dtmf": object{"track": "inbound_track", "digit": d}})
	}
}

// marked returns a returned mark in the form that most carriers use.
func marked(key string) func(*Config, string) []byte {
	return func(_ *Config, name string) []byte { return event(key, "mark", object{"mark": object{"name": name}}) }
}

// message is a message of an endpoint for a media stream.
type message struct {
	Event, Name         string
	StreamSid, StreamID string
	Media               struct {
		Payload     []byte
		ContentType string
		SampleRate  int
	}
	Mark struct{ Name string }
}

// decode reads a message whose event is one of the names of media, mark and clear.
func decode(b []byte, text bool, media, mark, clear string) (m message, o order, err error) {
	if !text {
		return m, o, fmt.Errorf("phonetest: a binary message of %d bytes", len(b))
	}
	if err := json.Unmarshal(b, &m); err != nil {
		return m, o, fmt.Errorf("phonetest: %.80s: %w", b, err)
	}
	what, ok := map[string]string{media: "media", mark: "mark", clear: "clear"}[m.Event]
	if !ok {
		return m, o, fmt.Errorf("phonetest: %.80s is not taken", b)
	}
	return m, order{what: what, name: m.Mark.Name + m.Name, coded: m.Media.Payload}, nil
}

// plain reads a message in the form that most carriers use.
func plain(_ *Config, b []byte, text bool) (order, error) {
	_, o, err := decode(b, text, "media", "mark", "clear")
	return o, err
}

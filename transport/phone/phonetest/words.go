package phonetest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/voicegw/voicegw/transport/phone"
)

// Stream is the id of every stream.
const Stream = "MZ1"

// object is a JSON object.
type object map[string]any

func (o object) bytes() []byte {
	b, err := json.Marshal(o)
	if err != nil {
		panic(fmt.Sprintf("phonetest: %v", err)) // only what is made here comes here
	}
	return b
}

// opening are the messages with which a stream begins.
func (c *Config) opening() [][]byte {
	switch c.Dialect {
	case Telnyx:
		return [][]byte{object{"event": "connected", "version": "1.0.0"}.bytes(),
			object{"event": "start", "sequence_number": "1", "stream_id": Stream, "start": object{
				"call_control_id": c.Call, "from": "+13125550100", "to": "+13125550199", "custom_parameters": c.Params,
				"media_format": object{"encoding": c.Codec.String(), "sample_rate": c.RateHz, "channels": 1}}}.bytes()}
	case Plivo:
		var headers []string
		for name, value := range c.Params {
			headers = append(headers, name+"="+value)
		}
		return [][]byte{object{"event": "start", "sequenceNumber": 1, "extra_headers": strings.Join(headers, ";"),
			"start": object{"callId": c.Call, "streamId": Stream, "accountId": "MA1", "tracks": []string{"inbound"},
				"mediaFormat": object{"encoding": c.mime(), "sampleRate": c.RateHz}}}.bytes()}
	case Exotel:
		return [][]byte{object{"event": "connected"}.bytes(),
			object{"event": "start", "sequence_number": 1, "stream_sid": Stream, "start": object{"stream_sid": Stream,
				"call_sid": c.Call, "account_sid": "AC1", "from": "0123", "to": "0456", "custom_parameters": c.Params,
				"media_format": object{"encoding": "base64", "sample_rate": strconv.Itoa(c.RateHz)}}}.bytes()}
	case Asterisk, AsteriskPlain:
		return [][]byte{c.mediaStart()}
	}
	return [][]byte{object{"event": "connected", "protocol": "Call", "version": "1.0.0"}.bytes(),
		object{"event": "start", "sequenceNumber": "1", "streamSid": Stream, "start": object{"accountSid": "AC1",
			"streamSid": Stream, "callSid": c.Call, "tracks": []string{"inbound"}, "customParameters": c.Params,
			"mediaFormat": object{"encoding": "audio/x-mulaw", "sampleRate": 8000, "channels": 1}}}.bytes()}
}

func (c *Config) mime() string {
	if c.Codec == phone.L16 {
		return "audio/x-l16"
	}
	return "audio/x-mulaw"
}

// mediaStart is how Asterisk begins.
func (c *Config) mediaStart() []byte {
	format := map[phone.Codec]string{phone.PCMU: "ulaw", phone.PCMA: "alaw", phone.L16: "slin"}[c.Codec]
	if c.Codec == phone.L16 && c.RateHz > 8000 {
		format += strconv.Itoa(c.RateHz / 1000)
	}
	size := c.RateHz / 50 * c.Codec.SampleBytes()
	if c.Dialect == AsteriskPlain {
		return fmt.Appendf(nil, "MEDIA_START connection_id:u channel:WebSocket/c/0x1 channel_id:%s format:%s "+
			"optimal_frame_size:%d ptime:20", c.Call, format, size)
	}
	return object{"event": "MEDIA_START", "connection_id": "u", "channel": "WebSocket/c/0x1", "channel_id": c.Call,
		"format": format, "optimal_frame_size": size, "ptime": 20, "channel_variables": c.Params}.bytes()
}

// media is a message with sound; n counts them from 1.
func (c *Config) media(n int, coded []byte) (b []byte, text bool) {
	payload := base64.StdEncoding.EncodeToString(coded)
	ms := strconv.Itoa((n - 1) * 20)
	media := object{"track": "inbound", "chunk": strconv.Itoa(n), "timestamp": ms, "payload": payload}
	switch c.Dialect {
	case Telnyx:
		return c.event("media", object{"sequence_number": strconv.Itoa(n + 1), "media": media}), true
	case Plivo:
		media["chunk"] = n
		return c.event("media", object{"sequenceNumber": n + 1, "media": media, "extra_headers": ""}), true
	case Exotel:
		media = object{"chunk": n, "timestamp": ms, "payload": payload}
		return c.event("media", object{"sequence_number": n + 1, "media": media}), true
	case Asterisk, AsteriskPlain:
		return coded, false
	}
	return c.event("media", object{"sequenceNumber": strconv.Itoa(n + 2), "media": media}), true
}

// event is a message about the stream.
func (c *Config) event(name string, members object) []byte {
	ids := map[string]string{Twilio: "streamSid", Telnyx: "stream_id", Plivo: "streamId", Exotel: "stream_sid"}
	members["event"], members[ids[c.Dialect]] = name, Stream
	return members.bytes()
}

// digit is a message with a pressed key.
func (c *Config) digit(d string) []byte {
	switch c.Dialect {
	case Exotel:
		return c.event("dtmf", object{"dtmf": object{"duration": "100", "digit": d}})
	case Asterisk:
		return object{"event": "DTMF_END", "channel_id": c.Call, "digit": d}.bytes()
	case AsteriskPlain:
		return []byte("DTMF_END digit:" + d + " channel_id:" + c.Call)
	}
	return c.event("dtmf", object{"dtmf": object{"track": "inbound_track", "digit": d}})
}

// returned is a mark that comes back.
func (c *Config) returned(name string) []byte {
	switch c.Dialect {
	case Plivo:
		return c.event("playedStream", object{"name": name})
	case Asterisk:
		return object{"event": "MEDIA_MARK_PROCESSED", "channel_id": c.Call, "correlation_id": name}.bytes()
	case AsteriskPlain:
		return []byte("MEDIA_MARK_PROCESSED " + name)
	}
	return c.event("mark", object{"mark": object{"name": name}})
}

// stop is what is said at the end, nil for nothing.
func (c *Config) stop() []byte {
	switch c.Dialect {
	case Telnyx:
		return c.event("stop", object{"stop": object{"call_control_id": c.Call}})
	case Exotel:
		return c.event("stop", object{"stop": object{"call_sid": c.Call}})
	case Plivo, Asterisk, AsteriskPlain:
		return nil
	}
	return c.event("stop", object{"stop": object{"accountSid": "AC1", "callSid": c.Call}})
}

// order is what a door asks for.
type order struct {
	what  string // media, mark, clear, hangup, or what is not known
	name  string // of a mark
	coded []byte // of media
}

// read reads a message of the door's.
func (c *Config) read(b []byte, text bool) (order, error) {
	switch {
	case !text:
		if c.Dialect != Asterisk && c.Dialect != AsteriskPlain {
			return order{}, fmt.Errorf("phonetest: a binary message of %d bytes", len(b))
		}
		return order{what: "media", coded: b}, nil
	case c.Dialect == AsteriskPlain:
		command, data, _ := strings.Cut(string(b), " ")
		return commanded(command, data), nil
	}
	var m struct {
		Event, Command, Name string
		StreamSid, StreamID  string
		CorrelationID        string `json:"correlation_id"`
		Media                struct {
			Payload     []byte
			ContentType string
			SampleRate  int
		}
		Mark struct{ Name string }
	}
	if err := json.Unmarshal(b, &m); err != nil {
		return order{}, fmt.Errorf("phonetest: %.80s: %w", b, err)
	}
	if c.Dialect == Asterisk {
		return commanded(m.Command, m.CorrelationID), nil
	}
	if c.Dialect == Twilio && m.StreamSid != Stream ||
		c.Dialect == Plivo && m.Event != "playAudio" && m.StreamID != Stream {
		return order{}, fmt.Errorf("phonetest: %.80s is not for the stream", b)
	}
	if m.Event == "playAudio" && (m.Media.ContentType != c.mime() || m.Media.SampleRate != c.RateHz) {
		return order{}, fmt.Errorf("phonetest: the sound is %s at %d Hz", m.Media.ContentType, m.Media.SampleRate)
	}
	names := map[string]string{"media": "media", "playAudio": "media", "mark": "mark", "checkpoint": "mark",
		"clear": "clear", "clearAudio": "clear"}
	what, ok := names[m.Event]
	plivo := m.Event == "playAudio" || m.Event == "checkpoint" || m.Event == "clearAudio"
	if !ok || plivo != (c.Dialect == Plivo) {
		return order{}, fmt.Errorf("phonetest: %.80s is not taken", b)
	}
	return order{what: what, name: m.Mark.Name + m.Name, coded: m.Media.Payload}, nil
}

// commanded is an order of Asterisk's.
func commanded(command, data string) order {
	switch command {
	case "MARK_MEDIA":
		return order{what: "mark", name: data}
	case "FLUSH_MEDIA":
		return order{what: "clear"}
	case "HANGUP":
		return order{what: "hangup"}
	}
	return order{what: command, name: data}
}

// returnsCleared tells whether marks of what was dropped come back.
func (c *Config) returnsCleared() bool {
	return c.Dialect == Twilio || c.Dialect == Telnyx || c.Dialect == Exotel
}

package phonetest

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/voicegw/voicegw/transport/phone"
)

// asterisk returns the dialect with JSON control messages.
func asterisk() dialect {
	return dialect{name: Asterisk, subprotocol: "media", codec: phone.PCMU, keepsMarks: true, media: binary,
		opening: func(c *Config) [][]byte {
			format, size := asteriskFormat(c)
			return [][]byte{object{"event": "MEDIA_START", "connection_id": "u", "channel": "WebSocket/c/0x1",
				"channel_id": c.Call, "format": format, "optimal_frame_size": size, "ptime": 20,
				"channel_variables": c.Params}.bytes()}
		},
		digit: func(c *Config, d string) []byte {
			return object{"event": "DTMF_END", "channel_id": c.Call, "digit": d}.bytes()
		},
		returned: func(c *Config, name string) []byte {
			return object{"event": "MEDIA_MARK_PROCESSED", "channel_id": c.Call, "correlation_id": name}.bytes()
		},
		read: func(_ *Config, b []byte, text bool) (order, error) {
			var m struct {
				Command       string
				CorrelationID string `json:"correlation_id"`
			}
			if !text {
				return order{what: "media", coded: b}, nil
			}
			if err := json.Unmarshal(b, &m); err != nil {
				return order{}, fmt.Errorf("phonetest: %.80s: %w", b, err)
			}
			return commanded(m.Command, m.CorrelationID), nil
		}}
}

// asteriskPlain returns the dialect with plain-text control messages.
func asteriskPlain() dialect {
	return dialect{name: AsteriskPlain, subprotocol: "media", codec: phone.PCMU, keepsMarks: true, media: binary,
		opening: func(c *Config) [][]byte {
			format, size := asteriskFormat(c)
			return [][]byte{fmt.Appendf(nil, "MEDIA_START connection_id:u channel:WebSocket/c/0x1 channel_id:%s format:%s "+
				"optimal_frame_size:%d ptime:20", c.Call, format, size)}
		},
		digit:    func(c *Config, d string) []byte { return []byte("DTMF_END digit:" + d + " channel_id:" + c.Call) },
		returned: func(_ *Config, name string) []byte { return []byte("MEDIA_MARK_PROCESSED " + name) },
		read: func(_ *Config, b []byte, text bool) (order, error) {
			if !text {
				return order{what: "media", coded: b}, nil
			}
			command, data, _ := strings.Cut(string(b), " ")
			return commanded(command, data), nil
		}}
}

// binary returns the audio unchanged.
func binary(_ *Config, _ int, coded []byte) ([]byte, bool) { return coded, false }

// asteriskFormat returns the name of the format and the size of a frame in bytes.
func asteriskFormat(c *Config) (format string, size int) {
	format = map[phone.Codec]string{phone.PCMU: "ulaw", phone.PCMA: "alaw", phone.L16: "slin"}[c.Codec]
	if c.Codec == phone.L16 && c.RateHz > 8000 {
		format += strconv.Itoa(c.RateHz / 1000)
	}
	return format, c.RateHz / 50 * c.Codec.SampleBytes()
}

// commanded returns the order of a command.
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

package phonetest

import (
	"fmt"
	"strings"

	"github.com/voicegw/voicegw/transport/phone"
)

func plivo() dialect {
	const id = "streamId"
	return dialect{name: Plivo, codec: phone.PCMU, keepsMarks: true, digit: pressed(id),
		opening: func(c *Config) [][]byte {
			var headers []string
			for name, value := range c.Params {
				headers = append(headers, name+"="+value)
			}
			return [][]byte{object{"event": "start", "sequenceNumber": 1, "extra_headers": strings.Join(headers, ";"),
				"start": object{"callId": c.Call, "streamId": Stream, "accountId": "MA1", "tracks": []string{"inbound"},
					"mediaFormat": object{"encoding": plivoType(c), "sampleRate": c.RateHz}}}.bytes()}
		},
		media: func(_ *Config, n int, coded []byte) ([]byte, bool) {
			media := sound(n, coded)
			media["chunk"] = n
			return event(id, "media", object{"sequenceNumber": n + 1, "media": media, "extra_headers": ""}), true
		},
		returned: func(_ *Config, name string) []byte { return event(id, "playedStream", object{"name": name}) },
		cleared:  func(*Config) []byte { return event(id, "clearedAudio", object{}) },
		read:     readPlivo}
}

func readPlivo(c *Config, b []byte, text bool) (order, error) {
	m, o, err := decode(b, text, "playAudio", "checkpoint", "clearAudio")
	switch {
	case err != nil:
		return o, err
	case o.what != "media" && m.StreamID != Stream:
		return o, fmt.Errorf("phonetest: %.80s is not for the stream", b)
	case o.what == "media" && (m.Media.ContentType != plivoType(c) || m.Media.SampleRate != c.RateHz):
		return o, fmt.Errorf("phonetest: the sound is %s at %d Hz", m.Media.ContentType, m.Media.SampleRate)
	}
	return o, nil
}

// plivoType returns Plivo's name for the codec.
func plivoType(c *Config) string {
	if c.Codec == phone.L16 {
		return "audio/x-l16"
	}
	return "audio/x-mulaw"
}

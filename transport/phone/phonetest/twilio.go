package phonetest

import (
	"fmt"
	"strconv"

	"github.com/voicegw/voicegw/transport/phone"
)

func twilio() dialect {
	const id = "streamSid"
	return dialect{name: Twilio, codec: phone.PCMU, digit: pressed(id), returned: marked(id),
		opening: func(c *Config) [][]byte {
			return [][]byte{object{"event": "connected", "protocol": "Call", "version": "1.0.0"}.bytes(),
				event(id, "start", object{"sequenceNumber": "1", "start": object{"accountSid": "AC1", "streamSid": Stream,
					"callSid": c.Call, "tracks": []string{"inbound"}, "customParameters": c.Params,
					"mediaFormat": object{"encoding": "audio/x-mulaw", "sampleRate": 8000, "channels": 1}}})}
		},
		media: func(_ *Config, n int, coded []byte) ([]byte, bool) {
			return event(id, "media", object{"sequenceNumber": strconv.Itoa(n + 2), "media": sound(n, coded)}), true
		},
		stop: func(c *Config) []byte {
			return event(id, "stop", object{"stop": object{"accountSid": "AC1", "callSid": c.Call}})
		},
		read: func(_ *Config, b []byte, text bool) (order, error) {
			m, o, err := decode(b, text, "media", "mark", "clear")
			if err == nil && m.StreamSid != Stream {
				err = fmt.Errorf("phonetest: %.80s is not for the stream", b)
			}
			return o, err
		}}
}

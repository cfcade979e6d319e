package phonetest

import (
	"strconv"

	"github.com/voicegw/voicegw/transport/phone"
)

func exotel() dialect {
	const id = "stream_sid"
	return dialect{name: Exotel, codec: phone.L16, returned: marked(id), read: plain,
		opening: func(c *Config) [][]byte {
			return [][]byte{object{"event": "connected"}.bytes(),
				event(id, "start", object{"sequence_number": 1, "start": object{"stream_sid": Stream, "call_sid": c.Call,
					"account_sid": "AC1", "from": "0123", "to": "0456", "custom_parameters": c.Params,
					"media_format": object{"encoding": "base64", "sample_rate": strconv.Itoa(c.RateHz)}}})}
		},
		media: func(_ *Config, n int, coded []byte) ([]byte, bool) {
			media := sound(n, coded)
			media["chunk"] = n
			delete(media, "track")
			return event(id, "media", object{"sequence_number": n + 1, "media": media}), true
		},
		digit: func(_ *Config, d string) []byte {
			return event(id, "dtmf", object{"dtmf": object{"duration": "100", "digit": d}})
		},
		stop: func(c *Config) []byte { return event(id, "stop", object{"stop": object{"call_sid": c.Call}}) },
	}
}

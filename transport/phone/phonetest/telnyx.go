package phonetest

import (
	"strconv"

	"github.com/voicegw/voicegw/transport/phone"
)

func telnyx() dialect {
	const id = "stream_id"
	return dialect{name: Telnyx, codec: phone.PCMU, digit: pressed(id), returned: marked(id), read: plain,
		opening: func(c *Config) [][]byte {
			return [][]byte{object{"event": "connected", "version": "1.0.0"}.bytes(),
				event(id, "start", object{"sequence_number": "1", "start": object{"call_control_id": c.Call,
					"from": "+13125550100", "to": "+13125550199", "custom_parameters": c.Params,
					"media_format": object{"encoding": c.Codec.String(), "sample_rate": c.RateHz, "channels": 1}}})}
		},
		media: func(_ *Config, n int, coded []byte) ([]byte, bool) {
			return event(id, "media", object{"sequence_number": strconv.Itoa(n + 1), "media": sound(n, coded)}), true
		},
		stop: func(c *Config) []byte { return event(id, "stop", object{"stop": object{"call_control_id": c.Call}}) },
	}
}

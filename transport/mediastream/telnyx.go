package mediastream

import (
	"encoding/json"

	"github.com/voicegw/voicegw/transport/phone"
)

// telnyx returns Telnyx's carrier: it does not guarantee the order; streams are started with
// bidirectional mode rtp and the same codec both ways.
func telnyx() carrier {
	return carrier{name: "telnyx", reorders: true, chunkFrames: 1, begin: beginTelnyx, streamID: "stream_id",
		codecs: map[string]phone.Codec{"pcma": phone.PCMA, "audio/x-alaw": phone.PCMA},
		media:  `{"event":"media","media":{"payload":"`, mediaEnd: `"}}`,
		mark: `{"event":"mark","mark":{"name":"`, markEnd: `"}}`,
		clear: `{"event":"clear"}`}
}

func beginTelnyx(m *message) (start, format, error) {
	var w struct {
		Call     string            `json:"call_control_id"`
		Params   map[string]string `json:"custom_parameters"`
		Format   format            `json:"media_format"`
		From, To string
	}
	err := json.Unmarshal(m.start, &w)
	return start{stream: string(m.stream), call: w.Call, params: w.Params, from: w.From, to: w.To}, w.Format, err
}

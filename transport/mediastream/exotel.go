package mediastream

import (
	"cmp"
	"encoding/json"

	"github.com/voicegw/voicegw/transport/phone"
)

// exotel returns Exotel's carrier: chunks of less than 100 ms have been reported to stutter.
func exotel() carrier {
	return carrier{name: "exotel", chunkFrames: 5, begin: beginExotel, streamID: "stream_sid",
		codecs: map[string]phone.Codec{"audio/x-l16": phone.L16, "audio/l16": phone.L16, "raw/slin": phone.L16,
			"base64": phone.L16, "": phone.L16},
		media: `{"event":"media","stream_sid":$,"media":{"payload":"`, mediaEnd: `"}}`,
		mark: `{"event":"mark","stream_sid":$,"mark":{"name":"`, markEnd: `"}}`,
		clear: `{"event":"clear","stream_sid":$}`}
}

func beginExotel(m *message) (start, format, error) {
	var w struct {
		Stream   string            `json:"stream_sid"`
		Call     string            `json:"call_sid"`
		Params   map[string]string `json:"custom_parameters"`
		Format   format            `json:"media_format"`
		From, To string
	}
	err := json.Unmarshal(m.start, &w)
	return start{stream: cmp.Or(w.Stream, string(m.stream)), call: w.Call, params: w.Params, from: w.From, to: w.To},
		w.Format, err
}

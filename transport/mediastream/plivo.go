package mediastream

import (
	"encoding/json"
	"strings"

	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/phone"
)

func plivo() carrier {
	return carrier{name: "plivo", chunkFrames: 1, begin: beginPlivo, streamID: "streamId",
		events:   map[string]string{"playedStream": "mark", "clearedAudio": "ignored"},
		returned: func(m *message) []byte { return member(m.raw, "name") },
		codecs:   map[string]phone.Codec{"audio/x-l16": phone.L16},
		media:    `{"event":"playAudio","media":{"contentType":"%c","sampleRate":%r,"payload":"`, mediaEnd: `"}}`,
		mark: `{"event":"checkpoint","streamId":$,"name":"`, markEnd: `"}`,
		clear: `{"event":"clearAudio","streamId":$}`}
}

func beginPlivo(m *message) (start, format, error) {
	var w struct {
		StreamID, CallID string
		MediaFormat      format
		From, To         string
	}
	err := json.Unmarshal(m.start, &w)
	if w.StreamID == "" || w.CallID == "" {
		return start{}, format{}, err
	}
	return start{stream: w.StreamID, call: w.CallID, params: extraHeaders(string(member(m.raw, "extra_headers"))),
			from: w.From, to: w.To},
		w.MediaFormat, err
}

// extraHeaders parses Plivo's custom parameters: "a=1;b=2", or with commas.
func extraHeaders(s string) map[string]string {
	params := map[string]string{}
	for part := range strings.FieldsFuncSeq(s, func(r rune) bool { return r == ';' || r == ',' }) {
		if name, value, ok := strings.Cut(part, "="); ok && len(params) < transport.ParamsMax {
			params[strings.TrimSpace(name)] = strings.TrimSpace(value)
		}
	}
	return params
}

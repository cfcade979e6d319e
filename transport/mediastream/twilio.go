package mediastream

import "encoding/json"

func twilio() carrier {
	return carrier{name: "twilio", chunkFrames: 1, begin: beginTwilio, streamID: "streamSid",
		media: `{"event":"media","streamSid":$,"media":{"payload":"`, mediaEnd: `"}}`,
		mark: `{"event":"mark","streamSid":$,"mark":{"name":"`, markEnd: `"}}`,
		clear: `{"event":"clear","streamSid":$}`}
}

func beginTwilio(m *message) (start, format, error) {
	var w struct {
		StreamSid, CallSid string
		CustomParameters   map[string]string
		MediaFormat        format
		From, To           string
	}
	err := json.Unmarshal(m.start, &w)
	if w.StreamSid == "" {
		return start{}, format{}, err
	}
	return start{stream: w.StreamSid, call: w.CallSid, params: w.CustomParameters, from: w.From, to: w.To},
		w.MediaFormat, err
}

package gemini

import (
	"testing"

	"github.com/voicegw/voicegw/internal/foreign/foreigntest"
	"github.com/voicegw/voicegw/transport"
)

// FuzzRefusal sends a card number in every place: no refusal shows it.
func FuzzRefusal(f *testing.F) {
	foreigntest.Seed(f, setupWith(`,"generationConfig":{"responseModalities":["AUDIO"],`+
		`"speechConfig":{"languageCode":"de"}},`+
		`"systemInstruction":{"parts":[{"text":"x"}]},"tools":[{}],"sessionResumption":{"handle":""}`),
		`{"realtimeInput":{"audio":{"data":"AQIDBA==","mimeType":"audio/pcm;rate=16000"}}}`,
		`{"realtimeInput":{"mediaChunks":[{"mimeType":"audio/pcm","data":"AQI="}],"text":"x"}}`,
		`{"clientContent":{"turns":[{"role":"user","parts":[{"text":"b"}]}],"turnComplete":true}}`,
		`{"toolResponse":{"functionResponses":[{"id":"a","response":{"output":{}}}]}}`)
	f.Fuzz(func(t *testing.T, before, behind string) {
		text := before + foreigntest.Card + behind
		_, h, err := greet(t, text)
		if err == nil {
			err = h.Check(transport.Offer{})
		}
		foreigntest.Unquoted(t, err)
		c, _, _ := greet(t, setupWith(""))
		_, err = read(t, c, text)
		foreigntest.Unquoted(t, err)
	})
}

package gemini

import (
	"strings"
	"testing"

	"github.com/voicegw/voicegw/internal/foreign/foreigntest"
	"github.com/voicegw/voicegw/transport"
)

// FuzzRefusal sends a card number in every place: no refusal and no warning shows it.
func FuzzRefusal(f *testing.F) {
	foreigntest.Seed(f, setupWith(`,"generationConfig":{"responseModalities":["AUDIO"],`+
		`"speechConfig":{"languageCode":"de"}},`+
		`"systemInstruction":{"parts":[{"text":"x"}]},"tools":[{}],"sessionResumption":{"handle":""}`),
		`{"realtimeInput":{"audio":{"data":"AQIDBA==","mimeType":"audio/pcm;rate=16000"}}}`,
		`{"realtimeInput":{"mediaChunks":[{"mimeType":"audio/pcm","data":"AQI="}],"text":"x"}}`,
		`{"clientContent":{"turns":[{"role":"user","parts":[{"text":"b"}]}],"turnComplete":true}}`,
		`{"tool_response":{"x":{},"functionResponses":[{"id":"a","will_continue":true,"response":{"output":{}}}]}}`,
		`{"toolResponse":{"functionResponses":[{"id":"a","response":{"output":{}}}]}}`)
	f.Fuzz(func(t *testing.T, before, behind string) {
		text := before + foreigntest.Card + behind
		c, h, err := greet(t, text)
		unquoted(t, c)
		if err == nil {
			err = h.Check(transport.Offer{})
		}
		foreigntest.Unquoted(t, err)
		c, _, _ = greet(t, setupWith(""))
		_, err = c.decode([]byte(text))
		unquoted(t, c)
		foreigntest.Unquoted(t, err)
		_, err = read(t, c, text)
		foreigntest.Unquoted(t, err)
	})
}

// unquoted fails if a note shows the number.
func unquoted(t *testing.T, c *codec) {
	t.Helper()
	for _, note := range c.notes.fresh {
		if strings.Contains(note, foreigntest.Card) {
			t.Fatalf("a note quotes what was sent: %s", note)
		}
	}
}

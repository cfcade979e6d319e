package openai

import (
	"fmt"
	"testing"

	"github.com/voicegw/voicegw/internal/foreign/foreigntest"
	"github.com/voicegw/voicegw/transport"
)

// FuzzRefusal sends a card number in every place: no refusal shows it, and no error event.
func FuzzRefusal(f *testing.F) {
	foreigntest.Seed(f, sound, update(`{"type":"realtime","instructions":"x","output_modalities":["audio"],"audio":`+
		`{"input":{"format":{"type":"audio/pcm","rate":24000},"transcription":{"language":"de"},"turn_detection":null}}}`),
		`{"type":"conversation.item.create","item":{"type":"message","role":"user","content":[{"type":"input_text",`+
			`"text":"hi"}]}}`,
		`{"type":"conversation.item.create","item":{"type":"function_call_output","call_id":"t","output":"{}"}}`,
		`{"type":"conversation.item.truncate","item_id":"item_4","audio_end_ms":1}`,
		`{"type":"response.create"}`)
	f.Fuzz(func(t *testing.T, before, behind string) {
		text := before + foreigntest.Card + behind
		_, h, told, err := greet(t, text)
		if err == nil {
			err = h.Check(transport.Offer{})
		}
		foreigntest.Unquoted(t, err)
		c, _, _, _ := greet(t, update(transcribed))
		_, answers, err := read(t, c, text)
		foreigntest.Unquoted(t, err)
		for _, m := range append(told, answers...) {
			if e, ok := m["error"].(map[string]any); ok {
				foreigntest.Unquoted(t, fmt.Errorf("%v", e["message"]))
			}
		}
	})
}

package openai_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/audio/audiotest"
	"github.com/voicegw/voicegw/internal/endpointtest"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/openai"
)

// talk is a client that plays what comes at once. When the caller is heard it stops, and with
// truncates it says how much of the item was heard.
func talk(truncates bool) endpointtest.Talk {
	return talkIn(`{"type":"realtime"}`, linear(), truncates)
}

// wire is how a client writes sound: of 16 kHz upwards, and down to 24 kHz.
type wire struct {
	up   func(pcm []int16) []byte
	down func(b []byte) []int16
}

func linear() wire {
	up, _ := audio.NewResampler(16000, 24000)
	return wire{up: func(pcm []int16) []byte { return audio.AppendBytes(nil, up.Resample(nil, pcm)) },
		down: func(b []byte) []int16 { return audio.AppendSamples(nil, b) }}
}

// g711 is a wire of 8 kHz.
func g711(code func(dst []byte, pcm []int16) []byte, samples func(dst []int16, b []byte) []int16) wire {
	up, _ := audio.NewResampler(16000, 8000)
	down, _ := audio.NewResampler(8000, 24000)
	return wire{up: func(pcm []int16) []byte { return code(nil, up.Resample(nil, pcm)) },
		down: func(b []byte) []int16 { return down.Resample(nil, samples(nil, b)) }}
}

// talkIn is talk with a session and its sound.
func talkIn(session string, sound wire, truncates bool) endpointtest.Talk {
	item, begin := "", 0 // what is played, and how much was played before it
	played := func(e *endpointtest.Recorder) int { return int(e.Player.PlayedMS(1)) }
	return endpointtest.Talk{
		Greet: func(c *websocket.Conn) {
			_, _, _ = c.Read(context.Background())
			_ = c.Write(context.Background(), websocket.MessageText,
				[]byte(`{"type":"session.update","session":`+session+`}`))
			_, _, _ = c.Read(context.Background())
		},
		Frame: func(pcm []int16) []byte {
			b, _ := json.Marshal(map[string]any{"type": "input_audio_buffer.append",
				"audio": sound.up(pcm)})
			return b
		},
		Hear: func(at time.Duration, b []byte, e *endpointtest.Recorder, answer func([]byte)) {
			var m struct {
				Type   string
				ItemID string `json:"item_id"`
				Delta  json.RawMessage
			}
			_ = json.Unmarshal(b, &m)
			switch m.Type {
			case "response.output_audio.delta":
				e.Player.Advance(at)
				if item != m.ItemID {
					item, begin = m.ItemID, played(e)
				}
				var b []byte
				_ = json.Unmarshal(m.Delta, &b)
				e.Hear(at, audio.AppendBytes(nil, sound.down(b)))
			case "input_audio_buffer.speech_started":
				e.Player.Advance(at)
				if e.Player.Queued() > 0 && truncates {
					answer(fmt.Appendf(nil, `{"type":"conversation.item.truncate","item_id":%q,"content_index":0,"audio_end_ms":%d}`,
						item, played(e)-begin))
				}
				e.Clear(at)
			}
		},
	}
}

func endpoint() endpointtest.Plan {
	return endpointtest.Plan{Endpoint: func(l transport.Lines) (endpointtest.Endpoint,
		error) {
		return openai.New(openai.Config{Lines: l})
	}}
}

func TestCough(t *testing.T) {
	for _, truncates := range []bool{true, false} {
		t.Run(fmt.Sprint("truncates ", truncates), func(t *testing.T) {
			endpointtest.InBubble(t, endpoint(), func(w *endpointtest.World) { talk(truncates).Cough(t, w) })
		})
	}
}

func TestBargeIn(t *testing.T) {
	endpointtest.InBubble(t, endpoint(), func(w *endpointtest.World) { talk(true).BargeIn(t, w) })
}

// TestG711 speaks and hears as a telephone does, and coughs: the reply is that of what was said,
// before the pause and behind it.
func TestG711(t *testing.T) {
	for kind, sound := range map[string]func() wire{
		"audio/pcmu": func() wire { return g711(audio.AppendMuLaw, audio.AppendMuLawSamples) },
		"audio/pcma": func() wire { return g711(audio.AppendALaw, audio.AppendALawSamples) },
	} {
		t.Run(kind, func(t *testing.T) {
			endpointtest.InBubble(t, endpoint(), func(w *endpointtest.World) {
				way := `{"format":{"type":"` + kind + `"}}`
				k := talkIn(`{"type":"realtime","audio":{"input":`+way+`,"output":`+way+`}}`, sound(), true)
				k.Over = "cough"
				heard := k.Run(t, w).Samples
				narrow := audiotest.Resample(audiotest.Resample(audiotest.Speech("long"), 8000), 24000).Samples
				for part, ref := range map[string][]int16{"before": narrow[12000:36000], "behind": narrow[72000:]} {
					_, corr := audiotest.Align(ref, heard)
					t.Logf("%s the cough it is like what was said by %.4f", part, corr)
					if corr < endpointtest.Least {
						t.Errorf("%s the cough it is like what was said by %.3f, want %.2f", part, corr, endpointtest.Least)
					}
				}
			})
		})
	}
}

// TestBadInput: each mistake is named. It ends the call where the client has lost its way, and costs
// what was wrong alone everywhere else.
func TestBadInput(t *testing.T) {
	const (
		setup  = `{"type":"session.update","session":{"type":"realtime","instructions":"Be brief."}}`
		begin  = `{"type":"response.create"}`
		append = `{"type":"input_audio_buffer.append","audio":"AAA="}`
	)
	update := func(session string) string { return `{"type":"session.update","session":` + session + `}` }
	endpointtest.Judge(t, endpoint, []endpointtest.Mistake{
		{"nothing", nil, 1008, "hello_timeout"},
		{"no JSON", []string{`{"type":`}, 1007, "not valid"},
		{"no object", []string{setup, begin, `7`}, 1007, "not valid"},
		{"bad base64", []string{setup, `{"type":"input_audio_buffer.append","audio":"*"}`}, 1007, "base64"},
		{"half a sample", []string{setup, `{"type":"input_audio_buffer.append","audio":"AA=="}`}, 1007, "pairs of bytes"},
		{"a huge session", []string{update(`{"instructions":"` + strings.Repeat("x", 1<<20) + `"}`)}, 1009, "longer than"},
		{"a huge message", []string{setup, begin, `{"type":"` + strings.Repeat("x", 1<<20) + `"}`}, 1009, "longer than"},
		{"a deep message", []string{strings.Repeat("[", 20000) + strings.Repeat("]", 20000)}, 1007, "not valid"},
		{"an answer to nothing", []string{setup, `{"type":"response.cancel"}`}, 0, "no active response"},
		{"audio before the session", []string{append, setup}, 0, "session.instructions"},
		{"a commit of nothing", []string{setup, `{"type":"input_audio_buffer.commit"}`}, 0, `"error"`},
		{"sessions of both spellings", []string{update(`{"turn_detection":null,"audio":{"input":{"turn_detection":` +
			`{"type":"magic"}}}}`), begin}, 0, "session.audio.input.turn_detection"},
		{"a session too late", []string{setup, begin, update(`{"model":"other"}`)}, 0, "session.model"},
		{"no session", []string{update(`7`), begin}, 0, `"session"`},
		{"a result of no call", []string{setup, `{"type":"conversation.item.create","item":{"type":"function_call_output",` +
			`"call_id":"c","output":"1"}}`}, 0, `"error"`},
		{"a picture", []string{setup, `{"type":"conversation.item.create","item":{"type":"message","role":"user",` +
			`"content":[{"type":"input_image"}]}}`}, 0, "item.content"},
		{"an item that is not there", []string{setup, `{"type":"conversation.item.retrieve","item_id":"x"}`}, 0,
			"item_retrieve_invalid_item_id"},
		{"another event", []string{setup, `{"type":"vibe.check"}`}, 0, "no event of a client"},
	})
}

package live

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/voicegw/voicegw/audio"
)

// decodeAll decodes one wire message into all its parts.
func decodeAll(data []byte) []ServerMessage {
	var d decoder
	m := new(ServerMessage)
	d.decode(data, m)
	out := []ServerMessage{*m}
	for m = new(ServerMessage); d.pop(m); m = new(ServerMessage) {
		out = append(out, *m)
	}
	return out
}

// wireAudio is an audio message as the model sends it.
func wireAudio(pcm []int16) []byte {
	data := base64.StdEncoding.EncodeToString(audio.AppendBytes(nil, pcm))
	return []byte(`{"serverContent":{"modelTurn":{"role":"model","parts":[{"inlineData":{"mimeType":` +
		`"audio/pcm;rate=24000","data":"` + data + `"}}]}}}`)
}

func noise(n int) []int16 {
	rnd := rand.New(rand.NewPCG(1, 2))
	pcm := make([]int16, n)
	for i := range pcm {
		pcm[i] = int16(rnd.Uint32())
	}
	return pcm
}

// TestDecode reads one message of each kind, and several in one.
func TestDecode(t *testing.T) {
	tests := []struct {
		name, data string
		want       []ServerMessage
	}{
		{"interrupted", `{"serverContent":{"interrupted":true}}`, []ServerMessage{{Kind: ServerInterrupted}}},
		{"tool cancel", `{"toolCallCancellation":{"ids":["a","b"]}}`,
			[]ServerMessage{{Kind: ServerToolCancel, IDs: []string{"a", "b"}}}},
		{"caller transcript", `{"serverContent":{"inputTranscription":{"text":"hello","finished":true,
			"languageCode":"en","words":[{"word":"hello","startOffset":"0.2s"}]}}}`,
			[]ServerMessage{{Kind: ServerCallerTranscript, Text: "hello", Final: true}}},
		{"model transcript", `{"serverContent":{"outputTranscription":{"text":"hi"}}}`,
			[]ServerMessage{{Kind: ServerModelTranscript, Text: "hi"}}},
		{"audio", string(wireAudio([]int16{1, -2, 3})),
			[]ServerMessage{{Kind: ServerAudio, RateHz: 24000, PCM: []int16{1, -2, 3}}}},
		{"audio at another rate", `{"serverContent":{"modelTurn":{"parts":[{"inlineData":{"data":"AQA=",
			"mimeType":"audio/pcm; rate=16000"}}]}}}`, []ServerMessage{{Kind: ServerAudio, RateHz: 16000, PCM: []int16{1}}}},
		{"tool call", `{"toolCall":{"functionCalls":[{"id":"f1","name":"f","args":{"x":1}},null,{"id":"f2","name":"g"}]}}`,
			[]ServerMessage{{Kind: ServerToolCall, Call: ToolCall{"f1", "f", []byte(`{"x":1}`)}},
				{Kind: ServerToolCall, Call: ToolCall{"f2", "g", []byte(`{}`)}}}},
		{"generation complete", `{"serverContent":{"generationComplete":true}}`,
			[]ServerMessage{{Kind: ServerGenerationComplete}}},
		{"turn complete", `{"serverContent":{"turnComplete":true,"turnCompleteReason":"RESPONSE_REJECTED",
			"interactionStatus":"IDLE","waitingForInput":true},"usageMetadata":{"promptTokenCount":3,"responseTokenCount":4,
			"thoughtsTokenCount":2,"totalTokenCount":9,"responseTokensDetails":[{"modality":"AUDIO","tokenCount":4}]}}`,
			[]ServerMessage{{Kind: ServerUsage, Usage: Usage{Prompt: 3, Response: 4, Thoughts: 2, Total: 9, ResponseAudio: 4}},
				{Kind: ServerTurnComplete, Reason: "RESPONSE_REJECTED"}}},
		{"usage alone", `{"usageMetadata":{"promptTokenCount":9,"cachedContentTokenCount":5,"responseTokenCount":-1,
			"promptTokensDetails":[null,{"modality":"TEXT","tokenCount":2},{"modality":"AUDIO","tokenCount":7}],
			"responseTokensDetails":[{"modality":"TEXT","tokenCount":-4}]}}`,
			[]ServerMessage{{Kind: ServerUsage, Usage: Usage{Prompt: 9, Cached: 5, PromptText: 2, PromptAudio: 7}}}},
		{"resumption", `{"sessionResumptionUpdate":{"newHandle":"h1","resumable":true,
			"lastConsumedClientMessageIndex":"12"}}`, []ServerMessage{{Kind: ServerResumption, Handle: "h1", Resumable: true}}},
		{"not resumable", `{"sessionResumptionUpdate":{}}`, []ServerMessage{{Kind: ServerResumption}}},
		{"go away", `{"goAway":{"timeLeft":"9.5s"}}`,
			[]ServerMessage{{Kind: ServerGoAway, TimeLeft: 9500 * time.Millisecond}}},
		{"error", `{"error":{"code":400,"message":"x y","status":"INVALID_ARGUMENT"}}`,
			[]ServerMessage{{Kind: ServerMalformed, Text: "error 400 INVALID_ARGUMENT: x y"}}},
		{"unknown", `{"b":1,"a":{}}`, []ServerMessage{{Kind: ServerUnknown, Text: "a,b"}}},
		{"known but of no use", `{"serverContent":{"modelTurn":{"parts":[{"text":"..","thought":true}]}}}`,
			[]ServerMessage{{Kind: ServerUnknown, Text: "serverContent"}}},
		{"setup complete again", `{"setupComplete":{}}`, []ServerMessage{{Kind: ServerUnknown, Text: "setupComplete"}}},
		{"empty transcript", `{"serverContent":{"inputTranscription":{}}}`,
			[]ServerMessage{{Kind: ServerUnknown, Text: "serverContent"}}},
		{"all in one", `{"goAway":{"timeLeft":"1s"},"sessionResumptionUpdate":{"newHandle":"h"},"usageMetadata":{},
			"toolCall":{"functionCalls":[{"id":"f"}]},"toolCallCancellation":{"ids":["c"]},"serverContent":{"turnComplete":true,
			"generationComplete":true,"modelTurn":{"parts":[{"inlineData":{"data":"AQA="}},{"inlineData":{"data":"AgA=",
			"mimeType":"audio/pcm"}},{"text":"x"},{"inlineData":{"data":"AwA=","mimeType":"audio/pcm"}}]},
			"outputTranscription":{"text":"o"},"inputTranscription":{"text":"i"},"interrupted":true}}`, []ServerMessage{
			{Kind: ServerInterrupted}, {Kind: ServerToolCancel, IDs: []string{"c"}},
			{Kind: ServerCallerTranscript, Text: "i"}, {Kind: ServerModelTranscript, Text: "o"},
			{Kind: ServerMalformed, Text: `audio: MIME type ""; want audio/pcm`},
			{Kind: ServerAudio, RateHz: 24000, PCM: []int16{2}}, {Kind: ServerAudio, RateHz: 24000, PCM: []int16{3}},
			{Kind: ServerToolCall, Call: ToolCall{"f", "", []byte(`{}`)}}, {Kind: ServerGenerationComplete},
			{Kind: ServerUsage}, {Kind: ServerTurnComplete}, {Kind: ServerResumption, Handle: "h"},
			{Kind: ServerGoAway, TimeLeft: time.Second}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := decodeAll([]byte(test.data))
			if !equalMessages(got, test.want) {
				t.Errorf("decoded\n got %+v\nwant %+v", got, test.want)
			}
		})
	}
}

// equalMessages takes nil and empty PCM for the same.
func equalMessages(a, b []ServerMessage) bool {
	return slices.EqualFunc(a, b, func(x, y ServerMessage) bool {
		pcm := slices.Equal(x.PCM, y.PCM)
		x.PCM, y.PCM = nil, nil
		return pcm && reflect.DeepEqual(x, y)
	})
}

// edgeCases are messages about which Go's json package and protocol buffers' rules must not
// surprise anybody.
func edgeCases() map[string]ServerKind {
	blob := func(mime, data string) string {
		return `{"serverContent":{"modelTurn":{"parts":[{"inlineData":{"mimeType":"` + mime + `","data":"` + data + `"}}]}}}`
	}
	parts := func(parts string) string { return `{"serverContent":{"modelTurn":{"parts":[` + parts + `]}}}` }
	return map[string]ServerKind{
		`{"sessionResumptionUpdate":{"lastConsumedClientMessageIndex":12}}`: ServerMalformed, // a number

		`{"goAway":{"timeLeft":9.5}}`:               ServerMalformed, // a number
		`{"goAway":{"timeLeft":"soon"}}`:            ServerMalformed,
		`{"goAway":{"timeLeft":""}}`:                ServerGoAway,
		`{"goAway":{"timeLeft":"1h"}}`:              ServerGoAway,
		`{"goAway":{"timeLeft":"9.500000000s"}}`:    ServerGoAway,
		`{"goAway":null}`:                           ServerUnknown,
		`{"GOAWAY":{}}`:                             ServerGoAway,    // any case
		`{"goAway":{}} x`:                           ServerMalformed, // trailing data
		`{"serverContent":{"turnComplete":"true"}}`: ServerMalformed,
		`[]`:     ServerMalformed,
		`{`:      ServerMalformed,
		``:       ServerMalformed,
		`"text"`: ServerMalformed,
		`null`:   ServerUnknown,
		`{}`:     ServerUnknown,

		blob("audio/pcm", `_-8=`):         ServerMalformed, // URL-safe
		blob("audio/pcm", `AQ`):           ServerMalformed, // unpadded
		blob("audio/pcm", `AQ==`):         ServerMalformed, // half a sample
		blob("audio/pcm", "AQ\n\n\n\nA="): ServerMalformed, // line breaks in a string are no JSON
		blob("audio/pcm", `AQ\nA=`):       ServerAudio,     // but base64 skips an escaped one
		blob("audio/pcm", `AQA=`):         ServerAudio,
		blob("audio/pcm", ``):             ServerUnknown,
		blob("image/png", `AQA=`):         ServerMalformed,
		blob("audio/pcm;rate=1", `AQA=`):  ServerMalformed,

		parts(`null`):                                              ServerUnknown, // a nil part
		parts(`null,{"inlineData":null},{}`):                       ServerUnknown,
		`{"toolCall":{"functionCalls":[null]}}`:                    ServerUnknown,
		`{"serverContent":{"modelTurn":null,"interrupted":false}}`: ServerUnknown,
	}
}

func TestDecodeEdgeCases(t *testing.T) {
	for data, want := range edgeCases() {
		if got := decodeAll([]byte(data)); len(got) != 1 || got[0].Kind != want {
			t.Errorf("%s\n got %+v\nwant one %v", data, got, want)
		}
	}
}

// TestMalformedQuotesNothing keeps what a caller said out of logs.
func TestMalformedQuotesNothing(t *testing.T) {
	for _, data := range []string{
		`{"serverContent":{"inputTranscription":{"text":"my secret`,
		`{"serverContent":{"inputTranscription":{"text":["my secret"]}}}`,
		`{"goAway":{"timeLeft":"my secret"}}`,
		`my secret`,
	} {
		if got := decodeAll([]byte(data))[0]; got.Kind != ServerMalformed || strings.Contains(got.Text, "secret") {
			t.Errorf("%s: %v %q", data, got.Kind, got.Text)
		}
	}
}

// fastForms are spellings of one audio message that the fast path takes.
func fastForms() []string {
	const blob = `"mimeType":"audio/pcm;rate=24000","data":"AQACAAMA"`
	const turned = `"data":"AQACAAMA","mimeType":"audio/pcm;rate=24000"`
	return []string{
		`{"serverContent":{"modelTurn":{"role":"model","parts":[{"inlineData":{` + blob + `}}]}}}`,
		`{"serverContent":{"modelTurn":{"parts":[{"inlineData":{` + blob + `}}],"role":"model"}}}`,
		`{"serverContent":{"modelTurn":{"parts":[{"inlineData":{` + turned + `}}]}}}`,
		"{\n  \"serverContent\": {\n    \"modelTurn\": {\n      \"parts\": [\n        {\n          \"inlineData\": {" +
			strings.ReplaceAll(blob, `":"`, `": "`) + "\n          }\n        }\n      ]\n    }\n  }\n}\n",
	}
}

// TestFastPath takes the common forms, and leaves everything else alone.
func TestFastPath(t *testing.T) {
	for _, data := range fastForms() {
		var d decoder
		var m ServerMessage
		if !d.fastAudio([]byte(data), &m) || !slices.Equal(m.PCM, []int16{1, 2, 3}) || m.RateHz != 24000 {
			t.Errorf("%s: not taken, or wrong: %+v", data, m)
		}
		for cut := range len(strings.TrimSpace(data)) {
			if d.fastAudio([]byte(data[:cut]), &m) {
				t.Errorf("%s: taken although cut", data[:cut])
			}
		}
		if d.fastAudio([]byte(data+"x"), &m) || d.fastAudio([]byte(`{"a":1,`+data[1:]), &m) {
			t.Errorf("%s: taken although there is more", data)
		}
	}
}

// FuzzDecode holds the fast path to what the slow one says, and both to the order of the kinds.
func FuzzDecode(f *testing.F) {
	for data := range edgeCases() {
		f.Add([]byte(data))
	}
	for _, data := range fastForms() {
		f.Add([]byte(data))
	}
	f.Add(wireAudio(noise(480)))
	f.Fuzz(func(t *testing.T, data []byte) {
		d := decoder{queue: appendSlow(nil, data)}
		var slow []ServerMessage
		for m := new(ServerMessage); d.pop(m); m = new(ServerMessage) {
			slow = append(slow, *m)
		}
		if len(slow) == 0 {
			t.Fatal("no message at all")
		}
		last := ServerKind(0)
		for _, m := range slow {
			if m.Kind != ServerMalformed && m.Kind < last {
				t.Fatalf("%v after %v", m.Kind, last)
			}
			last = max(last, m.Kind%ServerMalformed)
		}
		var m ServerMessage
		if d.fastAudio(data, &m) && !equalMessages([]ServerMessage{m}, slow) {
			t.Fatalf("fast %+v\nslow %+v", m, slow)
		}
	})
}

// TestReusedMemory decodes into one message again and again: PCM must be right each time, and other
// fields gone.
func TestReusedMemory(t *testing.T) {
	var d decoder
	var m ServerMessage
	for _, n := range []int{480, 5760, 1, 960} {
		pcm := noise(n)
		d.decode(wireAudio(pcm), &m)
		if !slices.Equal(m.PCM, pcm) {
			t.Errorf("%d samples: wrong", n)
		}
		d.decode([]byte(`{"serverContent":{"turnComplete":true,"turnCompleteReason":"R"}}`), &m)
		if len(m.PCM) != 0 || m.RateHz != 0 || m.Reason != "R" {
			t.Errorf("after turn complete: %+v", m)
		}
		d.decode([]byte(`{"serverContent":{"modelTurn":{"parts":[{"text":"x"},{"inlineData":{"mimeType":"audio/pcm",`+
			`"data":"AQA="}}]}}}`), &m)
		if !slices.Equal(m.PCM, []int16{1}) || m.Reason != "" {
			t.Errorf("slow audio: %+v", m)
		}
	}
}

// TestFastPathAllocates pins its promise: nothing.
func TestFastPathAllocates(t *testing.T) {
	for _, ms := range []int{40, 100, 240} {
		var d decoder
		var m ServerMessage
		data := wireAudio(noise(24 * ms))
		if n := testing.AllocsPerRun(100, func() { d.decode(data, &m) }); n != 0 || m.Kind != ServerAudio {
			t.Errorf("%d ms: %v allocations, want 0", ms, n)
		}
	}
}

// BenchmarkDecode reads audio by the fast path and by the slow one.
func BenchmarkDecode(b *testing.B) {
	for _, ms := range []int{40, 100} {
		data := wireAudio(noise(24 * ms))
		b.Run(fmt.Sprintf("fast/%dms", ms), func(b *testing.B) {
			var d decoder
			var m ServerMessage
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				d.decode(data, &m)
			}
		})
		b.Run(fmt.Sprintf("slow/%dms", ms), func(b *testing.B) {
			var d decoder
			var m ServerMessage
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				d.queue, d.next = appendSlow(d.queue[:0], data), 0
				d.pop(&m)
			}
		})
	}
}

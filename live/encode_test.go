package live

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"google.golang.org/genai"

	"github.com/voicegw/voicegw/audio"
)

// TestEncode writes one message of each kind.
func TestEncode(t *testing.T) {
	tests := []struct {
		m    ClientMessage
		want string
	}{
		{ClientMessage{Kind: ClientText, Text: `say "hi" <now>`}, `{"realtimeInput":{"text":"say \"hi\" \u003cnow\u003e"}}`},
		{ClientMessage{Kind: ClientActivityStart}, `{"realtimeInput":{"activityStart":{}}}`},
		{ClientMessage{Kind: ClientActivityEnd}, `{"realtimeInput":{"activityEnd":{}}}`},
		{ClientMessage{Kind: ClientStreamEnd}, `{"realtimeInput":{"audioStreamEnd":true}}`},
		{ClientMessage{Kind: ClientContent}, `{"clientContent":{}}`},
		{ClientMessage{Kind: ClientContent, Turns: []Turn{{"user", "hi"}, {"model", "ho"}}, TurnComplete: true},
			`{"clientContent":{"turns":[{"parts":[{"text":"hi"}],"role":"user"},{"parts":[{"text":"ho"}],"role":"model"}],` +
				`"turnComplete":true}}`},
		{ClientMessage{Kind: ClientToolReply, Replies: []ToolReply{{ID: "f1", Name: "f", Output: json.RawMessage(`[1, 2]`)}}},
			`{"toolResponse":{"functionResponses":[{"id":"f1","name":"f","response":{"output":[1,2]}}]}}`},
		{ClientMessage{Kind: ClientToolReply, Replies: []ToolReply{{ID: "f1", Name: "f", Error: "no such city"}}},
			`{"toolResponse":{"functionResponses":[{"id":"f1","name":"f","response":{"error":"no such city"}}]}}`},
		{ClientMessage{Kind: ClientToolReply, Replies: []ToolReply{{ID: "f1", Name: "f", Error: "x"},
			{ID: "f2", Name: "g", Output: json.RawMessage(`{}`), Scheduling: ScheduleWhenIdle}}},
			`{"toolResponse":{"functionResponses":[{"id":"f1","name":"f","response":{"error":"x"}},` +
				`{"scheduling":"WHEN_IDLE","id":"f2","name":"g","response":{"output":{}}}]}}`},
	}
	for _, test := range tests {
		var e encoder
		got, err := e.message(&test.m)
		if err != nil || string(got) != test.want {
			t.Errorf("%v:\n got %s, %v\nwant %s", test.m.Kind, got, err, test.want)
		}
	}
}

// TestEncodeAudio compares the encoder made by hand with json.Marshal, for every remainder of
// base64.
func TestEncodeAudio(t *testing.T) {
	var e encoder
	for n := range 10 {
		pcm := noise(n)
		blob := &genai.Blob{Data: audio.AppendBytes(nil, pcm), MIMEType: "audio/pcm;rate=16000"}
		var want realtimeInput
		want.RealtimeInput.Audio = blob
		data, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		if got := e.audio(pcm); n > 0 && string(got) != string(data) {
			t.Errorf("%d samples:\n got %s\nwant %s", n, got, data)
		}
	}
}

// check is what a connection with this setup makes of m.
func check(m ClientMessage, s Setup) error {
	t := s.terms()
	return m.check(&t)
}

// scheduled is a reply of a tool, to be spoken about at a time.
func scheduled(tool string, when Scheduling) ClientMessage {
	return ClientMessage{Kind: ClientToolReply, Replies: []ToolReply{{ID: "f", Name: tool, Error: "x", Scheduling: when}}}
}

// TestRefusedMessages would end the conversation, or make no sense; they are not sent.
func TestRefusedMessages(t *testing.T) {
	tools := []Tool{{Name: "wait"}, {Name: "work", NonBlocking: true}}
	long := strings.Repeat("x", textBytesMax+1)
	tests := []struct {
		m     ClientMessage
		setup Setup
		words string
	}{
		{ClientMessage{}, Setup{}, "no Kind"},
		{ClientMessage{Kind: 99}, Setup{}, "no Kind"},
		{ClientMessage{Kind: ClientText}, Setup{}, "empty"},
		{ClientMessage{Kind: ClientText, Text: long}, Setup{},
			"more than 65536"},
		{ClientMessage{Kind: ClientText, Text: "\xff"}, Setup{}, "UTF-8"},
		{ClientMessage{Kind: ClientActivityStart}, Setup{Automatic: true}, "Automatic false"},
		{ClientMessage{Kind: ClientActivityEnd}, Setup{Automatic: true}, "Automatic false"},
		{ClientMessage{Kind: ClientStreamEnd}, Setup{}, "Automatic true"},
		{ClientMessage{Kind: ClientContent, Turns: []Turn{{"caller", "x"}}}, Setup{}, `"caller"; want user or model`},
		{ClientMessage{Kind: ClientContent, Turns: []Turn{{"user", "\xff"}}}, Setup{}, "UTF-8"},
		{ClientMessage{Kind: ClientContent, Turns: []Turn{{"user", long[:40000]}, {"user", long[:40000]}}}, Setup{},
			"more than 65536"},
		{ClientMessage{Kind: ClientToolReply}, Setup{}, "1 to 128"},
		{ClientMessage{Kind: ClientToolReply, Replies: make([]ToolReply, 129)}, Setup{}, "1 to 128"},
		{ClientMessage{Kind: ClientToolReply, Replies: make([]ToolReply, 1)}, Setup{}, "no ID"},
		{ClientMessage{Kind: ClientToolReply, Replies: []ToolReply{{ID: "f"}}}, Setup{}, "exactly one"},
		{ClientMessage{Kind: ClientToolReply, Replies: []ToolReply{{ID: "f", Output: []byte("1"), Error: "x"}}}, Setup{},
			"exactly one"},
		{ClientMessage{Kind: ClientToolReply, Replies: []ToolReply{{ID: "f", Output: []byte("{")}}}, Setup{}, "not JSON"},
		{ClientMessage{Kind: ClientToolReply, Replies: []ToolReply{{ID: "f", Output: []byte(long)}}}, Setup{},
			"more than 65536"},
		{scheduled("wait", 9), Setup{Tools: tools}, "unknown Scheduling(9)"},
		{scheduled("wait", ScheduleSilent), Setup{Tools: tools}, "needs a non-blocking tool"},
		{scheduled("nobody", ScheduleSilent), Setup{Tools: tools}, "needs a non-blocking tool"},
		{scheduled("work", ScheduleWhenIdle), Setup{Tools: tools, Model: "gemini-3.8-live-extended-thinking"},
			"supports scheduling"},
		{ClientMessage{Kind: ClientContent}, Setup{Model: "models/gemini-3.1-flash-live-preview"}, "only in the setup"},
	}
	for _, test := range tests {
		if err := check(test.m, test.setup); err == nil || !strings.Contains(err.Error(), test.words) {
			t.Errorf("%v: error %v; want %q", test.m.Kind, err, test.words)
		}
	}
	for _, m := range []ClientMessage{
		{Kind: ClientAudio}, {Kind: ClientText, Text: "x"}, {Kind: ClientContent}, {Kind: ClientActivityStart},
		{Kind: ClientToolReply, Replies: []ToolReply{{ID: "f", Error: "x"}, {ID: "g", Error: "x"}}},
		scheduled("work", ScheduleInterrupt), scheduled("wait", ScheduleUnset),
	} {
		if err := check(m, Setup{Tools: tools}); err != nil {
			t.Errorf("%v: %v", m.Kind, err)
		}
	}
	if err := check(ClientMessage{Kind: ClientStreamEnd}, Setup{Automatic: true}); err != nil {
		t.Error(err)
	}
}

// TestKindNames has a name for each kind and says so for what is none.
func TestKindNames(t *testing.T) {
	var names []string
	for k := ClientAudio; k <= ClientToolReply; k++ {
		names = append(names, k.String())
	}
	for k := ServerInterrupted; k <= ServerUnknown; k++ {
		names = append(names, "s:"+k.String())
	}
	for c := ClassPayload; c <= ClassHandle; c++ {
		names = append(names, "c:"+c.String())
	}
	slices.Sort(names)
	if n := len(slices.Compact(slices.Clone(names))); n != 7+14+8 {
		t.Errorf("%d different names: %v", n, names)
	}
	if got := fmt.Sprint(ClientKind(0), ServerKind(99), Class(99)); got != "ClientKind(0) ServerKind(99) Class(99)" {
		t.Error(got)
	}
}

// TestEncodeAllocates pins the promise for audio: nothing.
func TestEncodeAllocates(t *testing.T) {
	var e encoder
	pcm := noise(320)
	if n := testing.AllocsPerRun(100, func() { e.audio(pcm) }); n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}

// BenchmarkEncode writes 20 ms of audio.
func BenchmarkEncode(b *testing.B) {
	var e encoder
	pcm := noise(320)
	b.SetBytes(int64(base64.StdEncoding.EncodedLen(640)))
	b.ReportAllocs()
	for b.Loop() {
		e.audio(pcm)
	}
}

package gemini

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/voicegw/voicegw/internal/clienttest"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/wsconn"
	"github.com/voicegw/voicegw/transport/wsendpoint"
)

// TestPython reads what google-genai, the client for Python, sends: recorded from its versions 1.16
// (JSON in lowerCamelCase, media in snake_case) and 2.19 (the other way round; 1.75 sends the same),
// for the Gemini API and for Vertex AI. All of them put base64 into the URL-safe alphabet.
func TestPython(t *testing.T) {
	all := []string{"audio 2", "audio 2", "audio 2", "told realtimeInput.mediaChunks", "text Hey", "talk true",
		"talk false", "mute true", "context assistant Hi.", "text Hello.", "text Hello again.",
		`result c1 {"wind_speed": 3} false`, "told toolResponse.functionResponses.scheduling", "result c2 no such city true",
		"text Look.", "told clientContent.turns.parts.inlineData"}
	without := func(events ...string) []string {
		return slices.DeleteFunc(slices.Clone(all), func(e string) bool { return slices.Contains(events, e) })
	}
	for name, want := range map[string][]string{
		"python-genai-1.16.0": without("told toolResponse.functionResponses.scheduling", "text Look.",
			"told clientContent.turns.parts.inlineData"),
		"python-genai-2.19.0":        all,
		"python-genai-2.19.0-vertex": without("mute true"),
	} {
		t.Run(name, func(t *testing.T) {
			lines, half, silence := recorded(t, name), float32(0.5), int32(100)
			c, h, err := greet(t, lines[0])
			if err != nil {
				t.Fatal(err)
			}
			hello := transport.Hello{Version: 1, InputRateHz: 16000, OutputRateHz: 24000, Language: "de-DE", HalfDuplex: true,
				Detection: transport.DetectionPush, Session: transport.Session{
					Model: "gemini-live-2.5-flash-preview", Voice: "Puck", SystemInstruction: "Be brief.", Temperature: &half,
					Tools: []transport.Tool{{Name: "weather", Parameters: json.RawMessage(`{"properties":{"the_city":{"anyOf":` +
						`[{"minLength":1,"type":"string"}],"type":"string"}},"required":["the_city"],"type":"object"}`)}},
					Activity: transport.Activity{SilenceMS: &silence}}, Resume: transport.Resume{Able: true}}
			if !reflect.DeepEqual(h, hello) {
				t.Errorf("hello = %+v, want %+v", h, hello)
			}
			if !c.callerTranscripts || !c.modelTranscripts || !c.resumption {
				t.Error("the client did not ask for transcripts, or for resumption")
			}
			if got, err := read(t, c, lines[1:]...); err != nil || !slices.Equal(got, want) {
				t.Errorf("%q, %v, want %q", got, err, want)
			}
			clienttest.Shows(t, name, clienttest.Speech, clienttest.Text, clienttest.Tools)
		})
	}
}

// recorded returns the messages of a recorded client.
func recorded(t testing.TB, name string) []string {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name + ".jsonl")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(b)), "\n")
}

// TestPythonFramesAllocateNothing: all that these clients say in a call goes the fast way.
func TestPythonFramesAllocateNothing(t *testing.T) {
	c, _, _ := greet(t, setupWith(""))
	in, out := wsendpoint.NewInbox(wsendpoint.InputRateHz), &wsendpoint.Outbox{}
	for _, line := range recorded(t, "python-genai-2.19.0-vertex")[1:4] {
		m, ev := wsconn.Message{Data: []byte(line)}, transport.Event{}
		_ = c.Read(m, in, out)
		if in.Next(&ev); ev.Kind != transport.EventAudio || !slices.Equal(ev.PCM, []int16{-5, 447}) {
			t.Fatalf("%s: %v %v", line, ev.Kind, ev.PCM)
		}
		in.Next(&ev)
		if n := testing.AllocsPerRun(200, func() { _ = c.Read(m, in, out); in.Next(&ev); in.Next(&ev) }); n != 0 {
			t.Errorf("%s: %v allocations, want 0", line, n)
		}
		if !bytes.Equal(m.Data, []byte(line)) {
			t.Errorf("the message was changed: %s", m.Data)
		}
	}
}

package main

import (
	"bytes"
	"net/http/httptest"
	"strings"
	"testing"

	"google.golang.org/genai"

	"github.com/voicegw/voicegw/live/sim"
)

// TestClientSession: a program for Gemini Live brings its instructions, voice and functions, and
// `serve` passes them to the model; what the operator does not allow is refused alone,
// by name.
func TestClientSession(t *testing.T) {
	t.Parallel()
	script, err := sim.ParseScenario("tools", `on text 1: call weather {"city":"Oslo"}`)
	if err != nil {
		t.Fatal(err)
	}
	model, err := sim.New(sim.Config{Scenario: script})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(model)
	defer server.Close()
	s := startFullServe(t, []string{"VOICEGW_GREETING="}, "--endpoints", "gemini", "--model-base-url", server.URL,
		"--session-client-voices", "Puck,Kore")
	instruction := strings.Repeat("You are a weather service. ", 1500)
	config := func(voice string) *genai.LiveConnectConfig {
		return &genai.LiveConnectConfig{
			SystemInstruction: genai.NewContentFromText(instruction, genai.RoleUser),
			SpeechConfig: &genai.SpeechConfig{VoiceConfig: &genai.VoiceConfig{
				PrebuiltVoiceConfig: &genai.PrebuiltVoiceConfig{VoiceName: voice}}},
			Tools: []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{{Name: "weather",
				Description: "tells the weather", Parameters: &genai.Schema{Type: genai.TypeObject,
					Properties: map[string]*genai.Schema{"city": {Type: genai.TypeString}}}}}}},
		}
	}
	client, err := genai.NewClient(t.Context(), &genai.ClientConfig{APIKey: "none", Backend: genai.BackendGeminiAPI,
		HTTPOptions: genai.HTTPOptions{BaseURL: strings.Replace(s.url, "http", "ws", 1)}})
	if err != nil {
		t.Fatal(err)
	}
	session, err := client.Live.Connect(t.Context(), "gemini-live-anything", config("Puck"))
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	if err := session.SendRealtimeInput(genai.LiveRealtimeInput{Text: "What is the weather in Oslo?"}); err != nil {
		t.Fatal(err)
	}
	for called := false; ; {
		m, err := session.Receive()
		if err != nil {
			t.Fatal(err)
		}
		if m.ToolCall != nil {
			called = true
			call := m.ToolCall.FunctionCalls[0]
			if call.Name != "weather" || call.Args["city"] != "Oslo" {
				t.Errorf("the client is asked %+v", call)
			}
			if err := session.SendToolResponse(genai.LiveToolResponseInput{FunctionResponses: []*genai.FunctionResponse{{
				ID: call.ID, Name: call.Name, Response: map[string]any{"output": "rain"}}}}); err != nil {
				t.Fatal(err)
			}
		}
		if called && m.ServerContent != nil && m.ServerContent.ModelTurn != nil {
			break
		}
	}
	c := model.Connections()[0]
	if len(c.ToolReplies) != 1 || !strings.Contains(string(c.ToolReplies[0].Response), "rain") {
		t.Errorf("the model was told %+v", c.ToolReplies)
	}
	for _, words := range []string{`"Puck"`, instruction, `"weather"`, `"object"`} {
		if !bytes.Contains(c.Setup, []byte(words)) {
			t.Errorf("the setup lacks %.40q", words)
		}
	}
	other, err := client.Live.Connect(t.Context(), "gemini-live-anything", config("Zephyr"))
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if _, err := other.Receive(); err != nil {
		t.Error(err)
	}
	s.stderr.waitFor(t, `session: voice is \"Zephyr\"; it must be absent or one of Puck, Kore`)
}

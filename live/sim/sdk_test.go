package sim_test

import (
	"context"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"google.golang.org/genai"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/audio/audiotest"
	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/live/sim"
)

// sdkClient is Google's own client, on its way to server.
func sdkClient(t *testing.T, server *sim.Server, key string) *genai.Client {
	t.Helper()
	client, err := genai.NewClient(context.Background(), &genai.ClientConfig{
		APIKey:      key,
		Backend:     genai.BackendGeminiAPI,
		HTTPOptions: genai.HTTPOptions{BaseURL: server.URL()},
	})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// sdkTurn receives until turn complete.
func sdkTurn(t *testing.T, session *genai.Session) (pcm []int16, text string, seen []string) {
	t.Helper()
	for {
		m, err := session.Receive()
		if err != nil {
			t.Fatal(err)
		}
		if m.SessionResumptionUpdate != nil {
			seen = append(seen, "resumption "+m.SessionResumptionUpdate.NewHandle)
		}
		c := m.ServerContent
		if c == nil {
			continue
		}
		if c.ModelTurn != nil {
			pcm = audio.AppendSamples(pcm, c.ModelTurn.Parts[0].InlineData.Data)
		}
		if c.OutputTranscription != nil {
			text += c.OutputTranscription.Text
		}
		if c.InputTranscription != nil {
			seen = append(seen, "heard "+c.InputTranscription.Text)
		}
		if c.GenerationComplete {
			seen = append(seen, "generation complete")
		}
		if c.TurnComplete {
			return pcm, text, append(seen, "turn complete "+string(m.UsageMetadata.ResponseTokensDetails[0].Modality))
		}
	}
}

// TestGooglesClient lets Google's own client have a conversation: setup, text, a turn of speech,
// the end. Over both kinds of connection.
func TestGooglesClient(t *testing.T) {
	for seed := range uint64(2) {
		greeting := speech("hello")[:7200]
		server := startServer(t, sim.Config{Seed: seed, APIKey: "right", Greeting: greeting, GreetingText: "Hello."})
		model := "gemini-live-2.5-flash-preview"
		session, err := sdkClient(t, server, "right").Live.Connect(context.Background(), model, &genai.LiveConnectConfig{
			ResponseModalities:       []genai.Modality{genai.ModalityAudio},
			InputAudioTranscription:  &genai.AudioTranscriptionConfig{},
			OutputAudioTranscription: &genai.AudioTranscriptionConfig{},
			SessionResumption:        &genai.SessionResumptionConfig{},
			RealtimeInputConfig: &genai.RealtimeInputConfig{
				AutomaticActivityDetection: &genai.AutomaticActivityDetection{Disabled: true},
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		if m, err := session.Receive(); err != nil || m.SetupComplete == nil || m.SetupComplete.SessionID != "sim-1" {
			t.Fatalf("first message %+v, %v; want setupComplete", m, err)
		}
		if err := session.SendRealtimeInput(genai.LiveRealtimeInput{Text: "Greet the caller."}); err != nil {
			t.Fatal(err)
		}
		pcm, text, seen := sdkTurn(t, session)
		if len(pcm) != len(greeting) || text != "Hello." || strings.Join(seen, ", ") !=
			"resumption , generation complete, turn complete AUDIO" {
			t.Errorf("greeting: %d of %d samples, %q, %q", len(pcm), len(greeting), text, seen)
		}
		said := speech("over")[:16000]
		sdkSpeak(t, session, said)
		pcm, _, seen = sdkTurn(t, session)
		if _, corr := audiotest.Align(parroted(said), pcm); corr < 0.999 {
			t.Errorf("reply: correlation %.3f, %q", corr, seen)
		}
		if err := session.Close(); err != nil {
			t.Error(err)
		}
		_ = server.Close()
		if c := server.Connections()[0]; c.Samples != int64(len(said)) || c.Open || c.Binary != (seed == 1) {
			t.Errorf("the server remembers %+v", c)
		}
	}
}

func sdkSpeak(t *testing.T, session *genai.Session, pcm []int16) {
	t.Helper()
	blob := &genai.Blob{Data: audio.AppendBytes(nil, pcm), MIMEType: "audio/pcm;rate=16000"}
	for _, input := range []genai.LiveRealtimeInput{
		{ActivityStart: &genai.ActivityStart{}}, {Audio: blob}, {ActivityEnd: &genai.ActivityEnd{}},
	} {
		if err := session.SendRealtimeInput(input); err != nil {
			t.Fatal(err)
		}
	}
}

// TestGooglesClientIsRefused shows Google's own client the wrong key.
func TestGooglesClientIsRefused(t *testing.T) {
	server := startServer(t, sim.Config{APIKey: "right"})
	_, err := sdkClient(t, server, "wrong").Live.Connect(context.Background(), "gemini-x", nil)
	if err == nil || !strings.Contains(err.Error(), "1007") || !strings.Contains(err.Error(), "API key not valid") {
		t.Errorf("error %v", err)
	}
}

// TestSetupEqualsGoogles compares what both clients send for the same wishes, as JSON values.
func TestSetupEqualsGoogles(t *testing.T) {
	temperature, tokens := float32(0.5), int32(100)
	schema := map[string]any{"type": "object", "properties": map[string]any{"city": map[string]any{"type": "string"}}}
	schemaJSON, err := json.Marshal(schema)
	if err != nil {
		t.Fatal(err)
	}
	always := func(c *genai.LiveConnectConfig) *genai.LiveConnectConfig {
		c.ResponseModalities = []genai.Modality{genai.ModalityAudio}
		c.ContextWindowCompression = &genai.ContextWindowCompressionConfig{SlidingWindow: &genai.SlidingWindow{}}
		if c.SessionResumption == nil {
			c.SessionResumption = &genai.SessionResumptionConfig{}
		}
		return c
	}
	tests := []struct {
		name  string
		ours  live.Setup
		sdk   *genai.LiveConnectConfig
		model string
	}{
		{"least", live.Setup{Automatic: true, NoCallerTranscript: true, NoModelTranscript: true},
			always(&genai.LiveConnectConfig{}), live.DefaultModel},
		{"most", live.Setup{
			Model: "gemini-x", Voice: "Puck", Language: "de-DE", SystemInstruction: "Be brief.", Temperature: &temperature,
			MaxOutputTokens: &tokens, Tools: []live.Tool{{Name: "weather", Description: "of a city", Parameters: schemaJSON},
				{Name: "now"}},
		}, always(&genai.LiveConnectConfig{
			SpeechConfig: &genai.SpeechConfig{LanguageCode: "de-DE", VoiceConfig: &genai.VoiceConfig{
				PrebuiltVoiceConfig: &genai.PrebuiltVoiceConfig{VoiceName: "Puck"}}},
			SystemInstruction: genai.NewContentFromText("Be brief.", genai.RoleUser),
			Temperature:       &temperature,
			MaxOutputTokens:   tokens,
			Tools: []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{
				{Name: "weather", Description: "of a city", ParametersJsonSchema: schema}, {Name: "now"}}}},
			RealtimeInputConfig: &genai.RealtimeInputConfig{
				AutomaticActivityDetection: &genai.AutomaticActivityDetection{Disabled: true}},
			InputAudioTranscription:  &genai.AudioTranscriptionConfig{},
			OutputAudioTranscription: &genai.AudioTranscriptionConfig{},
		}), "gemini-x"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			server := startServer(t, sim.Config{})
			conn, err := live.Wire{BaseURL: server.URL(), APIKey: "k"}.Dial(t.Context(), test.ours)
			if err != nil {
				t.Fatal(err)
			}
			_ = conn.Close(1000, "")
			session, err := sdkClient(t, server, "k").Live.Connect(t.Context(), test.model, test.sdk)
			if err != nil {
				t.Fatal(err)
			}
			_ = session.Close()
			seen := server.Connections()
			if ours, sdk := jsonValue(t, seen[0].Setup), jsonValue(t, seen[1].Setup); !reflect.DeepEqual(ours, sdk) {
				t.Errorf("setup\nours %s\n sdk %s", seen[0].Setup, seen[1].Setup)
			}
			if seen[0].Path != seen[1].Path {
				t.Errorf("paths %s and %s", seen[0].Path, seen[1].Path)
			}
		})
	}
}

func jsonValue(t *testing.T, data []byte) (v any) {
	t.Helper()
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

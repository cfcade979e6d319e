package gemini_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"google.golang.org/genai"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/audio/audiotest"
	"github.com/voicegw/voicegw/internal/clienttest"
	"github.com/voicegw/voicegw/internal/endpointtest"
	"github.com/voicegw/voicegw/internal/npmtest"
)

// sdk connects Google's Go SDK.
func sdk(t *testing.T, w *endpointtest.World, cfg *genai.LiveConnectConfig) (*genai.Session, error) {
	t.Helper()
	c, err := genai.NewClient(context.Background(), &genai.ClientConfig{APIKey: "a key of nobody",
		HTTPOptions: genai.HTTPOptions{BaseURL: strings.Replace(w.URL, "http", "ws", 1)}, Backend: genai.BackendGeminiAPI})
	if err != nil {
		t.Fatal(err)
	}
	return c.Live.Connect(context.Background(), "gemini-live-2.5-flash-preview", cfg)
}

// TestGoSDKHearsItsEcho talks with Google's Go SDK, told nothing but a base URL.
func TestGoSDKHearsItsEcho(t *testing.T) {
	t.Parallel()
	w := open(t, endpointtest.Plan{})
	s, err := sdk(t, w, &genai.LiveConnectConfig{ResponseModalities: []genai.Modality{genai.ModalityAudio}})
	if err != nil {
		t.Fatal(err)
	}
	rec, start, complete := endpointtest.NewRecorder(24000), time.Now(), make(chan error, 1)
	go func() {
		for {
			m, err := s.Receive()
			if err != nil {
				complete <- err
				return
			}
			c := m.ServerContent
			if c == nil {
				continue
			}
			if c.ModelTurn != nil {
				rec.Hear(time.Since(start), c.ModelTurn.Parts[0].InlineData.Data)
			}
			if c.TurnComplete {
				complete <- nil
				return
			}
		}
	}()
	stop := make(chan struct{})
	speaking := make(chan struct{})
	go func() {
		defer close(speaking)
		speak(s, stop)
	}()
	if err := <-complete; err != nil {
		t.Fatal(err)
	}
	close(stop)
	<-speaking
	_ = s.Close()
	endpointtest.Echo(t, rec.Joined(), "question")
	w.Eventually("the call has ended", func() bool { return w.Gateway.Calls() == 0 })
	clienttest.Shows(t, "google.golang.org/genai", clienttest.Speech, clienttest.End)
}

// speak sends a question and then silence, in real time, until stop.
func speak(s *genai.Session, stop chan struct{}) {
	words := audio.AppendBytes(nil, audiotest.Speech("question").Samples)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		frame := make([]byte, 640)
		words = words[copy(frame, words):]
		if s.SendRealtimeInput(genai.LiveRealtimeInput{Audio: &genai.Blob{Data: frame,
			MIMEType: "audio/pcm;rate=16000"}}) != nil {
			return
		}
		select {
		case <-tick.C:
		case <-stop:
			return
		}
	}
}

// TestRefusedInTheClientsWords: what cannot be had is said where the client looks.
func TestRefusedInTheClientsWords(t *testing.T) {
	t.Parallel()
	w := open(t, endpointtest.Plan{})
	_, err := sdk(t, w, &genai.LiveConnectConfig{ResponseModalities: []genai.Modality{genai.ModalityText}})
	if err == nil || !strings.Contains(err.Error(), "1007") || !strings.Contains(err.Error(), "speaks AUDIO") {
		t.Errorf("Connect = %v", err)
	}
}

// TestRefusedAlone: what the client cannot have is named, and costs that alone.
func TestRefusedAlone(t *testing.T) { inVersions(t, refusedAlone) }

func refusedAlone(t *testing.T, version string) {
	w := open(t, endpointtest.Plan{})
	c := clientOf(t, w, version, `{"responseModalities":["AUDIO"],"topK":5,`+
		`"outputAudioTranscription":{},"realtimeInputConfig":{"automaticActivityDetection":{"silenceDurationMs":500}}}`)
	c.Do(npmtest.Command{"do": "video"})
	c.Do(npmtest.Command{"do": "video"})
	c.Do(npmtest.Command{"do": "realtimeText", "text": "Hello."})
	w.Read("Hello.")
	c.AwaitType("turnComplete")
	c.Do(npmtest.Bye())
	c.AwaitType("close")
	c.Wait()
	told := map[string]string{}
	for _, e := range c.Events() {
		told[e.Type] += e.Text + string(e.Data)
	}
	for _, want := range []string{"setup.generationConfig.topK: ", ".silenceDurationMs: ", "realtimeInput.video: "} {
		if strings.Count(told["warnings"], want) != 1 {
			t.Errorf("warned of %q, want %q once", told["warnings"], want)
		}
	}
}

// TestBusyAndGoingAway are said before the upgrade, and in the call.
func TestBusyAndGoingAway(t *testing.T) {
	t.Parallel()
	w := open(t, endpointtest.Plan{Gateway: voicegw.Config{CallsMax: 1}})
	c := client(t, w, plain)
	if _, err := sdk(t, w, nil); err == nil || !strings.Contains(err.Error(), "bad handshake") {
		t.Errorf("a second call: %v", err)
	}
	_ = w.Gateway.Close()
	c.AwaitType("goAway")
	if e := c.AwaitType("close"); e.Code != 1001 {
		t.Errorf("closed with %d %q", e.Code, e.Text)
	}
	c.Wait()
}

package adkagent

import (
	"context"
	"strings"
	"testing"
	"time"

	adk "google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/session"
	"google.golang.org/genai"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/live/sim"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/voicenets"
)

func detect(d genai.AutomaticActivityDetection) *genai.RealtimeInputConfig {
	return &genai.RealtimeInputConfig{AutomaticActivityDetection: &d}
}

// TestLiveRefusesConfig names each setting that the gateway cannot follow.
func TestLiveRefusesConfig(t *testing.T) {
	yes, ms := true, int32(300)
	pad := func(v genai.AutomaticActivityDetection) adk.LiveRunConfig {
		return adk.LiveRunConfig{RealtimeInputConfig: detect(v)}
	}
	for want, cfg := range map[string]adk.LiveRunConfig{
		"ResponseModalities is TEXT": {ResponseModalities: []genai.Modality{genai.ModalityAudio, genai.ModalityText}},
		"SpeechConfig.MultiSpeakerVoiceConfig": {SpeechConfig: &genai.SpeechConfig{
			MultiSpeakerVoiceConfig: &genai.MultiSpeakerVoiceConfig{}}},
		"ReplicatedVoiceConfig": {SpeechConfig: &genai.SpeechConfig{VoiceConfig: &genai.VoiceConfig{
			ReplicatedVoiceConfig: &genai.ReplicatedVoiceConfig{}}}},
		"VoiceConfig.Voice is bob": {SpeechConfig: &genai.SpeechConfig{VoiceConfig: &genai.VoiceConfig{Voice: "bob"}}},
		"Setup.Language":           {SpeechConfig: &genai.SpeechConfig{LanguageCode: "klingon!"}},
		"InputAudioTranscription": {InputAudioTranscription: &genai.AudioTranscriptionConfig{
			LanguageCodes: []string{"de"}}},
		"OutputAudioTranscription": {OutputAudioTranscription: &genai.AudioTranscriptionConfig{
			CustomVocabulary: []string{"net"}}},
		"ActivityHandling is NO_INTERRUPTION": {RealtimeInputConfig: &genai.RealtimeInputConfig{
			ActivityHandling: genai.ActivityHandlingNoInterruption}},
		"TurnCoverage is TURN_INCLUDES_ALL_INPUT": {RealtimeInputConfig: &genai.RealtimeInputConfig{
			TurnCoverage: genai.TurnCoverageTurnIncludesAllInput}},
		"InterimTranscriptTimestampEnabled": {RealtimeInputConfig: &genai.RealtimeInputConfig{
			InterimTranscriptTimestampEnabled: &yes}},
		"StartOfSpeechSensitivity is MEDIUM": pad(genai.AutomaticActivityDetection{StartOfSpeechSensitivity: "MEDIUM"}),
		"EndOfSpeechSensitivity is MEDIUM":   pad(genai.AutomaticActivityDetection{EndOfSpeechSensitivity: "MEDIUM"}),
		"AutomaticActivityDetection.Disabled": pad(genai.AutomaticActivityDetection{Disabled: true,
			SilenceDurationMs: &ms}),
		"EnableAffectiveDialog":         {EnableAffectiveDialog: true},
		"Proactivity.ProactiveAudio":    {Proactivity: &genai.ProactivityConfig{ProactiveAudio: &yes}},
		"SessionResumption.Transparent": {SessionResumption: &genai.SessionResumptionConfig{Transparent: true}},
		"SaveLiveBlob":                  {SaveLiveBlob: true},
	} {
		inBubble(t, livePlan{}, func(w *liveWorld) {
			_, _, err := w.runner.RunLive(context.Background(), "user", "s", cfg)
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("want an error with %q, got %v", want, err)
			}
		})
	}
}

// TestLiveFollowsConfig sends the model what the application asks for.
func TestLiveFollowsConfig(t *testing.T) {
	run := adk.LiveRunConfig{SpeechConfig: &genai.SpeechConfig{LanguageCode: "de-DE", VoiceConfig: &genai.VoiceConfig{
		PrebuiltVoiceConfig: &genai.PrebuiltVoiceConfig{VoiceName: "Puck"}}},
		OutputAudioTranscription: &genai.AudioTranscriptionConfig{}}
	inBubble(t, livePlan{run: run}, func(w *liveWorld) {
		k := w.open(context.Background(), "s", nil)
		k.send(typed("Hello."))
		k.until("the end of the turn", turnEnded)
		k.hangUp()
		setup := string(w.model.Connections()[0].Setup)
		for _, want := range []string{`"Puck"`, `"de-DE"`, `"outputAudioTranscription"`} {
			if !strings.Contains(setup, want) {
				t.Errorf("the setup lacks %s: %s", want, setup)
			}
		}
		if strings.Contains(setup, `"inputAudioTranscription"`) {
			t.Errorf("the setup asks for the caller's transcript: %s", setup)
		}
	})
}

// TestLiveActivityConfig ends a turn after the silence that the application asks for.
func TestLiveActivityConfig(t *testing.T) {
	took := map[int32]time.Duration{}
	for _, ms := range []int32{300, 2000} {
		run := withTranscripts()
		run.RealtimeInputConfig = detect(genai.AutomaticActivityDetection{SilenceDurationMs: &ms,
			StartOfSpeechSensitivity: genai.StartSensitivityLow, EndOfSpeechSensitivity: genai.EndSensitivityHigh})
		inBubble(t, livePlan{run: run}, func(w *liveWorld) {
			k := w.open(context.Background(), "s", nil)
			k.say("question", 4*time.Second)
			k.until("the end of the turn", turnEnded)
			k.hangUp()
			turn := w.model.Connections()[0].Turns[0]
			took[ms] = turn.Ended - turn.Began
		})
	}
	if d := took[2000] - took[300]; d < 1500*time.Millisecond || d > 1900*time.Millisecond {
		t.Errorf("the turns lasted %v; want the second 1.7 s longer", took)
	}
}

// TestLiveRefusesActivityOfTheModel refuses sensitivities when the model detects speech.
func TestLiveRefusesActivityOfTheModel(t *testing.T) {
	p := livePlan{live: LiveConfig{Gateway: voicegw.Config{Detection: voicenets.ModelVAD}}}
	inBubble(t, p, func(w *liveWorld) {
		_, _, err := w.runner.RunLive(context.Background(), "user", "s", adk.LiveRunConfig{RealtimeInputConfig: detect(
			genai.AutomaticActivityDetection{EndOfSpeechSensitivity: genai.EndSensitivityLow})})
		if err == nil || !strings.Contains(err.Error(), "the model detects speech") {
			t.Errorf("got %v", err)
		}
	})
	ms := int32(50)
	inBubble(t, livePlan{run: adk.LiveRunConfig{RealtimeInputConfig: detect(
		genai.AutomaticActivityDetection{SilenceDurationMs: &ms})}}, func(w *liveWorld) {
		k := w.open(context.Background(), "s", nil)
		<-k.done
		if len(k.errs) != 1 || !strings.Contains(k.errs[0].Error(), "silence_duration is 50 ms") {
			t.Errorf("the errors are %v", k.errs)
		}
	})
}

// TestLiveHello lets the application change the hello.
func TestLiveHello(t *testing.T) {
	var seen transport.Hello
	cfg := LiveConfig{Hello: func(ic adk.InvocationContext, h *transport.Hello) error {
		h.Params = map[string]string{"session": ic.Session().ID()}
		return nil
	}}
	cfg.Gateway.Hooks.Begin = func(_ context.Context, h *transport.Hello) (*voicegw.Plan, error) {
		seen = *h
		return nil, nil
	}
	inBubble(t, livePlan{live: cfg}, func(w *liveWorld) {
		k := w.open(context.Background(), "s", nil)
		k.until("ready", func(ev *session.Event) bool { return ev.CustomMetadata != nil })
		k.hangUp()
		if seen.Params["session"] != "s" || seen.Endpoint != "adk" {
			t.Errorf("the hello is %+v", seen)
		}
	})
	cfg.Hello = func(_ adk.InvocationContext, h *transport.Hello) error { h.OutputRateHz = 8000; return nil }
	inBubble(t, livePlan{live: cfg}, func(w *liveWorld) {
		_, _, err := w.runner.RunLive(context.Background(), "user", "s", w.run)
		if err == nil || !strings.Contains(err.Error(), "rates") {
			t.Errorf("got %v", err)
		}
	})
}

// TestNewLiveRefuses names what is wrong with a LiveConfig.
func TestNewLiveRefuses(t *testing.T) {
	good := voicegw.Config{Dialer: live.Wire{APIKey: "k"}}
	for want, cfg := range map[string]LiveConfig{
		"Dialer":         {Name: "a"},
		"PlayoutDelay":   {Name: "a", Gateway: good, PlayoutDelay: -1},
		`Name is "user"`: {Name: "user", Gateway: good},
		`Name is ""`:     {Gateway: good},
	} {
		if _, err := NewLive(cfg); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want an error about %s, got %v", want, err)
		}
	}
}

// TestLiveIsFound checks that searches find the agent that speaks, and that text needs LiveConfig.Run.
func TestLiveIsFound(t *testing.T) {
	inBubble(t, livePlan{}, func(w *liveWorld) {
		if w.agent.FindAgent("speaker") != adk.Agent(w.agent) || w.agent.FindAgent("nobody") != nil {
			t.Error("FindAgent finds another agent")
		}
		for _, err := range w.runner.Run(context.Background(), "user", "s", genai.NewContentFromText("Hi.", "user"),
			adk.RunConfig{}) {
			if err == nil || !strings.Contains(err.Error(), "LiveConfig.Run") {
				t.Errorf("Run: %v", err)
			}
		}
	})
}

// TestLiveRefusalOfTheGateway reports a full gateway as an event and as an error.
func TestLiveRefusalOfTheGateway(t *testing.T) {
	p := livePlan{live: LiveConfig{Gateway: voicegw.Config{CallsMax: 1}}, model: sim.Config{}}
	inBubble(t, p, func(w *liveWorld) {
		one := w.open(context.Background(), "s", nil)
		one.until("ready", func(ev *session.Event) bool { return ev.CustomMetadata != nil })
		two := w.open(context.Background(), "s", nil)
		<-two.done
		if got := eventLines(two.all()); got != "speaker error:busy" || len(two.errs) != 1 {
			t.Errorf("%s, %v", got, two.errs)
		}
		one.hangUp()
	})
}

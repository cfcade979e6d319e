package adkagent

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	adk "google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/genai"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/voicenets"
)

// runConfig returns the LiveRunConfig of the runner, which keeps it in the context under a key of a
// package that others cannot import. ADK's live flow asks for it before anything else, so that an
// agent with that flow finds it, and fails because it learns nothing.
func (l *Live) runConfig(ctx adk.InvocationContext) (adk.LiveRunConfig, error) {
	spy := &configSpy{InvocationContext: ctx}
	_, _, _ = l.probe.RunLive(spy)
	if spy.found == nil {
		return adk.LiveRunConfig{}, errNoLiveConfig
	}
	return *spy.found, nil
}

// configSpy is an invocation that notes and hides the LiveRunConfig in its context.
type configSpy struct {
	adk.InvocationContext
	found *adk.LiveRunConfig
}

func (s *configSpy) Value(key any) any {
	v := s.InvocationContext.Value(key)
	p := reflect.ValueOf(v)
	if p.Kind() != reflect.Pointer || p.IsNil() || p.Elem().Kind() != reflect.Struct {
		return v
	}
	if f := p.Elem().FieldByName("Live"); f.IsValid() && f.CanInterface() {
		if cfg, ok := f.Interface().(*adk.LiveRunConfig); ok {
			s.found = cfg
			return nil
		}
	}
	return v
}

// wanted is what a LiveRunConfig asks for, as the gateway understands it.
type wanted struct {
	voice, language        string
	noCaller, noModel      bool // no transcripts
	handle                 string
	instruction            string // of tools, behind that of the agent
	repliesMax             int    // 0: no limit
	detection              transport.Detection
	activity               transport.Activity
	detectionByGatewayOnly bool // activity is set
}

// apply changes the setup of a call.
func (w *wanted) apply(s *live.Setup) {
	if w.voice != "" {
		s.Voice = w.voice
	}
	if w.language != "" {
		s.Language = w.language
	}
	s.NoCallerTranscript, s.NoModelTranscript = w.noCaller, w.noModel
	if w.instruction != "" {
		s.SystemInstruction = strings.TrimSpace(s.SystemInstruction + "\n\n" + w.instruction)
	}
}

// refusals are fields that the gateway cannot follow.
type refusals struct{ errs []error }

// unless refuses a field of the LiveRunConfig if it is not ok.
func (r *refusals) unless(ok bool, field string, value any, want string) {
	if !ok {
		r.errs = append(r.errs, fmt.Errorf("LiveRunConfig.%s is %v; it must be %s", field, value, want))
	}
}

// wantedOf returns what cfg asks for, or an error that names every field that the gateway cannot
// follow.
func wantedOf(cfg *adk.LiveRunConfig) (wanted, error) {
	w := wanted{noCaller: cfg.InputAudioTranscription == nil, noModel: cfg.OutputAudioTranscription == nil}
	var r refusals
	for _, m := range cfg.ResponseModalities {
		r.unless(m == genai.ModalityAudio, "ResponseModalities", m, "AUDIO: a call is spoken, and transcripts have the words")
	}
	if s := cfg.SpeechConfig; s != nil {
		w.language = s.LanguageCode
		r.unless(s.MultiSpeakerVoiceConfig == nil, "SpeechConfig.MultiSpeakerVoiceConfig", "set",
			"nil: a model has one voice")
		if v := s.VoiceConfig; v != nil {
			r.unless(v.ReplicatedVoiceConfig == nil, "SpeechConfig.VoiceConfig.ReplicatedVoiceConfig", "set",
				"nil: use a prebuilt voice")
			r.unless(v.Voice == "", "SpeechConfig.VoiceConfig.Voice", v.Voice, "empty: use a prebuilt voice")
			if v.PrebuiltVoiceConfig != nil {
				w.voice = v.PrebuiltVoiceConfig.VoiceName
			}
		}
	}
	r.transcription("InputAudioTranscription", cfg.InputAudioTranscription)
	r.transcription("OutputAudioTranscription", cfg.OutputAudioTranscription)
	if cfg.RealtimeInputConfig != nil {
		w.input(cfg.RealtimeInputConfig, &r)
	}
	r.unless(!cfg.EnableAffectiveDialog, "EnableAffectiveDialog", true, "false: no supported model offers it")
	r.unless(cfg.Proactivity == nil || cfg.Proactivity.ProactiveAudio == nil || !*cfg.Proactivity.ProactiveAudio,
		"Proactivity.ProactiveAudio", true, "false: every turn of the caller gets a reply")
	if s := cfg.SessionResumption; s != nil { // the gateway always asks for it
		w.handle = s.Handle
		r.unless(!s.Transparent, "SessionResumption.Transparent", true,
			"false: the gateway keeps the caller's turn itself while a connection is replaced")
	}
	r.unless(!cfg.SaveLiveBlob, "SaveLiveBlob", true, "false: calls are not recorded")
	w.repliesMax = max(0, cfg.MaxLLMCalls)
	return w, errors.Join(r.errs...)
}

// transcription refuses settings of a transcript.
func (r *refusals) transcription(field string, c *genai.AudioTranscriptionConfig) {
	r.unless(c == nil || reflect.ValueOf(*c).IsZero(), field, "not empty",
		"nil or empty: the model has no settings for it")
}

// input takes the settings of the caller's input.
func (w *wanted) input(c *genai.RealtimeInputConfig, r *refusals) {
	r.unless(c.ActivityHandling == "" || c.ActivityHandling == genai.ActivityHandlingUnspecified ||
		c.ActivityHandling == genai.ActivityHandlingStartOfActivityInterrupts, "RealtimeInputConfig.ActivityHandling",
		c.ActivityHandling, "START_OF_ACTIVITY_INTERRUPTS; LiveConfig.Hello may ask for half-duplex instead")
	r.unless(c.TurnCoverage == "" || c.TurnCoverage == genai.TurnCoverageUnspecified ||
		c.TurnCoverage == genai.TurnCoverageTurnIncludesOnlyActivity, "RealtimeInputConfig.TurnCoverage", c.TurnCoverage,
		"TURN_INCLUDES_ONLY_ACTIVITY")
	r.unless(c.InterimTranscriptTimestampEnabled == nil || !*c.InterimTranscriptTimestampEnabled,
		"RealtimeInputConfig.InterimTranscriptTimestampEnabled", true, "false")
	d := c.AutomaticActivityDetection
	if d == nil {
		return
	}
	const field = "RealtimeInputConfig.AutomaticActivityDetection."
	w.activity = transport.Activity{PrefixMS: d.PrefixPaddingMs, SilenceMS: d.SilenceDurationMs}
	switch d.StartOfSpeechSensitivity {
	case genai.StartSensitivityHigh:
		w.activity.Start = transport.SensitivityHigh
	case genai.StartSensitivityLow:
		w.activity.Start = transport.SensitivityLow
	default:
		r.unless(d.StartOfSpeechSensitivity == "" || d.StartOfSpeechSensitivity == genai.StartSensitivityUnspecified,
			field+"StartOfSpeechSensitivity", d.StartOfSpeechSensitivity, "START_SENSITIVITY_HIGH or _LOW")
	}
	switch d.EndOfSpeechSensitivity {
	case genai.EndSensitivityHigh:
		w.activity.End = transport.SensitivityHigh
	case genai.EndSensitivityLow:
		w.activity.End = transport.SensitivityLow
	default:
		r.unless(d.EndOfSpeechSensitivity == "" || d.EndOfSpeechSensitivity == genai.EndSensitivityUnspecified,
			field+"EndOfSpeechSensitivity", d.EndOfSpeechSensitivity, "END_SENSITIVITY_HIGH or _LOW")
	}
	w.detectionByGatewayOnly = w.activity != (transport.Activity{})
	if d.Disabled {
		w.detection = transport.DetectionPush
		r.unless(!w.detectionByGatewayOnly, field+"Disabled", true,
			"false with a sensitivity or a duration: nobody detects speech otherwise")
	}
}

// helloOf returns the hello of a session.
func (l *Live) helloOf(ctx adk.InvocationContext, w *wanted) (transport.Hello, error) {
	h := transport.Hello{InputRateHz: liveInputHz, OutputRateHz: liveOutputHz, Endpoint: "adk", Client: l.Name(),
		Detection: w.detection, Session: transport.Session{Activity: w.activity}}
	if l.cfg.Hello != nil {
		if err := l.cfg.Hello(ctx, &h); err != nil {
			return h, fmt.Errorf("LiveConfig.Hello: %w", err)
		}
	}
	if h.InputRateHz != liveInputHz || h.OutputRateHz != liveOutputHz {
		return h, fmt.Errorf("LiveConfig.Hello set the rates to %d and %d Hz; they must be %d and %d", h.InputRateHz,
			h.OutputRateHz, liveInputHz, liveOutputHz)
	}
	byModel := h.Detection == transport.DetectionModelVAD ||
		h.Detection == transport.DetectionDefault && l.cfg.Gateway.Detection == voicenets.ModelVAD
	if w.detectionByGatewayOnly && byModel {
		return h, errors.New("LiveRunConfig.RealtimeInputConfig.AutomaticActivityDetection has a sensitivity " +
			"or a duration, but the model detects speech; set LiveConfig.Gateway.Detection to voicenets.GatewayVAD")
	}
	if w.detection == transport.DetectionPush && h.Detection != w.detection {
		return h, fmt.Errorf("LiveConfig.Hello set the detection to %q, but LiveRunConfig disables it", h.Detection)
	}
	return h, nil
}

// offer returns the tools of a session for the model, and by name for the toolbox.
func (l *Live) offer(ctx adk.InvocationContext, w *wanted) ([]voicegw.Tool, map[string]any, error) {
	req := &model.LLMRequest{Config: &genai.GenerateContentConfig{}, Tools: map[string]any{}}
	if err := l.tools.pack(ctx, req); err != nil {
		return nil, nil, err
	}
	if req.Config.SystemInstruction != nil {
		w.instruction = textOf(req.Config.SystemInstruction)
	}
	var offered []voicegw.Tool
	for _, t := range req.Config.Tools {
		if others := *t; len(others.FunctionDeclarations) == 0 {
			return nil, nil, errors.New("a tool of the model itself, such as a search, is not possible in a call; use functions")
		}
		for _, d := range t.FunctionDeclarations {
			schema, err := schemaOf(d)
			if err != nil {
				return nil, nil, fmt.Errorf("the tool %q: %w", d.Name, err)
			}
			offered = append(offered, voicegw.Tool{Name: d.Name, Description: d.Description, Parameters: schema,
				NonBlocking: d.Behavior == genai.BehaviorNonBlocking})
		}
	}
	for name, t := range req.Tools {
		if _, ok := t.(tool.Tool); !ok {
			return nil, nil, fmt.Errorf("the tool %q is a %T, which cannot be called", name, t)
		}
	}
	return offered, req.Tools, nil
}

// textOf returns the texts of a content, without thoughts.
func textOf(c *genai.Content) string {
	var texts []string
	for _, p := range c.Parts {
		if p != nil && p.Text != "" && !p.Thought {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// schemaOf returns the JSON schema of a function's arguments.
func schemaOf(d *genai.FunctionDeclaration) (json.RawMessage, error) {
	switch {
	case d.ParametersJsonSchema != nil:
		return json.Marshal(d.ParametersJsonSchema)
	case d.Parameters == nil:
		return nil, nil
	}
	b, err := json.Marshal(d.Parameters)
	if err != nil {
		return nil, err
	}
	var s any
	if err := json.Unmarshal(b, &s); err != nil {
		return nil, err
	}
	lowerTypes(s)
	return json.Marshal(s)
}

// lowerTypes turns the types of Google's schemas into those of JSON schema: OBJECT is "object".
func lowerTypes(schema any) {
	switch s := schema.(type) {
	case []any:
		for _, v := range s {
			lowerTypes(v)
		}
	case map[string]any:
		for key, v := range s {
			if name, ok := v.(string); ok && key == "type" {
				s[key] = strings.ToLower(name)
				continue
			}
			lowerTypes(v)
		}
	}
}

package live

import (
	"encoding/json"
	"fmt"
	"regexp"
	"unicode/utf8"

	"google.golang.org/genai"
)

// Setup configures a conversation. The zero value works: the model of the dialer with its own voice
// and language, manual activity, and transcripts of both sides. Every setup asks for session
// resumption, and for context compression by a sliding window, without which an audio conversation
// ends after 15 minutes.
type Setup struct {
	// Model is a name such as DefaultModel, with or without the prefix "models/". The default is
	// the model of the dialer.
	Model string
	// Voice is a prebuilt voice such as "Puck". The default is the choice of the model.
	Voice string
	// Language is a BCP 47 tag such as "de-DE". The default is the choice of the model.
	Language string
	// SystemInstruction is at most 512 KiB of UTF-8. The default is none.
	SystemInstruction string
	// Automatic lets the model detect speech. Otherwise activity is manual: the client sends
	// ClientActivityStart and ClientActivityEnd.
	Automatic bool
	// NoCallerTranscript and NoModelTranscript switch off the transcript of one side.
	NoCallerTranscript, NoModelTranscript bool
	// Handle resumes the conversation of a ServerResumption; "" starts a new one. At most 4 KiB.
	Handle string
	// Tools are the functions that the model may call, at most 128.
	Tools []Tool
	// History is the conversation before this one, at most 64 KiB in all. Dial sends it after the
	// model has accepted the setup, and the model does not reply to it. It must be empty with a
	// Handle: a resumed conversation has its history.
	History []Turn
	// MaxOutputTokens limits a reply: 1 or more, or nil for the limit of the model.
	MaxOutputTokens *int32
	// Temperature is 0 to 2, or nil for the default of the model.
	Temperature *float32
}

// Tool declares a function to the model.
type Tool struct {
	Name        string          // at most 64 letters, digits, _ . : and -; the first is a letter or _
	Description string          // for the model
	Parameters  json.RawMessage // JSON schema of the arguments, an object; nil means no arguments
	// NonBlocking lets the model speak while the function runs; ToolReply.Scheduling then says what
	// to do with the result. Some models support only one kind (docs/model.md).
	NonBlocking bool
}

const (
	handleBytesMax      = 4 << 10
	instructionBytesMax = 512 << 10
	toolsMax            = 128
)

// SetupError reports a wrong field of a Setup or a Wire.
type SetupError struct {
	Field string // such as Setup.Temperature
	Value string // quoted and shortened; never the API key
	Want  string // the values that are possible
}

// Error returns a text such as "live: Setup.Temperature is 3; want 0 to 2".
func (e *SetupError) Error() string {
	return fmt.Sprintf("live: %s is %s; want %s", e.Field, e.Value, e.Want)
}

func fieldError(field string, value any, want string) error {
	text := fmt.Sprintf("%v", value)
	if s, ok := value.(string); ok {
		text = fmt.Sprintf("%.60q", s)
	}
	return &SetupError{Field: field, Value: text, Want: want}
}

// pattern is a field that must be empty or match a regular expression.
type pattern struct {
	field, value, regexp, want string
}

func checkPatterns(all []pattern) error {
	for _, p := range all {
		if p.value != "" && !regexp.MustCompile(p.regexp).MatchString(p.value) {
			return fieldError(p.field, p.value, p.want)
		}
	}
	return nil
}

// Check returns a *SetupError for a field that no model accepts, or that s.Model is known to
// refuse. An empty Model is assumed to accept everything. Dial calls Check.
func (s Setup) Check() error {
	err := checkPatterns([]pattern{
		{"Setup.Model", s.Model, `^(models/)?[a-z0-9][a-z0-9.-]{0,99}$`,
			`a name such as "` + DefaultModel + `": lower-case letters, digits, dots and dashes`},
		{"Setup.Voice", s.Voice, `^[A-Za-z][A-Za-z0-9_-]{0,63}$`, `a voice such as "Puck"`},
		{"Setup.Language", s.Language, `^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}$`, `a BCP 47 tag such as "de-DE"`},
	})
	if err != nil {
		return err
	}
	if n := len(s.SystemInstruction); n > instructionBytesMax || !utf8.ValidString(s.SystemInstruction) {
		return fieldError("Setup.SystemInstruction", fmt.Sprintf("%d bytes", n), "at most 524288 bytes of UTF-8")
	}
	if n := len(s.Handle); n > handleBytesMax || !utf8.ValidString(s.Handle) {
		return fieldError("Setup.Handle", fmt.Sprintf("%d bytes", n), "a handle from ServerResumption, unchanged")
	}
	if n := s.MaxOutputTokens; n != nil && *n < 1 {
		return fieldError("Setup.MaxOutputTokens", *n, "1 or more, or nil")
	}
	if t := s.Temperature; t != nil && !(*t >= 0 && *t <= 2) {
		return fieldError("Setup.Temperature", *t, "0 to 2, or nil")
	}
	if err := s.checkHistory(); err != nil {
		return err
	}
	return s.checkTools()
}

func (s *Setup) checkHistory() error {
	if len(s.History) > 0 && s.Handle != "" {
		return fieldError("Setup.History", fmt.Sprintf("%d turns", len(s.History)),
			"none with a Handle: a resumed conversation has its history")
	}
	if err := checkTurns(s.History); err != nil {
		return fieldError("Setup.History", err.Error(), "turns of user and model, at most 65536 bytes of UTF-8 in all")
	}
	return nil
}

func (s *Setup) checkTools() error {
	if len(s.Tools) > toolsMax {
		return fieldError("Setup.Tools", fmt.Sprintf("%d tools", len(s.Tools)), "at most 128")
	}
	name := regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.:-]{0,63}$`)
	seen := map[string]bool{}
	for i, t := range s.Tools {
		field := fmt.Sprintf("Setup.Tools[%d]", i)
		if !name.MatchString(t.Name) {
			return fieldError(field+".Name", t.Name, "a letter or _, then at most 63 letters, digits, _ . : or -")
		}
		if seen[t.Name] {
			return fieldError(field+".Name", t.Name, "a name that no other tool has")
		}
		seen[t.Name] = true
		var object map[string]json.RawMessage
		if t.Parameters != nil && (json.Unmarshal(t.Parameters, &object) != nil || object == nil) {
			return fieldError(field+".Parameters", string(t.Parameters), "a JSON schema that is an object")
		}
		if !Supports(s.Model, t.NonBlocking) {
			return fieldError(field+".NonBlocking", t.NonBlocking,
				fmt.Sprintf("%v: %s supports no other tools", !t.NonBlocking, s.Model))
		}
	}
	return nil
}

// message encodes the setup as the first message of a connection. It must have been checked. model
// is the full name of the model.
func (s *Setup) message(model string) ([]byte, error) {
	setup := &genai.LiveClientSetup{
		Model: model,
		GenerationConfig: &genai.GenerationConfig{
			ResponseModalities: []genai.Modality{genai.ModalityAudio},
			SpeechConfig:       s.speechConfig(),
			Temperature:        s.Temperature,
		},
		Tools:                    s.tools(),
		SessionResumption:        &genai.SessionResumptionConfig{Handle: s.Handle},
		ContextWindowCompression: &genai.ContextWindowCompressionConfig{SlidingWindow: &genai.SlidingWindow{}},
	}
	if s.MaxOutputTokens != nil {
		setup.GenerationConfig.MaxOutputTokens = *s.MaxOutputTokens
	}
	setup.SystemInstruction = s.instruction()
	setup.RealtimeInputConfig = s.detection()
	setup.InputAudioTranscription = transcription(!s.NoCallerTranscript)
	setup.OutputAudioTranscription = transcription(!s.NoModelTranscript)
	if len(s.History) > 0 && abilitiesOf(s.Model).announceHistory {
		setup.HistoryConfig = &genai.HistoryConfig{InitialHistoryInClientContent: true}
	}
	out, err := json.Marshal(genai.LiveClientMessage{Setup: setup})
	if err != nil {
		return nil, fmt.Errorf("live: encode setup: %w", err)
	}
	return out, nil
}

// history returns the message with History, to which the model does not reply.
func (s *Setup) history() ClientMessage {
	// After an announcement, TurnComplete ends the history. Without one it would ask for a reply.
	return ClientMessage{Kind: ClientContent, Turns: s.History, TurnComplete: abilitiesOf(s.Model).announceHistory}
}

func (s *Setup) instruction() *genai.Content {
	if s.SystemInstruction == "" {
		return nil
	}
	return genai.NewContentFromText(s.SystemInstruction, genai.RoleUser)
}

func (s *Setup) detection() *genai.RealtimeInputConfig {
	if s.Automatic {
		return nil
	}
	return &genai.RealtimeInputConfig{AutomaticActivityDetection: &genai.AutomaticActivityDetection{Disabled: true}}
}

func transcription(wanted bool) *genai.AudioTranscriptionConfig {
	if !wanted {
		return nil
	}
	return &genai.AudioTranscriptionConfig{}
}

func (s *Setup) speechConfig() *genai.SpeechConfig {
	if s.Voice == "" && s.Language == "" {
		return nil
	}
	c := &genai.SpeechConfig{LanguageCode: s.Language}
	if s.Voice != "" {
		voice := &genai.PrebuiltVoiceConfig{VoiceName: s.Voice}
		c.VoiceConfig = &genai.VoiceConfig{PrebuiltVoiceConfig: voice}
	}
	return c
}

func (s *Setup) tools() []*genai.Tool {
	if len(s.Tools) == 0 {
		return nil
	}
	declarations := make([]*genai.FunctionDeclaration, len(s.Tools))
	for i, t := range s.Tools {
		d := &genai.FunctionDeclaration{Name: t.Name, Description: t.Description}
		if t.Parameters != nil {
			d.ParametersJsonSchema = t.Parameters
		}
		switch {
		case t.NonBlocking:
			d.Behavior = genai.BehaviorNonBlocking
		case abilitiesOf(s.Model).declareBlocking:
			d.Behavior = genai.BehaviorBlocking
		}
		declarations[i] = d
	}
	return []*genai.Tool{{FunctionDeclarations: declarations}}
}

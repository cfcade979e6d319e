package live

import (
	"encoding/json"
	"fmt"
	"regexp"
	"unicode/utf8"

	"google.golang.org/genai"
)

// Setup says what the model shall be. The zero value works: the dialer's model, its own voice and language, manual
// activity, transcripts of both sides. Every setup also asks for session resumption and for context compression by a
// sliding window, without which an audio conversation ends after 15 minutes.
type Setup struct {
	// Model is a name such as DefaultModel, with or without "models/" in front; empty means the dialer's.
	Model string
	// Voice is a prebuilt voice such as "Puck", Language a BCP 47 tag such as "de-DE"; empty means the model's choice.
	Voice, Language string
	// SystemInstruction is at most 64 KiB of UTF-8; empty means none.
	SystemInstruction string
	// Automatic lets the model detect speech. False means manual activity: the client sends activity start and end.
	Automatic bool
	// NoCallerTranscript and NoModelTranscript switch off what the model writes down of either side.
	NoCallerTranscript, NoModelTranscript bool
	// Handle resumes an earlier conversation, see ServerResumption; empty begins a new one. At most 4 KiB.
	Handle string
	// Tools are the functions the model may call, at most 128.
	Tools []Tool
	// MaxOutputTokens limits a reply, 1 or more; nil means the model's limit.
	MaxOutputTokens *int32
	// Temperature is 0 to 2; nil means the model's.
	Temperature *float32
}

// Tool declares a function to the model.
type Tool struct {
	Name        string          // letters, digits, _ . : and -, at most 64, beginning with a letter or _
	Description string          // for the model
	Parameters  json.RawMessage // JSON schema of the arguments, an object; nil means none
}

const (
	handleBytesMax = 4 << 10
	toolsMax       = 128
)

// SetupError says which field of a Setup or a Wire is wrong.
type SetupError struct {
	Field string // as in Setup.Temperature
	Value string // quoted, shortened; never the API key
	Want  string // what would be right
}

// Error reads as in `live: Setup.Temperature is 3; want 0 to 2`.
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

// pattern is a field that must match a regular expression; empty is always right.
type pattern struct {
	field, value, regexp, want string
}

// check refuses a setup which no model would take.
func (s *Setup) check() error {
	for _, p := range []pattern{
		{"Setup.Model", s.Model, `^(models/)?[a-z0-9][a-z0-9.-]{0,99}$`,
			`a name such as "` + DefaultModel + `": small letters, digits, dots and dashes`},
		{"Setup.Voice", s.Voice, `^[A-Za-z][A-Za-z0-9_-]{0,63}$`, `a voice such as "Puck"`},
		{"Setup.Language", s.Language, `^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}$`, `a BCP 47 tag such as "de-DE"`},
	} {
		if p.value != "" && !regexp.MustCompile(p.regexp).MatchString(p.value) {
			return fieldError(p.field, p.value, p.want)
		}
	}
	if n := len(s.SystemInstruction); n > textBytesMax || !utf8.ValidString(s.SystemInstruction) {
		return fieldError("Setup.SystemInstruction", fmt.Sprintf("%d bytes", n), "at most 65536 bytes of UTF-8")
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
	return s.checkTools()
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
			return fieldError(field+".Name", t.Name, "a name no other tool has")
		}
		seen[t.Name] = true
		var object map[string]json.RawMessage
		if t.Parameters != nil && (json.Unmarshal(t.Parameters, &object) != nil || object == nil) {
			return fieldError(field+".Parameters", string(t.Parameters), "a JSON schema, a JSON object")
		}
	}
	return nil
}

// message encodes the setup, which was checked, as the first message of a connection.
func (s *Setup) message() ([]byte, error) {
	model := s.Model
	if len(model) < 7 || model[:7] != "models/" {
		model = "models/" + model
	}
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
	if s.SystemInstruction != "" {
		setup.SystemInstruction = genai.NewContentFromText(s.SystemInstruction, genai.RoleUser)
	}
	if !s.Automatic {
		detection := &genai.AutomaticActivityDetection{Disabled: true}
		setup.RealtimeInputConfig = &genai.RealtimeInputConfig{AutomaticActivityDetection: detection}
	}
	if !s.NoCallerTranscript {
		setup.InputAudioTranscription = &genai.AudioTranscriptionConfig{}
	}
	if !s.NoModelTranscript {
		setup.OutputAudioTranscription = &genai.AudioTranscriptionConfig{}
	}
	out, err := json.Marshal(genai.LiveClientMessage{Setup: setup})
	if err != nil {
		return nil, fmt.Errorf("live: encode setup: %w", err)
	}
	return out, nil
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
		declarations[i] = d
	}
	return []*genai.Tool{{FunctionDeclarations: declarations}}
}

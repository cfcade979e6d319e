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
	// History is what was said before, which a new conversation shall know of: at most 64 KiB in all. It is sent once
	// the setup is accepted, and not answered. A conversation that is resumed, by Handle, knows its history itself.
	History []Turn
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
	// NonBlocking lets the model go on while the function works; see Scheduling for what becomes of the reply. Not every
	// model knows both kinds: see Abilities.
	NonBlocking bool
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

func checkPatterns(all []pattern) error {
	for _, p := range all {
		if p.value != "" && !regexp.MustCompile(p.regexp).MatchString(p.value) {
			return fieldError(p.field, p.value, p.want)
		}
	}
	return nil
}

// Check refuses what no model would take, or what the named one is known to refuse, before anything is sent. An empty
// Model is that of no dialer and so believed to take everything. Its error is a *SetupError. Dial checks too.
func (s Setup) Check() error {
	err := checkPatterns([]pattern{
		{"Setup.Model", s.Model, `^(models/)?[a-z0-9][a-z0-9.-]{0,99}$`,
			`a name such as "` + DefaultModel + `": small letters, digits, dots and dashes`},
		{"Setup.Voice", s.Voice, `^[A-Za-z][A-Za-z0-9_-]{0,63}$`, `a voice such as "Puck"`},
		{"Setup.Language", s.Language, `^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}$`, `a BCP 47 tag such as "de-DE"`},
	})
	if err != nil {
		return err
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
	if err := s.checkHistory(); err != nil {
		return err
	}
	return s.checkTools()
}

func (s *Setup) checkHistory() error {
	if len(s.History) > 0 && s.Handle != "" {
		return fieldError("Setup.History", fmt.Sprintf("%d turns", len(s.History)),
			"none with a Handle: what is resumed knows its history")
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
	can := AbilitiesOf(s.Model)
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
		if t.NonBlocking && !can.NonBlocking || !t.NonBlocking && !can.Blocking {
			return fieldError(field+".NonBlocking", t.NonBlocking, "the other: "+s.Model+" knows no such tools")
		}
	}
	return nil
}

// message encodes the setup, which was checked, as the first message of a connection; model is its full name.
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
	if len(s.History) > 0 && AbilitiesOf(s.Model).askToHistory {
		setup.HistoryConfig = &genai.HistoryConfig{InitialHistoryInClientContent: true}
	}
	out, err := json.Marshal(genai.LiveClientMessage{Setup: setup})
	if err != nil {
		return nil, fmt.Errorf("live: encode setup: %w", err)
	}
	return out, nil
}

// history is what tells the model of History: a message it does not answer.
func (s *Setup) history() ClientMessage {
	// Where history is announced its end must be said, and is no question; elsewhere it would be one.
	return ClientMessage{Kind: ClientContent, Turns: s.History, TurnComplete: AbilitiesOf(s.Model).askToHistory}
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
		case AbilitiesOf(s.Model).askBlocking:
			d.Behavior = genai.BehaviorBlocking
		}
		declarations[i] = d
	}
	return []*genai.Tool{{FunctionDeclarations: declarations}}
}

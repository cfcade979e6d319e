package openai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/voicegw/voicegw/transport"
)

// setting applies one field of a session.update. It leaves the session as it was if it returns a
// fault. The fault has no param: the caller knows it.
type setting func(s *session, raw json.RawMessage) *fault

// settings are the fields of a session that have an effect, and those that are refused unless they
// ask for what this gateway does anyway. The names are those of the general release.
func settings() map[string]setting {
	return map[string]setting{
		"type":  setType,
		"model": text(transport.NameLenMax, func(s *session) *string { return &s.model }),
		"instructions": text(transport.SystemInstructionLenMax,
			func(s *session) *string { return &s.instructions }),
		"temperature":                setTemperature,
		"max_output_tokens":          setMaxOutputTokens,
		"tools":                      setTools,
		"output_modalities":          setModalities,
		"audio.input.format":         format(func(s *session) *coding { return &s.in }),
		"audio.output.format":        format(func(s *session) *coding { return &s.out }),
		"audio.input.turn_detection": setDetection,
		"audio.input.transcription":  setTranscription,
		"audio.output.voice":         setVoice,
		"audio.output.speed":         only("1", "The model speaks at its own speed: speed must be 1."),
		"tool_choice":                only(`"auto"`, "The model chooses its tools: tool_choice must be \"auto\"."),
		"prompt":                     only("", "This gateway stores no prompts: send the text as instructions."),
	}
}

// withoutEffect are fields that change nothing that a caller could notice: hints, and what a server
// tells of a session. They are taken and ignored.
func withoutEffect() []string {
	return []string{"tracing", "include", "truncation", "reasoning", "parallel_tool_calls", "id", "object",
		"expires_at", "client_secret", "metadata", "audio.input.noise_reduction"}
}

// betaNames are fields that had another name in the beta.
func betaNames() map[string]string {
	return map[string]string{"modalities": "output_modalities", "voice": "audio.output.voice",
		"speed":              "audio.output.speed",
		"input_audio_format": "audio.input.format", "output_audio_format": "audio.output.format",
		"input_audio_transcription":   "audio.input.transcription",
		"input_audio_noise_reduction": "audio.input.noise_reduction", "turn_detection": "audio.input.turn_detection",
		"max_response_output_tokens": "max_output_tokens"}
}

// field is a field of a session.update.
type field struct {
	path string // as the client wrote it
	raw  json.RawMessage
}

// fields returns the fields of a session in a fixed order. It reports false if the session is no
// object.
func fields(raw json.RawMessage) (list []field, ok bool) {
	var top map[string]json.RawMessage
	if json.Unmarshal(raw, &top) != nil || top == nil {
		return nil, false
	}
	for name, value := range top {
		if name != "audio" {
			list = append(list, field{name, value})
			continue
		}
		var ways map[string]map[string]json.RawMessage
		if json.Unmarshal(value, &ways) != nil {
			return nil, false
		}
		for way, in := range ways {
			for name, value := range in {
				list = append(list, field{"audio." + way + "." + name, value})
			}
		}
	}
	slices.SortFunc(list, func(a, b field) int { return strings.Compare(a.path, b.path) })
	return list, true
}

// apply returns the session with the fields of an update. Each field that cannot be had is refused
// alone and keeps its value.
func (s session) apply(list []field) (session, []*fault) {
	var faults []*fault
	known, hints, beta := settings(), withoutEffect(), betaNames()
	for _, f := range list {
		name := f.path
		if n := beta[name]; n != "" {
			name = n
		}
		set := known[name]
		switch {
		case slices.Contains(hints, name):
		case set == nil:
			faults = append(faults, &fault{"unknown_parameter", "session", "The session has a field that this gateway does " +
				"not know. It is ignored."})
		default:
			if f := refused(set(&s, f.raw), "session."+f.path); f != nil {
				faults = append(faults, f)
			}
		}
	}
	return s, faults
}

// refused completes a fault.
func refused(f *fault, param string) *fault {
	if f != nil {
		f.param = param
	}
	return f
}

func isNull(raw json.RawMessage) bool { return string(bytes.TrimSpace(raw)) == "null" }

func setType(_ *session, raw json.RawMessage) *fault {
	if string(raw) != `"realtime"` {
		return invalid("", "session.type must be \"realtime\": this gateway holds conversations.")
	}
	return nil
}

// text sets a text; null leaves it.
func text(bytesMax int, of func(*session) *string) setting {
	return func(s *session, raw json.RawMessage) *fault {
		var value string
		if json.Unmarshal(raw, &value) != nil {
			return invalid("", "The value must be a text.")
		}
		if len(value) > bytesMax {
			return unsupported("", "The text has %d bytes; at most %d are taken.", len(value), bytesMax)
		}
		if !isNull(raw) {
			*of(s) = value
		}
		return nil
	}
}

// only refuses every value but one. null means that value.
func only(value, message string) setting {
	return func(_ *session, raw json.RawMessage) *fault {
		if isNull(raw) || string(bytes.TrimSpace(raw)) == value {
			return nil
		}
		return unsupported("", "%s", message)
	}
}

// declaration is a tool as the API has it.
type declaration struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
}

// setTools takes functions. Another tool, and one out of its limits, is refused alone.
func setTools(s *session, raw json.RawMessage) *fault {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return invalid("", "tools must be a list.")
	}
	s.tools = nil
	for _, raw := range list {
		var d declaration
		if json.Unmarshal(raw, &d) != nil || d.Type != "function" || len(s.tools) == transport.ToolsMax {
			continue
		}
		one := transport.Session{Tools: []transport.Tool{{Name: d.Name, Description: d.Description,
			Parameters: d.Parameters}}}
		if one.Check() == nil {
			s.tools = append(s.tools, one.Tools[0])
		}
	}
	s.declare()
	if n := len(s.tools); n < len(list) {
		return unsupported("", "%d of %d tools are not functions with a name of 1 to %d bytes and at most %d bytes of "+
			"description and parameters, or are more than %d. The model gets the others.", len(list)-n, len(list),
			transport.ToolNameLenMax, transport.ToolBytesMax, transport.ToolsMax)
	}
	return nil
}

// declare writes the tools as the server sends them.
func (s *session) declare() {
	list := make([]declaration, 0, len(s.tools))
	for _, t := range s.tools {
		list = append(list, declaration{Type: "function", Name: t.Name, Description: t.Description, Parameters: t.Parameters})
	}
	b, err := json.Marshal(list)
	if s.declared = string(b); err != nil || len(list) == 0 {
		s.declared = ""
	}
}

func setModalities(s *session, raw json.RawMessage) *fault {
	textOnly, f := modalities(raw)
	if f == nil && !isNull(raw) {
		s.textOnly = textOnly
	}
	return f
}

// modalities reads what a reply shall be. Audio comes with its transcript in any case.
func modalities(raw json.RawMessage) (textOnly bool, f *fault) {
	var list []string
	if json.Unmarshal(raw, &list) != nil {
		return false, invalid("", "The modalities must be a list.")
	}
	for _, m := range list {
		if m != "audio" && m != "text" {
			return false, unsupported("", "A reply is audio, text or both.")
		}
	}
	return len(list) > 0 && !slices.Contains(list, "audio"), nil
}

func format(of func(*session) *coding) setting {
	return func(s *session, raw json.RawMessage) *fault {
		if isNull(raw) {
			return nil
		}
		k, ok := parseCoding(raw)
		if !ok {
			return unsupported("", "The format is another than those this gateway takes: audio/pcm at 8000 to 48000 Hz, "+
				"and audio/pcmu and audio/pcma at %d Hz.", g711RateHz)
		}
		*of(s) = k
		return nil
	}
}

func setDetection(s *session, raw json.RawMessage) *fault {
	if isNull(raw) {
		s.detection = nil
		return nil
	}
	var d struct {
		Type      string `json:"type"`
		Create    *bool  `json:"create_response"`
		Interrupt *bool  `json:"interrupt_response"`
	}
	if json.Unmarshal(raw, &d) != nil || d.Type != "server_vad" && d.Type != "semantic_vad" {
		return unsupported("", "turn_detection must be null, server_vad or semantic_vad.")
	}
	s.detection = &detection{kind: d.Type, interrupt: d.Interrupt == nil || *d.Interrupt,
		create: d.Create == nil || *d.Create}
	return nil
}

func setTranscription(s *session, raw json.RawMessage) *fault {
	if isNull(raw) {
		s.transcription = nil
		return nil
	}
	var t struct {
		Model    string `json:"model"`
		Language string `json:"language"`
	}
	if json.Unmarshal(raw, &t) != nil {
		return invalid("", "transcription must be null or an object.")
	}
	h := transport.Hello{Version: transport.Version, InputRateHz: g711RateHz, OutputRateHz: g711RateHz,
		Language: t.Language}
	s.transcription = &transcription{model: transport.Cut(t.Model, modelLenMax), language: t.Language}
	if h.Check(transport.Offer{}) != nil {
		s.transcription.language = ""
		return invalid("", "The language of a transcription must be a BCP 47 tag.")
	}
	return nil
}

// setVoice takes a name, or an object with an id.
func setVoice(s *session, raw json.RawMessage) *fault {
	var custom struct {
		ID string `json:"id"`
	}
	if json.Unmarshal(raw, &custom.ID) != nil && json.Unmarshal(raw, &custom) != nil {
		return invalid("", "voice must be a name, or an object with an id.")
	}
	if len(custom.ID) > transport.NameLenMax {
		return unsupported("", "A voice has a name of at most %d bytes.", transport.NameLenMax)
	}
	if !isNull(raw) {
		s.voice = custom.ID
	}
	return nil
}

func setTemperature(s *session, raw json.RawMessage) *fault {
	var t *float32 // not the old one's memory: a running call keeps that
	if json.Unmarshal(raw, &t) != nil {
		return invalid("", "temperature must be a number.")
	}
	s.temperature = t
	return nil
}

// setMaxOutputTokens takes a number or "inf".
func setMaxOutputTokens(s *session, raw json.RawMessage) *fault {
	var n *int32
	if string(raw) != `"inf"` && (json.Unmarshal(raw, &n) != nil || n != nil && *n <= 0) {
		return invalid("", "max_output_tokens must be a number over 0, or \"inf\".")
	}
	s.maxOutputTokens = n
	return nil
}

// lateInstructions tell the model that its instructions have changed.
const lateInstructions = "From now on these instructions replace those from the beginning of the call: "

// lateMax is the length of instructions that a running call can get, in characters.
const lateMax = transport.TextCharsMax - len(lateInstructions)

// change returns the session that a running call can have of the one that a client wants: what the
// model was told at the start of the call stays, and each such field is refused alone. Instructions
// can change if the call follows some of the client's, because the model can learn them.
func (s session) change(want session) (session, []*fault) {
	var faults []*fault
	keep := func(param, fix string, differs bool, undo func()) {
		if differs {
			undo()
			faults = append(faults, unsupported("session."+param, "%s cannot change in a running call. %s", param, fix))
		}
	}
	const early = "Send it in the first session.update, before audio and items."
	keep("model", early, want.model != s.model, func() { want.model = s.model })
	late := fmt.Sprintf("New ones have 1 to %d characters, and the call began with instructions of its client.", lateMax)
	keep("instructions", late, want.instructions != s.instructions && (s.instructions == "" || want.instructions == "" ||
		utf8.RuneCountInString(want.instructions) > lateMax), func() { want.instructions = s.instructions })
	keep("tools", early, want.declared != s.declared, func() { want.tools, want.declared = s.tools, s.declared })
	keep("temperature", early, !same(want.temperature, s.temperature), func() { want.temperature = s.temperature })
	keep("max_output_tokens", early, !same(want.maxOutputTokens, s.maxOutputTokens),
		func() { want.maxOutputTokens = s.maxOutputTokens })
	keep("audio.output.voice", early, want.voice != s.voice, func() { want.voice = s.voice })
	keep("audio.output.format", early, want.out.rateHz != s.out.rateHz, func() { want.out = s.out })
	keep("audio.input.turn_detection", early, differ(s.detection, want.detection),
		func() { want.detection = s.detection })
	return want, faults
}

func same[T comparable](a, b *T) bool { return a == b || a != nil && b != nil && *a == *b }

// differ reports whether a call must be made otherwise for the one detection than for the other.
func differ(a, b *detection) bool {
	return a.waits() != b.waits() || !a.waits() && a.interrupt != b.interrupt
}

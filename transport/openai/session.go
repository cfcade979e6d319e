package openai

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/voicegw/voicegw/transport"
)

// session holds the settings in force. Settings that a client asks for and that are not here have no
// effect.
type session struct {
	model, instructions, voice string
	tools                      []transport.Tool
	declared                   string // the tools as the client declared them, "" for none
	temperature                *float32
	maxOutputTokens            *int32 // nil: no limit
	textOnly                   bool   // replies are text: the audio is kept from the client
	in, out                    coding
	detection                  *detection     // nil: the client detects turns
	transcription              *transcription // nil: no transcripts of the caller
}

// detection is who ends the caller's turn on the gateway's side.
type detection struct {
	kind      string // server_vad or semantic_vad
	interrupt bool
	create    bool // the model answers without response.create
}

type transcription struct {
	model, language string
}

func newSession(model string) session {
	return session{model: model, in: defaultCoding(), out: defaultCoding(),
		detection: &detection{kind: "server_vad", interrupt: true, create: true}}
}

// waits reports whether the model answers what the caller says only with response.create.
func (d *detection) waits() bool { return d == nil || !d.create }

// fault is the content of an error event.
type fault struct {
	code, param, message string
}

// unsupported returns the fault for a feature that this gateway does not have.
func unsupported(param, form string, args ...any) *fault {
	return &fault{code: "unsupported", param: param, message: fmt.Sprintf(form, args...)}
}

// invalid returns the fault for a value that the protocol does not have.
func invalid(param, form string, args ...any) *fault {
	return &fault{code: "invalid_value", param: param, message: fmt.Sprintf(form, args...)}
}

// hello puts the session into a hello.
func (s *session) hello(h *transport.Hello) {
	if s.transcription != nil {
		h.Language = s.transcription.language
	}
	h.InputRateHz, h.OutputRateHz = s.in.rateHz, s.out.rateHz
	if d := s.detection; d.waits() {
		h.Detection, h.InputRateHz = transport.DetectionPush, bufferRateHz
	} else {
		h.Detection, h.HalfDuplex = transport.DetectionDefault, !d.interrupt
	}
	h.Session = transport.Session{Model: s.model, Voice: s.voice, SystemInstruction: s.instructions, Tools: s.tools,
		Temperature: s.temperature, MaxOutputTokens: s.maxOutputTokens}
}

// object is a JSON object.
type object = map[string]any

func (s *session) modalities() []string {
	if s.textOnly {
		return []string{"text"}
	}
	return []string{"audio"}
}

// describe returns the session in the form the server sends.
func (s *session) describe(id string) object {
	return object{"type": "realtime", "object": "realtime.session", "id": id, "model": s.model,
		"output_modalities": s.modalities(), "instructions": s.instructions, "tools": s.toolList(), "tool_choice": "auto",
		"max_output_tokens": s.limit(), "tracing": nil, "prompt": nil,
		"audio": object{
			"input": object{"format": s.in.describe(), "turn_detection": s.detection.describe(),
				"transcription": s.transcription.describe(), "noise_reduction": nil},
			"output": object{"format": s.out.describe(), "voice": s.voice, "speed": 1},
		}}
}

// describeBeta returns the session in the form of the beta.
func (s *session) describeBeta(id string) object {
	modalities := []string{"text"}
	if !s.textOnly {
		modalities = []string{"audio", "text"}
	}
	return object{"object": "realtime.session", "id": id, "model": s.model, "modalities": modalities,
		"instructions": s.instructions, "voice": s.voice, "tools": s.toolList(), "tool_choice": "auto",
		"input_audio_format": s.in.betaName(), "output_audio_format": s.out.betaName(),
		"input_audio_transcription": s.transcription.describe(), "turn_detection": s.detection.describe(),
		"max_response_output_tokens": s.limit()}
}

func (s *session) toolList() json.RawMessage {
	if s.declared == "" {
		return json.RawMessage("[]")
	}
	return json.RawMessage(s.declared)
}

func (s *session) limit() any {
	if s.maxOutputTokens == nil {
		return "inf"
	}
	return *s.maxOutputTokens
}

// follow makes the session the one that the gateway follows, and returns the faults of what it does
// not. Most clients ask for a model and a voice of OpenAI's: the session says which they have.
func (s *session) follow(r *transport.Ready) (faults []*fault) {
	if r.Model.Name != "" {
		s.model = r.Model.Name
	}
	for _, f := range r.Refused {
		field := f.Field
		switch f.Field {
		case "model":
			continue
		case "voice":
			s.voice = r.Voice
			continue
		case "system_instruction":
			s.instructions, field = "", "instructions"
		case "temperature":
			s.temperature = nil
		case "max_output_tokens":
			s.maxOutputTokens = nil
		case "tools":
			s.drop(f.Value)
		case "half_duplex":
			field, s.detection.interrupt = "audio.input.turn_detection.interrupt_response", true
		}
		faults = append(faults, unsupported("session."+field, "session.%s is %s; it must be %s.", field, f.Value, f.Want))
	}
	return faults
}

// drop takes out the function that a refusal describes.
func (s *session) drop(refused string) {
	s.tools = slices.DeleteFunc(s.tools, func(t transport.Tool) bool {
		return fmt.Sprintf("the function %.60q", t.Name) == refused
	})
	s.declare()
}

func (d *detection) describe() any {
	if d == nil {
		return nil
	}
	return object{"type": d.kind, "create_response": d.create, "interrupt_response": d.interrupt}
}

func (t *transcription) describe() any {
	switch {
	case t == nil:
		return nil
	case t.language == "":
		return object{"model": t.model}
	}
	return object{"model": t.model, "language": t.language}
}

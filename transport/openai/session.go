package openai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/wsdoor"
)

// session is what is read of a session.update. What is not here has no effect.
type session struct {
	Type             string          `json:"type"`
	Model            string          `json:"model"`
	Instructions     string          `json:"instructions"`
	OutputModalities []string        `json:"output_modalities"`
	Tools            json.RawMessage `json:"tools"`
	Audio            struct {
		Input struct {
			Format        *format         `json:"format"`
			TurnDetection json.RawMessage `json:"turn_detection"` // null: the client says when
			Transcription *struct {
				Language string `json:"language"`
			} `json:"transcription"`
		} `json:"input"`
		Output struct {
			Format *format         `json:"format"`
			Voice  json.RawMessage `json:"voice"` // a name, or an object with an id
		} `json:"output"`
	} `json:"audio"`
}

type format struct {
	Type string `json:"type"`
	Rate int    `json:"rate"`
}

type turnDetection struct {
	Type              string `json:"type"`
	CreateResponse    *bool  `json:"create_response"`
	InterruptResponse *bool  `json:"interrupt_response"`
}

// fault is what an error event says.
type fault struct {
	code, param, message string
}

// unsupported is a fault of what this gateway does not do.
func unsupported(param, form string, args ...any) *fault {
	return &fault{code: "unsupported", param: param, message: fmt.Sprintf(form, args...)}
}

// check returns what of the session cannot be taken, nil when all can.
func (s *session) check() *fault {
	if s.Type != "realtime" {
		return &fault{"invalid_value", "session.type", "session.type must be \"realtime\"."}
	}
	for _, m := range s.OutputModalities {
		if m != "audio" {
			return unsupported("session.output_modalities", "This gateway speaks: output_modalities must be [\"audio\"].")
		}
	}
	for _, f := range [...]struct {
		param string
		*format
	}{{"session.audio.input.format", s.Audio.Input.Format}, {"session.audio.output.format", s.Audio.Output.Format}} {
		if _, ok := f.coding(); !ok {
			return unsupported(f.param, "The format is another than those this gateway takes: "+
				"audio/pcm at %d Hz, and audio/pcmu and audio/pcma at %d Hz.", pcmRateHz, g711RateHz)
		}
	}
	if d, ok := s.detection(); !ok || d != nil && d.CreateResponse != nil && !*d.CreateResponse {
		return unsupported("session.audio.input.turn_detection",
			"turn_detection must be null, server_vad or semantic_vad, and create_response true.")
	}
	return nil
}

// codings are those of the formats, which were checked.
func (s *session) codings() (in, out coding) {
	in, _ = s.Audio.Input.Format.coding()
	out, _ = s.Audio.Output.Format.coding()
	return in, out
}

// detection is how turns are told, nil when the client says; it reports false for a way nobody knows.
func (s *session) detection() (*turnDetection, bool) {
	raw := s.Audio.Input.TurnDetection
	if raw == nil {
		return &turnDetection{Type: "server_vad"}, true
	}
	if string(raw) == "null" {
		return nil, true
	}
	d := new(turnDetection)
	if json.Unmarshal(raw, d) != nil {
		return nil, false
	}
	return d, d.Type == "server_vad" || d.Type == "semantic_vad"
}

// fill puts the session, which was checked, into a hello.
func (s *session) fill(h *transport.Hello) *fault {
	d, _ := s.detection()
	if d == nil {
		h.Detection = transport.DetectionPush
	} else {
		h.Detection = transport.DetectionDefault
		h.HalfDuplex = d.InterruptResponse != nil && !*d.InterruptResponse
	}
	if t := s.Audio.Input.Transcription; t != nil {
		h.Language = t.Language
	}
	for _, p := range [...]struct{ param, name, text string }{
		{"session.model", wsdoor.ParamModel, s.Model},
		{"session.audio.output.voice", wsdoor.ParamVoice, s.voice()},
		{"session.instructions", wsdoor.ParamSystemInstruction, s.Instructions},
	} {
		if !wsdoor.SetParam(h, p.name, p.text) {
			return unsupported(p.param, "%s has %d bytes, more than this gateway takes.", p.param, len(p.text))
		}
	}
	if !wsdoor.SetParam(h, wsdoor.ParamTools, s.tools()) {
		wsdoor.SetParam(h, wsdoor.ParamTools, s.toolNames())
	}
	return nil
}

func (s *session) voice() string {
	var name string
	var custom struct {
		ID string `json:"id"`
	}
	if json.Unmarshal(s.Audio.Output.Voice, &name) == nil {
		return name
	}
	_ = json.Unmarshal(s.Audio.Output.Voice, &custom) // of another shape: no voice
	return custom.ID
}

// tools are the declarations without white space, "" for none.
func (s *session) tools() string {
	var b bytes.Buffer
	if len(s.Tools) == 0 || string(s.Tools) == "null" || json.Compact(&b, s.Tools) != nil || b.String() == "[]" {
		return ""
	}
	return b.String()
}

func (s *session) toolNames() string {
	var tools []struct {
		Name string `json:"name"`
	}
	_ = json.Unmarshal(s.Tools, &tools) // what is no declaration has no name
	var names []string
	for _, t := range tools {
		names = append(names, t.Name)
	}
	return strings.Join(names, ",")
}

// object is a JSON object.
type object = map[string]any

// describe is the session as the server tells it.
func (s *session) describe(id string) object {
	in, out := s.codings()
	var detection any
	if d, _ := s.detection(); d != nil {
		detection = object{"type": d.Type, "create_response": true,
			"interrupt_response": d.InterruptResponse == nil || *d.InterruptResponse}
	}
	var transcription any
	if t := s.Audio.Input.Transcription; t != nil {
		transcription = object{"language": t.Language}
	}
	tools := json.RawMessage("[]")
	if text := s.tools(); text != "" {
		tools = json.RawMessage(text)
	}
	return object{"type": "realtime", "object": "realtime.session", "id": id, "model": s.Model,
		"output_modalities": []string{"audio"}, "instructions": s.Instructions, "tools": tools, "tool_choice": "auto",
		"audio": object{
			"input":  object{"format": in.describe(), "turn_detection": detection, "transcription": transcription},
			"output": object{"format": out.describe(), "voice": s.voice()},
		}}
}

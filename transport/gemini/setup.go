package gemini

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/wsdoor"
)

// setup is what is read of a BidiGenerateContentSetup. What is not here has no effect.
type setup struct {
	Model            string `json:"model"`
	GenerationConfig struct {
		ResponseModalities []string `json:"responseModalities"`
		SpeechConfig       struct {
			LanguageCode string `json:"languageCode"`
			VoiceConfig  struct {
				PrebuiltVoiceConfig struct {
					VoiceName string `json:"voiceName"`
				} `json:"prebuiltVoiceConfig"`
			} `json:"voiceConfig"`
		} `json:"speechConfig"`
	} `json:"generationConfig"`
	SystemInstruction   content         `json:"systemInstruction"`
	Tools               json.RawMessage `json:"tools"`
	RealtimeInputConfig struct {
		AutomaticActivityDetection struct {
			Disabled bool `json:"disabled"`
		} `json:"automaticActivityDetection"`
		ActivityHandling string `json:"activityHandling"`
	} `json:"realtimeInputConfig"`
	SessionResumption struct {
		Handle string `json:"handle"`
	} `json:"sessionResumption"`
	InputAudioTranscription  *struct{} `json:"inputAudioTranscription"`
	OutputAudioTranscription *struct{} `json:"outputAudioTranscription"`
	ExplicitVADSignal        bool      `json:"explicitVadSignal"`
}

// content is a turn of words.
type content struct {
	Role  string  `json:"role"`
	Parts []*part `json:"parts"`
}

type part struct {
	Text       string          `json:"text"`
	InlineData json.RawMessage `json:"inlineData"`
	FileData   json.RawMessage `json:"fileData"`
}

// text joins the words of a turn, and reports false when it has anything else.
func (c *content) text() (string, bool) {
	var b strings.Builder
	for _, p := range c.Parts {
		switch {
		case p == nil:
		case p.InlineData != nil || p.FileData != nil:
			return "", false
		default:
			b.WriteString(p.Text)
		}
	}
	return b.String(), true
}

// refused says why a setup, or a message, cannot be taken.
func refused(format string, args ...any) error {
	return wsdoor.End(transport.ReasonBadJSON, fmt.Sprintf(format, args...), nil)
}

// fill puts the setup into a hello.
func (s *setup) fill(h *transport.Hello) error {
	for _, m := range s.GenerationConfig.ResponseModalities {
		if !strings.EqualFold(m, "AUDIO") {
			return refused("setup.generationConfig.responseModalities must be AUDIO: this gateway speaks AUDIO alone.")
		}
	}
	if s.SessionResumption.Handle != "" {
		return wsdoor.End(transport.ReasonUnauthorized, "setup.sessionResumption.handle: this gateway gave out no handle. "+
			"Connect without one.", nil)
	}
	h.Language = s.GenerationConfig.SpeechConfig.LanguageCode
	if s.RealtimeInputConfig.AutomaticActivityDetection.Disabled {
		h.Detection = transport.DetectionPush
	}
	h.HalfDuplex = s.RealtimeInputConfig.ActivityHandling == "NO_INTERRUPTION"
	return s.params(h)
}

// params puts what the gateway's hooks may want to know into the hello.
func (s *setup) params(h *transport.Hello) error {
	instruction, ok := s.SystemInstruction.text()
	if !ok {
		return refused("setup.systemInstruction has more than text.")
	}
	for _, p := range [...]struct{ name, text string }{
		{wsdoor.ParamModel, s.Model[strings.LastIndex(s.Model, "/")+1:]},
		{wsdoor.ParamVoice, s.GenerationConfig.SpeechConfig.VoiceConfig.PrebuiltVoiceConfig.VoiceName},
		{wsdoor.ParamSystemInstruction, instruction},
	} {
		if !wsdoor.SetParam(h, p.name, p.text) {
			return refused("setup: %s has %d bytes, more than this gateway takes.", p.name, len(p.text))
		}
	}
	if !wsdoor.SetParam(h, wsdoor.ParamTools, compact(s.Tools)) {
		wsdoor.SetParam(h, wsdoor.ParamTools, functionNames(s.Tools))
	}
	return nil
}

// compact is JSON without white space, "" for what is none.
func compact(raw json.RawMessage) string {
	var b bytes.Buffer
	if len(raw) == 0 || string(raw) == "null" || json.Compact(&b, raw) != nil {
		return ""
	}
	return b.String()
}

// functionNames are the names of the functions that are declared, in order.
func functionNames(raw json.RawMessage) string {
	var tools []struct {
		FunctionDeclarations []struct {
			Name string `json:"name"`
		} `json:"functionDeclarations"`
	}
	_ = json.Unmarshal(raw, &tools) // what is no declaration has no name
	var names []string
	for _, t := range tools {
		for _, f := range t.FunctionDeclarations {
			names = append(names, f.Name)
		}
	}
	return strings.Join(names, ",")
}

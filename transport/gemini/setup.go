package gemini

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/voicegw/voicegw/transport"
)

// Why fields have no effect, in the tags below: the gateway's settings decide, its link to the model
// is its own, and so is its detector of speech.

// setup is a BidiGenerateContentSetup: the fields that the gateway reads, and those without effect.
type setup struct {
	Model               string           `json:"model"`
	GenerationConfig    generationConfig `json:"generationConfig"`
	SystemInstruction   content          `json:"systemInstruction"`
	Tools               []tool           `json:"tools"`
	RealtimeInputConfig struct {
		AutomaticActivityDetection struct {
			Disabled                 bool   `json:"disabled"`
			StartOfSpeechSensitivity string `json:"startOfSpeechSensitivity"`
			EndOfSpeechSensitivity   string `json:"endOfSpeechSensitivity"`
			PrefixPaddingMS          *int32 `json:"prefixPaddingMs"`
			SilenceDurationMS        *int32 `json:"silenceDurationMs"`
		} `json:"automaticActivityDetection"`
		ActivityHandling string   `json:"activityHandling"`
		TurnCoverage     string   `json:"turnCoverage"`
		_                struct{} `none:"interimTranscriptTimestampEnabled" why:"transcripts have no times"`
	} `json:"realtimeInputConfig"`
	SessionResumption *struct {
		Handle string   `json:"handle"`
		_      struct{} `none:"transparent" why:"the gateway does not count the client's messages"`
	} `json:"sessionResumption"`
	InputAudioTranscription  *transcription `json:"inputAudioTranscription"`
	OutputAudioTranscription *transcription `json:"outputAudioTranscription"`
	ExplicitVADSignal        bool           `json:"explicitVadSignal"`

	_ struct{} `none:"contextWindowCompression" why:"the gateway keeps its own connection to the model within limits"`
	_ struct{} `none:"proactivity safetySettings avatarConfig labels" why:"the gateway's settings decide"`
	_ struct{} `none:"historyConfig" why:"content is history wherever it is not complete"`
}

// generationConfig is the part of a setup about replies.
type generationConfig struct {
	ResponseModalities []string `json:"responseModalities"`
	Temperature        *float32 `json:"temperature"`
	MaxOutputTokens    *int32   `json:"maxOutputTokens"`
	SpeechConfig       struct {
		LanguageCode string `json:"languageCode"`
		VoiceConfig  struct {
			Voice               string `json:"voice"`
			PrebuiltVoiceConfig struct {
				VoiceName string `json:"voiceName"`
			} `json:"prebuiltVoiceConfig"`
			_ struct{} `none:"replicatedVoiceConfig" why:"the gateway takes the name of a voice"`
		} `json:"voiceConfig"`
		_ struct{} `none:"multiSpeakerVoiceConfig" why:"the gateway takes the name of one voice"`
	} `json:"speechConfig"`

	_ struct{} `none:"topP topK seed stopSequences" why:"the gateway's settings decide"`
	_ struct{} `none:"candidateCount presencePenalty frequencyPenalty logprobs" why:"the gateway's settings decide"`
	_ struct{} `none:"responseLogprobs thinkingConfig enableAffectiveDialog" why:"the gateway's settings decide"`
	_ struct{} `none:"translationConfig routingConfig modelSelectionConfig" why:"the gateway's settings decide"`
	_ struct{} `none:"enableEnhancedCivicAnswers audioTimestamp" why:"the gateway's settings decide"`
	_ struct{} `none:"audioTranscriptionConfig" why:"the gateway's settings decide"`
	_ struct{} `none:"mediaResolution" why:"the gateway takes no pictures"`
	_ struct{} `none:"responseMimeType responseSchema responseJsonSchema responseFormat" why:"the gateway speaks"`
}

// transcription asks for transcripts.
type transcription struct {
	_ struct{} `none:"languageCodes languageAuto languageHints" why:"transcripts come as the model makes them"`
	_ struct{} `none:"customVocabulary adaptationPhrases mode" why:"transcripts come as the model makes them"`
	_ struct{} `none:"diarization wordTimestamp" why:"transcripts come as the model makes them"`
}

// tool declares functions.
type tool struct {
	FunctionDeclarations []struct {
		Name                 string          `json:"name"`
		Description          string          `json:"description"`
		Behavior             string          `json:"behavior"`
		Parameters           whole[schema]   `json:"parameters"`
		ParametersJSONSchema json.RawMessage `json:"parametersJsonSchema"`
		_                    struct{}        `none:"response responseJsonSchema" why:"results have no schema here"`
	} `json:"functionDeclarations"`

	_ struct{} `none:"googleSearch googleSearchRetrieval googleMaps" why:"this gateway offers the model functions alone"`
	_ struct{} `none:"enterpriseWebSearch fileSearch urlContext" why:"this gateway offers the model functions alone"`
	_ struct{} `none:"codeExecution computerUse mcpServers" why:"this gateway offers the model functions alone"`
	_ struct{} `none:"parallelAiSearch exaAiSearch retrieval" why:"this gateway offers the model functions alone"`
}

// schema has the fields of a schema whose names have more than one word, and those with schemas.
type schema struct {
	AnyOf                []*schema          `json:"anyOf"`
	Items                *schema            `json:"items"`
	Properties           map[string]*schema `json:"properties"`
	AdditionalProperties json.RawMessage    `json:"additionalProperties"`
	PropertyOrdering     []string           `json:"propertyOrdering"`
	MinItems             json.RawMessage    `json:"minItems"`
	MaxItems             json.RawMessage    `json:"maxItems"`
	MinLength            json.RawMessage    `json:"minLength"`
	MaxLength            json.RawMessage    `json:"maxLength"`
	MinProperties        json.RawMessage    `json:"minProperties"`
	MaxProperties        json.RawMessage    `json:"maxProperties"`
}

// content is a turn of text.
type content struct {
	Role  string  `json:"role"`
	Parts []*part `json:"parts"`
}

// part is a part of a turn; only text is read.
type part struct {
	Text string `json:"text"`

	_ struct{} `none:"inlineData fileData videoMetadata mediaResolution mediaProcessing" why:"the gateway takes text"`
	_ struct{} `none:"functionCall functionResponse toolCall toolResponse" why:"the gateway takes text"`
	_ struct{} `none:"executableCode codeExecutionResult partMetadata" why:"the gateway takes text"`
	_ struct{} `none:"thought thoughtSignature audioTranscription speechMetadata" why:"the gateway takes text"`
}

// text joins the text parts of a turn.
func (c *content) text() string {
	var b strings.Builder
	for _, p := range c.Parts {
		if p != nil {
			b.WriteString(p.Text)
		}
	}
	return b.String()
}

// refused ends the call because of an unsupported setup or message.
func refused(format string, args ...any) error {
	return transport.End(transport.ReasonBadJSON, fmt.Sprintf(format, args...), nil)
}

// fill puts the setup into a hello, and notes what the hello cannot hold.
func (s *setup) fill(h *transport.Hello, n *notes) error {
	if err := s.checkModalities(n); err != nil {
		return err
	}
	if r := s.SessionResumption; r != nil {
		h.Resume = transport.Resume{Able: true, Handle: r.Handle}
	}
	language := s.GenerationConfig.SpeechConfig.LanguageCode
	asked := transport.Hello{Version: transport.Version, InputRateHz: h.InputRateHz, OutputRateHz: h.OutputRateHz,
		Language: language}
	if asked.Check(transport.Offer{}) == nil {
		h.Language = language
	} else {
		n.add("setup.generationConfig.speechConfig.languageCode", "it must be a BCP 47 tag such as \"en-US\"")
	}
	input := &s.RealtimeInputConfig
	if input.AutomaticActivityDetection.Disabled {
		h.Detection = transport.DetectionPush
	}
	switch input.ActivityHandling {
	case "NO_INTERRUPTION":
		h.HalfDuplex = true
	case "", "ACTIVITY_HANDLING_UNSPECIFIED", "START_OF_ACTIVITY_INTERRUPTS":
	default:
		n.add("setup.realtimeInputConfig.activityHandling", "the gateway does not know the value; it has no effect")
	}
	switch input.TurnCoverage {
	case "", "TURN_COVERAGE_UNSPECIFIED", "TURN_INCLUDES_ONLY_ACTIVITY":
	default:
		n.add("setup.realtimeInputConfig.turnCoverage",
			"the field has no effect: the model gets the caller's speech, as with TURN_INCLUDES_ONLY_ACTIVITY")
	}
	s.session(h)
	d := &input.AutomaticActivityDetection
	h.Session.Activity = transport.Activity{PrefixMS: d.PrefixPaddingMS, SilenceMS: d.SilenceDurationMS,
		Start: sensitivity("START_SENSITIVITY_", d.StartOfSpeechSensitivity),
		End:   sensitivity("END_SENSITIVITY_", d.EndOfSpeechSensitivity)}
	return nil
}

// sensitivity returns a sensitivity without its prefix. The gateway refuses one that it does not know.
func sensitivity(prefix, name string) transport.Sensitivity {
	if name == prefix+"UNSPECIFIED" {
		return ""
	}
	return transport.Sensitivity(strings.ToLower(strings.TrimPrefix(name, prefix)))
}

// checkModalities refuses a setup that asks for replies, but not for spoken ones.
func (s *setup) checkModalities(n *notes) error {
	const field = "setup.generationConfig.responseModalities"
	spoken := 0
	asked := s.GenerationConfig.ResponseModalities
	for _, m := range asked {
		if strings.EqualFold(m, "AUDIO") {
			spoken++
		}
	}
	switch {
	case len(asked) > 0 && spoken == 0:
		return refused("%s must be AUDIO: this gateway speaks AUDIO alone. outputAudioTranscription gives the text.", field)
	case spoken < len(asked):
		n.add(field, "this gateway speaks AUDIO alone; outputAudioTranscription gives the text")
	}
	return nil
}

// session puts what the client asks of the model into the hello. A client may not see what it is
// told of fields that the call does not follow, so the hello is strict.
func (s *setup) session(h *transport.Hello) {
	voice := &s.GenerationConfig.SpeechConfig.VoiceConfig
	h.Session = transport.Session{
		Model:             s.Model[strings.LastIndex(s.Model, "/")+1:],
		Voice:             cmp.Or(voice.PrebuiltVoiceConfig.VoiceName, voice.Voice),
		SystemInstruction: s.SystemInstruction.text(),
		Tools:             functions(s.Tools),
		Temperature:       s.GenerationConfig.Temperature,
		MaxOutputTokens:   s.GenerationConfig.MaxOutputTokens,
	}
}

const automaticDetection = "setup.realtimeInputConfig.automaticActivityDetection."

// sessionPath returns the field of the setup that a field of Hello.Session comes from.
func sessionPath(field string) string {
	switch field {
	case "system_instruction":
		return "setup.systemInstruction"
	case "voice":
		return "setup.generationConfig.speechConfig.voiceConfig"
	case "temperature":
		return "setup.generationConfig.temperature"
	case "max_output_tokens":
		return "setup.generationConfig.maxOutputTokens"
	case "start_sensitivity":
		return automaticDetection + "startOfSpeechSensitivity"
	case "end_sensitivity":
		return automaticDetection + "endOfSpeechSensitivity"
	case "prefix_padding":
		return automaticDetection + "prefixPaddingMs"
	case "silence_duration":
		return automaticDetection + "silenceDurationMs"
	case "half_duplex":
		return "setup.realtimeInputConfig.activityHandling"
	}
	return "setup." + field
}

// functions returns the declared functions.
func functions(tools []tool) (list []transport.Tool) {
	for _, t := range tools {
		for _, f := range t.FunctionDeclarations {
			schema := f.ParametersJSONSchema
			if schema == nil && f.Parameters.RawMessage != nil {
				schema = jsonSchema(f.Parameters.RawMessage)
			}
			list = append(list, transport.Tool{Name: f.Name, Description: f.Description, Parameters: schema,
				NonBlocking: f.Behavior == "NON_BLOCKING"})
		}
	}
	return list
}

// jsonSchema returns a schema of the Gemini API as JSON Schema: types in lower case, and "nullable" as
// a type of its own. The rest has the same meaning.
func jsonSchema(raw json.RawMessage) json.RawMessage {
	var v any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return raw // the gateway refuses it
	}
	out, err := json.Marshal(lowerTypes(v))
	if err != nil {
		return raw
	}
	return out
}

func lowerTypes(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = lowerTypes(v[i])
		}
	case map[string]any:
		for key, member := range v {
			switch {
			case key == "enum" || key == "default" || key == "example" || key == "required": // values, not schemas
			case key == "properties":
				if properties, ok := member.(map[string]any); ok {
					for name := range properties {
						properties[name] = lowerTypes(properties[name])
					}
				}
			default:
				v[key] = lowerTypes(member)
			}
		}
		if name, ok := v["type"].(string); ok {
			v["type"] = strings.ToLower(name)
			if v["nullable"] == true {
				v["type"] = []string{strings.ToLower(name), "null"}
				delete(v, "nullable")
			}
		}
	}
	return v
}

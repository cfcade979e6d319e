package sim

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"slices"
	"strconv"
	"strings"
)

// verb is the kind of a client message.
type verb uint8

const (
	verbSetup verb = iota + 1
	verbAudio
	verbText
	verbContent
	verbActivityStart
	verbActivityEnd
	verbStreamEnd
	verbToolResponse
	verbIgnored // valid, but without effect: video, a context update
)

// request is one client message.
type request struct {
	verb         verb
	setup        setupRequest
	pcm          []byte // verbAudio, 16-bit little-endian
	rateHz       int    // verbAudio
	text         string // verbText
	turnComplete bool   // verbContent
	turns        []Line // verbContent
	replies      []toolReply
}

// setupRequest is the part of a setup that has an effect.
type setupRequest struct {
	model, handle         string
	manual, resumption    bool
	callerText, modelText bool
	noInterruption        bool // speech of the caller does not interrupt a reply
	tools                 map[string]tool
	history               bool // content is history until its turn is complete
}

// tool is the part of a function declaration that has an effect.
type tool struct {
	nonBlocking bool // the model does not wait for the reply
}

const (
	audioHead = `{"realtimeInput":{"audio":{"data":"`
	audioTail = `","mimeType":"audio/pcm;rate=`
	audioEnd  = `"}}}`
)

const invalidArgument = "Request contains an invalid argument."

// parse reads a client message. It reads audio in the form of genai and package live without a JSON
// parser.
func parse(data []byte, grammar *node) (request, *refusal) {
	if r, ok := parseAudio(data); ok {
		return r, nil
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var raw any
	if err := decoder.Decode(&raw); err != nil {
		return request{}, invalid("Invalid JSON payload received. %v", err)
	}
	if _, err := decoder.Token(); err != io.EOF {
		return request{}, invalid("Invalid JSON payload received. Expected end of string.")
	}
	if raw == nil {
		return request{}, invalid(invalidArgument)
	}
	checked, refused := grammar.check(raw, "")
	if refused != nil {
		return request{}, refused
	}
	return interpret(checked.(map[string]value))
}

func parseAudio(data []byte) (request, bool) {
	rest, ok := bytes.CutPrefix(data, []byte(audioHead))
	if !ok {
		return request{}, false
	}
	b64, rest, ok := bytes.Cut(rest, []byte(audioTail))
	if !ok {
		return request{}, false
	}
	rate, ok := bytes.CutSuffix(rest, []byte(audioEnd))
	if !ok {
		return request{}, false
	}
	pcm, err := base64.StdEncoding.AppendDecode(nil, b64)
	rateHz, rateErr := strconv.Atoi(string(rate))
	if err != nil || rateErr != nil || refuseAudio(len(pcm), rateHz) != nil {
		return request{}, false
	}
	return request{verb: verbAudio, pcm: pcm, rateHz: rateHz}, true
}

func refuseAudio(bytes, rateHz int) *refusal {
	if bytes%2 != 0 || rateHz < 8000 || rateHz > 48000 {
		return invalid(invalidArgument)
	}
	return nil
}

// interpret turns a checked message into a request. The message must have exactly one member.
func interpret(m map[string]value) (request, *refusal) {
	if len(m) != 1 {
		return request{}, invalid("Invalid value at 'client_message' (oneof): want exactly one message_type, got %d", len(m))
	}
	for name, v := range m {
		switch name {
		case "setup":
			return interpretSetup(v)
		case "realtimeInput":
			return interpretInput(v)
		case "clientContent":
			return request{verb: verbContent, turnComplete: dig(v, "turnComplete") == true, turns: contentLines(v)}, nil
		case "toolResponse":
			return interpretToolResponse(v)
		}
	}
	return request{verb: verbIgnored}, nil
}

func interpretSetup(v value) (request, *refusal) {
	s := setupRequest{
		manual:         dig(v, "realtimeInputConfig", "automaticActivityDetection", "disabled") == true,
		noInterruption: dig(v, "realtimeInputConfig", "activityHandling") == "NO_INTERRUPTION",
		callerText:     dig(v, "inputAudioTranscription") != nil,
		modelText:      dig(v, "outputAudioTranscription") != nil,
		resumption:     dig(v, "sessionResumption") != nil,
		tools:          declared(v),
		history:        dig(v, "historyConfig", "initialHistoryInClientContent") == true,
	}
	s.model, _ = dig(v, "model").(string)
	s.handle, _ = dig(v, "sessionResumption", "handle").(string)
	if modalities, ok := dig(v, "generationConfig", "responseModalities").([]value); ok {
		for _, m := range modalities {
			if m != "AUDIO" {
				return request{}, invalid(invalidArgument)
			}
		}
	}
	return request{verb: verbSetup, setup: s}, nil
}

// interpretInput reads realtimeInput, which must have exactly one member.
func interpretInput(v value) (request, *refusal) {
	input, _ := v.(map[string]value)
	if _, ok := input["mediaChunks"]; ok {
		return request{}, invalid("realtime_input.media_chunks is deprecated. Use audio, video, or text instead.")
	}
	if len(input) != 1 {
		return request{}, invalid(invalidArgument)
	}
	for name, v := range input {
		switch name {
		case "audio":
			return interpretAudio(v)
		case "text":
			s, _ := v.(string)
			return request{verb: verbText, text: s}, nil
		case "activityStart":
			return request{verb: verbActivityStart}, nil
		case "activityEnd":
			return request{verb: verbActivityEnd}, nil
		case "audioStreamEnd":
			return request{verb: verbStreamEnd}, nil
		}
	}
	return request{verb: verbIgnored}, nil
}

func interpretAudio(v value) (request, *refusal) {
	pcm, _ := dig(v, "data").([]byte)
	mime, _ := dig(v, "mimeType").(string)
	rateHz := inputRateHz
	kind, params, _ := strings.Cut(mime, ";")
	if kind != "audio/pcm" {
		return request{}, invalid("Unsupported MIME type %.40q: want audio/pcm;rate=16000", mime)
	}
	if name, rate, ok := strings.Cut(strings.TrimSpace(params), "="); ok && name == "rate" {
		rateHz, _ = strconv.Atoi(rate)
	}
	if refused := refuseAudio(len(pcm), rateHz); refused != nil {
		return request{}, refused
	}
	return request{verb: verbAudio, pcm: pcm, rateHz: rateHz}, nil
}

// interpretToolResponse reads the replies of tools, at least one.
func interpretToolResponse(v value) (request, *refusal) {
	r := request{verb: verbToolResponse}
	replies, _ := dig(v, "functionResponses").([]value)
	for _, reply := range replies {
		t := toolReply{}
		t.id, _ = dig(reply, "id").(string)
		t.name, _ = dig(reply, "name").(string)
		t.scheduling, _ = dig(reply, "scheduling").(string)
		if !slices.Contains([]string{"", "INTERRUPT", "WHEN_IDLE", "SILENT"}, t.scheduling) {
			return request{}, badValue(t.scheduling, "tool_response.function_responses.scheduling", "TYPE_ENUM")
		}
		t.response, _ = json.Marshal(dig(reply, "response"))
		r.replies = append(r.replies, t)
	}
	if len(r.replies) == 0 {
		return request{}, invalid(invalidArgument)
	}
	return r, nil
}

// declared returns the functions of a setup.
func declared(setup value) map[string]tool {
	all := map[string]tool{}
	tools, _ := dig(setup, "tools").([]value)
	for _, t := range tools {
		functions, _ := dig(t, "functionDeclarations").([]value)
		for _, f := range functions {
			name, _ := dig(f, "name").(string)
			all[name] = tool{nonBlocking: dig(f, "behavior") == "NON_BLOCKING"}
		}
	}
	return all
}

// contentLines returns the texts of a content.
func contentLines(content value) (lines []Line) {
	turns, _ := dig(content, "turns").([]value)
	for _, t := range turns {
		role, _ := dig(t, "role").(string)
		parts, _ := dig(t, "parts").([]value)
		for _, p := range parts {
			if text, ok := dig(p, "text").(string); ok {
				lines = append(lines, Line{role, text})
			}
		}
	}
	return lines
}

// dig follows names into v. It returns nil if a name does not exist.
func dig(v value, names ...string) value {
	for _, name := range names {
		m, ok := v.(map[string]value)
		if !ok {
			return nil
		}
		v = m[name]
	}
	return v
}

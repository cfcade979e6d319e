package live

import (
	"encoding/base64"
	"encoding/json"
	"fmt"

	"google.golang.org/genai"

	"github.com/voicegw/voicegw/audio"
)

const (
	audioPrefix = `{"realtimeInput":{"audio":{"data":"`
	audioSuffix = `","mimeType":"` + mimeAudioUp + `"}}}`
)

// encoder makes wire messages. A result is valid until the next call, which reuses its memory.
type encoder struct {
	out, le []byte
}

// audio encodes at most audioSamplesMax samples. It does not allocate once its buffers have grown.
func (e *encoder) audio(pcm []int16) []byte {
	e.le = audio.AppendBytes(e.le[:0], pcm)
	e.out = append(e.out[:0], audioPrefix...)
	e.out = base64.StdEncoding.AppendEncode(e.out, e.le)
	e.out = append(e.out, audioSuffix...)
	return e.out
}

// realtimeInput replaces genai.LiveClientRealtimeInput, which has no text and no audioStreamEnd.
type realtimeInput struct {
	RealtimeInput genai.LiveSendRealtimeInputParameters `json:"realtimeInput"`
}

// message encodes any message but audio. m must have been checked.
func (e *encoder) message(m *ClientMessage) ([]byte, error) {
	var v any
	switch m.Kind {
	case ClientText:
		v = realtimeInput{genai.LiveSendRealtimeInputParameters{Text: m.Text}}
	case ClientActivityStart:
		v = realtimeInput{genai.LiveSendRealtimeInputParameters{ActivityStart: &genai.ActivityStart{}}}
	case ClientActivityEnd:
		v = realtimeInput{genai.LiveSendRealtimeInputParameters{ActivityEnd: &genai.ActivityEnd{}}}
	case ClientStreamEnd:
		v = realtimeInput{genai.LiveSendRealtimeInputParameters{AudioStreamEnd: true}}
	case ClientContent:
		v = genai.LiveClientMessage{ClientContent: content(m)}
	case ClientToolReply:
		v = genai.LiveClientMessage{ToolResponse: toolResponse(m.Replies)}
	}
	out, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("live: encode %s: %w", m.Kind, err)
	}
	return out, nil
}

func content(m *ClientMessage) *genai.LiveClientContent {
	c := &genai.LiveClientContent{TurnComplete: m.TurnComplete}
	for _, t := range m.Turns {
		c.Turns = append(c.Turns, &genai.Content{Role: t.Role, Parts: []*genai.Part{{Text: t.Text}}})
	}
	return c
}

func toolResponse(replies []ToolReply) *genai.LiveClientToolResponse {
	out := make([]*genai.FunctionResponse, len(replies))
	for i := range replies {
		out[i] = functionResponse(&replies[i])
	}
	return &genai.LiveClientToolResponse{FunctionResponses: out}
}

// functionResponse always sets output or error, because JSON would leave out an empty map.
func functionResponse(r *ToolReply) *genai.FunctionResponse {
	response := map[string]any{"output": r.Output}
	if r.Error != "" {
		response = map[string]any{"error": r.Error}
	}
	return &genai.FunctionResponse{ID: r.ID, Name: r.Name, Response: response,
		Scheduling: genai.FunctionResponseScheduling(r.Scheduling.String())}
}

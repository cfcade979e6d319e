package live

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/genai"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/internal/foreign"
)

// unknownNamesMax bounds how many field names a ServerUnknown reports.
const unknownNamesMax = 8

// decoder turns wire messages into ServerMessages, one or several each. It is used by one goroutine.
type decoder struct {
	cleaner foreign.Cleaner

	le    []byte // samples of a fast message
	queue []item // of a slow message, from next on
	next  int
}

// item is a ServerMessage that waits to be received; its audio is still in bytes.
type item struct {
	msg ServerMessage
	le  []byte
}

// pop delivers the next waiting message, if any.
func (d *decoder) pop(m *ServerMessage) bool {
	if d.next == len(d.queue) {
		return false
	}
	it := &d.queue[d.next]
	d.next++
	pcm := m.PCM[:0]
	*m = it.msg
	m.PCM = audio.AppendSamples(pcm, it.le)
	d.clean(m)
	*it = item{}
	return true
}

// clean takes the key out of what may be logged or shown, and cuts what is no part of the conversation. Every message
// but plain audio passes here.
func (d *decoder) clean(m *ServerMessage) {
	switch m.Kind {
	case ServerMalformed, ServerUnknown:
		m.Text = d.cleaner.Text(m.Text, reasonBytesMax)
	case ServerTurnComplete:
		m.Reason = d.cleaner.Text(m.Reason, reasonBytesMax)
	case ServerToolCall:
		m.Call.Name = d.cleaner.Replace(m.Call.Name)
	default:
		m.Text = d.cleaner.Replace(m.Text)
	}
}

// decode reads one wire message, delivers its first part and queues the rest. The queue must be empty.
func (d *decoder) decode(data []byte, m *ServerMessage) {
	if d.fastAudio(data, m) {
		return
	}
	d.queue, d.next = appendSlow(d.queue[:0], data), 0
	d.pop(m)
}

// appendSlow appends what data says, in the order of the kinds, and at least one item.
func appendSlow(q []item, data []byte) []item {
	var lm genai.LiveServerMessage
	if err := json.Unmarshal(data, &lm); err != nil {
		return append(q, malformed("%s (%d bytes)", foreign.Fault(err), len(data)))
	}
	amend(&lm, data)
	before := len(q)
	q = appendMessage(q, &lm)
	if len(q) == before {
		q = append(q, nothingKnown(data))
	}
	return q
}

// amend reads what genai knows by other names: the type of a voice activity, and the tokens as Vertex AI calls them.
func amend(lm *genai.LiveServerMessage, data []byte) {
	if lm.VoiceActivity == nil && (lm.UsageMetadata == nil || lm.UsageMetadata.ResponseTokenCount != 0) {
		return
	}
	var v struct {
		VoiceActivity struct {
			Type genai.VoiceActivityType `json:"type"`
		} `json:"voiceActivity"`
		UsageMetadata struct {
			CandidatesTokenCount int32 `json:"candidatesTokenCount"`
		} `json:"usageMetadata"`
	}
	if json.Unmarshal(data, &v) != nil {
		return
	}
	if lm.VoiceActivity != nil {
		lm.VoiceActivity.VoiceActivityType = v.VoiceActivity.Type
	}
	if lm.UsageMetadata != nil && lm.UsageMetadata.ResponseTokenCount == 0 {
		lm.UsageMetadata.ResponseTokenCount = v.UsageMetadata.CandidatesTokenCount
	}
}

// appendMessage appends what a message says, in the order of the kinds.
func appendMessage(q []item, lm *genai.LiveServerMessage) []item {
	if sc := lm.ServerContent; sc != nil {
		q = appendContent(q, sc, lm.ToolCallCancellation)
	} else {
		q = appendCancel(q, lm.ToolCallCancellation)
	}
	q = appendToolCalls(q, lm.ToolCall)
	q = appendEnd(q, lm.ServerContent)
	return appendRest(q, lm)
}

func malformed(format string, args ...any) item {
	return item{msg: ServerMessage{Kind: ServerMalformed, Text: fmt.Sprintf(format, args...)}}
}

// appendContent appends what comes before tool calls.
func appendContent(q []item, sc *genai.LiveServerContent, cancel *genai.LiveServerToolCallCancellation) []item {
	if sc.Interrupted {
		q = append(q, item{msg: ServerMessage{Kind: ServerInterrupted}})
	}
	q = appendCancel(q, cancel)
	q = appendTranscript(q, ServerCallerTranscript, sc.InputTranscription)
	q = appendTranscript(q, ServerModelTranscript, sc.OutputTranscription)
	if sc.ModelTurn == nil {
		return q
	}
	for _, p := range sc.ModelTurn.Parts {
		if p != nil && p.InlineData != nil {
			q = appendAudio(q, p.InlineData)
		}
	}
	return q
}

func appendCancel(q []item, c *genai.LiveServerToolCallCancellation) []item {
	if c == nil || len(c.IDs) == 0 {
		return q
	}
	return append(q, item{msg: ServerMessage{Kind: ServerToolCancel, IDs: c.IDs}})
}

func appendTranscript(q []item, kind ServerKind, t *genai.Transcription) []item {
	if t == nil || t.Text == "" && !t.Finished {
		return q
	}
	return append(q, item{msg: ServerMessage{Kind: kind, Text: t.Text, Final: t.Finished}})
}

func appendAudio(q []item, b *genai.Blob) []item {
	rateHz, err := audioRate(b.MIMEType)
	switch {
	case err != nil:
		return append(q, malformed("audio: %v", err))
	case len(b.Data)%2 != 0:
		return append(q, malformed("audio: %d bytes are no whole number of 16-bit samples", len(b.Data)))
	case len(b.Data) == 0:
		return q
	}
	return append(q, item{msg: ServerMessage{Kind: ServerAudio, RateHz: rateHz}, le: b.Data})
}

func appendToolCalls(q []item, tc *genai.LiveServerToolCall) []item {
	if tc == nil {
		return q
	}
	for _, f := range tc.FunctionCalls {
		if f == nil {
			continue
		}
		args := json.RawMessage("{}")
		if len(f.Args) > 0 {
			// It was just read from JSON, so it can be written.
			args, _ = json.Marshal(f.Args)
		}
		q = append(q, item{msg: ServerMessage{Kind: ServerToolCall, Call: ToolCall{f.ID, f.Name, args}}})
	}
	return q
}

func appendEnd(q []item, sc *genai.LiveServerContent) []item {
	if sc == nil {
		return q
	}
	if sc.GenerationComplete {
		q = append(q, item{msg: ServerMessage{Kind: ServerGenerationComplete}})
	}
	if sc.TurnComplete {
		reason := string(sc.TurnCompleteReason)
		q = append(q, item{msg: ServerMessage{Kind: ServerTurnComplete, Reason: reason}})
	}
	return q
}

func appendRest(q []item, lm *genai.LiveServerMessage) []item {
	if u := lm.UsageMetadata; u != nil {
		usage := Usage{max(0, u.PromptTokenCount), max(0, u.ResponseTokenCount), max(0, u.ThoughtsTokenCount),
			max(0, u.TotalTokenCount)}
		q = append(q, item{msg: ServerMessage{Kind: ServerUsage, Usage: usage}})
	}
	if r := lm.SessionResumptionUpdate; r != nil {
		m := ServerMessage{Kind: ServerResumption, Handle: r.NewHandle, Resumable: r.Resumable}
		q = append(q, item{msg: m})
	}
	if g := lm.GoAway; g != nil {
		q = append(q, item{msg: ServerMessage{Kind: ServerGoAway, TimeLeft: max(0, g.TimeLeft)}})
	}
	if v := lm.VoiceActivity; v != nil {
		q = append(q, item{msg: ServerMessage{Kind: ServerVoiceActivity, Text: activityText(v.VoiceActivityType)}})
	}
	return q
}

func activityText(t genai.VoiceActivityType) string {
	switch t {
	case genai.VoiceActivityTypeActivityStart:
		return "start"
	case genai.VoiceActivityTypeActivityEnd:
		return "end"
	}
	return ""
}

// nothingKnown reports an error object of the model as malformed, and otherwise the names of the fields there are.
func nothingKnown(data []byte) item {
	if text, ok := errorText(data); ok {
		return malformed("%s", text)
	}
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(data, &fields) // it is an object or null: it was read before
	names := make([]string, 0, len(fields))
	for name := range fields {
		names = append(names, name)
	}
	slices.Sort(names)
	names = names[:min(len(names), unknownNamesMax)]
	return item{msg: ServerMessage{Kind: ServerUnknown, Text: strings.Join(names, ",")}}
}

// errorText reads {"error":{"code":400,"message":"...","status":"..."}}.
func errorText(data []byte) (string, bool) {
	var v struct {
		Error *struct {
			Code    int    `json:"code"`
			Message string `json:"message"`
			Status  string `json:"status"`
		} `json:"error"`
	}
	if json.Unmarshal(data, &v) != nil || v.Error == nil {
		return "", false
	}
	return fmt.Sprintf("error %d %s: %s", v.Error.Code, v.Error.Status, v.Error.Message), true
}

// setupAnswer reads a message that came before the conversation stands. It reports whether the setup was accepted;
// refusal is the text of an error object.
func setupAnswer(data []byte) (accepted bool, refusal string) {
	var lm genai.LiveServerMessage
	if json.Unmarshal(data, &lm) == nil && lm.SetupComplete != nil {
		return true, ""
	}
	refusal, _ = errorText(data)
	return false, refusal
}

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

// unknownNamesMax is the most field names in a ServerUnknown.
const unknownNamesMax = 8

// decoder turns each wire message into one or several ServerMessages. One goroutine uses it.
type decoder struct {
	cleaner foreign.Cleaner

	le    []byte // samples of a message that fastAudio read
	queue []item // of any other message; delivered up to next
	next  int
}

// item is a ServerMessage that waits for Recv. le is its audio.
type item struct {
	msg ServerMessage
	le  []byte
}

// pop delivers the next item, if there is one.
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

// clean removes the API key from text that may be logged or shown, and shortens text that is not
// part of the conversation. Every message passes here, except audio that fastAudio read.
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

// decode reads one wire message, delivers its first part in m and queues the rest. The queue must
// be empty.
func (d *decoder) decode(data []byte, m *ServerMessage) {
	if d.fastAudio(data, m) {
		return
	}
	d.queue, d.next = appendSlow(d.queue[:0], data), 0
	d.pop(m)
}

// appendSlow appends the parts of a message in the order of their kinds, at least one item.
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

// amend reads fields for which genai has other names: the type of a voice activity, and the token
// counts of Vertex AI.
func amend(lm *genai.LiveServerMessage, data []byte) {
	if lm.VoiceActivity == nil && (lm.UsageMetadata == nil || lm.UsageMetadata.ResponseTokenCount != 0) {
		return
	}
	var v struct {
		VoiceActivity struct {
			Type genai.VoiceActivityType `json:"type"`
		} `json:"voiceActivity"`
		UsageMetadata struct {
			CandidatesTokenCount    int32                       `json:"candidatesTokenCount"`
			CandidatesTokensDetails []*genai.ModalityTokenCount `json:"candidatesTokensDetails"`
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
		if lm.UsageMetadata.ResponseTokensDetails == nil {
			lm.UsageMetadata.ResponseTokensDetails = v.UsageMetadata.CandidatesTokensDetails
		}
	}
}

// appendMessage appends the parts of a message in the order of their kinds.
func appendMessage(q []item, lm *genai.LiveServerMessage) []item {
	if sc := lm.ServerContent; sc != nil {
		q = appendContent(q, sc, lm.ToolCallCancellation)
	} else {
		q = appendCancel(q, lm.ToolCallCancellation)
	}
	q = appendToolCalls(q, lm.ToolCall)
	q = appendEnd(q, lm.ServerContent, lm.UsageMetadata)
	return appendRest(q, lm)
}

func malformed(format string, args ...any) item {
	return item{msg: ServerMessage{Kind: ServerMalformed, Text: fmt.Sprintf(format, args...)}}
}

// appendContent appends the parts that come before tool calls.
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
		return append(q, malformed("audio: %d bytes are not a whole number of 16-bit samples", len(b.Data)))
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
			// The arguments come from JSON, so this cannot fail.
			args, _ = json.Marshal(f.Args)
		}
		q = append(q, item{msg: ServerMessage{Kind: ServerToolCall, Call: ToolCall{f.ID, f.Name, args}}})
	}
	return q
}

// appendEnd appends the end of a turn, and before it the tokens of the turn.
func appendEnd(q []item, sc *genai.LiveServerContent, u *genai.UsageMetadata) []item {
	if sc != nil && sc.GenerationComplete {
		q = append(q, item{msg: ServerMessage{Kind: ServerGenerationComplete}})
	}
	if u != nil {
		q = append(q, item{msg: ServerMessage{Kind: ServerUsage, Usage: usageOf(u)}})
	}
	if sc != nil && sc.TurnComplete {
		reason := string(sc.TurnCompleteReason)
		q = append(q, item{msg: ServerMessage{Kind: ServerTurnComplete, Reason: reason}})
	}
	return q
}

func usageOf(u *genai.UsageMetadata) Usage {
	return Usage{
		Prompt: max(0, u.PromptTokenCount), Response: max(0, u.ResponseTokenCount), Thoughts: max(0, u.ThoughtsTokenCount),
		Total: max(0, u.TotalTokenCount), Cached: max(0, u.CachedContentTokenCount),
		PromptText:    countOf(u.PromptTokensDetails, genai.MediaModalityText),
		PromptAudio:   countOf(u.PromptTokensDetails, genai.MediaModalityAudio),
		ResponseText:  countOf(u.ResponseTokensDetails, genai.MediaModalityText),
		ResponseAudio: countOf(u.ResponseTokensDetails, genai.MediaModalityAudio),
	}
}

// countOf returns the tokens of one modality.
func countOf(details []*genai.ModalityTokenCount, of genai.MediaModality) int32 {
	for _, d := range details {
		if d != nil && d.Modality == of {
			return max(0, d.TokenCount)
		}
	}
	return 0
}

func appendRest(q []item, lm *genai.LiveServerMessage) []item {
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

// nothingKnown returns an error object of the model as malformed, any other message as unknown,
// with the names of its fields.
func nothingKnown(data []byte) item {
	if text, ok := errorText(data); ok {
		return malformed("%s", text)
	}
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(data, &fields) // it was read before, so it is an object or null
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

// setupAnswer reads a message that came before the setup was accepted. It reports whether the
// message accepts it; refusal is the text of an error object.
func setupAnswer(data []byte) (accepted bool, refusal string) {
	var lm genai.LiveServerMessage
	if json.Unmarshal(data, &lm) == nil && lm.SetupComplete != nil {
		return true, ""
	}
	refusal, _ = errorText(data)
	return false, refusal
}

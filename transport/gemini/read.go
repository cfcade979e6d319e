package gemini

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/internal/foreign"
	"github.com/voicegw/voicegw/internal/jsonscan"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/wsconn"
	"github.com/voicegw/voicegw/transport/wsendpoint"
)

// clientMessage is a BidiGenerateContentClientMessage. It has one of its fields.
type clientMessage struct {
	Setup         *setup         `json:"setup"`
	RealtimeInput *realtimeInput `json:"realtimeInput"`
	ClientContent *clientContent `json:"clientContent"`
	ToolResponse  *toolResponse  `json:"toolResponse"`

	_ struct{} `none:"contextUpdate" why:"this gateway does not change a call that runs"`
}

// messageShape is the shape of a clientMessage.
var messageShape = sync.OnceValue(shapeOf[clientMessage])

type realtimeInput struct {
	Audio          *blob     `json:"audio"`
	MediaChunks    []*blob   `json:"mediaChunks"` // sent by older clients
	Text           string    `json:"text"`
	ActivityStart  *struct{} `json:"activityStart"`
	ActivityEnd    *struct{} `json:"activityEnd"`
	AudioStreamEnd bool      `json:"audioStreamEnd"`

	_ struct{} `none:"video" why:"this gateway takes no pictures, and the call goes on without them"`
}

type blob struct {
	Data     binary `json:"data"`
	MIMEType string `json:"mimeType"`

	_ struct{} `none:"displayName" why:"the gateway takes sound"`
}

type clientContent struct {
	Turns        []*content `json:"turns"`
	TurnComplete bool       `json:"turnComplete"`
}

type toolResponse struct {
	FunctionResponses []*functionResponse `json:"functionResponses"`
}

type functionResponse struct {
	ID       string                     `json:"id"`
	Name     string                     `json:"name"`
	Response map[string]json.RawMessage `json:"response"`
	// Scheduling is for a tool that is NON_BLOCKING.
	Scheduling string `json:"scheduling"`

	_ struct{} `none:"willContinue" why:"the model gets the first response to a call"`
	_ struct{} `none:"parts" why:"the model gets the response as JSON"`
}

// decode reads a message in any spelling.
func (c *codec) decode(b []byte) (clientMessage, error) {
	var msg clientMessage
	b, err := spell(b, messageShape(), &c.notes)
	if err != nil {
		return msg, err
	}
	switch err := json.Unmarshal(b, &msg); {
	case errors.Is(err, errBase64):
		return msg, refused("A message is not valid: data is not base64.")
	case err != nil:
		return msg, badJSON(err)
	}
	kinds := 0
	for _, has := range [...]bool{msg.Setup != nil, msg.RealtimeInput != nil, msg.ClientContent != nil,
		msg.ToolResponse != nil} {
		if has {
			kinds++
		}
	}
	if kinds > 1 {
		return msg, refused("A message is not valid: it has more than one of setup, realtimeInput, clientContent and " +
			"toolResponse.")
	}
	return msg, nil
}

// Read turns a message of the client into events.
func (c *codec) Read(m wsconn.Message, in *wsendpoint.Inbox, out *wsendpoint.Outbox) error {
	if data, mime, ok := scanAudio(m.Data); ok {
		pcm, err := decodeBase64(c.pcm, data)
		if err != nil {
			return refused("realtimeInput.audio.data is not base64.")
		}
		c.pcm = pcm
		return c.audio(pcm, mime, in)
	}
	msg, err := c.decode(m.Data)
	if err == nil {
		err = c.read(&msg, in)
	}
	if warnings := c.fresh(); err == nil && len(warnings) > 0 {
		putWarned(out, object{"serverContent": object{}}, warnings)
	}
	return err
}

func (c *codec) read(msg *clientMessage, in *wsendpoint.Inbox) error {
	switch {
	case msg.Setup != nil:
		return transport.End(transport.ReasonSecondHello, "setup came twice: it must be the first message, and "+
			"the only one of its kind.", nil)
	case msg.RealtimeInput != nil:
		return c.realtime(msg.RealtimeInput, in)
	case msg.ClientContent != nil:
		return c.content(msg.ClientContent, in)
	case msg.ToolResponse != nil:
		return c.toolResponse(msg.ToolResponse, in)
	}
	in.Unknown()
	return nil
}

// badJSON says where the JSON is invalid, and reveals none of its content.
func badJSON(err error) error {
	return transport.End(transport.ReasonBadJSON, "A message is not valid: "+foreign.Fault(err)+".", nil)
}

// scanAudio is the fast path for a message with one piece of audio and nothing else, in either
// spelling.
func scanAudio(b []byte) (data, mime []byte, ok bool) {
	s := jsonscan.New(b)
	if !s.Skip('{') || !s.Is("realtimeInput") && !s.Is("realtime_input") || !s.Skip('{') {
		return nil, nil, false
	}
	closing := "}}}"
	if s.Is("mediaChunks") || s.Is("media_chunks") { // sent by older clients
		closing = "}]}}"
		ok = s.Skip('[')
	} else {
		ok = s.Is("audio")
	}
	if !ok || !s.Skip('{') {
		return nil, nil, false
	}
	for {
		key, ok := s.Key()
		if !ok {
			return nil, nil, false
		}
		value, ok := s.Text()
		switch {
		case ok && string(key) == "data" && data == nil:
			data = value
		case ok && (string(key) == "mimeType" || string(key) == "mime_type") && mime == nil:
			mime = value
		default:
			return nil, nil, false
		}
		if !s.Skip(',') {
			break
		}
	}
	sound := closing == "}}}" || bytes.HasPrefix(mime, []byte("audio/")) // chunks may be pictures
	return data, mime, s.SkipAll(closing) && s.End() && data != nil && mime != nil && sound
}

// audio takes PCM at the rate of its MIME type. Audio after the end of a stream begins another
// stream.
func (c *codec) audio(pcm, mime []byte, in *wsendpoint.Inbox) error {
	rate, err := c.rateOf(mime)
	switch {
	case err != nil:
		return transport.End(transport.ReasonBadAudio, err.Error(), nil)
	case len(pcm)%2 != 0:
		return transport.End(transport.ReasonBadAudio, fmt.Sprintf(
			"A piece of audio has %d bytes; 16-bit samples come in pairs of bytes.", len(pcm)), nil)
	}
	if c.streamEnded {
		c.streamEnded = false
		in.Event(transport.Event{Kind: transport.EventMute})
	}
	return in.Audio(rate, pcm)
}

// rateOf returns the rate in a MIME type such as "audio/pcm;rate=16000"; the default is 16,000. It
// remembers the last MIME type.
func (c *codec) rateOf(b []byte) (int, error) {
	if c.rateHz > 0 && string(b) == c.mime {
		return c.rateHz, nil
	}
	mime := string(b)
	kind, params, _ := strings.Cut(mime, ";")
	if !strings.EqualFold(strings.TrimSpace(kind), "audio/pcm") {
		return 0, errors.New("media of another type came; this gateway takes audio/pcm, no video and no other sound")
	}
	rate := wsendpoint.InputRateHz
	for p := range strings.SplitSeq(params, ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(p), "=")
		if !strings.EqualFold(strings.TrimSpace(name), "rate") {
			continue
		}
		if _, err := fmt.Sscanf(strings.TrimSpace(value), "%d", &rate); err != nil || audio.CheckRate(rate) != nil {
			return 0, errors.New("the rate in a MIME type must be 8000 to 48000 (Hz)")
		}
	}
	c.mime, c.rateHz = mime, rate
	return rate, nil
}

func (c *codec) realtime(r *realtimeInput, in *wsendpoint.Inbox) error {
	for _, b := range append(r.MediaChunks, r.Audio) {
		if b == nil {
			continue
		}
		if b != r.Audio && isPicture(b.MIMEType) {
			c.notes.add("realtimeInput.mediaChunks", "this gateway takes no pictures, and the call goes on without them")
			continue
		}
		if err := c.audio(b.Data, []byte(b.MIMEType), in); err != nil {
			return err
		}
	}
	if r.Text != "" {
		c.say("realtimeInput.text", r.Text, in)
	}
	return c.activity(r, in)
}

// isPicture reports whether media of a type are pictures.
func isPicture(mime string) bool {
	kind, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(mime)), "/")
	return kind == "image" || kind == "video"
}

// activity takes the client's activity signals (the talk button), and the end of the audio stream.
func (c *codec) activity(r *realtimeInput, in *wsendpoint.Inbox) error {
	if (r.ActivityStart != nil || r.ActivityEnd != nil) && !c.manual {
		return refused("Explicit activity control is not supported when automatic activity detection is enabled.")
	}
	if r.ActivityStart != nil {
		in.Event(transport.Event{Kind: transport.EventTalk, On: true})
	}
	if r.ActivityEnd != nil {
		in.Event(transport.Event{Kind: transport.EventTalk})
	}
	if r.AudioStreamEnd && !c.streamEnded {
		c.streamEnded = true
		in.Event(transport.Event{Kind: transport.EventMute, On: true})
	}
	return nil
}

// say takes the typed text of a field. It drops one that is too long.
func (c *codec) say(field, text string, in *wsendpoint.Inbox) {
	if utf8.RuneCountInString(text) > transport.TextCharsMax {
		c.tooLong(field, text)
		return
	}
	in.Event(transport.Event{Kind: transport.EventText, Text: text})
}

func (c *codec) tooLong(field, text string) {
	c.notes.add(field, fmt.Sprintf("a text has %d characters; at most %d are taken, and longer texts are dropped",
		utf8.RuneCountInString(text), transport.TextCharsMax))
}

// answerNow asks for the answer to content that was complete only with a message without content.
const answerNow = "Answer what was said last."

// content takes turns of text. The model is to know them; the last of the user's is answered if the
// content is complete.
func (c *codec) content(m *clientContent, in *wsendpoint.Inbox) error {
	const field = "clientContent.turns"
	last := -1
	for i, turn := range m.Turns {
		if turn != nil && roleOf(turn.Role) == transport.RoleUser && strings.TrimSpace(turn.text()) != "" {
			last = i
		}
	}
	for i, turn := range m.Turns {
		switch {
		case turn == nil || strings.TrimSpace(turn.text()) == "":
		case i == last && m.TurnComplete:
			c.say(field, turn.text(), in)
		case !roleOf(turn.Role).Valid():
			c.notes.add(field+".role", "the role must be user, model or system; other turns are dropped")
		case utf8.RuneCountInString(turn.text()) > transport.TextCharsMax:
			c.tooLong(field, turn.text())
		default:
			in.Event(transport.Event{Kind: transport.EventContext, Role: roleOf(turn.Role), Text: turn.text()})
			c.untold = c.untold || roleOf(turn.Role) == transport.RoleUser
		}
	}
	if m.TurnComplete {
		if last < 0 && c.untold {
			in.Event(transport.Event{Kind: transport.EventText, Text: answerNow})
		}
		c.untold = false
	}
	return nil
}

// roleOf returns whose words a turn has.
func roleOf(role string) transport.Role {
	switch role {
	case "":
		return transport.RoleUser
	case "model":
		return transport.RoleAssistant
	case "assistant": // of other APIs
		return ""
	}
	return transport.Role(role)
}

// toolResponse takes the results of tools: the error, else the output, else the whole response.
func (c *codec) toolResponse(t *toolResponse, in *wsendpoint.Inbox) error {
	for _, r := range t.FunctionResponses {
		if r == nil {
			continue
		}
		if r.ID == "" || len(r.ID) > transport.IDLenMax {
			c.notes.add("toolResponse.functionResponses.id", fmt.Sprintf("a response needs the id of its call, which has at "+
				"most %d bytes; those without are dropped", transport.IDLenMax))
			continue
		}
		ev := transport.Event{Kind: transport.EventToolResult, ID: r.ID, Scheduling: c.scheduling(r)}
		if failure, ok := r.Response["error"]; ok {
			ev.Failed, ev.Text = true, plain(failure)
		} else if output, ok := r.Response["output"]; ok && len(r.Response) == 1 {
			ev.Text = string(output)
		} else {
			ev.Text = "{}"
			if all, err := json.Marshal(r.Response); err == nil && r.Response != nil { // Google's Go SDK omits an empty one
				ev.Text = string(all)
			}
		}
		in.Event(ev)
	}
	return nil
}

// scheduling returns when the model shall speak about a result, if it takes that.
func (c *codec) scheduling(r *functionResponse) string {
	const field = "toolResponse.functionResponses.scheduling"
	switch r.Scheduling {
	case "", "SCHEDULING_UNSPECIFIED":
	case "INTERRUPT", "WHEN_IDLE", "SILENT":
		switch {
		case !c.schedules:
			c.notes.add(field, "the model of the call takes no scheduling")
		case !c.nonBlocking[r.Name]:
			c.notes.add(field, "scheduling is for tools of the setup whose behavior is NON_BLOCKING")
		default:
			return r.Scheduling
		}
	default:
		c.notes.add(field, "it must be INTERRUPT, WHEN_IDLE or SILENT")
	}
	return ""
}

// plain returns a JSON string as text, and any other value unchanged.
func plain(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

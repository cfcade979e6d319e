package gemini

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/internal/foreign"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/wsdoor"
)

// clientMessage is a BidiGenerateContentClientMessage.
type clientMessage struct {
	Setup         *setup          `json:"setup"`
	RealtimeInput *realtimeInput  `json:"realtimeInput"`
	ClientContent *clientContent  `json:"clientContent"`
	ToolResponse  *toolResponse   `json:"toolResponse"`
	ContextUpdate json.RawMessage `json:"contextUpdate"`
}

type realtimeInput struct {
	Audio          *blob     `json:"audio"`
	MediaChunks    []*blob   `json:"mediaChunks"` // of older clients
	Video          *blob     `json:"video"`
	Text           string    `json:"text"`
	ActivityStart  *struct{} `json:"activityStart"`
	ActivityEnd    *struct{} `json:"activityEnd"`
	AudioStreamEnd bool      `json:"audioStreamEnd"`
}

type blob struct {
	Data     []byte `json:"data"`
	MIMEType string `json:"mimeType"`
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
}

// Read turns a message of the client into events.
func (c *codec) Read(m wsdoor.Inbound, in *wsdoor.Inbox, _ *wsdoor.Outbox) error {
	if data, mime, ok := scanAudio(m.Data); ok {
		n, err := base64.StdEncoding.Decode(c.room(len(data)), data)
		if err != nil {
			return refused("realtimeInput.audio.data is not base64.")
		}
		return c.audio(c.pcm[:n], mime, in)
	}
	var msg clientMessage
	if err := json.Unmarshal(m.Data, &msg); err != nil {
		return badJSON(err)
	}
	switch {
	case msg.Setup != nil:
		return wsdoor.End(transport.ReasonSecondHello, "setup came twice: it must be the first message, and the only one "+
			"of its kind.", nil)
	case msg.RealtimeInput != nil:
		return c.realtime(msg.RealtimeInput, in)
	case msg.ClientContent != nil:
		return c.content(msg.ClientContent, in)
	case msg.ToolResponse != nil:
		return c.toolResponse(msg.ToolResponse, in)
	case msg.ContextUpdate != nil:
		return refused("contextUpdate: this gateway does not change a call that runs.")
	}
	in.Unknown()
	return nil
}

// badJSON says where JSON is wrong, and nothing of what it holds.
func badJSON(err error) error {
	return wsdoor.End(transport.ReasonBadJSON, "A message is not valid: "+foreign.Fault(err)+".", nil)
}

// room is memory for what n bytes of base64 hold.
func (c *codec) room(n int) []byte {
	if need := base64.StdEncoding.DecodedLen(n); cap(c.pcm) < need {
		c.pcm = make([]byte, need)
	}
	return c.pcm[:cap(c.pcm)]
}

// scanAudio is the fast path for a message with a piece of audio and nothing else.
func scanAudio(b []byte) (data, mime []byte, ok bool) {
	s := wsdoor.Scan(b)
	if !s.Skip('{') || !s.Is("realtimeInput") || !s.Skip('{') || !s.Is("audio") || !s.Skip('{') {
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
		case ok && string(key) == "mimeType" && mime == nil:
			mime = value
		default:
			return nil, nil, false
		}
		if !s.Skip(',') {
			break
		}
	}
	for range 3 {
		if !s.Skip('}') {
			return nil, nil, false
		}
	}
	return data, mime, s.End() && data != nil && mime != nil
}

// audio takes PCM of the rate its MIME type names. Sound after the end of a stream begins another.
func (c *codec) audio(pcm, mime []byte, in *wsdoor.Inbox) error {
	rate, err := c.rateOf(mime)
	switch {
	case err != nil:
		return wsdoor.End(transport.ReasonBadAudio, err.Error(), nil)
	case len(pcm)%2 != 0:
		return wsdoor.End(transport.ReasonBadAudio, fmt.Sprintf(
			"A piece of audio has %d bytes; 16-bit samples come in pairs of bytes.", len(pcm)), nil)
	}
	if c.streamEnded {
		c.streamEnded = false
		in.Event(transport.Event{Kind: transport.EventMute})
	}
	return in.Audio(rate, pcm)
}

// rateOf is the rate in a MIME type such as "audio/pcm;rate=16000"; without one it is 16,000. It remembers the last.
func (c *codec) rateOf(b []byte) (int, error) {
	if c.rateHz > 0 && string(b) == c.mime {
		return c.rateHz, nil
	}
	mime := string(b)
	kind, params, _ := strings.Cut(mime, ";")
	if !strings.EqualFold(strings.TrimSpace(kind), "audio/pcm") {
		return 0, errors.New("media of another type came; this gateway takes audio/pcm, no video and no other sound")
	}
	rate := wsdoor.InputRateHz
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

func (c *codec) realtime(r *realtimeInput, in *wsdoor.Inbox) error {
	if r.Video != nil {
		return wsdoor.End(transport.ReasonBadAudio, "realtimeInput.video: this gateway takes no video.", nil)
	}
	for _, b := range append(r.MediaChunks, r.Audio) {
		if b == nil {
			continue
		}
		if err := c.audio(b.Data, []byte(b.MIMEType), in); err != nil {
			return err
		}
	}
	if r.Text != "" {
		if err := say(r.Text, in); err != nil {
			return err
		}
	}
	return c.activity(r, in)
}

// activity takes the button to talk, and the end of the microphone's stream.
func (c *codec) activity(r *realtimeInput, in *wsdoor.Inbox) error {
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

// say takes typed words.
func say(text string, in *wsdoor.Inbox) error {
	if n := utf8.RuneCountInString(text); n > transport.TextCharsMax {
		return refused("A text has %d characters; at most %d are taken.", n, transport.TextCharsMax)
	}
	in.Event(transport.Event{Kind: transport.EventText, Text: text})
	return nil
}

// content takes a turn of words, once it is complete. Turns of the model, as history, have no effect: a gateway's
// session has its own.
func (c *codec) content(m *clientContent, in *wsdoor.Inbox) error {
	for _, turn := range m.Turns {
		if turn == nil || turn.Role != "" && turn.Role != "user" {
			in.Unknown()
			continue
		}
		text, ok := turn.text()
		if !ok {
			return refused("clientContent.turns has more than text.")
		}
		c.said += text
		if len(c.said) > transport.TextCharsMax*utf8.UTFMax {
			return refused("clientContent has more than %d characters.", transport.TextCharsMax)
		}
	}
	if !m.TurnComplete || c.said == "" {
		return nil
	}
	text := c.said
	c.said = ""
	return say(text, in)
}

// toolResponse takes results of tools: their error, their output, or else all there is.
func (c *codec) toolResponse(t *toolResponse, in *wsdoor.Inbox) error {
	for _, r := range t.FunctionResponses {
		if r == nil {
			continue
		}
		if r.ID == "" || len(r.ID) > transport.IDLenMax {
			return refused("toolResponse: a function response needs an id of at most %d bytes.", transport.IDLenMax)
		}
		ev := transport.Event{Kind: transport.EventToolResult, ID: r.ID}
		if failure, ok := r.Response["error"]; ok {
			ev.Failed, ev.Text = true, plain(failure)
		} else if output, ok := r.Response["output"]; ok && len(r.Response) == 1 {
			ev.Text = string(output)
		} else {
			all, err := json.Marshal(r.Response)
			if err != nil {
				return badJSON(err)
			}
			ev.Text = string(all)
		}
		in.Event(ev)
	}
	return nil
}

// plain is a JSON string as text, and anything else as it is.
func plain(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

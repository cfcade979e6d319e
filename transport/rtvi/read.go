package rtvi

import (
	"cmp"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"github.com/voicegw/voicegw/internal/foreign"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/wsconn"
	"github.com/voicegw/voicegw/transport/wsendpoint"
)

// Read turns a frame of the client into events.
func (c *codec) Read(m wsconn.Message, in *wsendpoint.Inbox, out *wsendpoint.Outbox) error {
	f, err := decode(m)
	if err != nil {
		return err
	}
	switch f.kind {
	case frameAudio:
		return c.audio(f, in)
	case frameText:
		c.say("", transport.Event{Kind: transport.EventText, Text: string(f.data)}, in, out)
		return nil
	case frameMessage:
		msg, err := decodeMessage(f.data)
		if err != nil {
			return err
		}
		return c.message(msg, in, out)
	}
	in.Unknown()
	return nil
}

// decode reads a frame; a text frame is the JSON of a message without a protobuf frame.
func decode(m wsconn.Message) (frame, error) {
	if !m.Binary {
		return frame{kind: frameMessage, data: m.Data}, nil
	}
	f, err := decodeFrame(m.Data)
	if err != nil {
		return frame{}, transport.End(transport.ReasonBadJSON, "A message is not valid: "+err.Error()+".", err)
	}
	return f, nil
}

func decodeMessage(b []byte) (*message, error) {
	msg := new(message)
	if err := json.Unmarshal(b, msg); err != nil {
		return nil, transport.End(transport.ReasonBadJSON, "A message is not valid: "+foreign.Fault(err)+".", nil)
	}
	return msg, nil
}

// audio takes mono PCM of any valid rate.
func (c *codec) audio(f frame, in *wsendpoint.Inbox) error {
	switch {
	case f.channels > 1:
		return transport.End(transport.ReasonBadAudio, fmt.Sprintf("Audio has %d channels; send one.", f.channels), nil)
	case len(f.data)%2 != 0:
		return transport.End(transport.ReasonBadAudio, fmt.Sprintf(
			"An audio frame has %d bytes; 16-bit samples come in pairs of bytes.", len(f.data)), nil)
	case f.rateHz > 1<<20:
		f.rateHz = 0 // an invalid rate; the next line refuses it
	}
	if err := in.Audio(int(f.rateHz), f.data); err != nil {
		return transport.End(transport.ReasonBadAudio,
			fmt.Sprintf("Audio has a sample_rate of %d; it must be 8000 to 48000.", f.rateHz), err)
	}
	return nil
}

// message handles an RTVI message. It ignores one with another label.
func (c *codec) message(m *message, in *wsendpoint.Inbox, out *wsendpoint.Outbox) error {
	if m.Label != label {
		in.Unknown()
		return nil
	}
	switch m.Type {
	case "client-ready":
		in.Unknown()
		c.tellOnce(m.Type, m.ID, "client-ready came twice: it has no effect, because the call has begun.", out)
	case "send-text", "append-to-context":
		return c.text(m, in, out)
	case "dtmf":
		return c.dtmf(m, in, out)
	case "llm-function-call-result":
		return c.functionResult(m, in, out)
	case "client-message":
		c.clientMessage(m, in)
	case "disconnect-bot":
		in.Event(transport.Event{Kind: transport.EventBye, Text: "disconnect-bot"})
	case "ui-event", "ui-snapshot", "ui-cancel-job-group", "raw-audio", "raw-audio-batch":
		in.Unknown()
		c.tellOnce(m.Type, m.ID, "This gateway does not support "+m.Type+": it has no effect.", out)
	default:
		in.Unknown()
		c.tellOnce("", m.ID, "This gateway does not know a type of message that came: it has no effect.", out)
	}
	return nil
}

// clientMessage takes a message of the page for the application. A refusal comes as a MessageError.
func (c *codec) clientMessage(m *message, in *wsendpoint.Inbox) {
	var said struct {
		Type string          `json:"t"`
		Data json.RawMessage `json:"d"`
	}
	if json.Unmarshal(m.Data, &said) != nil {
		said.Type, said.Data = "", nil
	}
	if len(said.Data) == 0 {
		said.Data = json.RawMessage("null")
	}
	in.Event(transport.Event{Kind: transport.EventMessage, Name: said.Type, Text: string(said.Data)})
}

// tellOnce answers that something has no effect, the first time in a call.
func (c *codec) tellOnce(what, id, why string, out *wsendpoint.Outbox) {
	if !c.told[what] {
		if c.told == nil {
			c.told = map[string]bool{}
		}
		c.told[what] = true
		put(out, "error-response", id, object{"error": why})
	}
}

func (c *codec) data(m *message, v any) error {
	if len(m.Data) == 0 {
		return nil
	}
	if err := json.Unmarshal(m.Data, v); err != nil {
		return transport.End(transport.ReasonBadJSON,
			fmt.Sprintf("The data of a %s is not valid: %s.", m.Type, foreign.Fault(err)), nil)
	}
	return nil
}

// refuse answers an unsupported request with an error; the call goes on.
func refuse(out *wsendpoint.Outbox, id, why string) {
	put(out, "error", id, object{"error": why, "message": why, "fatal": false})
}

// say takes typed text.

// text takes what the user typed, and what the model is to know without an answer.
func (c *codec) text(m *message, in *wsendpoint.Inbox, out *wsendpoint.Outbox) error {
	var data sendText
	if err := c.data(m, &data); err != nil {
		return err
	}
	var text string
	_ = json.Unmarshal(data.Content, &text)
	role := transport.Role(cmp.Or(data.Role, string(transport.RoleUser)))
	if !role.Valid() {
		refuse(out, m.ID, "A text must have the role user, system or assistant.")
		return nil
	}
	if data.silent() {
		c.tellOnce("audio_response", m.ID, "audio_response: false has no effect: this gateway answers with audio.", out)
	}
	answer := !data.waits()
	if m.Type == "append-to-context" {
		answer = data.RunImmediately
	}
	switch {
	case answer && role == transport.RoleUser:
		c.say(m.ID, transport.Event{Kind: transport.EventText, Text: text}, in, out)
	case answer && role == transport.RoleSystem:
		c.say(m.ID, transport.Event{Kind: transport.EventPrompt, Text: text}, in, out)
	default:
		c.say(m.ID, transport.Event{Kind: transport.EventContext, Role: role, Text: text}, in, out)
	}
	return nil
}

// say takes an event with a text.
func (c *codec) say(id string, ev transport.Event, in *wsendpoint.Inbox, out *wsendpoint.Outbox) {
	if n := utf8.RuneCountInString(ev.Text); n == 0 || n > transport.TextCharsMax {
		refuse(out, id, fmt.Sprintf("A text must have 1 to %d characters; this one has %d.", transport.TextCharsMax, n))
		return
	}
	in.Event(ev)
}

func (c *codec) dtmf(m *message, in *wsendpoint.Inbox, out *wsendpoint.Outbox) error {
	var keys dtmf
	if err := c.data(m, &keys); err != nil {
		return err
	}
	digits, ok := keys.digits()
	if !ok {
		refuse(out, m.ID, fmt.Sprintf("The buttons of a dtmf must be 1 to %d of 0-9, * and #.", transport.DigitsMax))
		return nil
	}
	in.Event(transport.Event{Kind: transport.EventDTMF, Text: digits})
	return nil
}

func (c *codec) functionResult(m *message, in *wsendpoint.Inbox, out *wsendpoint.Outbox) error {
	var r functionResult
	if err := c.data(m, &r); err != nil {
		return err
	}
	if r.ToolCallID == "" || len(r.ToolCallID) > transport.IDLenMax {
		refuse(out, m.ID, fmt.Sprintf("A function call's result needs a tool_call_id of at most %d bytes.",
			transport.IDLenMax))
		return nil
	}
	if len(r.Result) == 0 {
		r.Result = json.RawMessage("null")
	}
	in.Event(transport.Event{Kind: transport.EventToolResult, ID: r.ToolCallID, Text: string(r.Result)})
	put(out, "llm-function-call-stopped", "", object{"function_name": r.FunctionName, "tool_call_id": r.ToolCallID,
		"cancelled": false, "result": r.Result})
	return nil
}

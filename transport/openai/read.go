package openai

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/voicegw/voicegw/internal/foreign"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/wsdoor"
)

// clientEvent is an event of the client.
type clientEvent struct {
	Type       string          `json:"type"`
	EventID    string          `json:"event_id"`
	Session    json.RawMessage `json:"session"`
	Audio      []byte          `json:"audio"`
	Item       *item           `json:"item"`
	ItemID     string          `json:"item_id"`
	AudioEndMS float64         `json:"audio_end_ms"`
}

// item is an item of the conversation, as a client makes one.
type item struct {
	ID      string `json:"id"`
	Type    string `json:"type"`
	Role    string `json:"role"`
	CallID  string `json:"call_id"`
	Output  string `json:"output"`
	Content []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	} `json:"content"`
}

// badJSON says where JSON is wrong, and nothing of what it holds.
func badJSON(err error) error {
	return wsdoor.End(transport.ReasonBadJSON, "An event is not valid: "+foreign.Fault(err)+".", nil)
}

// Read turns an event of the client into events of the call, and answers those that cannot be taken.
func (c *codec) Read(m wsdoor.Inbound, in *wsdoor.Inbox, out *wsdoor.Outbox) error {
	if data, ok := scanAppend(m.Data); ok {
		return c.input.append64(data, in)
	}
	var ev clientEvent
	if err := json.Unmarshal(m.Data, &ev); err != nil {
		return badJSON(err)
	}
	if ev.Type == "input_audio_buffer.append" {
		return c.input.append(ev.Audio, in)
	}
	if f := c.event(&ev, in, out); f != nil {
		c.complain(out, ev.EventID, f)
	}
	return nil
}

// event acts on an event without sound.
func (c *codec) event(ev *clientEvent, in *wsdoor.Inbox, out *wsdoor.Outbox) *fault {
	switch ev.Type {
	case "session.update":
		return unsupported("session", "The session of a call that runs is not changed; connect again.")
	case "input_audio_buffer.commit":
		return c.commit(in, out)
	case "conversation.item.create":
		return c.createItem(ev, in, out)
	case "conversation.item.truncate":
		return c.truncate(ev, in, out)
	case "response.create":
		return c.respond(in)
	case "response.cancel":
		return c.cancel(out)
	case "input_audio_buffer.clear", "conversation.item.delete", "conversation.item.retrieve", "output_audio_buffer.clear":
		return unsupported("type", "This gateway takes no %s.", ev.Type)
	}
	in.Unknown()
	return &fault{"invalid_value", "type", "The type is no event of a client."}
}

// scanAppend is the fast path for the event that carries sound.
func scanAppend(b []byte) (data []byte, ok bool) {
	s := wsdoor.Scan(b)
	if !s.Skip('{') {
		return nil, false
	}
	typed := false
	for {
		key, ok := s.Key()
		if !ok {
			return nil, false
		}
		value, ok := s.Text()
		switch {
		case !ok:
			return nil, false
		case string(key) == "type" && !typed && string(value) == "input_audio_buffer.append":
			typed = true
		case string(key) == "audio" && data == nil:
			data = value
		case string(key) == "event_id":
		default:
			return nil, false
		}
		if !s.Skip(',') {
			break
		}
	}
	return data, typed && data != nil && s.Skip('}') && s.End()
}

// append64 takes sound in base64.
func (i *input) append64(data []byte, in *wsdoor.Inbox) error {
	if need := base64.StdEncoding.DecodedLen(len(data)); cap(i.coded) < need {
		i.coded = make([]byte, need)
	}
	n, err := base64.StdEncoding.Decode(i.coded[:cap(i.coded)], data)
	if err != nil {
		return wsdoor.End(transport.ReasonBadJSON, "input_audio_buffer.append: audio is not base64.", nil)
	}
	return i.append(i.coded[:n], in)
}

// append takes sound. Where the client tells turns, it also is the button to talk.
func (i *input) append(coded []byte, in *wsdoor.Inbox) error {
	if len(coded)%i.coding.sampleBytes() != 0 {
		return wsdoor.End(transport.ReasonBadAudio, fmt.Sprintf(
			"input_audio_buffer.append has %d bytes of audio; 16-bit samples come in pairs of bytes.", len(coded)), nil)
	}
	if i.push && !i.talking && len(coded) > 0 {
		i.talking = true
		in.Event(transport.Event{Kind: transport.EventTalk, On: true})
	}
	i.pcm = i.coding.appendSamples(i.pcm[:0], coded)
	i.samples += uint64(len(i.pcm))
	if err := in.Samples(i.coding.rateHz(), i.pcm); err != nil {
		return wsdoor.End(transport.ReasonBadAudio, "", err)
	}
	return nil
}

// commit ends what the caller says, where the client tells turns.
func (c *codec) commit(in *wsdoor.Inbox, out *wsdoor.Outbox) *fault {
	i := &c.input
	switch {
	case !i.push:
		return unsupported("type", "With turn detection the server commits.")
	case !i.talking:
		return &fault{"input_audio_buffer_commit_empty", "", "There is no audio to commit."}
	}
	i.talking, i.owed = false, true
	in.Event(transport.Event{Kind: transport.EventTalk})
	i.last, i.item = i.item, ""
	c.committed(out)
	return nil
}

// createItem takes typed words, which wait for response.create, and results of function calls.
func (c *codec) createItem(ev *clientEvent, in *wsdoor.Inbox, out *wsdoor.Outbox) *fault {
	it := ev.Item
	switch {
	case it == nil:
		return &fault{"missing_required_parameter", "item", "A conversation.item.create needs an item."}
	case it.Type == "function_call_output":
		return c.toolResult(it, in, out)
	case it.Type != "message" || it.Role != "user":
		return unsupported("item", "This gateway takes messages of the user and function_call_output.")
	}
	text := ""
	for _, part := range it.Content {
		if part.Type != "input_text" {
			return unsupported("item.content", "This gateway takes input_text here.")
		}
		text += part.Text
	}
	if n := utf8.RuneCountInString(c.input.text + text); n > transport.TextCharsMax {
		return unsupported("item.content", "The text has %d characters; at most %d are taken.", n, transport.TextCharsMax)
	}
	c.input.text += text
	c.items(out, c.input.item, object{"id": c.itemID(it), "object": "realtime.item", "type": "message", "role": "user",
		"status": "completed", "content": []object{{"type": "input_text", "text": text}}})
	return nil
}

// itemID is the client's id of an item, or a new one.
func (c *codec) itemID(it *item) string {
	if it.ID != "" {
		return wsdoor.Cut(it.ID, transport.IDLenMax)
	}
	return c.name("item_")
}

func (c *codec) toolResult(it *item, in *wsdoor.Inbox, out *wsdoor.Outbox) *fault {
	if it.CallID == "" || len(it.CallID) > transport.IDLenMax {
		return &fault{"invalid_value", "item.call_id", fmt.Sprintf("A call_id has 1 to %d bytes.", transport.IDLenMax)}
	}
	text := it.Output
	if !json.Valid([]byte(text)) { // words
		b, err := json.Marshal(text)
		if err != nil {
			return &fault{"invalid_value", "item.output", "The output is no text."}
		}
		text = string(b)
	}
	in.Event(transport.Event{Kind: transport.EventToolResult, ID: it.CallID, Text: text})
	c.input.owed = true
	c.items(out, "", object{"id": c.itemID(it), "object": "realtime.item", "type": "function_call_output",
		"status": "completed", "call_id": it.CallID, "output": it.Output})
	return nil
}

// respond has what was written answered. What was spoken, and results of function calls, the gateway answers by itself.
func (c *codec) respond(in *wsdoor.Inbox) *fault {
	i := &c.input
	text := strings.TrimSpace(i.text)
	i.text = ""
	switch {
	case text != "":
		in.Event(transport.Event{Kind: transport.EventText, Text: text})
	case !i.owed:
		return unsupported("type", "There is nothing to answer: say or write something first.")
	}
	i.owed = false
	return nil
}

// cancel keeps the rest of the reply from the client. The model is not told.
func (c *codec) cancel(out *wsdoor.Outbox) *fault {
	r := &c.reply
	if !r.open {
		return &fault{"response_cancel_not_active", "", "There is no response to cancel."}
	}
	r.silenced = r.generation
	c.finish(out, statusCancelled, "client_cancelled")
	return nil
}

// truncate takes the client's own account of what was heard of an item.
func (c *codec) truncate(ev *clientEvent, in *wsdoor.Inbox, out *wsdoor.Outbox) *fault {
	i, ok := c.reply.find(ev.ItemID)
	switch {
	case !ok:
		return &fault{"invalid_value", "item_id", "item_id names no item of a reply, or an old one."}
	case !(ev.AudioEndMS >= 0 && ev.AudioEndMS <= transport.PlayedMSMax):
		return &fault{"invalid_value", "audio_end_ms", "audio_end_ms must be 0 or more."}
	}
	in.Heard(i.generation, c.reply.base(i)+int64(ev.AudioEndMS))
	c.put(out, "conversation.item.truncated", object{"item_id": i.id, "content_index": 0,
		"audio_end_ms": int64(ev.AudioEndMS)})
	return nil
}

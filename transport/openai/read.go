package openai

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/voicegw/voicegw/internal/foreign"
	"github.com/voicegw/voicegw/internal/jsonscan"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/wsconn"
	"github.com/voicegw/voicegw/transport/wsendpoint"
)

// clientEvent is an event of the client.
type clientEvent struct {
	Type       string          `json:"type"`
	EventID    string          `json:"event_id"`
	Session    json.RawMessage `json:"session"`
	Response   json.RawMessage `json:"response"`
	Audio      []byte          `json:"audio"`
	Item       *clientItem     `json:"item"`
	Previous   *string         `json:"previous_item_id"`
	ItemID     string          `json:"item_id"`
	AudioEndMS float64         `json:"audio_end_ms"`
}

// clientItem is an item of the conversation, as a client creates one.
type clientItem struct {
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

// early reports whether an event needs no call yet: many clients send their tools behind their first
// items.
func (ev *clientEvent) early() bool {
	switch ev.Type {
	case "conversation.item.create":
		return ev.Item != nil && ev.Item.Type == kindMessage
	case "conversation.item.retrieve", "conversation.item.delete", "input_audio_buffer.clear":
		return true
	}
	return false
}

// unsentMax is how many items may wait for response.create.
const unsentMax = 64

// badJSON says where the JSON is invalid, and reveals none of its content.
func badJSON(err error) error {
	return transport.End(transport.ReasonBadJSON, "An event is not valid: "+foreign.Fault(err)+".", nil)
}

// Read turns an event of the client into events of the call, and answers unsupported events with an
// error.
func (c *codec) Read(m wsconn.Message, in *wsendpoint.Inbox, out *wsendpoint.Outbox) error {
	if c.tools.due && c.tools.send(in) {
		c.reply.replyPending = true
	}
	c.inform(in)
	if data, ok := scanAppend(m.Data); ok {
		return c.append64(data, in, out)
	}
	var ev clientEvent
	if err := json.Unmarshal(m.Data, &ev); err != nil {
		return badJSON(err)
	}
	if ev.Type == "input_audio_buffer.append" {
		return c.append(ev.Audio, in, out)
	}
	if f := c.event(&ev, in, out); f != nil {
		c.complain(out, ev.EventID, f)
	}
	return nil
}

// event handles an event without audio.
func (c *codec) event(ev *clientEvent, in *wsendpoint.Inbox, out *wsendpoint.Outbox) *fault {
	switch ev.Type {
	case "session.update":
		c.update(ev, out)
		c.inform(in)
		return nil
	case "input_audio_buffer.commit":
		return c.commit(out)
	case "input_audio_buffer.clear":
		return c.clear(out)
	case "conversation.item.create":
		return c.createItem(ev, in, out)
	case "conversation.item.retrieve":
		return c.retrieve(ev, out)
	case "conversation.item.delete":
		return c.remove(ev, out)
	case "conversation.item.truncate":
		return c.truncate(ev, in, out)
	case "response.create":
		return c.respond(ev, in, out)
	case "response.cancel":
		return c.cancel(out)
	case "output_audio_buffer.clear", "transcription_session.update":
		return unsupported("type", "This gateway takes no %s.", ev.Type)
	}
	in.Unknown()
	return invalid("type", "The type is no event of a client.")
}

// scanAppend is the fast path for the event that carries audio.
func scanAppend(b []byte) (data []byte, ok bool) {
	s := jsonscan.New(b)
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

// createItem takes typed text, which waits for response.create, what the model is to know, and results
// of function calls.
func (c *codec) createItem(ev *clientEvent, in *wsendpoint.Inbox, out *wsendpoint.Outbox) *fault {
	it := ev.Item
	switch {
	case it == nil:
		return &fault{"missing_required_parameter", "item", "A conversation.item.create needs an item."}
	case it.Type == kindOutput:
		return c.toolResult(ev, in, out)
	case it.Type != kindMessage:
		return unsupported("item.type", "This gateway takes items of the types message and function_call_output.")
	case it.Role != roleUser && it.Role != roleSystem && it.Role != roleAssistant:
		return unsupported("item.role", "This gateway takes messages of the roles user, system and assistant.")
	}
	text, f := it.words("item.content")
	if f != nil {
		return f
	}
	waiting, n := c.unsent()
	if n == unsentMax {
		return unsupported("item", "%d items wait for response.create; no more are taken.", n)
	}
	if n := utf8.RuneCountInString(waiting + text); n > transport.TextCharsMax {
		return unsupported("item.content", "The text has %d characters; at most %d are taken.", n, transport.TextCharsMax)
	}
	after, f := c.place(ev)
	if f != nil {
		return f
	}
	made := &item{id: c.itemID(it), kind: kindMessage, role: it.Role, status: statusCompleted, text: text, unsent: true}
	if it.Role != roleUser {
		made.unsent = false
		if c.known = append(c.known, made); len(c.known) > unsentMax {
			c.known = c.known[:unsentMax]
			return unsupported("item", "%d items wait for the call; no more are taken.", unsentMax)
		}
	}
	c.add(made, after, out)
	c.inform(in)
	return nil
}

// inform lets the model know of items that it need not answer: those of the roles system and
// assistant, and what the user wrote before speech that is answered without response.create.
func (c *codec) inform(in *wsendpoint.Inbox) {
	if !c.running {
		return // until the call begins
	}
	if c.input.informs {
		for _, it := range c.list.items {
			if it.unsent && !it.audio {
				it.unsent = false
				c.known = append(c.known, it)
			}
		}
	}
	c.input.informs = false
	for _, it := range c.known {
		if strings.TrimSpace(it.text) != "" {
			in.Event(transport.Event{Kind: transport.EventContext, Role: transport.Role(it.role), Text: it.text})
		}
	}
	c.known = nil
}

// words returns the text of a message.
func (it *clientItem) words(param string) (string, *fault) {
	var text strings.Builder
	for _, part := range it.Content {
		switch part.Type {
		case "input_text", "output_text", "text":
			text.WriteString(part.Text)
		default:
			return "", unsupported(param, "This gateway takes text here. Append audio to the input buffer.")
		}
	}
	return text.String(), nil
}

// unsent returns the text that waits for response.create, and the number of items that wait.
func (c *codec) unsent() (text string, n int) {
	var b strings.Builder
	for _, it := range c.list.items {
		if it.unsent {
			n++
		}
		if it.unsent && !it.audio {
			b.WriteString(it.text)
		}
	}
	return b.String(), n
}

// itemID returns the client's id of an item, or a new one.
func (c *codec) itemID(it *clientItem) string {
	if it.ID != "" {
		return it.ID
	}
	return c.name("item_")
}

// named returns the item that an event names, or a fault whose code says for what.
func (c *codec) named(ev *clientEvent, what string) (*item, *fault) {
	if it := c.list.find(ev.ItemID); it != nil {
		return it, nil
	}
	return nil, &fault{"item_" + what + "_invalid_item_id", "item_id", fmt.Sprintf(
		"There is no such item, or it is not one of the last %d.", itemsMax)}
}

// retrieve sends an item as it is now.
func (c *codec) retrieve(ev *clientEvent, out *wsendpoint.Outbox) *fault {
	it, f := c.named(ev, "retrieve")
	if f == nil {
		c.put(out, "conversation.item.retrieved", object{"item": it.describe(c.beta)})
	}
	return f
}

// remove takes an item out of the list. What waits for response.create does not go to the model.
func (c *codec) remove(ev *clientEvent, out *wsendpoint.Outbox) *fault {
	it, f := c.named(ev, "delete")
	if f != nil {
		return f
	}
	if it.unsent && it.audio {
		c.input.discard(&c.list, it)
	}
	c.list.remove(it)
	c.known = slices.DeleteFunc(c.known, func(k *item) bool { return k == it })
	c.put(out, "conversation.item.deleted", object{"item_id": it.id})
	if !it.unsent {
		c.once(out, "", unsupported("item_id", "The item is deleted from the list of items only: "+
			"the model cannot forget what it has heard or said."))
	}
	return nil
}

// discard drops the audio of an item that waits for response.create.
func (i *input) discard(l *list, it *item) {
	to := i.committed // counted from the end: a full buffer drops from the front
	for n := len(l.items) - 1; n >= 0 && l.items[n] != it; n-- {
		if other := l.items[n]; other.unsent && other.audio {
			to -= other.samples
		}
	}
	to = max(0, to)
	i.drop(max(0, to-it.samples), to)
}

// truncate takes the client's report of how much of an item was played.
func (c *codec) truncate(ev *clientEvent, in *wsendpoint.Inbox, out *wsendpoint.Outbox) *fault {
	it, f := c.named(ev, "truncate")
	switch {
	case f != nil:
		return f
	case it.generation == 0:
		return invalid("item_id", "item_id names no item of a reply.")
	case !(ev.AudioEndMS >= 0 && ev.AudioEndMS <= transport.PlayedMSMax):
		return invalid("audio_end_ms", "audio_end_ms must be 0 or more.")
	}
	in.Heard(it.generation, c.reply.base(it)+int64(ev.AudioEndMS))
	c.put(out, "conversation.item.truncated", object{"item_id": it.id, "content_index": 0,
		"audio_end_ms": int64(ev.AudioEndMS)})
	return nil
}

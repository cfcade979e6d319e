package openai

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/wsendpoint"
)

// callsMax is how many function calls may wait for a result, and how many results for
// response.create; older ones are forgotten or sent on.
const callsMax = 64

// tools are the function calls of the client.
type tools struct {
	open []string          // ids of calls without a result
	held []transport.Event // results that wait for response.create
	due  bool              // they go to the model with the next event of the client
}

// opened notes a call.
func (t *tools) opened(id string) {
	if len(t.open) == callsMax {
		t.open = slices.Delete(t.open, 0, 1)
	}
	t.open = append(t.open, id)
}

// forget notes that nobody wants the result of a call.
func (t *tools) forget(id string) {
	t.open = slices.DeleteFunc(t.open, func(o string) bool { return o == id })
	t.held = slices.DeleteFunc(t.held, func(ev transport.Event) bool { return ev.ID == id })
}

// send sends the results that wait.
func (t *tools) send(in *wsendpoint.Inbox) (sent bool) {
	sent = len(t.held) > 0
	for _, ev := range t.held {
		in.Event(ev)
	}
	t.held, t.due = nil, false
	return sent
}

// toolCall adds a tool call to the open response, which it ends, or to a response of its own. What
// the model says in the rest of its turn is another response: many clients wait for the end of the
// response before they call the function, and the model waits for the result before it ends its
// turn.
func (c *codec) toolCall(m *transport.Message, out *wsendpoint.Outbox) {
	r := &c.reply
	if !r.open {
		c.createBare(out)
	}
	c.finishItem(out, statusCompleted)
	index := len(r.outputs)
	arguments := m.Text
	if !json.Valid([]byte(arguments)) {
		arguments = "{}"
	}
	c.tools.opened(m.ID)
	it := &item{id: c.name("item_"), kind: kindCall, status: statusInProgress, callID: m.ID, name: m.Name}
	c.list.insert(it, c.list.last())
	where := func(fields object) object {
		fields["response_id"], fields["output_index"], fields["item_id"] = r.response, index, it.id
		fields["call_id"] = m.ID
		return fields
	}
	began, previous := it.describe(c.beta), orNull(c.list.previous(it.id))
	c.put(out, "response.output_item.added", object{"response_id": r.response, "output_index": index, "item": began})
	c.put(out, "conversation.item.added", object{"previous_item_id": previous, "item": began})
	it.status = statusCompleted
	c.list.say(it, arguments)
	if it.text != arguments { // too long to remember
		it.text = "{}"
	}
	ended := it.describe(c.beta)
	ended["arguments"] = arguments
	c.put(out, "response.function_call_arguments.delta", where(object{"delta": arguments}))
	c.put(out, "response.function_call_arguments.done", where(object{"arguments": arguments, "name": m.Name}))
	c.put(out, "response.output_item.done", object{"response_id": r.response, "output_index": index, "item": ended})
	c.put(out, "conversation.item.done", object{"previous_item_id": previous, "item": ended})
	r.outputs = append(r.outputs, ended)
	c.finish(out, statusCompleted, "")
	r.rest = r.playing
}

// toolResult takes the result of a function call. It waits for response.create, unless a reply is
// due or open anyway: a model answers when it has the results of all its calls.
func (c *codec) toolResult(ev *clientEvent, in *wsendpoint.Inbox, out *wsendpoint.Outbox) *fault {
	it := ev.Item
	if it.CallID == "" || len(it.CallID) > transport.IDLenMax {
		return invalid("item.call_id", "A call_id has 1 to %d bytes.", transport.IDLenMax)
	}
	text := it.Output
	if !json.Valid([]byte(text)) { // plain text
		b, err := json.Marshal(text)
		if err != nil {
			return invalid("item.output", "The output is no text.")
		}
		text = string(b)
	}
	after, f := c.place(ev)
	if f != nil {
		return f
	}
	result := transport.Event{Kind: transport.EventToolResult, ID: it.CallID, Text: text}
	wanted := slices.Contains(c.tools.open, it.CallID)
	c.tools.forget(it.CallID)
	switch {
	case !wanted: // the gateway refuses it
		in.Event(result)
	case c.reply.open || c.reply.ask != nil || len(c.tools.held) == callsMax:
		in.Event(result)
		c.reply.replyPending = true
	default:
		c.tools.held = append(c.tools.held, result)
	}
	kept := &item{id: c.itemID(it), kind: kindOutput, status: statusCompleted, callID: it.CallID,
		text: transport.Cut(it.Output, transport.TextCharsMax)}
	c.add(kept, after, out)
	return nil
}

// place returns the item behind which a client puts another one.
func (c *codec) place(ev *clientEvent) (after string, f *fault) {
	switch {
	case ev.Item.ID != "" && c.list.find(ev.Item.ID) != nil:
		return "", invalid("item.id", "There is an item with this id.")
	case len(ev.Item.ID) > transport.IDLenMax:
		return "", invalid("item.id", "An id has at most %d bytes.", transport.IDLenMax)
	case ev.Previous == nil:
		return c.list.last(), nil
	case *ev.Previous == "root":
		return "", nil
	case c.list.find(*ev.Previous) == nil:
		return "", &fault{"item_not_found", "previous_item_id", fmt.Sprintf(
			"There is no such item, or it is not one of the last %d.", itemsMax)}
	}
	return *ev.Previous, nil
}

package openai

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/wsdoor"
)

// Statuses of a response.
const (
	statusCompleted  = "completed"
	statusCancelled  = "cancelled"
	statusFailed     = "failed"
	statusInProgress = "in_progress"
)

const (
	partsMax   = 64 // parts of a generation, and of items, remembered for truncation
	itemsKept  = 16
	outputsMax = 64 // function calls of one response
)

// reply is the model's side. A generation is one response or, where clears cut it, several.
type reply struct {
	coding     coding
	generation uint64
	playing    bool   // the turn is open
	open       bool   // a response is
	response   string // id
	item       string // id
	words      string // of the transcript of the response
	early      string // of a transcript that came before its response
	outputs    []object
	silenced   uint64 // the generation that the client cancelled

	parts []int64   // ms of the generation at which its clears cut it, as far as they are known
	cuts  int       // clears of the generation
	items []itemRef // the newest last

	head  []byte // of an audio event, from the response's id to the delta
	coded []byte
}

// itemRef is the audio of an item: a part of a generation.
type itemRef struct {
	id         string
	generation uint64
	part       int // how many clears of the generation came before
}

// cleared notes that a clear was sent.
func (r *reply) cleared(generation uint64) {
	if generation == r.generation {
		r.cuts++
	}
}

// Cleared notes what was heard of a generation when a clear cut it.
func (c *codec) Cleared(generation uint64, playedMS int64) {
	if r := &c.reply; generation == r.generation && len(r.parts) < partsMax {
		r.parts = append(r.parts, playedMS)
	}
}

// base is at how many ms of its generation an item begins.
func (r *reply) base(i itemRef) int64 {
	if i.part == 0 || i.generation != r.generation || i.part > len(r.parts) {
		return 0
	}
	return r.parts[i.part-1]
}

// find is the item of an id.
func (r *reply) find(id string) (itemRef, bool) {
	i := slices.IndexFunc(r.items, func(i itemRef) bool { return i.id == id })
	if i < 0 {
		return itemRef{}, false
	}
	return r.items[i], true
}

// turn begins and ends responses.
func (c *codec) turn(m *transport.Message, out *wsdoor.Outbox) {
	r := &c.reply
	switch m.State {
	case transport.StateStart:
		c.wordsEnd(out)
		c.finish(out, statusCompleted, "")
		r.generation, r.playing, r.parts, r.cuts = m.Generation, true, r.parts[:0], 0
		c.create(out)
	case transport.StateResume:
		c.input.maybe = true // it was a cough
		c.create(out)
	case transport.StateEnd:
		c.end(m, out)
	}
}

func (c *codec) end(m *transport.Message, out *wsdoor.Outbox) {
	c.reply.playing = false
	switch m.TurnEnd {
	case transport.TurnComplete:
		c.finish(out, statusCompleted, "")
	case transport.TurnInterrupted:
		c.finish(out, statusCancelled, "turn_detected")
		c.confirmed(out)
	default:
		c.finish(out, statusFailed, "")
	}
}

// confirmed says that what was heard over the reply was speech.
func (c *codec) confirmed(out *wsdoor.Outbox) {
	i := &c.input
	if i.maybe && !i.open {
		c.committed(out)
	}
	i.maybe = false
}

// create begins a response with an item of audio.
func (c *codec) create(out *wsdoor.Outbox) {
	r := &c.reply
	if r.open || r.silenced == r.generation {
		return
	}
	previous := c.input.item
	c.createBare(out)
	r.item = c.name("item_")
	if len(r.items) == itemsKept {
		r.items = append(r.items[:0], r.items[1:]...)
	}
	r.items = append(r.items, itemRef{id: r.item, generation: r.generation, part: r.cuts})
	r.head = appendHead(r.head[:0], r.response, r.item)
	item := c.message(statusInProgress, []object{})
	c.put(out, "response.output_item.added", object{"response_id": r.response, "output_index": 0, "item": item})
	c.put(out, "conversation.item.added", object{"previous_item_id": orNull(previous), "item": item})
	c.put(out, "response.content_part.added", c.place(object{"part": object{"type": "audio", "transcript": ""}}))
	if r.early != "" {
		words := r.early
		r.early = ""
		c.say(words, out)
	}
}

// createBare begins a response without an item.
func (c *codec) createBare(out *wsdoor.Outbox) {
	r := &c.reply
	r.open, r.response, r.item, r.words, r.outputs = true, c.name("resp_"), "", "", nil
	c.put(out, "response.created", object{"response": c.describe(statusInProgress, "")})
}

// message is the item of audio.
func (c *codec) message(status string, content []object) object {
	return object{"id": c.reply.item, "object": "realtime.item", "type": "message", "role": "assistant", "status": status,
		"content": content}
}

// place adds where in the response something is.
func (c *codec) place(fields object) object {
	r := &c.reply
	fields["response_id"], fields["item_id"], fields["output_index"], fields["content_index"] = r.response, r.item, 0, 0
	return fields
}

// describe is the response.
func (c *codec) describe(status, reason string) object {
	r := &c.reply
	var details any
	if reason != "" {
		details = object{"type": status, "reason": reason}
	}
	outputs := r.outputs
	if outputs == nil {
		outputs = []object{}
	}
	return object{"id": r.response, "object": "realtime.response", "status": status, "status_details": details,
		"output": outputs, "output_modalities": []string{"audio"}}
}

// finish ends the response, if one is open.
func (c *codec) finish(out *wsdoor.Outbox, status, reason string) {
	r := &c.reply
	if !r.open {
		return
	}
	if r.item != "" {
		part := object{"type": "audio", "transcript": r.words}
		itemStatus := statusCompleted
		if status != statusCompleted {
			itemStatus = "incomplete"
		}
		item := c.message(itemStatus, []object{{"type": "output_audio", "transcript": r.words}})
		c.put(out, "response.output_audio.done", c.place(object{}))
		c.put(out, "response.output_audio_transcript.done", c.place(object{"transcript": r.words}))
		c.put(out, "response.content_part.done", c.place(object{"part": part}))
		c.put(out, "response.output_item.done", object{"response_id": r.response, "output_index": 0, "item": item})
		c.put(out, "conversation.item.done", object{"previous_item_id": nil, "item": item})
		r.outputs = append([]object{item}, r.outputs...)
	}
	c.put(out, "response.done", object{"response": c.describe(status, reason)})
	r.open = false
}

// modelWords passes a transcript on, or keeps it for its response.
func (c *codec) modelWords(m *transport.Message, out *wsdoor.Outbox) {
	r := &c.reply
	switch {
	case m.Text == "" || r.silenced == m.Generation && m.Generation != 0:
	case r.open && r.item != "":
		c.say(m.Text, out)
	case len(r.early) < transport.TextCharsMax && !r.playing:
		r.early += wsdoor.Cut(m.Text, transport.TextCharsMax-len(r.early))
	}
}

func (c *codec) say(words string, out *wsdoor.Outbox) {
	c.put(out, "response.output_audio_transcript.delta", c.place(object{"delta": words}))
	if r := &c.reply; len(r.words) < transport.TextCharsMax {
		r.words += wsdoor.Cut(words, transport.TextCharsMax-len(r.words))
	}
}

// toolCall is an item of the open response, or of one of its own.
func (c *codec) toolCall(m *transport.Message, out *wsdoor.Outbox) {
	r := &c.reply
	alone := !r.open
	if alone {
		c.createBare(out)
	}
	index := len(r.outputs)
	if r.item != "" {
		index++
	}
	arguments := m.Text
	if !json.Valid([]byte(arguments)) {
		arguments = "{}"
	}
	id := c.name("item_")
	item := func(status, arguments string) object {
		return object{"id": id, "object": "realtime.item", "type": "function_call", "status": status, "call_id": m.ID,
			"name": m.Name, "arguments": arguments}
	}
	where := func(fields object) object {
		fields["response_id"], fields["output_index"], fields["item_id"] = r.response, index, id
		fields["call_id"] = m.ID
		return fields
	}
	c.put(out, "response.output_item.added", object{"response_id": r.response, "output_index": index,
		"item": item(statusInProgress, "")})
	c.put(out, "conversation.item.added", object{"previous_item_id": nil, "item": item(statusInProgress, "")})
	c.put(out, "response.function_call_arguments.delta", where(object{"delta": arguments}))
	c.put(out, "response.function_call_arguments.done", where(object{"arguments": arguments, "name": m.Name}))
	c.put(out, "response.output_item.done", object{"response_id": r.response, "output_index": index,
		"item": item(statusCompleted, arguments)})
	c.put(out, "conversation.item.done", object{"previous_item_id": nil, "item": item(statusCompleted, arguments)})
	if len(r.outputs) < outputsMax {
		r.outputs = append(r.outputs, item(statusCompleted, arguments))
	}
	if alone {
		c.finish(out, statusCompleted, "")
	}
}

// appendHead appends the beginning of a response's audio events.
func appendHead(dst []byte, response, item string) []byte {
	dst = append(dst, `{"type":"response.output_audio.delta","response_id":"`...)
	dst = append(dst, response...)
	dst = append(dst, `","item_id":"`...)
	dst = append(dst, item...)
	return append(dst, `","output_index":0,"content_index":0,"event_id":"event_`...)
}

// Audio appends a frame of the reply, nothing when the client cancelled it. It allocates nothing once the buffers have
// grown.
func (c *codec) Audio(dst []byte, _ uint64, pcm []int16) []byte {
	r := &c.reply
	if !r.open || r.item == "" {
		return dst
	}
	c.count++
	r.coded = r.coding.append(r.coded[:0], pcm)
	dst = append(dst, r.head...)
	dst = strconv.AppendUint(dst, c.count, 10)
	dst = append(dst, `","delta":"`...)
	dst = base64.StdEncoding.AppendEncode(dst, r.coded)
	return append(dst, `"}`...)
}

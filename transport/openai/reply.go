package openai

import (
	"encoding/base64"
	"encoding/json"
	"strconv"

	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/wsendpoint"
)

// Statuses of a response and of its items.
const (
	statusCompleted  = "completed"
	statusCancelled  = "cancelled"
	statusFailed     = "failed"
	statusIncomplete = "incomplete"
	statusInProgress = "in_progress"
)

const partsMax = 64 // parts of a generation, remembered for truncation

// reply is the model's side. A generation is one response, or several if clears or function calls
// cut it.
type reply struct {
	generation   uint64
	playing      bool   // the turn is open
	silenced     uint64 // the generation that the client cancelled
	silenceNext  bool   // the client cancelled the next one
	ask          *ask   // the client waits for a response
	replyPending bool   // the model will reply without being asked
	early        string // a transcript that came before its response

	open     bool // a response is open
	rest     bool // the response is, or would be, what follows a function call in the same turn
	response string
	item     *item // nil: none yet
	textOnly bool
	metadata json.RawMessage
	outputs  []object
	failure  object          // why it failed
	usage    transport.Usage // of the turn, once it is known

	parts []int64 // known positions, in ms of the generation, at which clears cut it
	cuts  int     // number of clears of the generation

	head  []byte // an audio event from the response's id up to the delta
	coded []byte
}

// cleared notes that a clear was sent.
func (r *reply) cleared(generation uint64) {
	if generation == r.generation {
		r.cuts++
	}
}

// Cleared notes how much of a generation was played before a clear.
func (c *codec) Cleared(generation uint64, playedMS int64) {
	if r := &c.reply; generation == r.generation && len(r.parts) < partsMax {
		r.parts = append(r.parts, playedMS)
	}
}

// base returns the start of an item in ms of its generation.
func (r *reply) base(it *item) int64 {
	if it.part == 0 || it.generation != r.generation || it.part > len(r.parts) {
		return 0
	}
	return r.parts[it.part-1]
}

// turn begins and ends responses.
func (c *codec) turn(m *transport.Message, out *wsendpoint.Outbox) {
	r := &c.reply
	switch m.State {
	case transport.StateStart:
		c.endTranscript(out)
		c.finish(out, statusCompleted, "")
		r.generation, r.playing, r.rest, r.parts, r.cuts = m.Generation, true, false, r.parts[:0], 0
		r.usage = transport.Usage{}
		if r.silenceNext {
			r.silenced, r.silenceNext = m.Generation, false
		}
		c.create(out)
	case transport.StateResume:
		c.input.maybe = true // it was a cough
		c.create(out)
	case transport.StateEnd:
		c.end(m, out)
	}
}

func (c *codec) end(m *transport.Message, out *wsendpoint.Outbox) {
	r := &c.reply
	r.playing, r.rest, r.usage = false, false, m.Usage
	switch m.TurnEnd {
	case transport.TurnComplete:
		c.finish(out, statusCompleted, "")
		if len(c.tools.open) == 0 && len(c.tools.held) == 0 {
			r.replyPending = false
			c.spare(out)
		}
	case transport.TurnInterrupted:
		c.finish(out, statusCancelled, "turn_detected")
		c.confirmed(out)
	default:
		r.failure = object{"type": "server_error", "code": string(m.TurnEnd), "message": "The rest of the reply is lost."}
		c.finish(out, statusFailed, "")
	}
}

// spare answers a response.create that asked for nothing new, when the model has said all.
func (c *codec) spare(out *wsendpoint.Outbox) {
	if a := c.reply.ask; a != nil && a.spare {
		c.createBare(out)
		c.finish(out, statusCompleted, "")
	}
}

// confirmed reports that the sound over the reply was speech.
func (c *codec) confirmed(out *wsendpoint.Outbox) {
	i := &c.input
	if i.maybe && !i.open {
		c.spoken(out)
	}
	i.maybe = false
}

// Announce begins the response of a frame, if the one before ended with a function call.
func (c *codec) Announce(generation uint64, out *wsendpoint.Outbox) {
	if r := &c.reply; r.rest && !r.open && r.playing && generation == r.generation {
		c.create(out)
	}
}

// create begins a response with an item of what the model says.
func (c *codec) create(out *wsendpoint.Outbox) {
	r := &c.reply
	if r.open || r.silenced == r.generation {
		return
	}
	rest := r.rest && r.ask == nil
	c.createBare(out)
	r.rest = rest
	r.item = &item{id: c.name("item_"), kind: kindMessage, role: roleAssistant, status: statusInProgress,
		audio: !r.textOnly, generation: r.generation, part: r.cuts}
	c.list.insert(r.item, c.list.last())
	r.head = c.appendHead(r.head[:0])
	o := r.item.describe(c.beta)
	c.put(out, "response.output_item.added", object{"response_id": r.response, "output_index": 0, "item": o})
	c.put(out, "conversation.item.added", object{"previous_item_id": orNull(c.list.previous(r.item.id)), "item": o})
	part := object{"type": "audio", "transcript": ""}
	if r.textOnly {
		part = object{"type": "text", "text": ""}
	}
	c.put(out, "response.content_part.added", c.at(object{"part": part}))
	if r.early != "" {
		words := r.early
		r.early = ""
		c.spell(words, out)
	}
}

// createBare begins a response without an item. It is the one that the client asked for, if it did.
func (c *codec) createBare(out *wsendpoint.Outbox) {
	r := &c.reply
	r.open, r.rest, r.response, r.item, r.outputs, r.failure = true, false, c.name("resp_"), nil, nil, nil
	r.textOnly, r.metadata = c.session.textOnly, nil
	if a := r.ask; a != nil {
		r.textOnly, r.metadata = a.textOnly, a.metadata
	}
	r.ask, r.replyPending = nil, false
	c.put(out, "response.created", object{"response": c.describeResponse(statusInProgress, "")})
}

// at adds the position of something in the response.
func (c *codec) at(fields object) object {
	r := &c.reply
	fields["response_id"], fields["item_id"], fields["output_index"], fields["content_index"] = r.response, r.item.id, 0, 0
	return fields
}

// marked notes that the whole reply was sent. Its response ends when its tokens are known, or with
// the turn.
func (c *codec) marked(m *transport.Message, out *wsendpoint.Outbox) {
	if m.Usage != (transport.Usage{}) {
		c.reply.usage = m.Usage
		c.finish(out, statusCompleted, "")
	}
}

// takeUsage returns the usage of a response. The tokens of a turn count for one of its responses,
// the last; the others have counts of 0, because clients that count tokens cannot do without.
func (r *reply) takeUsage() object {
	u := r.usage
	r.usage = transport.Usage{}
	return object{"total_tokens": u.Total, "input_tokens": u.Prompt, "output_tokens": u.Response + u.Thoughts,
		"input_token_details": object{"text_tokens": u.PromptText, "audio_tokens": u.PromptAudio,
			"cached_tokens": u.Cached},
		"output_token_details": object{"text_tokens": u.ResponseText, "audio_tokens": u.ResponseAudio}}
}

// describeResponse returns the response as a JSON object.
func (c *codec) describeResponse(status, reason string) object {
	r := &c.reply
	var details any
	switch {
	case r.failure != nil:
		details = object{"type": status, "error": r.failure}
	case reason != "":
		details = object{"type": status, "reason": reason}
	}
	outputs := r.outputs
	if outputs == nil {
		outputs = []object{}
	}
	o := object{"id": r.response, "object": "realtime.response", "status": status, "status_details": details,
		"output": outputs, "usage": nil, "metadata": nil}
	if r.metadata != nil {
		o["metadata"] = r.metadata
	}
	if status != statusInProgress {
		o["usage"] = r.takeUsage()
	}
	switch {
	case !c.beta && r.textOnly:
		o["output_modalities"] = []string{"text"}
	case !c.beta:
		o["output_modalities"] = []string{"audio"}
		o["audio"] = object{"output": object{"format": c.session.out.describe(), "voice": c.session.voice}}
	case r.textOnly:
		o["modalities"] = []string{"text"}
	default:
		o["modalities"], o["output_audio_format"] = []string{"audio", "text"}, c.session.out.betaName()
	}
	return o
}

// finish ends the response, if one is open.
func (c *codec) finish(out *wsendpoint.Outbox, status, reason string) {
	r := &c.reply
	if !r.open {
		return
	}
	c.finishItem(out, status)
	c.put(out, "response.done", object{"response": c.describeResponse(status, reason)})
	r.open = false
}

// finishItem ends what the model says in the response, if it says something.
func (c *codec) finishItem(out *wsendpoint.Outbox, status string) {
	r, it := &c.reply, c.reply.item
	if it == nil {
		return
	}
	it.status = statusIncomplete
	if status == statusCompleted {
		it.status = statusCompleted
	}
	o := it.describe(c.beta)
	part := object{"type": "audio", "transcript": it.text}
	if r.textOnly {
		part = object{"type": "text", "text": it.text}
		c.put(out, "response.output_text.done", c.at(object{"text": it.text}))
	} else {
		c.put(out, "response.output_audio.done", c.at(object{}))
		c.put(out, "response.output_audio_transcript.done", c.at(object{"transcript": it.text}))
	}
	c.put(out, "response.content_part.done", c.at(object{"part": part}))
	c.put(out, "response.output_item.done", object{"response_id": r.response, "output_index": 0, "item": o})
	c.put(out, "conversation.item.done", object{"previous_item_id": orNull(c.list.previous(it.id)), "item": o})
	r.outputs, r.item = append(r.outputs, o), nil
}

// modelTranscript sends a transcript on, or keeps it until its response begins.
func (c *codec) modelTranscript(m *transport.Message, out *wsendpoint.Outbox) {
	r := &c.reply
	switch {
	case m.Text == "" || r.silenced == m.Generation && m.Generation != 0:
	case r.open && r.item != nil:
		c.spell(m.Text, out)
	case len(r.early) < transport.TextCharsMax && (!r.playing || r.rest):
		r.early += transport.Cut(m.Text, transport.TextCharsMax-len(r.early))
	}
}

// spell sends what the model says in words.
func (c *codec) spell(words string, out *wsendpoint.Outbox) {
	kind := "response.output_audio_transcript.delta"
	if c.reply.textOnly {
		kind = "response.output_text.delta"
	}
	c.put(out, kind, c.at(object{"delta": words}))
	c.list.say(c.reply.item, words)
}

// appendHead appends the start of a response's audio events.
func (c *codec) appendHead(dst []byte) []byte {
	dst = append(dst, `{"type":"response.output_audio.delta","response_id":"`...)
	if c.beta {
		dst = append(dst[:0], `{"type":"response.audio.delta","response_id":"`...)
	}
	dst = append(dst, c.reply.response...)
	dst = append(dst, `","item_id":"`...)
	dst = append(dst, c.reply.item.id...)
	return append(dst, `","output_index":0,"content_index":0,"event_id":"event_`...)
}

// Audio appends a frame of the reply, or nothing if the client does not want to hear it. It
// allocates nothing once the buffers have grown.
func (c *codec) Audio(dst []byte, _ uint64, pcm []int16) []byte {
	r := &c.reply
	if !r.open || r.item == nil || r.textOnly {
		return dst
	}
	c.count++
	r.coded = c.session.out.append(r.coded[:0], pcm)
	dst = append(dst, r.head...)
	dst = strconv.AppendUint(dst, c.count, 10)
	dst = append(dst, `","delta":"`...)
	dst = base64.StdEncoding.AppendEncode(dst, r.coded)
	return append(dst, `"}`...)
}

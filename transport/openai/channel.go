package openai

import (
	"encoding/json"
	"time"

	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/wsconn"
	"github.com/voicegw/voicegw/transport/wsendpoint"
)

// openWait is how long a client may take to send its first session.update once the data channel is
// open. Many send none, because their session came with the request.
const openWait = time.Second

// Channel encodes and decodes the protocol for one call over WebRTC: events go over the data channel,
// audio over RTP. It is an rtc.Configurer and an rtc.Mixer, for rtc.Endpoint.RealtimeCalls.
type Channel struct {
	codec  *codec
	faults []*fault // of the session that came with the request
	rateHz int      // of the caller's audio

	playing string // the response whose audio is in the output buffer, "" for none
	sent    played // frames of the last generation, silent ones too
	audible int64  // ms of the last generation up to the end of what the caller hears
	acked   played // by the playout clock
}

// played is a part of a generation.
type played struct {
	generation uint64
	ms         int64
}

// NewChannel makes the dialect of a call whose session begins with these configurations: objects as in
// a session.update, the later overruling the earlier. An empty one changes nothing.
func NewChannel(sessions ...[]byte) (*Channel, error) {
	c := &Channel{codec: newCodecFor("", false)}
	for _, raw := range sessions {
		if len(raw) == 0 {
			continue
		}
		list, ok := fields(raw)
		if !ok {
			return nil, errSession
		}
		want, faults := c.codec.session.apply(list)
		c.codec.session, c.faults = want, append(c.faults, faults...)
	}
	return c, nil
}

// Welcome sends the session, and what of it cannot be had.
func (c *Channel) Welcome() [][]byte {
	var out wsendpoint.Outbox
	c.codec.welcome(&out)
	for _, f := range c.faults {
		c.codec.once(&out, "", f)
	}
	return out.Take()
}

// Greet takes updates of the session, until the client sends something else.
func (c *Channel) Greet(data []byte) (answers [][]byte, over bool, err error) {
	var out wsendpoint.Outbox
	more, err := c.codec.configure(data, &out)
	return out.Take(), err == nil && !more, err
}

// Settle returns how long the client may be silent before the call begins.
func (c *Channel) Settle() time.Duration {
	if d := c.codec.Settle(); d > 0 {
		return d
	}
	return openWait
}

// Begin puts the session into the hello of the call. The codecs of RTP decide the rates.
func (c *Channel) Begin(h *transport.Hello) {
	in, out := h.InputRateHz, h.OutputRateHz
	c.codec.begin(h)
	h.InputRateHz, h.OutputRateHz, c.rateHz = in, out, in
}

// Ready tells the client which session the call has.
func (c *Channel) Ready(r transport.Ready) [][]byte {
	var out wsendpoint.Outbox
	c.codec.Ready(r, &out)
	return out.Take()
}

// Read turns an event of the client into events of the call.
func (c *Channel) Read(data []byte) (events []transport.Event, answers [][]byte, err error) {
	var out wsendpoint.Outbox
	var ev struct {
		Type string `json:"type"`
	}
	if json.Unmarshal(data, &ev) == nil && ev.Type == "output_audio_buffer.clear" {
		c.clearOutput(&out)
		return nil, out.Take(), nil
	}
	in := wsendpoint.NewInbox(c.rateHz)
	err = c.codec.Read(wsconn.Message{Data: data}, in, &out)
	c.silenced(&out)
	return eventsOf(in), out.Take(), err
}

// eventsOf returns the events of an inbox.
func eventsOf(in *wsendpoint.Inbox) (events []transport.Event) {
	for {
		var ev transport.Event
		if !in.Next(&ev) {
			return events
		}
		events = append(events, ev)
	}
}

// Message encodes the messages that the protocol has an event for.
func (c *Channel) Message(m *transport.Message) [][]byte {
	var out wsendpoint.Outbox
	if m.Kind == transport.MessageClear {
		c.stop(&out, "cleared")
	}
	c.codec.Message(m, &out)
	c.emptied(&out)
	return out.Take()
}

// Bye sends why a call fails. The end of the connection says that it is over.
func (c *Channel) Bye(e *transport.Ended) [][]byte {
	var out wsendpoint.Outbox
	c.codec.Bye(e, &out)
	return out.Take()
}

// Caller takes the caller's audio. It keeps it if it waits for response.create.
func (c *Channel) Caller(pcm []int16) (kept bool, events []transport.Event, answers [][]byte) {
	if c.codec.tools.due {
		in := wsendpoint.NewInbox(c.rateHz)
		if c.codec.tools.send(in) {
			c.codec.reply.replyPending = true
		}
		events = eventsOf(in)
	}
	var out wsendpoint.Outbox
	c.codec.input.pcm = append(c.codec.input.pcm[:0], pcm...)
	kept, err := c.codec.appended(c.rateHz, &out)
	if err != nil {
		return false, events, nil
	}
	c.silenced(&out)
	return kept, events, out.Take()
}

// Frame begins the response of a frame if need be, and says when the first of its audio is sent.
func (c *Channel) Frame(generation uint64) (audible bool, answers [][]byte) {
	var out wsendpoint.Outbox
	r := &c.codec.reply
	c.codec.Announce(generation, &out)
	if c.sent.generation != generation {
		c.sent, c.audible = played{generation: generation}, 0
	}
	c.sent.ms += transport.FrameMS
	if !r.open || r.item == nil || r.textOnly {
		return false, out.Take()
	}
	if c.playing != r.response {
		c.stop(&out, "stopped")
		c.playing = r.response
		c.codec.put(&out, outputBuffer+"started", object{"response_id": c.playing})
	}
	c.audible = c.sent.ms
	return true, out.Take()
}

// Silent reports whether the client cancelled the rest of a generation.
func (c *Channel) Silent(generation uint64) bool {
	return generation != 0 && c.codec.reply.silenced == generation
}

// Acked follows the playout: the end of a response's audio, and where a clear cut it.
func (c *Channel) Acked(ack *transport.Event) [][]byte {
	var out wsendpoint.Outbox
	c.acked = played{ack.Generation, ack.PlayedMS}
	if ack.Cleared {
		c.codec.Cleared(ack.Generation, ack.PlayedMS)
		c.truncated(ack, &out)
	}
	c.emptied(&out)
	return out.Take()
}

const outputBuffer = "output_audio_buffer."

// stop says that the output buffer holds no more audio of the response.
func (c *Channel) stop(out *wsendpoint.Outbox, how string) {
	if c.playing != "" {
		c.codec.put(out, outputBuffer+how, object{"response_id": c.playing})
		c.playing = ""
	}
}

// emptied says that the output buffer is empty, if it is and the response is over.
func (c *Channel) emptied(out *wsendpoint.Outbox) {
	r := &c.codec.reply
	over := !r.open || r.response != c.playing
	if over && c.acked.generation == c.sent.generation && c.acked.ms >= c.audible {
		c.stop(out, "stopped")
	}
}

// silenced says that the output buffer is empty because the caller hears no more of it.
func (c *Channel) silenced(out *wsendpoint.Outbox) {
	if c.Silent(c.sent.generation) {
		c.stop(out, "cleared")
	}
}

// clearOutput takes output_audio_buffer.clear: the caller hears no more of the response.
func (c *Channel) clearOutput(out *wsendpoint.Outbox) {
	if c.playing == "" {
		return
	}
	if r := &c.codec.reply; r.open {
		_ = c.codec.cancel(out) // there is one to cancel
	} else {
		r.silenced = c.sent.generation
	}
	c.silenced(out)
}

// truncated says how much of an item was played before a clear.
func (c *Channel) truncated(ack *transport.Event, out *wsendpoint.Outbox) {
	r := &c.codec.reply
	if c.sent.generation == ack.Generation {
		c.sent.ms, c.audible = ack.PlayedMS, min(c.audible, ack.PlayedMS)
	}
	for _, it := range c.codec.list.items {
		if it.generation == ack.Generation && it.generation == r.generation && it.part == r.cuts-1 && it.audio {
			c.codec.put(out, "conversation.item.truncated", object{"item_id": it.id, "content_index": 0,
				"audio_end_ms": max(0, ack.PlayedMS-r.base(it))})
		}
	}
}

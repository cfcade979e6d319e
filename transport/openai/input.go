package openai

import (
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/wsdoor"
)

// input is the caller's side: the buffer of a real server, of which here only the names are left.
type input struct {
	coding  coding
	push    bool   // the client says when the caller speaks
	talking bool   // with push: something was appended since the last commit
	samples uint64 // appended in all
	item    string // of what the caller says now, or said last
	last    string // the item before
	open    bool   // the caller speaks
	maybe   bool   // over a reply: it may be a cough
	words   string // of the transcript of item
	text    string // of messages that wait for response.create
	owed    bool   // the gateway answers by itself: a commit, or the result of a tool, went up
	coded   []byte // room
	pcm     []int16
}

func (i *input) ms() uint64 { return i.samples * 1000 / uint64(i.coding.rateHz()) }

// speech tells what the detector heard. What may be a cough is no item until it is known.
func (c *codec) speech(m *transport.Message, out *wsdoor.Outbox) {
	i := &c.input
	if m.State == transport.StateStart {
		c.wordsEnd(out)
		i.last, i.item = i.item, c.name("item_")
		i.open, i.maybe = true, c.reply.playing
		c.put(out, "input_audio_buffer.speech_started", object{"audio_start_ms": i.ms(), "item_id": i.item})
		return
	}
	if !i.open {
		return
	}
	i.open = false
	c.put(out, "input_audio_buffer.speech_stopped", object{"audio_end_ms": i.ms(), "item_id": i.item})
	if !i.maybe {
		c.committed(out)
	}
}

// committed says that what the caller said is part of the conversation.
func (c *codec) committed(out *wsdoor.Outbox) {
	i := &c.input
	if i.item == "" {
		i.item = c.name("item_")
	}
	c.put(out, "input_audio_buffer.committed", object{"item_id": i.item, "previous_item_id": orNull(i.last)})
	c.items(out, i.last, object{"id": i.item, "object": "realtime.item", "type": "message", "role": "user",
		"status": "completed", "content": []object{{"type": "input_audio", "transcript": nil}}})
}

// items adds an item that is complete.
func (c *codec) items(out *wsdoor.Outbox, previous string, item object) {
	c.put(out, "conversation.item.added", object{"previous_item_id": orNull(previous), "item": item})
	c.put(out, "conversation.item.done", object{"previous_item_id": orNull(previous), "item": item})
}

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

const transcription = "conversation.item.input_audio_transcription."

// callerWords passes a transcript on, when the session wants one.
func (c *codec) callerWords(m *transport.Message, out *wsdoor.Outbox) {
	i := &c.input
	if c.session.Audio.Input.Transcription == nil || i.item == "" {
		return
	}
	if room := transport.TextCharsMax - len(i.words); room > 0 {
		i.words += wsdoor.Cut(m.Text, room)
	}
	if m.Text != "" {
		c.put(out, transcription+"delta", object{"item_id": i.item, "content_index": 0, "delta": m.Text})
	}
	if m.Final {
		c.wordsEnd(out)
	}
}

// wordsEnd completes a transcript: models do not always say that one is.
func (c *codec) wordsEnd(out *wsdoor.Outbox) {
	i := &c.input
	if i.words != "" {
		c.put(out, transcription+"completed", object{"item_id": i.item, "content_index": 0, "transcript": i.words})
		i.words = ""
	}
}

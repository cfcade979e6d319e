package openai

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/wsendpoint"
)

// ask is a response.create whose response has not begun.
type ask struct {
	metadata json.RawMessage // given back in the response
	textOnly bool
	spare    bool // it asked for nothing that the model does not do anyway
}

// wish is the response of a response.create.
type wish struct {
	Instructions     string          `json:"instructions"`
	Input            []clientItem    `json:"input"`
	Conversation     json.RawMessage `json:"conversation"`
	OutputModalities json.RawMessage `json:"output_modalities"`
	Modalities       json.RawMessage `json:"modalities"` // of the beta
	Metadata         json.RawMessage `json:"metadata"`
	Tools            json.RawMessage `json:"tools"`
	ToolChoice       json.RawMessage `json:"tool_choice"`
	MaxOutputTokens  json.RawMessage `json:"max_output_tokens"`
	Prompt           json.RawMessage `json:"prompt"`

	known []*item // of Input: what the model is to know
}

const (
	metadataBytesMax = 16 << 10
	// beginning asks the model to speak first.
	beginning = "The call begins. Speak first."
	// aside marks what a program says to the model, not the caller.
	aside = "Instructions for this reply: "
)

// respond has the model answer what waits: typed text, committed audio, results of functions. Speech
// that the gateway detected is answered without it.
func (c *codec) respond(ev *clientEvent, in *wsendpoint.Inbox, out *wsendpoint.Outbox) *fault {
	r := &c.reply
	var w wish
	if len(ev.Response) > 0 && json.Unmarshal(ev.Response, &w) != nil {
		return invalid("response", "response is not what a response.create has.")
	}
	a, text, f := c.wanted(&w, ev.EventID, out)
	typed, waiting := c.unsent()
	switch {
	case f != nil:
		return f
	case r.open && !r.rest && (!r.replyPending || text != "" || waiting > 0):
		return &fault{"conversation_already_has_active_response", "", "Conversation already has an active response in " +
			"progress. Wait until it is done, or send response.cancel, before response.create."}
	}
	text += typed
	if utf8.RuneCountInString(text) > transport.TextCharsMax {
		return unsupported("response.instructions", "Instructions, input and text have more than %d characters.",
			transport.TextCharsMax)
	}
	if r.open && r.rest {
		c.finish(out, statusCompleted, "")
	}
	c.known = append(c.known, w.known...)
	c.inform(in)
	first := len(c.list.items) == 0
	sent := c.tools.send(in)
	r.replyPending = r.replyPending || sent
	switch {
	case waiting == 0 && strings.TrimSpace(text) != "": // which interrupts nothing
		in.Event(transport.Event{Kind: transport.EventPrompt, Text: strings.TrimSpace(text)})
	case waiting > 0:
		c.say(strings.TrimSpace(text), in, out, ev.EventID)
	case sent || len(c.tools.open) > 0:
	case r.replyPending || r.ask != nil:
		a.spare = true
	case first:
		in.Event(transport.Event{Kind: transport.EventText, Text: beginning})
	default: // nothing is new: the model has nothing to answer
		r.ask = a
		c.createBare(out)
		c.finish(out, statusCompleted, "")
		return nil
	}
	if r.ask == nil || !a.spare {
		r.ask = a
	}
	return nil
}

// wanted returns what a response.create asks for, and the text that it brings. What cannot be had is
// refused alone, except what would make the reply another one.
func (c *codec) wanted(w *wish, eventID string, out *wsendpoint.Outbox) (a *ask, text string, f *fault) {
	if len(w.Conversation) > 0 && !isNull(w.Conversation) && string(w.Conversation) != `"auto"` {
		return nil, "", unsupported("response.conversation",
			"A reply is always part of the call: conversation must be \"auto\".")
	}
	var b strings.Builder
	for i := range w.Input {
		it := &w.Input[i]
		if it.Type != kindMessage {
			return nil, "", unsupported("response.input", "This gateway takes messages as input.")
		}
		words, f := it.words("response.input")
		switch {
		case f != nil:
			return nil, "", f
		case it.Role == roleUser:
			b.WriteString(words)
		case it.Role != roleSystem && it.Role != roleAssistant || len(w.known) == unsentMax ||
			utf8.RuneCountInString(words) > transport.TextCharsMax:
			return nil, "", unsupported("response.input", "This gateway takes messages of the roles user, system and "+
				"assistant as input, at most %d of the last two, with at most %d characters.", unsentMax,
				transport.TextCharsMax)
		default:
			w.known = append(w.known, &item{role: it.Role, text: words})
		}
	}
	a = &ask{textOnly: c.session.textOnly}
	for _, raw := range []json.RawMessage{w.OutputModalities, w.Modalities} {
		if len(raw) == 0 || isNull(raw) {
			continue
		}
		textOnly, f := modalities(raw)
		if f != nil {
			return nil, "", refused(f, "response.output_modalities")
		}
		a.textOnly = textOnly
	}
	var metadata map[string]string
	switch {
	case len(w.Metadata) == 0:
	case len(w.Metadata) > metadataBytesMax || json.Unmarshal(w.Metadata, &metadata) != nil:
		return nil, "", invalid("response.metadata", "metadata is an object of texts, of at most %d bytes.",
			metadataBytesMax)
	default:
		a.metadata = bytes.Clone(w.Metadata)
	}
	for _, s := range [...]struct {
		param string
		raw   json.RawMessage
		set   setting
	}{
		{"tools", w.Tools, only("[]", "The tools are those of the session.")},
		{"tool_choice", w.ToolChoice, settings()["tool_choice"]},
		{"max_output_tokens", w.MaxOutputTokens, only(`"inf"`, "The longest reply is that of the session.")},
		{"prompt", w.Prompt, settings()["prompt"]},
	} {
		if len(s.raw) == 0 {
			continue
		}
		if f := refused(s.set(nil, s.raw), "response."+s.param); f != nil {
			c.once(out, eventID, f)
		}
	}
	if w.Instructions == "" {
		return a, b.String(), nil
	}
	return a, aside + w.Instructions + "\n" + b.String(), nil
}

// say sends what waits for response.create as one turn of the caller.
func (c *codec) say(text string, in *wsendpoint.Inbox, out *wsendpoint.Outbox, eventID string) {
	i := &c.input
	spoken := i.spoken()
	if len(spoken) > 0 {
		in.Event(transport.Event{Kind: transport.EventTalk, On: true})
	}
	if text != "" {
		in.Event(transport.Event{Kind: transport.EventText, Text: text})
	}
	if len(spoken) > 0 {
		_ = in.Samples(bufferRateHz, spoken) // the rate is the hello's
		in.Event(transport.Event{Kind: transport.EventTalk})
	}
	if i.cut {
		c.once(out, eventID, unsupported("input_audio_buffer", "The input buffer keeps %d s: the model gets the end of "+
			"what was committed.", bufferSeconds))
	}
	i.drop(0, i.committed)
	i.cut = false
	for _, it := range c.list.items {
		it.unsent = false
	}
}

// cancel keeps the rest of the reply from the client, or all of one that has not begun. The model
// does not learn of it.
func (c *codec) cancel(out *wsendpoint.Outbox) *fault {
	r := &c.reply
	switch {
	case r.open:
		r.silenced = r.generation
	case r.ask != nil:
		r.silenceNext = true
		c.createBare(out)
	default:
		return &fault{"response_cancel_not_active", "", "Cancellation failed: no active response found."}
	}
	c.finish(out, statusCancelled, "client_cancelled")
	return nil
}

package rtvi

import (
	"encoding/json"
	"time"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/wsconn"
	"github.com/voicegw/voicegw/transport/wsendpoint"
)

// codec encodes and decodes the protocol for one client.
type codec struct {
	readyID  string // id of client-ready, which bot-ready answers
	version  string // in which it speaks to this client
	legacy   bool   // the client is of RTVI 1.x
	le       []byte
	speaking bool // the bot speaks
	making   bool // the model produces the bot's reply
	heard    bool // the user's turn was announced
	reply    reply
	told     map[string]bool // what has no effect, and was told
	words    string          // the user's transcript that is not complete
}

// Greet waits for client-ready. It drops audio that comes before.
func (c *codec) Greet(h *transport.Hello, next func() (wsconn.Message, error), _ *wsendpoint.Outbox) error {
	for {
		m, err := next()
		if err != nil {
			return err
		}
		f, err := decode(m)
		if err != nil {
			return err
		}
		if f.kind != frameMessage {
			continue
		}
		msg, err := decodeMessage(f.data)
		if err != nil {
			return err
		}
		if msg.Label != label {
			continue
		}
		return c.clientReady(h, msg)
	}
}

func (c *codec) clientReady(h *transport.Hello, m *message) error {
	if m.Type != "client-ready" {
		return transport.End(transport.ReasonEventBeforeHello, "The first message must be a client-ready.", nil)
	}
	var r ready
	if err := c.data(m, &r); err != nil {
		return err
	}
	h.Messages = true
	c.readyID = m.ID
	c.version, c.legacy = r.speaks()
	if about := r.client(); about != "" {
		h.Client = about
	}
	return nil
}

// Ready sends bot-ready.
func (c *codec) Ready(_ transport.Ready, out *wsendpoint.Outbox) {
	put(out, "bot-ready", c.readyID, object{"version": c.version, "about": object{"library": "voicegw"}})
}

// Audio appends a frame of the reply. It allocates nothing once the buffers have grown.
func (c *codec) Audio(dst []byte, _ uint64, pcm []int16) []byte {
	c.le = audio.AppendBytes(c.le[:0], pcm)
	return appendAudioFrame(dst, c.le, wsendpoint.OutputRateHz)
}

// Message encodes the messages that the protocol has a form for.
func (c *codec) Message(m *transport.Message, out *wsendpoint.Outbox) {
	switch m.Kind {
	case transport.MessageSpeech:
		c.speech(m, out)
	case transport.MessageTurn:
		c.turn(m, out)
	case transport.MessageClear:
		put(out, "bot-interrupted", "", nil)
		c.botSpeaks(false, out)
	case transport.MessageMark:
		c.sentence(c.reply.rest(), out)
		c.made(out)
	case transport.MessageTranscript:
		c.transcript(m, out)
	case transport.MessageToolCall:
		put(out, "llm-function-call-started", "", object{"function_name": m.Name})
		put(out, "llm-function-call-in-progress", "", object{"function_name": m.Name, "tool_call_id": m.ID,
			"arguments": arguments(m.Text)})
	case transport.MessageToolCancel:
		put(out, "llm-function-call-stopped", "", object{"tool_call_id": m.ID, "cancelled": true})
	case transport.MessageHold, transport.MessageProtected:
		kind := map[transport.State]string{transport.StateStart: "user-mute-started",
			transport.StateStop: "user-mute-stopped"}
		put(out, kind[m.State], "", nil)
	case transport.MessageMessage:
		put(out, "server-message", "", object{"t": m.Name, "d": json.RawMessage(m.Text)})
	case transport.MessageError:
		put(out, "error", "", object{"error": m.Text, "message": m.Text, "fatal": m.Fatal})
	}
}

// arguments returns the arguments of a tool call as JSON; it returns an empty object for invalid
// ones.
func arguments(text string) json.RawMessage {
	if !json.Valid([]byte(text)) {
		return json.RawMessage("{}")
	}
	return json.RawMessage(text)
}

// speech reports the detected speech. It also reports the user's turn, unless the sound may be a
// cough over a reply.
func (c *codec) speech(m *transport.Message, out *wsendpoint.Outbox) {
	if m.State == transport.StateStart {
		put(out, "vad-user-started-speaking", "", nil)
		if !c.speaking {
			c.userSpeaks(true, out)
		}
		return
	}
	put(out, "vad-user-stopped-speaking", "", nil)
	c.userSpeaks(false, out)
}

func (c *codec) userSpeaks(on bool, out *wsendpoint.Outbox) {
	if c.heard == on {
		return
	}
	c.heard = on
	if on {
		put(out, "user-started-speaking", "", nil)
	} else {
		put(out, "user-stopped-speaking", "", nil)
	}
}

func (c *codec) botSpeaks(on bool, out *wsendpoint.Outbox) {
	if c.speaking == on {
		return
	}
	c.speaking = on
	if on {
		put(out, "bot-started-speaking", "", nil)
	} else {
		put(out, "bot-stopped-speaking", "", nil)
	}
}

// made reports that the model has produced the whole reply; it may still be playing.
func (c *codec) made(out *wsendpoint.Outbox) {
	if c.making {
		c.making = false
		put(out, "bot-llm-stopped", "", nil)
		put(out, "bot-tts-stopped", "", nil)
	}
}

func (c *codec) turn(m *transport.Message, out *wsendpoint.Outbox) {
	switch m.State {
	case transport.StateStart:
		c.userWords(true, out) // models do not always send the end of a transcript
		c.making = true
		put(out, "bot-llm-started", "", nil)
		put(out, "bot-tts-started", "", nil)
		c.botSpeaks(true, out)
	case transport.StateResume:
		c.botSpeaks(true, out)
	case transport.StateEnd:
		c.sentence(c.reply.rest(), out)
		c.replyEnds(m.TurnEnd != transport.TurnInterrupted, out)
		if m.TurnEnd == transport.TurnInterrupted {
			c.userSpeaks(true, out)
		}
		c.made(out)
		c.botSpeaks(false, out)
	}
}

// userWords sends the user's transcript, partial or final.
func (c *codec) userWords(final bool, out *wsendpoint.Outbox) {
	if c.words == "" {
		return
	}
	put(out, "user-transcription", "", object{"text": c.words, "user_id": "",
		"timestamp": time.Now().UTC().Format("2006-01-02T15:04:05.000Z"), "final": final})
	if final {
		c.words = ""
	}
}

func (c *codec) transcript(m *transport.Message, out *wsendpoint.Outbox) {
	if m.Who == transport.WhoCaller {
		if room := transport.TextCharsMax - len(c.words); room > 0 {
			c.words += transport.Cut(m.Text, room)
		}
		c.userWords(m.Final, out)
		return
	}
	if m.Text == "" {
		return
	}
	put(out, "bot-llm-text", "", object{"text": m.Text})
	put(out, "bot-tts-text", "", object{"text": m.Text})
	for _, sentence := range c.reply.add(m.Text) {
		c.sentence(sentence, out)
	}
}

// Bye sends why a call fails, and closes with the code and the text of the reason.
func (c *codec) Bye(e *transport.Ended, out *wsendpoint.Outbox) (code int, reason string) {
	if e.Reason.Failure() {
		put(out, "error", "", object{"error": e.Message, "message": e.Message, "fatal": true})
	}
	return wsendpoint.CloseCode(e)
}

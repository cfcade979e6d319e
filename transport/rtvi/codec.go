package rtvi

import (
	"encoding/json"
	"time"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/wsdoor"
)

// codec speaks with one client.
type codec struct {
	readyID  string // of client-ready: bot-ready answers it
	le       []byte
	speaking bool   // the bot speaks
	making   bool   // the bot's words are being made
	heard    bool   // the user's turn was announced
	segments uint64 // of what the bot says
	words    string // of the user's transcript that is not complete
}

// Greet waits for client-ready. Sound that comes before is nobody's.
func (c *codec) Greet(h *transport.Hello, next func() (wsdoor.Inbound, error), _ *wsdoor.Outbox) error {
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
		return wsdoor.End(transport.ReasonEventBeforeHello, "The first message must be a client-ready.", nil)
	}
	var r ready
	if err := c.data(m, &r); err != nil {
		return err
	}
	c.readyID = m.ID
	if about := r.client(); about != "" {
		h.Client = about
	}
	return nil
}

// Ready says that the bot is.
func (c *codec) Ready(_ transport.Ready, out *wsdoor.Outbox) {
	put(out, "bot-ready", c.readyID, object{"version": version, "about": object{"library": "voicegw"}})
}

// Audio appends a frame of the reply. It allocates nothing once the buffers have grown.
func (c *codec) Audio(dst []byte, _ uint64, pcm []int16) []byte {
	c.le = audio.AppendBytes(c.le[:0], pcm)
	return appendAudioFrame(dst, c.le, wsdoor.OutputRateHz)
}

// Message tells the client what it has a word for.
func (c *codec) Message(m *transport.Message, out *wsdoor.Outbox) {
	switch m.Kind {
	case transport.MessageSpeech:
		c.speech(m, out)
	case transport.MessageTurn:
		c.turn(m, out)
	case transport.MessageClear:
		put(out, "bot-interrupted", "", nil)
		c.botSpeaks(false, out)
	case transport.MessageMark:
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
	case transport.MessageError:
		put(out, "error", "", object{"error": m.Text, "message": m.Text, "fatal": m.Fatal})
	}
}

// arguments are those of a tool call as JSON, an empty object for what is none.
func arguments(text string) json.RawMessage {
	if !json.Valid([]byte(text)) {
		return json.RawMessage("{}")
	}
	return json.RawMessage(text)
}

// speech tells what the detector heard, and the user's turn with it unless it may be a cough over a reply.
func (c *codec) speech(m *transport.Message, out *wsdoor.Outbox) {
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

func (c *codec) userSpeaks(on bool, out *wsdoor.Outbox) {
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

func (c *codec) botSpeaks(on bool, out *wsdoor.Outbox) {
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

// made says that all the bot's words are made; they may still be playing.
func (c *codec) made(out *wsdoor.Outbox) {
	if c.making {
		c.making = false
		put(out, "bot-llm-stopped", "", nil)
		put(out, "bot-tts-stopped", "", nil)
	}
}

func (c *codec) turn(m *transport.Message, out *wsdoor.Outbox) {
	switch m.State {
	case transport.StateStart:
		c.userWords(true, out) // models do not always say that a transcript is complete
		c.making = true
		put(out, "bot-llm-started", "", nil)
		put(out, "bot-tts-started", "", nil)
		c.botSpeaks(true, out)
	case transport.StateResume:
		c.botSpeaks(true, out)
	case transport.StateEnd:
		if m.TurnEnd == transport.TurnInterrupted {
			c.userSpeaks(true, out)
		}
		c.made(out)
		c.botSpeaks(false, out)
	}
}

// userWords tells what the user said so far, or in all.
func (c *codec) userWords(final bool, out *wsdoor.Outbox) {
	if c.words == "" {
		return
	}
	put(out, "user-transcription", "", object{"text": c.words, "user_id": "",
		"timestamp": time.Now().UTC().Format("2006-01-02T15:04:05.000Z"), "final": final})
	if final {
		c.words = ""
	}
}

func (c *codec) transcript(m *transport.Message, out *wsdoor.Outbox) {
	if m.Who == transport.WhoCaller {
		if room := transport.TextCharsMax - len(c.words); room > 0 {
			c.words += wsdoor.Cut(m.Text, room)
		}
		c.userWords(m.Final, out)
		return
	}
	if m.Text == "" {
		return
	}
	c.segments++
	put(out, "bot-llm-text", "", object{"text": m.Text})
	put(out, "bot-tts-text", "", object{"text": m.Text})
	put(out, "bot-output", "", object{"text": m.Text, "aggregated_by": "sentence", "segment_id": c.segments,
		"spoken": true, "will_be_spoken": true, "spoken_status": "completed"})
}

// Bye says why a call fails, and closes with the code and the words of the reason.
func (c *codec) Bye(e *transport.Ended, out *wsdoor.Outbox) (code int, reason string) {
	if e.Reason.Failure() {
		put(out, "error", "", object{"error": e.Message, "message": e.Message, "fatal": true})
	}
	return wsdoor.CloseCode(e)
}

package gemini

import (
	"encoding/base64"
	"encoding/json"
	"net/http"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/wsdoor"
)

// codec speaks with one client.
type codec struct {
	client string // what the client's library says of itself

	// Of the setup:
	manual                  bool // the client says when the caller speaks
	callerWords, modelWords bool // transcripts are wanted
	activitySignals         bool // speech is to be told

	mime        string // of the last piece of audio
	rateHz      int    // in mime
	said        string // of a turn of words that is not complete
	streamEnded bool   // the microphone is off
	generated   bool   // generation complete was sent in this turn
	pcm, le     []byte // room
}

func newCodec(r *http.Request) *codec {
	return &codec{client: wsdoor.Label(r.Header.Get("X-Goog-Api-Client"))}
}

// Greet reads the setup.
func (c *codec) Greet(h *transport.Hello, next func() (wsdoor.Inbound, error), _ *wsdoor.Outbox) error {
	m, err := next()
	if err != nil {
		return err
	}
	var msg clientMessage
	if err := json.Unmarshal(m.Data, &msg); err != nil {
		return badJSON(err)
	}
	s := msg.Setup
	if s == nil {
		return wsdoor.End(transport.ReasonEventBeforeHello, "The first message must be a setup.", nil)
	}
	if c.client != "" {
		h.Client = c.client
	}
	c.manual = s.RealtimeInputConfig.AutomaticActivityDetection.Disabled
	c.callerWords, c.modelWords = s.InputAudioTranscription != nil, s.OutputAudioTranscription != nil
	c.activitySignals = s.ExplicitVADSignal
	return s.fill(h)
}

// Ready completes the setup.
func (c *codec) Ready(r transport.Ready, out *wsdoor.Outbox) {
	put(out, map[string]any{"setupComplete": map[string]any{"sessionId": r.Call}})
}

// put adds a message. What is put can be marshalled.
func put(out *wsdoor.Outbox, v any) {
	if b, err := json.Marshal(v); err == nil {
		out.Put(b)
	}
}

const (
	audioPrefix = `{"serverContent":{"modelTurn":{"role":"model","parts":[{"inlineData":{"mimeType":"audio/pcm;` +
		`rate=24000","data":"`
	audioSuffix = `"}}]}}}`
)

// Audio appends a frame of the reply. It allocates nothing once the buffers have grown.
func (c *codec) Audio(dst []byte, _ uint64, pcm []int16) []byte {
	c.le = audio.AppendBytes(c.le[:0], pcm)
	dst = append(dst, audioPrefix...)
	dst = base64.StdEncoding.AppendEncode(dst, c.le)
	return append(dst, audioSuffix...)
}

// object is a JSON object.
type object = map[string]any

func serverContent(out *wsdoor.Outbox, content object) { put(out, object{"serverContent": content}) }

// Message tells the client what it has a word for.
func (c *codec) Message(m *transport.Message, out *wsdoor.Outbox) {
	switch m.Kind {
	case transport.MessageClear:
		serverContent(out, object{"interrupted": true})
	case transport.MessageMark:
		c.generationComplete(out)
	case transport.MessageTurn:
		c.turns(m, out)
	case transport.MessageTranscript:
		c.transcript(m, out)
	case transport.MessageToolCall:
		put(out, object{"toolCall": object{"functionCalls": []object{{"id": m.ID, "name": m.Name,
			"args": arguments(m.Text)}}}})
	case transport.MessageToolCancel:
		put(out, object{"toolCallCancellation": object{"ids": []string{m.ID}}})
	case transport.MessageSpeech:
		if c.activitySignals {
			kind := map[transport.State]string{transport.StateStart: "ACTIVITY_START", transport.StateStop: "ACTIVITY_END"}
			put(out, object{"voiceActivity": object{"voiceActivityType": kind[m.State]}})
		}
	}
}

// arguments are those of a tool call as JSON, an empty object for what is none.
func arguments(text string) json.RawMessage {
	if !json.Valid([]byte(text)) {
		return json.RawMessage("{}")
	}
	return json.RawMessage(text)
}

// generationComplete is sent once a turn, when its last frame was.
func (c *codec) generationComplete(out *wsdoor.Outbox) {
	if !c.generated {
		c.generated = true
		serverContent(out, object{"generationComplete": true})
	}
}

// turns tells the end of a turn; its beginning is its first sound.
func (c *codec) turns(m *transport.Message, out *wsdoor.Outbox) {
	switch m.State {
	case transport.StateStart:
		c.generated = false
	case transport.StateEnd:
		if m.TurnEnd == transport.TurnComplete {
			c.generationComplete(out)
		}
		serverContent(out, object{"turnComplete": true})
	}
}

func (c *codec) transcript(m *transport.Message, out *wsdoor.Outbox) {
	key, wanted := "inputTranscription", c.callerWords
	if m.Who == transport.WhoModel {
		key, wanted = "outputTranscription", c.modelWords
	}
	if !wanted {
		return
	}
	words := object{}
	if m.Text != "" {
		words["text"] = m.Text
	}
	if m.Final {
		words["finished"] = true
	}
	serverContent(out, object{key: words})
}

// Bye announces an end of the gateway's own, and closes with the code and the words of the reason.
func (c *codec) Bye(e *transport.Ended, out *wsdoor.Outbox) (code int, reason string) {
	if e.Reason == transport.ReasonGoingAway {
		put(out, object{"goAway": object{"timeLeft": "0s"}})
	}
	return wsdoor.CloseCode(e)
}

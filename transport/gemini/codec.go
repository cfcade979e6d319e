package gemini

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"reflect"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/wsconn"
	"github.com/voicegw/voicegw/transport/wsendpoint"
)

// codec encodes and decodes the protocol for one client.
type codec struct {
	log    *zap.Logger
	client string // the client library's name and version
	call   string // the call's id, for logs
	notes  notes  // what the client is told of its settings and messages

	// Settings of the setup:
	manual                              bool            // the client detects the caller's speech
	callerTranscripts, modelTranscripts bool            // the client wants transcripts
	activitySignals                     bool            // the client wants activity signals
	resumption                          bool            // the client wants handles
	asked                               asked           // what else the setup asks for
	nonBlocking                         map[string]bool // the tools whose results may be scheduled
	schedules                           bool            // the model takes that

	mime        string // of the last piece of audio
	rateHz      int    // the rate in mime
	untold      bool   // content of the user's came that is not complete
	streamEnded bool   // the client ended its audio stream
	generated   bool   // generation complete was sent in this turn
	pcm, le     []byte // reused buffers
}

// asked is what a setup asks for, and a call keeps over all its connections.
type asked struct {
	session    transport.Session
	detection  transport.Detection
	language   string
	halfDuplex bool
}

func newCodec(r *http.Request, log *zap.Logger) *codec {
	return &codec{log: log, client: wsendpoint.Label(r.Header.Get("X-Goog-Api-Client"))}
}

// Greet reads the setup.
func (c *codec) Greet(h *transport.Hello, next func() (wsconn.Message, error), _ *wsendpoint.Outbox) error {
	m, err := next()
	if err != nil {
		return err
	}
	msg, err := c.decode(m.Data)
	if err != nil {
		return err
	}
	s := msg.Setup
	if s == nil {
		return transport.End(transport.ReasonEventBeforeHello, "The first message must be a setup.", nil)
	}
	if c.client != "" {
		h.Client = c.client
	}
	c.manual = s.RealtimeInputConfig.AutomaticActivityDetection.Disabled
	c.callerTranscripts, c.modelTranscripts = s.InputAudioTranscription != nil, s.OutputAudioTranscription != nil
	c.activitySignals, c.resumption = s.ExplicitVADSignal, s.SessionResumption != nil
	if err := s.fill(h, &c.notes); err != nil {
		return err
	}
	c.nonBlocking = map[string]bool{}
	for _, t := range h.Session.Tools {
		c.nonBlocking[t.Name] = t.NonBlocking
	}
	c.asked = asked{h.Session, h.Detection, h.Language, h.HalfDuplex}
	return nil
}

// Ready sends setupComplete, with what the client is told of its setup.
func (c *codec) Ready(r transport.Ready, out *wsendpoint.Outbox) {
	c.call, c.schedules = r.Call, r.Schedules
	warnings := c.fresh()
	for _, f := range r.Refused { // which the gateway logs
		warnings = append(warnings, sessionPath(f.Field)+": the call does not follow the field; it must be "+f.Want+".")
	}
	putWarned(out, object{"setupComplete": object{"sessionId": r.Call}}, warnings)
	if c.resumption && r.Resume.Handle == "" {
		put(out, object{"sessionResumptionUpdate": object{"resumable": false}})
	}
}

// Handle sends the handle by which a client goes on with its call.
func (c *codec) Handle(handle string, out *wsendpoint.Outbox) {
	put(out, object{"sessionResumptionUpdate": object{"newHandle": handle, "resumable": true}})
}

// Resume notes that the call keeps the settings of the setup that it began with.
func (c *codec) Resume(first wsendpoint.Codec) {
	began := first.(*codec)
	if !reflect.DeepEqual(began.asked, c.asked) {
		c.notes.add("setup", "the call goes on with the settings that it began with, which differ from these")
	}
	c.asked, c.manual, c.nonBlocking = began.asked, began.manual, began.nonBlocking
	c.untold = began.untold
}

// fresh returns the notes that the client was not told yet, and logs them.
func (c *codec) fresh() []string {
	fresh := c.notes.take()
	if len(fresh) > 0 {
		c.log.Info("the client asks for what it cannot have", zap.String("endpoint", Name), zap.String("call", c.call),
			zap.String("client", c.client), zap.Strings("warnings", fresh))
	}
	return fresh
}

// putWarned adds a message with warnings. They are a field that clients do not know: some show it,
// and none stumbles over it as long as the message has a field that they know.
func putWarned(out *wsendpoint.Outbox, message object, warnings []string) {
	if len(warnings) > 0 {
		message["warnings"] = warnings
	}
	put(out, message)
}

// put adds a message. It must be marshallable.
func put(out *wsendpoint.Outbox, v any) {
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

func serverContent(out *wsendpoint.Outbox, content object) {
	put(out, object{"serverContent": content})
}

// Message encodes the messages that the protocol has a form for.
func (c *codec) Message(m *transport.Message, out *wsendpoint.Outbox) {
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
			kind := "ACTIVITY_START"
			if m.State == transport.StateStop {
				kind = "ACTIVITY_END"
			}
			// Google's libraries read the one of the Gemini API and the other of Vertex AI.
			put(out, object{"voiceActivity": object{"voiceActivityType": kind, "type": kind}})
		}
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

// generationComplete sends the message of that name once a turn, after the last frame of the turn.
func (c *codec) generationComplete(out *wsendpoint.Outbox) {
	if !c.generated {
		c.generated = true
		serverContent(out, object{"generationComplete": true})
	}
}

// turns reports the end of a turn; the first audio of a turn is its beginning.
func (c *codec) turns(m *transport.Message, out *wsendpoint.Outbox) {
	switch m.State {
	case transport.StateStart:
		c.generated = false
	case transport.StateEnd:
		if m.TurnEnd == transport.TurnComplete {
			c.generationComplete(out)
		}
		end := object{"serverContent": object{"turnComplete": true}}
		if m.Usage != (transport.Usage{}) {
			end["usageMetadata"] = usageMetadata(&m.Usage)
		}
		put(out, end)
	}
}

// usageMetadata returns the tokens of a turn, without those that the model does not report.
func usageMetadata(u *transport.Usage) object {
	o := object{"promptTokenCount": u.Prompt, "responseTokenCount": u.Response, "totalTokenCount": u.Total}
	if u.Thoughts > 0 {
		o["thoughtsTokenCount"] = u.Thoughts
	}
	if u.Cached > 0 {
		o["cachedContentTokenCount"] = u.Cached
	}
	details := func(key string, text, audio int32) {
		var list []object
		for _, d := range [...]struct {
			modality string
			count    int32
		}{{"TEXT", text}, {"AUDIO", audio}} {
			if d.count > 0 {
				list = append(list, object{"modality": d.modality, "tokenCount": d.count})
			}
		}
		if list != nil {
			o[key] = list
		}
	}
	details("promptTokensDetails", u.PromptText, u.PromptAudio)
	details("responseTokensDetails", u.ResponseText, u.ResponseAudio)
	return o
}

func (c *codec) transcript(m *transport.Message, out *wsendpoint.Outbox) {
	key, wanted := "inputTranscription", c.callerTranscripts
	if m.Who == transport.WhoModel {
		key, wanted = "outputTranscription", c.modelTranscripts
	}
	if !wanted {
		return
	}
	part := object{}
	if m.Text != "" {
		part["text"] = m.Text
	}
	if m.Final {
		part["finished"] = true
	}
	serverContent(out, object{key: part})
}

// Bye announces an end by the gateway, and closes with the code and the text of the reason.
func (c *codec) Bye(e *transport.Ended, out *wsendpoint.Outbox) (code int, reason string) {
	if e.Reason == transport.ReasonGoingAway {
		put(out, object{"goAway": object{"timeLeft": "0s"}})
	}
	return wsendpoint.CloseCode(e)
}

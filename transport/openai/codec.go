package openai

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/wsconn"
	"github.com/voicegw/voicegw/transport/wsendpoint"
)

// settleTime is how long a client that has sent a session.update may be silent before the call
// begins: many send their instructions, their tools and their tracing one by one.
const settleTime = 150 * time.Millisecond

// codec encodes and decodes the protocol for one client.
type codec struct {
	session session
	id      string          // of the session
	beta    bool            // the client speaks the beta of the API
	updates int             // updates of the session that are answered when the call is up
	early   bool            // the client has made items before the call
	running bool            // the greeting is over
	known   []*item         // the model does not know them yet
	count   uint64          // number of ids given so far
	told    map[string]bool // code and param of errors that are told once

	list  list
	input input
	tools tools
	reply reply
}

func newCodec(r *http.Request) *codec { return newCodecFor(r.URL.Query().Get("model"), wantsBeta(r)) }

// newCodecFor makes the codec of a client that asks for a model, "" for none.
func newCodecFor(model string, beta bool) *codec {
	if model = transport.Cut(model, modelLenMax); model == "" {
		model = defaultModel
	}
	c := &codec{session: newSession(model), beta: beta, told: map[string]bool{}}
	c.id = c.name("sess_")
	return c
}

// name makes an id, unique in the call.
func (c *codec) name(prefix string) string {
	c.count++
	return prefix + strconv.FormatUint(c.count, 10)
}

// put adds an event of a type, with an id of its own. The event must be marshallable.
func (c *codec) put(out *wsendpoint.Outbox, kind string, fields object) {
	if c.beta {
		was, ok := betaEvent(kind)
		if !ok {
			return
		}
		kind = was
	}
	fields["type"], fields["event_id"] = kind, c.name("event_")
	if b, err := json.Marshal(fields); err == nil {
		out.Put(b)
	}
}

// complain answers an event of the client with an error; the call goes on.
func (c *codec) complain(out *wsendpoint.Outbox, eventID string, f *fault) {
	e := object{"type": "invalid_request_error", "code": f.code, "message": f.message, "param": nil, "event_id": nil}
	if f.param != "" {
		e["param"] = f.param
	}
	if eventID != "" {
		e["event_id"] = transport.Cut(eventID, clientEventLenMax)
	}
	c.put(out, "error", object{"error": e})
}

// once answers with an error that the client has not had yet.
func (c *codec) once(out *wsendpoint.Outbox, eventID string, f *fault) {
	if key := f.code + " " + f.param; !c.told[key] {
		c.told[key] = true
		c.complain(out, eventID, f)
	}
}

// Greet creates the session, and takes updates of it until the client begins or has nothing more to
// say.
func (c *codec) Greet(h *transport.Hello, next func() (wsconn.Message, error), out *wsendpoint.Outbox) error {
	c.welcome(out)
	for {
		m, err := next()
		if errors.Is(err, wsendpoint.ErrSettled) {
			c.begin(h)
			return nil
		}
		if err != nil {
			return err
		}
		switch more, err := c.configure(m.Data, out); {
		case err != nil:
			return err
		case !more:
			c.begin(h)
			return wsendpoint.ErrUnread
		}
	}
}

// welcome tells the client that it has a session.
func (c *codec) welcome(out *wsendpoint.Outbox) {
	c.put(out, "session.created", object{"session": c.describe()})
	if c.beta {
		c.put(out, "conversation.created", object{"conversation": object{"id": c.name("conv_"),
			"object": "realtime.conversation"}})
	}
}

// configure takes an event before the call. It reports false for the first event that belongs to the
// call, which Read must take.
func (c *codec) configure(data []byte, out *wsendpoint.Outbox) (more bool, err error) {
	var ev clientEvent
	if err := json.Unmarshal(data, &ev); err != nil {
		return false, badJSON(err)
	}
	switch {
	case ev.Type == "session.update":
		c.update(&ev, out)
	case ev.early():
		c.early = true
		if f := c.event(&ev, &wsendpoint.Inbox{}, out); f != nil { // which makes no event of the call
			c.complain(out, ev.EventID, f)
		}
	default:
		return false, nil
	}
	return true, nil
}

// Settle returns how long the client may be silent before the call begins.
func (c *codec) Settle() time.Duration {
	if c.updates > 0 || c.early {
		return settleTime
	}
	return 0
}

// update applies the client's session. In a running call it answers with the one in force.
func (c *codec) update(ev *clientEvent, out *wsendpoint.Outbox) {
	list, ok := fields(ev.Session)
	if !ok {
		c.complain(out, ev.EventID, invalid("session", "session is not what a session.update has."))
		return
	}
	want, faults := c.session.apply(list)
	if c.running {
		var more []*fault
		want, more = c.session.change(want)
		faults = append(faults, more...)
		if want.instructions != c.session.instructions {
			c.known = append(c.known, &item{role: roleSystem, text: lateInstructions + want.instructions})
		}
	}
	c.session = want
	for _, f := range faults {
		c.once(out, ev.EventID, f)
	}
	if c.updates++; c.running {
		c.answer(out)
	}
}

// answer answers the updates of the session with the one in force.
func (c *codec) answer(out *wsendpoint.Outbox) {
	for ; c.updates > 0; c.updates-- {
		c.put(out, "session.updated", object{"session": c.describe()})
	}
}

// begin puts the session into the hello of the call.
func (c *codec) begin(h *transport.Hello) {
	c.running = true
	c.session.hello(h)
}

func (c *codec) describe() object {
	if c.beta {
		return c.session.describeBeta(c.id)
	}
	return c.session.describe(c.id)
}

// Ready tells the client which session the call has.
func (c *codec) Ready(r transport.Ready, out *wsendpoint.Outbox) {
	for _, f := range c.session.follow(&r) {
		c.complain(out, "", f)
	}
	c.answer(out)
}

// Message encodes the messages that the protocol has an event for.
func (c *codec) Message(m *transport.Message, out *wsendpoint.Outbox) {
	switch m.Kind {
	case transport.MessageSpeech:
		c.speech(m, out)
	case transport.MessageTurn:
		c.turn(m, out)
	case transport.MessageClear:
		c.finish(out, statusCancelled, "turn_detected")
		c.reply.cleared(m.Generation)
	case transport.MessageMark:
		c.marked(m, out)
	case transport.MessageTranscript:
		if m.Who == transport.WhoCaller {
			c.callerTranscript(m, out)
		} else {
			c.modelTranscript(m, out)
		}
	case transport.MessageToolCall:
		c.toolCall(m, out)
	case transport.MessageToolCancel:
		c.tools.forget(m.ID)
	case transport.MessageError:
		c.failed(m, out)
	}
}

// failed reports an error of the call: as the end of the response that the client waits for, else as
// an event.
func (c *codec) failed(m *transport.Message, out *wsendpoint.Outbox) {
	e := object{"type": "server_error", "code": m.Code, "message": m.Text}
	if c.reply.ask != nil && !c.reply.open && m.Code != codeNoTool {
		c.createBare(out)
		c.reply.failure = e
		c.finish(out, statusFailed, "")
		return
	}
	e["param"], e["event_id"] = nil, nil
	c.put(out, "error", object{"error": e})
}

// codeNoTool is the code of an error that answers the result of a function call, not the request
// for a response.
const codeNoTool = "no_tool_call"

// Bye sends why a call fails, and closes with the code and the text of the reason.
func (c *codec) Bye(e *transport.Ended, out *wsendpoint.Outbox) (code int, reason string) {
	if e.Reason.Failure() {
		kind := "server_error"
		if code, _ := wsendpoint.CloseCode(e); code == 1007 || code == 1008 || code == 1009 {
			kind = "invalid_request_error"
		}
		c.put(out, "error", object{"error": object{"type": kind, "code": e.Reason.String(), "message": e.Message,
			"param": nil, "event_id": nil}})
	}
	return wsendpoint.CloseCode(e)
}

package openai

import (
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/wsdoor"
)

// codec speaks with one client.
type codec struct {
	session session
	id      string // of the session
	updated bool   // session.updated answers at Ready
	count   uint64 // of everything that has an id

	input input
	reply reply
}

func newCodec(r *http.Request) *codec {
	c := &codec{}
	c.session.Type = "realtime"
	c.session.Model = wsdoor.Cut(r.URL.Query().Get("model"), modelLenMax)
	if c.session.Model == "" {
		c.session.Model = defaultModel
	}
	c.id = c.name("sess_")
	return c
}

// name makes an id, unique in the call.
func (c *codec) name(prefix string) string {
	c.count++
	return prefix + strconv.FormatUint(c.count, 10)
}

// put adds an event of a type, with an id of its own. What is put can be marshalled.
func (c *codec) put(out *wsdoor.Outbox, kind string, fields object) {
	fields["type"], fields["event_id"] = kind, c.name("event_")
	if b, err := json.Marshal(fields); err == nil {
		out.Put(b)
	}
}

// complain answers an event of the client with an error; the call goes on.
func (c *codec) complain(out *wsdoor.Outbox, eventID string, f *fault) {
	e := object{"type": "invalid_request_error", "code": f.code, "message": f.message, "param": nil, "event_id": nil}
	if f.param != "" {
		e["param"] = f.param
	}
	if eventID != "" {
		e["event_id"] = wsdoor.Cut(eventID, clientEventLenMax)
	}
	c.put(out, "error", object{"error": e})
}

// Greet creates the session, and waits for the client to update it or to begin.
func (c *codec) Greet(h *transport.Hello, next func() (wsdoor.Inbound, error), out *wsdoor.Outbox) error {
	c.put(out, "session.created", object{"session": c.session.describe(c.id)})
	for {
		m, err := next()
		if err != nil {
			return err
		}
		var ev clientEvent
		if err := json.Unmarshal(m.Data, &ev); err != nil {
			return badJSON(err)
		}
		if ev.Type != "session.update" {
			c.begin(h)
			return wsdoor.ErrUnread
		}
		if f := c.update(&ev, h); f != nil {
			c.complain(out, ev.EventID, f)
			continue
		}
		c.updated = true
		return nil
	}
}

// update takes the client's session.
func (c *codec) update(ev *clientEvent, h *transport.Hello) *fault {
	s := session{Model: c.session.Model}
	if len(ev.Session) == 0 || json.Unmarshal(ev.Session, &s) != nil {
		return &fault{"invalid_value", "session", "session is not what a session.update has."}
	}
	if f := s.check(); f != nil {
		return f
	}
	c.session = s
	return c.begin(h)
}

// begin settles what the session asks for.
func (c *codec) begin(h *transport.Hello) *fault {
	d, _ := c.session.detection()
	c.input.push = d == nil
	c.input.coding, c.reply.coding = c.session.codings()
	h.InputRateHz, h.OutputRateHz = c.input.coding.rateHz(), c.reply.coding.rateHz()
	return c.session.fill(h)
}

// Ready answers the update.
func (c *codec) Ready(_ transport.Ready, out *wsdoor.Outbox) {
	if c.updated {
		c.put(out, "session.updated", object{"session": c.session.describe(c.id)})
	}
}

// Message tells the client what it has a word for.
func (c *codec) Message(m *transport.Message, out *wsdoor.Outbox) {
	switch m.Kind {
	case transport.MessageSpeech:
		c.speech(m, out)
	case transport.MessageTurn:
		c.turn(m, out)
	case transport.MessageClear:
		c.finish(out, statusCancelled, "turn_detected")
		c.reply.cleared(m.Generation)
	case transport.MessageMark:
		c.finish(out, statusCompleted, "")
	case transport.MessageTranscript:
		if m.Who == transport.WhoCaller {
			c.callerWords(m, out)
		} else {
			c.modelWords(m, out)
		}
	case transport.MessageToolCall:
		c.toolCall(m, out)
	case transport.MessageError:
		c.put(out, "error", object{"error": object{"type": "server_error", "code": m.Code, "message": m.Text, "param": nil,
			"event_id": nil}})
	}
}

// Bye says why a call fails, and closes with the code and the words of the reason.
func (c *codec) Bye(e *transport.Ended, out *wsdoor.Outbox) (code int, reason string) {
	if e.Reason.Failure() {
		kind := "server_error"
		if code, _ := wsdoor.CloseCode(e); code == 1007 || code == 1008 || code == 1009 {
			kind = "invalid_request_error"
		}
		c.put(out, "error", object{"error": object{"type": kind, "code": e.Reason.String(), "message": e.Message,
			"param": nil, "event_id": nil}})
	}
	return wsdoor.CloseCode(e)
}

package sim

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// crossing is how long after a cancellation a reply may still come that was under way.
const crossing = time.Second

// toolCallsMax bounds the calls of a conversation; beyond it the model calls nothing.
const toolCallsMax = 1000

// call is a request of the model to call a function.
type call struct {
	id, name  string
	blocking  bool // the model waits for the reply
	replied   bool
	cancelled bool
	at        time.Duration // of the cancellation
}

func (c *call) open() bool { return !c.replied && !c.cancelled }

// callTool asks for n calls, in one message or each in its own.
func (m *machine) callTool(n int, separate bool, name, args string) {
	var message []string
	for range n {
		if len(m.calls) == toolCallsMax {
			m.fault("too many calls")
			break
		}
		id := fmt.Sprintf("call-%d-%d", m.id, len(m.calls)+1)
		c := &call{id: id, name: name, blocking: !m.setup.tools[name].nonBlocking}
		m.calls = append(m.calls, c)
		m.log("tool_call", c.id+" "+name)
		m.rec.called(m.now, c.id, name, args)
		message = append(message, fmt.Sprintf(`{"id":%q,"name":%s,"args":%s}`, c.id, quote(name), args))
	}
	if !separate {
		m.sendCalls(strings.Join(message, ","))
		message = nil
	}
	for _, one := range message {
		m.sendCalls(one)
	}
}

func (m *machine) sendCalls(calls string) {
	if calls == "" {
		return
	}
	m.send(m.json(`{"toolCall":{"functionCalls":[` + calls + `]}}`))
	m.callsMade++
	m.cue(cueCall, m.callsMade, "")
}

// waiting reports whether the model waits for the reply of a tool.
func (m *machine) waiting() bool {
	for _, c := range m.calls {
		if c.blocking && c.open() {
			return true
		}
	}
	return false
}

// calling reports whether a reply of any tool is due.
func (m *machine) calling() bool {
	for _, c := range m.calls {
		if c.open() {
			return true
		}
	}
	return false
}

// cancelCalls cancels the open calls which are chosen.
func (m *machine) cancelCalls(chosen func(*call) bool) {
	var ids []string
	for _, c := range m.calls {
		if c.open() && chosen(c) {
			ids = append(ids, m.cancel(c))
		}
	}
	m.sendCancelled(ids)
}

// cancelLast cancels the last call there was, even if it was answered.
func (m *machine) cancelLast() {
	if n := len(m.calls); n > 0 {
		m.fault("cancelled late")
		m.sendCancelled([]string{m.cancel(m.calls[n-1])})
	}
}

func (m *machine) cancel(c *call) string {
	c.cancelled, c.at = true, m.now
	m.log("tool_cancel", c.id)
	m.rec.callEnded(c.id, "cancelled")
	return quote(c.id)
}

func (m *machine) sendCancelled(ids []string) {
	if len(ids) > 0 {
		m.send(m.json(`{"toolCallCancellation":{"ids":[` + strings.Join(ids, ",") + `]}}`))
	}
}

// toolReply is one function response of a client.
type toolReply struct {
	id, name, scheduling string
	response             json.RawMessage
}

// tooled acts on the replies of one message.
func (m *machine) tooled(replies []toolReply) *refusal {
	for _, r := range replies {
		if refused := m.toolReplied(r); refused != nil {
			return refused
		}
	}
	return nil
}

// toolReplied acts on one reply. One to a call that was cancelled a moment ago has crossed the cancellation and is
// dropped; one to a call that is unknown, answered or long cancelled is refused.
func (m *machine) toolReplied(r toolReply) *refusal {
	m.rec.toolReply(m.now, r)
	c := m.callOf(r.id)
	switch {
	case c == nil || c.replied || c.cancelled && m.now > c.at+crossing:
		return refuse(1008, "Requested entity was not found: no function call has the id of %.40q.", r.id)
	case r.name != "" && r.name != c.name:
		return invalid("%s The call %.40s is one of %.40s.", invalidArgument, c.id, c.name)
	case r.scheduling != "" && (c.blocking || unscheduled(m.setup.model)):
		return invalid("Function response scheduling is not supported for this function or model.")
	case c.cancelled:
		m.log("tool_reply_crossed", c.id)
		return nil
	}
	c.replied = true
	m.rec.callEnded(c.id, "replied")
	m.log("tool_reply", c.id)
	m.toolReplies++
	m.cue(cueToolReply, m.toolReplies, "")
	m.useReply(c, &r)
	return nil
}

func (m *machine) callOf(id string) *call {
	for _, c := range m.calls {
		if c.id == id {
			return c
		}
	}
	return nil
}

// unscheduled tells the models that refuse scheduling.
func unscheduled(model string) bool {
	return strings.Contains(model, "/gemini-3.8-live-extended-thinking")
}

// useReply lets the model go on: with what it was about to say, now about the tool's output; or, if it did not wait,
// with something new.
func (m *machine) useReply(c *call, r *toolReply) {
	text := c.name + ": " + string(r.response)
	if c.blocking {
		if !m.waiting() {
			m.release(text)
		}
		return
	}
	switch r.scheduling {
	case "SILENT":
	case "INTERRUPT":
		m.interrupt()
		m.say(m.toolVoice(), text)
	default:
		if m.reply == nil {
			m.say(m.toolVoice(), text)
			return
		}
		m.later = append(m.later, text)
	}
}

// release goes on with a reply that waited for tools; one that did not begin yet is about their output.
func (m *machine) release(text string) {
	r := m.reply
	if r == nil {
		m.say(m.toolVoice(), text)
		return
	}
	if r.sent == 0 && r.said == 0 {
		r.words = strings.SplitAfter(text, " ")
	}
	r.postpone(max(m.now, m.held))
}

// toolVoice is what the model says about a tool's output: a second of tone, unless a fixed reply is configured.
func (m *machine) toolVoice() []int16 {
	if m.cfg.FixedReply != nil {
		return m.cfg.FixedReply
	}
	return tone(m.replies, time.Second)
}

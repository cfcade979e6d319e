package sim

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// crossing is how long after a cancellation a late reply is accepted and dropped.
const crossing = time.Second

// toolCallsMax is the most calls of a conversation. At the limit the model calls no tool.
const toolCallsMax = 1000

// call is a tool call of the model.
type call struct {
	id, name  string
	blocking  bool // the model waits for the reply
	replied   bool
	cancelled bool
	at        time.Duration // of the cancellation
}

func (c *call) open() bool { return !c.replied && !c.cancelled }

// callTool sends n calls, in one message or in separate ones.
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

// calling reports whether any call is open.
func (m *machine) calling() bool {
	for _, c := range m.calls {
		if c.open() {
			return true
		}
	}
	return false
}

// cancelCalls cancels the chosen open calls.
func (m *machine) cancelCalls(chosen func(*call) bool) {
	var ids []string
	for _, c := range m.calls {
		if c.open() && chosen(c) {
			ids = append(ids, m.cancel(c))
		}
	}
	m.sendCancelled(ids)
}

// cancelLast cancels the last call, even if it has a reply.
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

// toolReply is one function response of the client.
type toolReply struct {
	id, name, scheduling string
	response             json.RawMessage
}

// tooled acts on the replies of one message.
func (m *machine) takeToolReplies(replies []toolReply) *refusal {
	for _, r := range replies {
		if refused := m.takeToolReply(r); refused != nil {
			return refused
		}
	}
	return nil
}

// takeToolReply acts on one reply. It drops the reply to a call that was cancelled within crossing.
// It refuses the reply to a call that is unknown, answered, or was cancelled earlier.
func (m *machine) takeToolReply(r toolReply) *refusal {
	m.rec.toolReply(m.now, r)
	c := m.callOf(r.id)
	switch {
	case c == nil || c.replied || c.cancelled && m.now > c.at+crossing:
		return refuse(1008, "Requested entity was not found: no function call has the id of %.40q.", r.id)
	case r.name != "" && r.name != c.name:
		return invalid("%s The call %.40s is one of %.40s.", invalidArgument, c.id, c.name)
	case r.scheduling != "" && (c.blocking || refusesScheduling(m.setup.model)):
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

// refusesScheduling reports whether a model refuses scheduling.
func refusesScheduling(model string) bool {
	return strings.Contains(model, "/gemini-3.8-live-extended-thinking")
}

// useReply continues the reply that waited for the call, or starts a new reply if the call is
// non-blocking.
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

// release continues a reply that waited for tools. If it has not begun, its transcript becomes
// text.
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

// toolVoice returns the audio for the output of a tool: a second of tone, or the fixed reply.
func (m *machine) toolVoice() []int16 {
	if m.cfg.FixedReply != nil {
		return m.cfg.FixedReply
	}
	return tone(m.replies, time.Second)
}

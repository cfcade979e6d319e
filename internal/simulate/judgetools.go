package simulate

import (
	"time"

	"github.com/voicegw/voicegw/live"
)

// toolCall is a function that the model called.
type toolCall struct {
	at        time.Time
	replies   int
	cancelled bool
}

// noteTools notes calls of functions on a connection, and their cancellation.
func (c *modelConn) noteTools(m *live.ServerMessage) {
	c.model.mu.Lock()
	defer c.model.mu.Unlock()
	switch m.Kind {
	case live.ServerToolCall:
		if c.tools[m.Call.ID] == nil {
			c.tools[m.Call.ID] = &toolCall{at: time.Now()}
		}
	case live.ServerToolCancel:
		for _, id := range m.IDs {
			if t := c.tools[id]; t != nil {
				t.cancelled = true
			}
		}
	}
}

// timedOutText is the reply to the model for a function that took too long.
const timedOutText = "the function took too long"

// judgeReplies wants each reply to be for a function that was called on this connection, and to be
// the only one.
func (c *modelConn) judgeReplies(replies []live.ToolReply) {
	c.model.mu.Lock()
	unknown, again := "", ""
	for _, r := range replies {
		if r.Error == timedOutText && c.model.tools.quick[r.Name] {
			c.model.tools.violation("%s had returned long before the gateway replied that it took too long", r.Name)
		}
		switch t := c.tools[r.ID]; {
		case t == nil:
			unknown = r.ID
		default:
			if t.replies++; t.replies > 1 {
				again = r.ID
			}
		}
	}
	c.model.mu.Unlock()
	if unknown != "" {
		c.model.line.violation("a reply to %s, which this connection did not call", unknown)
	}
	if again != "" {
		c.model.line.violation("a second reply to %s", again)
	}
}

// judgeUnanswered wants functions that were called on a connection that is over to have been
// answered in time.
func (c *modelConn) judgeUnanswered() {
	c.model.mu.Lock()
	late, n := time.Duration(0), 0
	for _, t := range c.tools {
		c.model.called++
		c.model.replied += t.replies
		if c.model.patience == 0 {
			continue
		}
		if waited := time.Since(t.at); t.replies == 0 && !t.cancelled && waited > c.model.patience {
			late, n = max(late, waited), n+1
		}
	}
	c.model.mu.Unlock()
	if n > 0 {
		c.model.line.violation("%d tool calls were never answered, in %v", n, late)
	}
}

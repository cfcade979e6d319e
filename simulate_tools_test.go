//go:build !race

package voicegw_test

import (
	"time"

	"github.com/voicegw/voicegw/live"
)

// simTooled is a function that the model called.
type simTooled struct {
	at        time.Time
	replies   int
	cancelled bool
}

// called notes the calls of functions on a connection.
func (c *simConn) called(m *live.ServerMessage) {
	c.model.mu.Lock()
	defer c.model.mu.Unlock()
	switch m.Kind {
	case live.ServerToolCall:
		if c.tools[m.Call.ID] == nil {
			c.tools[m.Call.ID] = &simTooled{at: time.Now()}
		}
	case live.ServerToolCancel:
		for _, id := range m.IDs {
			if t := c.tools[id]; t != nil {
				t.cancelled = true
			}
		}
	}
}

// replied notes the replies to them.
func (c *simConn) replied(replies []live.ToolReply) {
	c.model.mu.Lock()
	unknown, again := "", ""
	for _, r := range replies {
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
		c.model.line.wrong("a reply to %s, which this connection did not call", unknown)
	}
	if again != "" {
		c.model.line.wrong("a second reply to %s", again)
	}
}

// unreplied wants what was called on a connection that is over to have been answered in time.
func (c *simConn) unreplied() {
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
		c.model.line.wrong("%d calls of tools were never answered, in %v", n, late)
	}
}

package simulate

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/voicegw/voicegw/live"
)

// modelConn is a connection to a model. It is a live.Conn.
type modelConn struct {
	live.Conn
	model   *model
	ending  sync.Once
	closing sync.Once
	closed  bool                 // by the gateway
	turn    atomic.Bool          // the caller's is open
	tools   map[string]*toolCall // by the call's id
	gapless bool                 // the caller's frames follow one another, as in a turn
	next    int                  // the number of the caller's next frame; -1: any
}

// end counts the end of the connection, once: it broke, or is closed.
func (c *modelConn) end() {
	c.ending.Do(func() {
		c.judgeUnanswered()
		c.model.mu.Lock()
		defer c.model.mu.Unlock()
		c.model.dials.open--
	})
}

// broken notes that the connection ended by itself, unless the gateway closed it before.
func (c *modelConn) broken() {
	c.model.mu.Lock()
	defer c.model.mu.Unlock()
	c.model.broke = c.model.broke || !c.closed
}

// Close implements live.Conn.
func (c *modelConn) Close(code int, reason string) error {
	c.end()
	c.closing.Do(func() {
		c.model.mu.Lock()
		defer c.model.mu.Unlock()
		c.model.dials.closed++
		c.closed = true
		c.model.cut()
	})
	return c.Conn.Close(code, reason)
}

// SendAudio implements live.Conn.
func (c *modelConn) SendAudio(ctx context.Context, pcm []int16) error {
	c.model.sent("a frame")
	c.judgeFrame(pcm)
	defer c.model.sends(&c.model.arrived.frames)()
	return c.Conn.SendAudio(ctx, pcm)
}

// Send implements live.Conn.
func (c *modelConn) Send(ctx context.Context, m live.ClientMessage) error {
	c.model.sentText(&m)
	switch m.Kind {
	case live.ClientActivityStart:
		c.model.line.require(!c.turn.Swap(true), "-> model: a turn begins")
		c.gapless, c.next = true, -1
	case live.ClientActivityEnd:
		c.model.line.require(c.turn.Swap(false), "-> model: a turn ends")
		c.gapless = false
	}
	count := &c.model.arrived.notices
	if m.Kind == live.ClientToolReply {
		count = &c.model.arrived.replies
	}
	if m.Kind == live.ClientContent || isNote(m.Text) {
		count = new(int) // notes leave alone, together, or with a text
	}
	done := c.model.sends(count)
	err := c.Conn.Send(ctx, m)
	done()
	if m.Kind == live.ClientToolReply {
		c.judgeReplies(m.Replies)
	}
	c.model.line.note("-> model: %v %q %v %v", m.Kind, m.Text, toolIDs(m.Replies), err)
	return err
}

// isNote reports whether a text has notes alone, as they are told in a turn of the caller's.
func isNote(text string) bool {
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "(Context, ") && !strings.HasPrefix(line, "(Instructions, ") &&
			!strings.HasPrefix(line, "(You said before: ") {
			return false
		}
	}
	return text != ""
}

func toolIDs(replies []live.ToolReply) (ids []string) {
	for _, r := range replies {
		ids = append(ids, r.ID)
	}
	return ids
}

// Recv implements live.Conn.
func (c *modelConn) Recv(ctx context.Context, m *live.ServerMessage) error {
	err := c.Conn.Recv(ctx, m)
	switch {
	case err != nil:
		c.broken()
		c.end()
		c.model.line.note("<- model: %v", err)
	case m.Kind == live.ServerAudio:
		c.model.mark(m)
		if c.turn.Load() {
			c.model.line.withSpeech(func(j *speechJudge) { j.overTurn = true })
		}
	case m.Kind == live.ServerInterrupted || m.Kind == live.ServerGenerationComplete || m.Kind == live.ServerTurnComplete:
		c.model.pause(m.Kind)
		c.model.line.note("<- model: %v", m.Kind)
	case m.Kind == live.ServerToolCall || m.Kind == live.ServerToolCancel:
		c.noteTools(m)
		c.model.pause(m.Kind) // until there is a result, perhaps
		c.model.line.note("<- model: %v %s %s %v", m.Kind, m.Call.ID, m.Call.Name, m.IDs)
	case m.Kind != live.ServerUsage && m.Kind != live.ServerResumption && m.Kind != live.ServerModelTranscript &&
		m.Kind != live.ServerCallerTranscript:
		c.model.line.note("<- model: %v %v", m.Kind, m.TimeLeft)
	}
	return err
}

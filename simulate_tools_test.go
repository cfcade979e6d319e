//go:build !race

package voicegw_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/live"
)

// simToolbox is the functions of a world, and what they noticed.
type simToolbox struct {
	timeout time.Duration   // when nobody waits for one any more
	quick   map[string]bool // those that are sure to end before

	mu     sync.Mutex
	wrongs []string
}

// simToolSlack is by how much a function is quick, or may be told late that nobody waits.
const simToolSlack = 50 * time.Millisecond

// newSimToolbox makes functions of every kind.
func newSimToolbox(c chance, timeout time.Duration) (*simToolbox, []voicegw.Tool) {
	box := &simToolbox{timeout: timeout, quick: map[string]bool{}}
	var tools []voicegw.Tool
	for _, name := range []string{"weather", "get_time", "book", "search"} {
		if c.oneIn(4) {
			continue
		}
		t := voicegw.Tool{Name: name, Description: "does something", NonBlocking: c.oneIn(3), Call: box.tool(c, name)}
		if t.NonBlocking {
			t.Scheduling = pick(c, live.ScheduleUnset, live.ScheduleInterrupt, live.ScheduleWhenIdle, live.ScheduleSilent)
		}
		tools = append(tools, t)
	}
	return box, tools
}

// tool is a function that is good, slow, deaf to its context, loud or broken; nil lets the peer answer.
func (b *simToolbox) tool(c chance, name string) func(context.Context, json.RawMessage) (json.RawMessage, error) {
	takes, good := c.between(0, 3*time.Second), json.RawMessage(`{"ok":true}`)
	kind := c.IntN(9)
	b.quick[name] = kind == 1 || kind >= 4 && kind <= 6 || kind > 6 && takes+simToolSlack < b.timeout
	switch kind {
	case 0:
		return nil
	case 1:
		return func(context.Context, json.RawMessage) (json.RawMessage, error) { panic("a tool that panics") }
	case 2: // until nobody waits any more
		return func(ctx context.Context, _ json.RawMessage) (json.RawMessage, error) {
			return nil, b.until(ctx, nil)
		}
	case 3: // and much longer
		return func(ctx context.Context, _ json.RawMessage) (json.RawMessage, error) {
			time.Sleep(toolDeaf)
			return good, nil
		}
	case 4:
		return func(context.Context, json.RawMessage) (json.RawMessage, error) {
			return json.RawMessage(`"` + strings.Repeat("x", 10<<20) + `"`), nil
		}
	case 5:
		return func(context.Context, json.RawMessage) (json.RawMessage, error) { return json.RawMessage("{"), nil }
	case 6:
		return func(context.Context, json.RawMessage) (json.RawMessage, error) { return nil, errors.New("no") }
	}
	return func(ctx context.Context, _ json.RawMessage) (json.RawMessage, error) {
		return good, b.until(ctx, time.After(takes))
	}
}

// toolDeaf is how long a function works that does not look at its context.
const toolDeaf = 17 * time.Second

// until works until done, or until nobody waits any more, of which it must be told.
func (b *simToolbox) until(ctx context.Context, done <-chan time.Time) error {
	began := time.Now()
	var err error
	select {
	case <-done:
	case <-ctx.Done():
		err = ctx.Err()
	}
	if worked := time.Since(began); worked > b.timeout+simToolSlack {
		b.wrong("a function worked for %v, and nobody told it that %v are the most", worked, b.timeout)
	}
	return err
}

func (b *simToolbox) wrong(format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.wrongs = append(b.wrongs, fmt.Sprintf(format, args...))
}

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

// simTimedOut is what the model is told of a function that took too long.
const simTimedOut = "the function took too long"

// replied notes the replies to them.
func (c *simConn) replied(replies []live.ToolReply) {
	c.model.mu.Lock()
	unknown, again := "", ""
	for _, r := range replies {
		if r.Error == simTimedOut && c.model.box.quick[r.Name] {
			c.model.box.wrong("%s had ended long before the model was told that it took too long", r.Name)
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

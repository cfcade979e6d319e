package adkagent

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"google.golang.org/adk/v2/session"
	"google.golang.org/genai"

	"github.com/voicegw/voicegw/transport"
)

// toolsRunningMax is how many tools of a session may run, with those that do not stop when their call
// has ended. The net allows fewer calls at one time.
const toolsRunningMax = 16

// liveToolCall is a call of a tool that has no response yet.
type liveToolCall struct {
	*genai.FunctionCall
	ctx    context.Context // ends when nobody wants the result
	cancel context.CancelFunc
}

// toolCalled queues a call. It runs when its event was stored; mu is held.
func (c *liveCall) toolCalled(m *transport.Message) error {
	if err := c.finishWords(); err != nil {
		return err
	}
	call := &genai.FunctionCall{ID: m.ID, Name: m.Name}
	_ = json.Unmarshal([]byte(m.Text), &call.Args) // the gateway checked it
	ev := c.event(c.live.Name())
	ev.Content = &genai.Content{Role: genai.RoleModel, Parts: []*genai.Part{{FunctionCall: call}}}
	ev.LongRunningToolIDs = longRunning(c.tools, ev.Content)
	if _, ours := c.tools[m.Name]; !ours {
		ev.LongRunningToolIDs = []string{m.ID} // the application answers
	}
	t := &liveToolCall{FunctionCall: call}
	t.ctx, t.cancel = context.WithCancel(c.ic)
	c.open[m.ID] = t
	return c.keep(outItem{event: ev, call: t})
}

// stored runs a call whose event was yielded. ok says that it is known to be stored, or not known not
// to be. The iterator calls it.
func (c *liveCall) stored(t *liveToolCall, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch _, ours := c.tools[t.Name]; {
	case c.open[t.ID] != t: // cancelled meanwhile
	case !ok:
		c.respond(t, toolResult{response: map[string]any{"error": "the call could not be stored, so the tool did not run"}})
	case !ours: // the application answers
	case c.running >= toolsRunningMax:
		c.respond(t, toolResult{response: map[string]any{"error": "too many tools run; try again later"}})
	default:
		c.running++
		c.work.Go(func() { c.run(t) })
	}
}

// run runs a tool.
func (c *liveCall) run(t *liveToolCall) {
	r := c.live.tools.call(during(t.ctx, c.ic), c.tools, t.FunctionCall, nil)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running--
	if !r.deferred {
		c.respond(t, r)
	}
}

// respond ends a call, unless it has ended: the event first, then the result for the model. mu is held.
func (c *liveCall) respond(t *liveToolCall, r toolResult) {
	if c.open[t.ID] != t {
		return
	}
	result := transport.Event{Kind: transport.EventToolResult, ID: t.ID}
	switch b, err := json.Marshal(r.response); {
	case err != nil:
		r.response = map[string]any{"error": "the result is not JSON: " + err.Error()}
		result.Failed, result.Text = true, err.Error()
	case r.fault != nil:
		result.Failed, result.Text = true, r.fault.Text
	default:
		result.Text = string(b)
	}
	_ = c.close(t, r.response, r.actions)
	c.controls++
	c.inbox = append(c.inbox, result) // at most one for each open call
	signal(c.wake)
}

// close queues the response of a call.
func (c *liveCall) close(t *liveToolCall, response map[string]any, actions *session.EventActions) error {
	delete(c.open, t.ID)
	t.cancel()
	if err := c.finishWords(); err != nil { // or the runner would hold the response back
		return err
	}
	ev := c.event(c.live.Name())
	ev.Content = &genai.Content{Role: genai.RoleUser, Parts: []*genai.Part{{
		FunctionResponse: &genai.FunctionResponse{ID: t.ID, Name: t.Name, Response: response}}}}
	if actions != nil {
		ev.Actions = *actions
	}
	return c.keep(outItem{event: ev})
}

// toolCancelled ends a call whose result nobody wants: it took too long, the model cancelled it, its
// connection was lost, or the session is over. mu is held.
func (c *liveCall) toolCancelled(id string) error {
	t := c.open[id]
	if t == nil {
		return nil
	}
	return c.close(t, map[string]any{"error": "cancelled: the result is not wanted any more"}, nil)
}

// openCalls returns the ids of calls without a response, sorted.
func (c *liveCall) openCalls() []string { return slices.Sorted(maps.Keys(c.open)) }

// answer takes the response to a long-running call from the application.
func (c *liveCall) answer(r *genai.FunctionResponse) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.open[r.ID]
	if t == nil || c.over {
		return fmt.Errorf("adkagent: no call of a tool with the id %.60q waits for a response", r.ID)
	}
	c.respond(t, toolResult{response: r.Response})
	return nil
}

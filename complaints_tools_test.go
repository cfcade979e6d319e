//go:build !race

package voicegw_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/live/sim"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/voicenets"
)

// lookUp is a tool that takes a while, and counts how often it is begun.
func lookUp(takes time.Duration, begun *atomic.Int64) voicegw.Tool {
	return voicegw.Tool{Name: "look_up", Description: "looks something up",
		Call: func(ctx context.Context, _ json.RawMessage) (json.RawMessage, error) {
			if begun != nil {
				begun.Add(1)
			}
			select {
			case <-time.After(takes):
				return json.RawMessage(`{"found":"it"}`), nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}}
}

// tooled is a plan with that tool and a model of that script, which always says the same.
func tooled(t *testing.T, tool voicegw.Tool, script string) plan {
	s := scenario(t, "about A model with a tool.\n"+script)
	return plan{gw: voicegw.Config{Tools: []voicegw.Tool{tool}, Net: voicenets.Config{ToolSlots: 4}},
		model: sim.Config{FixedReply: speech("question", 24000), Scenario: s}}
}

// TestComplaintToolInterrupted speaks while a tool works. The tool is not run again and not given
// up; its result is handed over once; and the caller is answered, also by a model that hears
// nothing until it has the result.
func TestComplaintToolInterrupted(t *testing.T) {
	for ref, script := range map[string]string{
		"livekit/agents#3702":    "on turn 1: call look_up {}",
		"jferreiros/vortex#224":  "on chunk 2 of reply 1: call look_up {}",
		"livekit/agents-js#2249": "tools wedge\non turn 1: call look_up {}",
		"livekit/agents#6600":    "tools wedge\non chunk 2 of reply 1: call look_up {}",
		"bolna-ai/bolna#819":     "on turn 1: calls 3 look_up {}",
	} {
		t.Run(ref, func(t *testing.T) {
			t.Parallel()
			var begun atomic.Int64
			inBubble(t, tooled(t, lookUp(6*time.Second, &begun), script), func(w *world) {
				p := w.call(hello(), manner{})
				p.utters("hello")
				time.Sleep(2 * time.Second)
				over := p.now()
				p.utters("over")
				p.wait("the answer to what was said over the tool", func(h heard) bool {
					return h.Kind == transport.MessageTurn && h.State == transport.StateStart && h.at > over
				})
				p.ended(transport.TurnComplete)
				for deadline := p.now() + 20*time.Second; w.unended() > 0 || begun.Load() == 0; time.Sleep(20 * time.Millisecond) {
					if p.now() > deadline {
						t.Fatalf("calls without an end: %+v\n%s", w.connection(1).Calls, p.story())
					}
				}
				p.answered("german", 5*time.Second)
				p.ended(transport.TurnComplete)
				c := w.connection(1)
				if int(begun.Load()) != len(c.Calls) {
					t.Errorf("%d calls were made and %d begun", len(c.Calls), begun.Load())
				}
				if len(w.model.Connections()) != 1 {
					t.Errorf("%d connections were needed", len(w.model.Connections()))
				}
				w.repliedOnce()
			})
		})
	}
}

// unended is how many calls of tools have no end yet.
func (w *world) unended() (n int) {
	for _, c := range w.connection(1).Calls {
		if c.Ended == "" {
			n++
		}
	}
	return n
}

// repliedOnce wants one result for each call that was not cancelled, and none for one that was.
func (w *world) repliedOnce() {
	w.t.Helper()
	c := w.connection(1)
	replies := map[string]int{}
	for _, r := range c.ToolReplies {
		replies[r.ID]++
	}
	for _, call := range c.Calls {
		if n := replies[call.ID]; call.Ended == "replied" && n != 1 || call.Ended == "cancelled" && n > 0 {
			w.t.Errorf("call %s was %s and has %d results", call.ID, call.Ended, n)
		}
		delete(replies, call.ID)
	}
	if len(replies) > 0 {
		w.t.Errorf("results of calls that nobody made: %v", replies)
	}
}

// TestComplaintCancelOvertakes cancels a call in the moment it is made, ten times. The only slot is
// free again each time: the eleventh call is answered.
func TestComplaintCancelOvertakes(t *testing.T) {
	for ref, when := range map[string]string{
		"pipecat-ai/pipecat#5779":                "",
		"pipecat-ai/pipecat#5779, a bit later":   " +1ms",
		"pipecat-ai/pipecat#5779, while it runs": " +100ms",
	} {
		t.Run(ref, func(t *testing.T) {
			t.Parallel()
			var script strings.Builder
			for n := range 10 {
				fmt.Fprintf(&script, "on turn 1 +%dms: call look_up {}\non call %d%s: cancel\n", 300*n, n+1, when)
			}
			script.WriteString("on turn 2: call look_up {}\n")
			pl := tooled(t, lookUp(2*time.Second, nil), script.String())
			pl.gw.Net.ToolSlots = 1
			inBubble(t, pl, func(w *world) {
				p := w.call(hello(), manner{})
				p.utters("hello")
				time.Sleep(8 * time.Second)
				p.utters("question")
				for deadline := p.now() + 10*time.Second; len(w.connection(1).ToolReplies) == 0 && p.now() < deadline; {
					time.Sleep(20 * time.Millisecond)
				}
				c := w.connection(1)
				if len(c.Calls) != 11 || len(c.ToolReplies) != 1 || !strings.Contains(c.ToolReplies[0].Response, "found") {
					t.Errorf("the calls %+v got the results %+v", c.Calls, c.ToolReplies)
				}
				w.repliedOnce()
			})
		})
	}
}

// slowReplies is a dialer on whose connections the result of a tool takes three seconds to leave.
type slowReplies struct{ live.Dialer }

func (d slowReplies) Dial(ctx context.Context, s live.Setup) (live.Conn, error) {
	c, err := d.Dialer.Dial(ctx, s)
	return slowReplyConn{c}, err
}

type slowReplyConn struct{ live.Conn }

func (c slowReplyConn) Send(ctx context.Context, m live.ClientMessage) error {
	if m.Kind == live.ClientToolReply {
		time.Sleep(3 * time.Second)
	}
	return c.Conn.Send(ctx, m)
}

// TestCancelOfACallThatEnded cancels a call whose result waits behind another, when the only slot
// runs the next call: that one is answered.
func TestCancelOfACallThatEnded(t *testing.T) {
	pl := tooled(t, lookUp(time.Second, nil),
		"on turn 1: call look_up {}\non turn 1 +1100ms: call look_up {}\non turn 1 +2300ms: call look_up {}\n"+
			`on turn 1 +2500ms: send {"toolCallCancellation":{"ids":["call-1-2"]}}`)
	pl.gw.Net.ToolSlots = 1
	pl.between = func(d live.Dialer) live.Dialer { return slowReplies{d} }
	inBubble(t, pl, func(w *world) {
		p := w.call(hello(), manner{})
		p.utters("hello")
		time.Sleep(20 * time.Second)
		c := w.connection(1)
		if len(c.Calls) != 3 || c.Calls[2].Ended != "replied" {
			t.Errorf("the calls %+v got the results %+v", c.Calls, c.ToolReplies)
		}
	})
}

// TestComplaintCannotHangUp ends a call whose model calls tools without end, and whose tools take
// their time, at once.
func TestComplaintCannotHangUp(t *testing.T) {
	t.Run("bolna-ai/bolna#1038", func(t *testing.T) {
		inBubble(t, tooled(t, lookUp(10*time.Second, nil), "on turn 1: storm 50 look_up {}"), func(w *world) {
			p := w.call(hello(), manner{})
			p.utters("hello")
			time.Sleep(2 * time.Second)
			began := p.now()
			p.send(transport.Event{Kind: transport.EventBye})
			p.over(transport.ReasonCallerHungUp, "")
			if took := p.now() - began; took > time.Second {
				t.Errorf("it took %v", took)
			}
			w.settled()
			w.repliedOnce()
		})
	})
}

// TestComplaintLateResult lets a tool that the caller spoke over end later: the model is told the
// result, and not to speak of it; no reply begins by itself.
func TestComplaintLateResult(t *testing.T) {
	t.Run("pydantic/pydantic-ai#6324", func(t *testing.T) {
		tool := lookUp(8*time.Second, nil)
		tool.NonBlocking, tool.Scheduling = true, live.ScheduleInterrupt
		pl := tooled(t, tool, "on turn 1: call look_up {}")
		pl.gw.Setup.Model = sim.ModelName
		inBubble(t, pl, func(w *world) {
			p := w.call(hello(), manner{})
			p.utters("hello")
			p.played(p.turn(transport.StateStart).Generation, time.Second)
			p.utters("over")
			p.ended(transport.TurnInterrupted)
			p.turn(transport.StateStart)
			p.ended(transport.TurnComplete)
			time.Sleep(15 * time.Second)
			c := w.connection(1)
			if len(c.ToolReplies) != 1 || c.ToolReplies[0].Scheduling != "SILENT" {
				t.Errorf("the model was told %+v", c.ToolReplies)
			}
			if n := len(p.starts()); n != 2 {
				t.Errorf("%d replies were heard, want the interrupted one and the answer\n%s", n, p.story())
			}
		})
	})
}

// TestComplaintToolAfterTheEnd lets tools return, and the peer answer, when nobody waits any more:
// after the call, and a second time.
func TestComplaintToolAfterTheEnd(t *testing.T) {
	returned := make(chan struct{}, 1)
	stubborn := voicegw.Tool{Name: "look_up", Description: "x",
		Call: func(context.Context, json.RawMessage) (json.RawMessage, error) {
			time.Sleep(time.Minute) // whatever its context says
			returned <- struct{}{}
			return json.RawMessage(`{}`), nil
		}}
	t.Run("returns after the call", func(t *testing.T) {
		inBubble(t, tooled(t, stubborn, "on turn 1: call look_up {}"), func(w *world) {
			p := w.call(hello(), manner{})
			p.utters("hello")
			time.Sleep(2 * time.Second)
			p.send(transport.Event{Kind: transport.EventBye})
			p.over(transport.ReasonCallerHungUp, "")
			time.Sleep(2 * time.Minute)
			if len(returned) != 1 || len(w.connection(1).ToolReplies) != 0 {
				t.Errorf("%d returned; the model was told %+v", len(returned), w.connection(1).ToolReplies)
			}
		})
	})
	t.Run("the peer answers twice", func(t *testing.T) {
		pl := tooled(t, voicegw.Tool{Name: "look_up", Description: "x"}, "on turn 1: call look_up {}")
		inBubble(t, pl, func(w *world) {
			p := w.call(hello(), manner{})
			p.utters("hello")
			call := p.kind(transport.MessageToolCall)
			for range 2 {
				p.send(transport.Event{Kind: transport.EventToolResult, ID: call.ID, Text: `{"n":1}`})
			}
			if h := p.kind(transport.MessageError); h.Code != "no_tool_call" || h.Fatal {
				t.Errorf("the second answer was answered by %+v", h.Message)
			}
			p.turn(transport.StateStart)
			p.ended(transport.TurnComplete)
			w.repliedOnce()
		})
	})
}

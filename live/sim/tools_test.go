package sim_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/live/sim"
)

// scenario parses one that is written in a test.
func scenario(t *testing.T, lines ...string) *sim.Scenario {
	t.Helper()
	s, err := sim.ParseScenario(t.Name(), strings.Join(lines, "\n"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// tooled is a setup with a tool of each kind.
func tooled() live.Setup {
	return live.Setup{Model: sim.ModelName, Tools: []live.Tool{{Name: "wait"}, {Name: "work", NonBlocking: true}}}
}

// reply answers a call.
func (c *caller) reply(id, name string, when live.Scheduling) {
	c.t.Helper()
	c.send(live.ClientMessage{Kind: live.ClientToolReply, Replies: []live.ToolReply{
		{ID: id, Name: name, Output: json.RawMessage(`{"n":1}`), Scheduling: when},
	}})
}

// TestBlockingTool waits for the reply, and then speaks about it.
func TestBlockingTool(t *testing.T) {
	inWorld(t, sim.Config{Scenario: scenario(t, `on text 1: call wait {"x":[1]}`)}, func(w *world) {
		c := w.call(tooled())
		c.text("What is it?")
		got := c.after(time.Minute)
		wantKinds(t, got, "tool_call", "resumption")
		call := first(t, got, live.ServerToolCall).Call
		if call.Name != "wait" || string(call.Args) != `{"x":[1]}` {
			t.Errorf("call %+v", call)
		}
		c.reply(call.ID, "wait", live.ScheduleUnset)
		got = c.after(10 * time.Second)
		wantKinds(t, got, "audio", "generation_complete", "usage", "turn_complete", "resumption")
		if text := textOf(got, live.ServerModelTranscript); text != `wait: {"output":{"n":1}}` {
			t.Errorf("said %q", text)
		}
		c.end()
		conn := w.connection(1)
		if len(conn.ToolReplies) != 1 || conn.ToolReplies[0].Response != `{"output":{"n":1}}` ||
			len(conn.Calls) != 1 || conn.Calls[0].Ended != "replied" || conn.Calls[0].Args != `{"x":[1]}` {
			t.Errorf("the server remembers %+v and %+v", conn.Calls, conn.ToolReplies)
		}
		if len(conn.Messages) != 2 || !strings.Contains(string(conn.Messages[1]), `"toolResponse"`) ||
			len(conn.Texts) != 1 || conn.Texts[0].Text != "What is it?" || conn.Texts[0].Kind != "text" {
			t.Errorf("the server remembers %q and %+v", conn.Messages, conn.Texts)
		}
	})
}

// TestNonBlockingTool goes on speaking, and speaks of the reply when it was asked to.
func TestNonBlockingTool(t *testing.T) {
	ended := []string{"usage", "turn_complete", "resumption"}
	whole := slices.Concat([]string{"audio", "generation_complete"}, ended)
	for _, test := range []struct {
		when live.Scheduling
		want []string // after the reply, which comes in the middle of what is being said
		last string   // what is said last
	}{
		{live.ScheduleSilent, whole, "it."},
		{live.ScheduleWhenIdle, slices.Concat(whole, whole), `{"output":{"n":1}}`},
		{live.ScheduleUnset, slices.Concat(whole, whole), `{"output":{"n":1}}`},
		{live.ScheduleInterrupt, slices.Concat([]string{"interrupted"}, ended, []string{"resumption"}, whole),
			`{"output":{"n":1}}`},
	} {
		t.Run(test.when.String(), func(t *testing.T) {
			inWorld(t, sim.Config{Scenario: scenario(t, `on text: call work`)}, func(w *world) {
				c := w.call(tooled())
				c.text("What is it?")
				got := c.after(300 * time.Millisecond)
				wantKinds(t, got, "tool_call", "resumption", "audio")
				c.reply(first(t, got, live.ServerToolCall).Call.ID, "work", test.when)
				got = c.after(20 * time.Second)
				wantKinds(t, got, slices.Compact(slices.Clone(test.want))...) // kinds names two in a row once
				if text := textOf(got, live.ServerModelTranscript); test.last != "it." && !strings.HasSuffix(text, test.last) {
					t.Errorf("said %q; want %q last", text, test.last)
				}
				c.end()
				if r := w.connection(1).ToolReplies; len(r) != 1 || r[0].Scheduling != test.when.String() {
					t.Errorf("the server remembers %+v", r)
				}
			})
		})
	}
}

// TestRefusedToolReplies are those to calls that are unknown, answered, long cancelled or others'.
func TestRefusedToolReplies(t *testing.T) {
	for name, test := range map[string]struct {
		rules []string
		act   func(c *caller)
		code  int // 0: not refused
	}{
		"unknown": {[]string{"on text: call wait"}, func(c *caller) { c.reply("call-9-9", "wait", 0) }, 1008},
		"repeated": {[]string{"on text: call wait"}, func(c *caller) {
			c.reply("call-1-1", "wait", 0)
			c.reply("call-1-1", "wait", 0)
		}, 1008},
		"another's": {[]string{"on text: call wait"}, func(c *caller) { c.reply("call-1-1", "work", 0) }, 1007},
		"crossing": {[]string{"on text: call wait", "on call +1s: cancel"}, func(c *caller) {
			c.reply("call-1-1", "wait", 0)
		}, 0},
		"too late": {[]string{"on text: call wait", "on call +1s: cancel"}, func(c *caller) {
			time.Sleep(2 * time.Second)
			c.reply("call-1-1", "wait", 0)
		}, 1008},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, sim.Config{Scenario: scenario(t, test.rules...)}, func(w *world) {
				c := w.call(tooled())
				c.text("What is it?")
				time.Sleep(1500 * time.Millisecond)
				test.act(c)
				if test.code == 0 {
					c.after(5 * time.Second)
					c.end()
				} else if e := c.lost(); e.Code != test.code {
					t.Errorf("lost by %v; want %d", e, test.code)
				}
			})
		})
	}
}

// TestInterruptedTool is cancelled when the caller speaks, unless it is one that nothing ends.
func TestInterruptedTool(t *testing.T) {
	inWorld(t, sim.Config{Scenario: scenario(t, "on text: call wait", "on text: call work")}, func(w *world) {
		c := w.call(tooled())
		c.text("What is it?")
		c.after(time.Second)
		c.start()
		got := c.after(time.Second)
		wantKinds(t, got, "interrupted", "tool_cancel", "usage", "turn_complete", "resumption")
		if ids := first(t, got, live.ServerToolCancel).IDs; !slices.Equal(ids, []string{"call-1-1"}) {
			t.Errorf("cancelled %v; want the one that waits", ids)
		}
		c.end()
	})
	inWorld(t, sim.Config{Scenario: scenario(t, "tools wedge", "on text: call wait")}, func(w *world) {
		c := w.call(tooled())
		c.text("What is it?")
		c.after(time.Second)
		c.turn(speech("over"))
		wantKinds(t, c.after(time.Minute), "caller_transcript")
		c.reply("call-1-1", "wait", 0)
		if got := c.after(20 * time.Second); len(pcmOf(got)) == 0 {
			t.Errorf("no answer: %v", kinds(got))
		}
		c.end()
	})
}

// TestResumptionRestores brings back what was said and the tools that are at work; a call of after
// the handle is unknown to it.
func TestResumptionRestores(t *testing.T) {
	rules := []string{"on text 1: call work", "on text 2: call work", "on turn_complete 2: drop"}
	inWorld(t, sim.Config{GreetingText: "Hello there.", Scenario: scenario(t, rules...)}, func(w *world) {
		c := w.call(tooled())
		c.text("Hi.")
		got := c.after(10 * time.Second)
		handle := ""
		for _, m := range got {
			if m.Handle != "" {
				handle = m.Handle
			}
		}
		c.text("And now?")
		c.lost()
		setup := tooled()
		setup.Handle = handle
		next := w.call(setup)
		next.reply("call-1-1", "work", live.ScheduleSilent)
		next.after(time.Second)
		conn := w.connection(2)
		want := []sim.Line{{Role: "user", Text: "Hi."}, {Role: "model", Text: "Hello there."}}
		if conn.Handle != handle || !slices.Equal(conn.History, want) {
			t.Errorf("resumed by %q with %q; want %q with %q", conn.Handle, conn.History, handle, want)
		}
		next.reply("call-1-2", "work", live.ScheduleSilent)
		if e := next.lost(); e.Code != 1008 {
			t.Errorf("lost by %v; want the call of after the handle to be unknown", e)
		}
	})
}

// TestHandleForgotten says that it is the handle, and nothing else, that is refused.
func TestHandleForgotten(t *testing.T) {
	inWorld(t, sim.Config{Scenario: scenario(t, "on turn_complete: forget")}, func(w *world) {
		c := w.call(live.Setup{})
		c.turn(speech("over"))
		handle := ""
		for _, m := range c.after(5 * time.Second) {
			handle += m.Handle
		}
		c.end()
		_, err := w.wire.Dial(w.t.Context(), live.Setup{Handle: handle})
		var e *live.CloseError
		if !errors.As(err, &e) || e.Class != live.ClassHandle || !strings.Contains(err.Error(), "start a new one") {
			t.Errorf("error %v", err)
		}
		_, err = w.wire.Dial(w.t.Context(), live.Setup{Model: "nobody", Handle: handle})
		if !errors.As(err, &e) || e.Class != live.ClassModel {
			t.Errorf("error %v", err)
		}
	})
}

// TestHistory sends history with the setup, as the model wants it, and gets no reply.
func TestHistory(t *testing.T) {
	for _, model := range []string{sim.ModelName, live.DefaultModel} {
		inWorld(t, sim.Config{}, func(w *world) {
			history := []live.Turn{{Role: "user", Text: "Hi."}, {Role: "model", Text: "Hello."}}
			c := w.call(live.Setup{Model: model, History: history})
			wantKinds(t, c.after(time.Minute))
			c.turn(speech("over"))
			if got := c.after(5 * time.Second); len(pcmOf(got)) == 0 {
				t.Errorf("%s: no answer: %v", model, kinds(got))
			}
			c.end()
			if h := w.connection(1).History; len(h) != 4 || h[0].Text != "Hi." || h[1].Role != "model" {
				t.Errorf("%s: the server remembers %q", model, h)
			}
		})
	}
}

// TestAnswers says what a rule says in place of the usual answer.
func TestAnswers(t *testing.T) {
	rules := []string{`on text "rain": say 2s "It rains."`, "on text 2: ignore", "on text 3: empty",
		"on ready +30s: say 1s"}
	inWorld(t, sim.Config{Scenario: scenario(t, rules...)}, func(w *world) {
		c := w.call(live.Setup{})
		c.text("Will it rain?")
		got := c.after(5 * time.Second)
		if d := playtime(len(pcmOf(got))); d != 2*time.Second || textOf(got, live.ServerModelTranscript) != "It rains." {
			t.Errorf("said %v, %q", d, textOf(got, live.ServerModelTranscript))
		}
		c.text("Now?")
		wantKinds(t, c.after(5*time.Second))
		c.text("Now?")
		wantKinds(t, c.after(5*time.Second), "usage", "turn_complete", "resumption")
		if d := playtime(len(pcmOf(c.after(20 * time.Second)))); d != time.Second {
			t.Errorf("said %v by itself; want 1s", d)
		}
		c.end()
	})
}

// TestNoCircles stops rules that call themselves, at a depth of four, and what goes on for ever, at
// 10,000 actions.
func TestNoCircles(t *testing.T) {
	inWorld(t, sim.Config{Scenario: scenario(t, "on text: call wait", "on call: call wait")}, func(w *world) {
		c := w.call(tooled())
		c.text("Hi.")
		c.after(time.Second)
		c.end()
		if n := len(w.connection(1).Calls); n != 4 {
			t.Errorf("%d calls", n)
		}
	})
	inWorld(t, sim.Config{Scenario: scenario(t, "on message: send {}")}, func(w *world) {
		c := w.call(live.Setup{})
		for range 10050 {
			if err := c.conn.SendAudio(w.t.Context(), make([]int16, 1)); err != nil {
				t.Fatal(err)
			}
		}
		if n := len(c.after(time.Second)); n != 10000 {
			t.Errorf("%d messages", n)
		}
		c.end()
	})
}

// TestSplitFrames sends a message in frames of the size that was asked for.
func TestSplitFrames(t *testing.T) {
	server := startServer(t, sim.Config{Scenario: scenario(t, "frames 10")})
	ws, _, err := websocket.Dial(t.Context(), server.URL()+apiPath, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ws.CloseNow() }()
	if err := ws.Write(t.Context(), websocket.MessageText, []byte(plainSetup)); err != nil {
		t.Fatal(err)
	}
	_, r, err := ws.Reader(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var all []byte
	for buf := make([]byte, 1000); err == nil; { // a Read ends with a frame
		var n int
		n, err = r.Read(buf)
		if all = append(all, buf[:n]...); n > 10 {
			t.Errorf("a frame of %d bytes", n)
		}
	}
	if !strings.Contains(string(all), "setupComplete") {
		t.Errorf("received %q", all)
	}
}

// TestSlowPongs answers each ping when it says, with what the ping held.
func TestSlowPongs(t *testing.T) {
	inWorld(t, sim.Config{Scenario: scenario(t, "pongs 12s")}, func(w *world) {
		w.wire.PingInterval, w.wire.WriteTimeout = 5*time.Second, 13*time.Second
		c := w.call(live.Setup{})
		c.after(time.Minute)
		c.end()
		var at []time.Duration
		for _, e := range w.connection(1).Events {
			if e.Name == "pong" {
				at = append(at, e.At)
			}
		}
		if len(at) < 3 || at[0] != 17*time.Second {
			t.Errorf("pongs at %v", at)
		}
	})
}

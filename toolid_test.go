package voicegw

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/ws"
	"github.com/voicegw/voicegw/voicenets"
)

// TestToolIDs: an id of the model's of any length comes to the peer and back as one that neither
// side refuses.
func TestToolIDs(t *testing.T) {
	seen := map[string]bool{}
	for _, length := range []int{1, transport.IDLenMax, transport.IDLenMax + 1, 1 << 16} {
		for _, letter := range []string{"a", "b"} {
			id := peerID(strings.Repeat(letter, length))
			if seen[id] {
				t.Errorf("%d bytes: the id %s stands for two calls", length, id)
			}
			seen[id] = true
			b, err := ws.AppendMessage(nil, &transport.Message{Kind: transport.MessageToolCall, ID: id, Name: "f"})
			if err != nil {
				t.Fatal(err)
			}
			var m transport.Message
			if err := ws.DecodeMessage(b, &m); err != nil || m.ID != id {
				t.Errorf("%d bytes: the peer reads %q, %v", length, m.ID, err)
			}
			var ev transport.Event
			answer := fmt.Sprintf(`{"type":"tool_result","id":%q,"output":{}}`, id)
			if err := ws.DecodeEvent([]byte(answer), &ev); err != nil || ev.ID != id {
				t.Errorf("%d bytes: the gateway reads %q, %v", length, ev.ID, err)
			}
		}
	}
	if id := "as-it-came"; peerID(id) != id {
		t.Error("a short id was changed")
	}
}

// TestToolIDAgain: the model calls again under the id of a call that it cancelled. The peer can
// answer the new call when the old one returns, and the model can cancel it.
func TestToolIDAgain(t *testing.T) {
	cfg := Config{Dialer: noDialer{}, Tools: []Tool{{Name: "ask", Description: "asks the peer"}}}
	g, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	c := newCall(g, nil, transport.Hello{OutputRateHz: 24000}, &Plan{Tools: cfg.Tools})
	b := c.out.tools
	call := func() *toolRun { return &toolRun{call: live.ToolCall{ID: "1", Name: "ask"}, cancel: func() {}} }
	first, second := call(), call()
	sent := func() {
		<-c.out.peer.wake
		c.out.peer.pop()
	}
	asked := func(ctx context.Context, run *toolRun) <-chan toolAnswer {
		answer := make(chan toolAnswer, 1)
		go func() { answer <- b.ask(ctx, &run.call) }()
		sent()
		return answer
	}
	ctx, cancel := context.WithCancel(t.Context())
	b.runs["1"] = first
	gone := asked(ctx, first)
	b.stop(&voicenets.ToolRun{Call: &voicenets.ToolCall{Payload: first}})
	sent() // that it is cancelled
	b.runs["1"] = second
	answer := asked(t.Context(), second)
	cancel()
	<-gone
	b.reply(&voicenets.ToolEnd{Call: &voicenets.ToolCall{Payload: first}, How: voicenets.TimedOut})
	if b.runs["1"] != second {
		t.Error("the end of the first call forgets the second")
	}
	if !b.answered(&transport.Event{ID: "1", Text: `"noon"`}) {
		t.Fatal("the peer cannot answer the second call")
	}
	if got := <-answer; string(got.output) != `"noon"` {
		t.Errorf("the second call was answered %s", got.output)
	}
}

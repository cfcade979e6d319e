package managed

import (
	"encoding/json"
	"fmt"
	"testing"

	"google.golang.org/genai"

	"github.com/voicegw/voicegw/agent/provider"
	"github.com/voicegw/voicegw/journal"
)

// TestF1Usage: both profiles tell what a turn cost, and the session what all turns cost.
func TestF1Usage(t *testing.T) {
	onEngines(t, func(t *testing.T, engine journal.Engine) {
		llm := recording(calls(provider.ScriptCall{ID: "s1", Name: "web_search"}), says("Found."), says("Bye."))
		h := newHouseOn(t, engine, loadFixture(t, "f8_parity").Agent, llm, fixtureTools(map[string]int{})...)
		defer h.close()
		h.say(Text("Search"))
		h.say(Text("Bye"))
		var got []CompatUsage
		for _, ev := range h.compat() {
			if ev.Type == CompatIdle {
				got = append(got, *ev.Usage)
			}
		}
		want := []CompatUsage{{Input: 10, Output: 4, Total: 14}, {Input: 5, Output: 2, Total: 7}}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("the turns cost %v, want %v", got, want)
		}
		if s := h.status(Idle); s.Usage.InputTokens != 15 || s.Usage.OutputTokens != 6 || s.Turns != 2 {
			t.Errorf("the session cost %+v in %d turns", s.Usage, s.Turns)
		}
		if u := h.find(SessionUsage).Usage; u.InputTokens != 15 || u.OutputTokens != 6 {
			t.Errorf("the event of the usage has %+v", u)
		}
	})
}

// TestF1EmptyContent: a message without content is refused, and no event tells of it.
func TestF1EmptyContent(t *testing.T) {
	onEngines(t, func(t *testing.T, engine journal.Engine) {
		h := newHouseOn(t, engine, loadFixture(t, "f1_hello").Agent, recording(says("Hello!")))
		defer h.close()
		h.refused(Invalid, "events[0].content: it is empty", Event{Type: UserMessage})
		h.refused(Invalid, "events[0].content[0].text: it is empty", Text(""))
		h.refused(Invalid, "events[1].content: it is empty", Text("Hello"), Event{Type: UserMessage})
		h.tells("")
	})
}

// TestF1ModelError: a turn whose model fails ends with the error, and with no end_turn in either profile.
func TestF1ModelError(t *testing.T) {
	onEngines(t, func(t *testing.T, engine journal.Engine) {
		h := newHouseOn(t, engine, loadFixture(t, "f1_hello").Agent,
			recording(provider.ScriptTurn{Error: "the model is out of order"}, says("Better now.")))
		defer h.close()
		h.say(Text("Hello"))
		h.tells(`mes, running, mes', error exhausted, idle retries_exhausted`)
		list := h.compat()
		if got := short(list); got != "r e i" {
			t.Fatalf("the other profile tells %s", got)
		}
		if list[1].Code != "model_request_failed_error" || list[1].Message != "the model is out of order" {
			t.Errorf("the error is %+v", list[1])
		}
		if got := fields(t, list[2]); got["stop_reason"] != nil || len(got) != 4 {
			t.Errorf("the session is idle with %v", got)
		}
		h.say(Text("Hello?"))
		if got := short(h.compat()); got != "r e i r m i" {
			t.Errorf("the other profile tells %s", got)
		}
	})
}

// TestF1MaxTokens: an answer that was cut at the limit of the model says so.
func TestF1MaxTokens(t *testing.T) {
	onEngines(t, func(t *testing.T, engine journal.Engine) {
		h := newHouseOn(t, engine, loadFixture(t, "f1_hello").Agent,
			recording(provider.ScriptTurn{Text: "Once upon a", Finish: genai.FinishReasonMaxTokens}))
		defer h.close()
		h.say(Text("Tell me a story"))
		if stop := h.find(StatusIdle).StopReason; stop.Type != EndTurn || stop.Detail != MaxTokens {
			t.Errorf("the session is idle because of %+v", stop)
		}
		if list := h.compat(); short(list) != "r m i" || list[2].Stop.Reason != MaxTokens {
			t.Errorf("the other profile tells %s, %+v", short(list), list[len(list)-1].Stop)
		}
	})
}

// TestCompatJSON: every event of the other profile in its JSON.
func TestCompatJSON(t *testing.T) {
	in := json.RawMessage(`{"a":1}`)
	for want, ev := range map[string]CompatEvent{
		`{"type":"status.running","seq":0}`: {Type: CompatRunning},
		`{"type":"agent.message","content":[{"type":"text","text":"Hi"}],"seq":2}`: {Type: AgentMessage, Seq: 2,
			Content: Text("Hi").Content},
		`{"type":"agent.tool_use","tool_use_id":"tu_1","name":"bash","input":{"a":1},"seq":3}`: {Type: AgentToolUse, Seq: 3,
			ToolUseID: "tu_1", Name: "bash", Input: in},
		`{"type":"agent.custom_tool_use","custom_tool_use_id":"ctu_1","name":"deploy","input":{"a":1},"seq":3}`: {
			Type: AgentCustomToolUse, Seq: 3, CustomID: "ctu_1", Name: "deploy", Input: in},
		`{"type":"status.idle","seq":4,"stop_reason":{"reason":"end_turn"},` +
			`"usage":{"input_tokens":5,"output_tokens":2,"total_tokens":7}}`: {Type: CompatIdle, Seq: 4,
			Stop: &CompatStop{Reason: EndTurn}, Usage: &CompatUsage{Input: 5, Output: 2, Total: 7}},
		`{"type":"status.idle","seq":4,"stop_reason":null,"usage":null}`: {Type: CompatIdle, Seq: 4},
		`{"type":"error","code":"billing_error","message":"pay","seq":4}`: {Type: CompatError, Seq: 4,
			Code: "billing_error", Message: "pay"},
	} {
		b, err := json.Marshal(&ev)
		if err != nil || string(b) != want {
			t.Errorf("%s, %v, want %s", b, err, want)
		}
	}
}

// TestCompatUsageOfCache: tokens of a cache and of thinking count, even where nothing else does.
func TestCompatUsageOfCache(t *testing.T) {
	var c Compat
	c.View(&Event{Type: StatusRunning})
	c.View(&Event{Type: SpanEnd, ModelUsage: &Usage{CacheRead: 100, CacheWrite: 20}})
	c.View(&Event{Type: SpanEnd, ModelUsage: &Usage{InputTokens: 1, OutputTokens: 9, Thinking: 4}})
	got := c.View(&Event{Type: StatusIdle, StopReason: &StopReason{Type: EndTurn}})[0].Usage
	want := CompatUsage{Input: 121, Output: 9, Total: 130, Thinking: 4, CacheRead: 100, CacheWrite: 20}
	if *got != want {
		t.Errorf("the turn cost %+v, want %+v", *got, want)
	}
}

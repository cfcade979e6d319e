package managed

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/adk/v2/model"
	"google.golang.org/genai"

	"github.com/voicegw/voicegw/agent/provider"
)

// TestRefusal: an answer that was filtered or refused ends the turn with a refusal in both profiles. What was said is
// kept, calls are not run, and the session stays usable.
func TestRefusal(t *testing.T) {
	call := []provider.ScriptCall{{Name: "look", ID: "c1"}}
	for name, c := range map[string]struct {
		turn     provider.ScriptTurn
		says     string
		category string
	}{
		"nothing": {provider.ScriptTurn{Finish: genai.FinishReasonSafety}, "", "safety"},
		"words": {provider.ScriptTurn{Text: "I cannot help.", Finish: genai.FinishReasonSafety}, `"I cannot help.", `,
			"safety"},
		"a call": {provider.ScriptTurn{Calls: call, Finish: genai.FinishReasonBlocklist}, "", "blocklist"},
		"both":   {provider.ScriptTurn{Text: "Well", Calls: call, Finish: genai.FinishReasonSPII}, `"Well", `, "spii"},
		"recitation": {provider.ScriptTurn{Text: "It was the", Finish: genai.FinishReasonRecitation}, `"It was the", `,
			"recitation"},
	} {
		in(t, func(t *testing.T) {
			ran := map[string]int{}
			h := newHouse(t, Definition{Tools: []ToolConfig{{Type: AgentToolset}}},
				[]provider.ScriptTurn{c.turn, says("Hello.")}, counting("look", ran, nil))
			defer func() { h.close() }()
			h.send(Text("Hi"))
			h.tells(`mes, running, mes', ` + c.says + `idle refusal`)
			idle := h.find(StatusIdle)
			if d := idle.Details; d == nil || d.Type != "refusal" || d.Category != c.category || d.Explanation == "" {
				t.Errorf("%s: the details are %+v", name, d)
			}
			list := h.compat()
			if last := list[len(list)-1]; last.Type != CompatIdle || last.Stop == nil || last.Stop.Reason != "refusal" {
				t.Errorf("%s: the other profile ends with %+v", name, last)
			}
			if len(ran) > 0 {
				t.Errorf("%s: a call was run", name)
			}
			h.restart()
			h.send(Text("Hello?"))
			got := letters(h.events())
			if !strings.HasSuffix(got, `"Hello.", idle end_turn`) || h.find(StatusIdle).Details != nil {
				t.Errorf("%s: the session tells %s", name, got)
			}
		})
	}
}

// TestNoRefusal: a limit is none, and neither is an error of the provider.
func TestNoRefusal(t *testing.T) {
	for _, reason := range []genai.FinishReason{genai.FinishReasonMaxTokens, genai.FinishReasonStop,
		genai.FinishReasonOther, "", genai.FinishReasonMalformedFunctionCall} {
		if d := refusalOf(&model.LLMResponse{FinishReason: reason}); d != nil {
			t.Errorf("%s is taken for %+v", reason, d)
		}
	}
	if d := refusalOf(&model.LLMResponse{ErrorCode: "SAFETY", ErrorMessage: "it is about harm"}); d == nil ||
		*d != (StopDetails{Type: "refusal", Category: "safety", Explanation: "it is about harm"}) {
		t.Errorf("the details are %+v", d)
	}
}

// TestRefusalCrash kills a session at every commit of a turn whose second answer is refused.
func TestRefusalCrash(t *testing.T) {
	for at, over := 1, false; !over; at++ {
		in(t, func(t *testing.T) {
			ran := map[string]int{}
			h := newHouse(t, Definition{Tools: []ToolConfig{{Type: AgentToolset}}}, []provider.ScriptTurn{
				calls(provider.ScriptCall{Name: "look", ID: "c1"}), {Finish: genai.FinishReasonSafety}}, counting("look", ran, nil))
			defer func() { h.close() }()
			dead := h.dieAt(at)
			_, _ = h.rt.Send(context.Background(), ada, h.session, Once{Key: "1"}, Text("Hi"))
			synctest.Wait()
			over = !dead.Load()
			h.restartAfter(dead)
			if _, err := h.rt.Send(t.Context(), ada, h.session, Once{Key: "1"}, Text("Hi")); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Minute)
			synctest.Wait()
			h.tells(`mes, running, mes', use look, done, idle refusal`)
			if total(ran) > 1 {
				t.Errorf("the call was made %v", ran)
			}
		})
	}
}

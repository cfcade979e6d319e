package calls_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"

	"google.golang.org/adk/v2/model"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/agent/calls"
	"github.com/voicegw/voicegw/agent/managed"
	"github.com/voicegw/voicegw/agent/provider"
	"github.com/voicegw/voicegw/agent/workflow"
	"github.com/voicegw/voicegw/agent/workflow/exec"
	"github.com/voicegw/voicegw/journal/memory"
	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/live/sim"
)

// orders is a workflow that the model of a call asks.
const orders = `
name: orders
agents:
  - {name: find, type: code, function: find, output_key: place}
  - {name: tell, type: llm, model: script, instruction: "The parcel is in {place}. Answer the caller."}
orchestration: {type: sequential, agents: [find, tell]}
`

// filing is a workflow that works after a call.
const filing = `
name: filing
agents:
  - {name: read, type: llm, model: parrot, instruction: "Repeat the record.", output_key: record}
  - {name: file, type: code, function: file, input_keys: [record], output_key: ticket}
orchestration: {type: sequential, agents: [read, file]}
`

// proved adds a workflow to an engine, and returns the agent that runs it.
func proved(e *exec.Engine, text string) managed.Definition {
	w, findings := workflow.Load("flow.yaml", []byte(text), e.Registry())
	if len(findings) > 0 {
		panic(findings)
	}
	c, _ := workflow.Compile(w)
	report, err := workflow.Verify(context.Background(), c)
	if err == nil {
		err = e.Add(c, report)
	}
	if err != nil {
		panic(err)
	}
	d, err := e.Definition(w.Name)
	if err != nil {
		panic(err)
	}
	return d
}

// Workflows answer a function of a call with the embedded model, and file the call when it has ended.
func Example() {
	filed := make(chan string, 1)
	e, err := exec.New(exec.Config{Functions: map[string]exec.Function{
		"find": {Call: func(context.Context, map[string]any) (any, error) { return "Oslo", nil }, Idempotent: true},
		"file": {Call: func(_ context.Context, in map[string]any) (any, error) {
			var r calls.Report
			err := json.Unmarshal([]byte(in["record"].(string)), &r)
			filed <- fmt.Sprintf("filed: %s, %s: %q", r.Call.Reason, r.Turns[0].Who, r.Turns[0].Text)
			return "T-1", err
		}},
	}})
	if err != nil {
		panic(err)
	}
	shared := []managed.Definition{proved(e, orders), proved(e, filing)}
	models := provider.NewResolver()
	models.Add("script", func(provider.Ref) (model.LLM, error) {
		return &provider.Script{Turns: []provider.ScriptTurn{{Text: "It is in Oslo."}}, Repeat: true}, nil
	})
	rt, err := managed.New(managed.Config{Journal: memory.New(), Models: models, Programs: e.Programs(), Shared: shared})
	if err != nil {
		panic(err)
	}
	defer rt.Close(context.Background())

	script, err := sim.ParseScenario("orders", `on text 1: call ask_orders {"message":"Where is order 7?"}`)
	if err != nil {
		panic(err)
	}
	llm, err := sim.New(sim.Config{Greeting: make([]int16, 2400), Speed: 100, Scenario: script})
	if err == nil {
		err = llm.Start("127.0.0.1:0")
	}
	if err != nil {
		panic(err)
	}
	defer llm.Close()
	cfg := voicegw.Config{Dialer: live.Wire{BaseURL: llm.URL()}, Greeting: "Greet the caller."}
	err = calls.Join(&cfg, calls.Config{Runtime: func() *managed.Runtime { return rt },
		Tools: []calls.Tool{{Tool: voicegw.Tool{Name: "ask_orders", Description: "knows all orders"}, Agent: "orders"}},
		After: &calls.After{Agent: "filing", Transcripts: true}})
	if err != nil {
		panic(err)
	}
	gw, err := voicegw.New(cfg)
	if err != nil {
		panic(err)
	}
	defer gw.Close()
	server := httptest.NewServer(gw)
	defer server.Close()

	if err := hearOut(context.Background(), server.URL+"/v1/voice", func() {}); err != nil {
		panic(err)
	}
	fmt.Println(string(llm.Connections()[0].ToolReplies[0].Response))
	fmt.Println(<-filed)
	// Output:
	// {"output":{"answer":"It is in Oslo."}}
	// filed: caller_hung_up, model: "ask_orders: {\"output\":{\"answer\":\"It is in Oslo.\"}}"
}

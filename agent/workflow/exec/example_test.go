package exec_test

import (
	"context"
	"fmt"

	"google.golang.org/adk/v2/model"

	"github.com/voicegw/voicegw/agent/managed"
	"github.com/voicegw/voicegw/agent/provider"
	"github.com/voicegw/voicegw/agent/workflow"
	"github.com/voicegw/voicegw/agent/workflow/exec"
	"github.com/voicegw/voicegw/journal/journaltest"
)

const greeting = `
name: greeting
agents:
  - {name: weigh, type: code, function: weigh, output_key: weight}
  - {name: tell, type: llm, model: script, instruction: "The parcel has {weight} kg."}
orchestration: {type: sequential, agents: [weigh, tell]}
`

// Example loads a workflow, proves it, and runs it as a session.
func Example() {
	ctx := context.Background()
	e, err := exec.New(exec.Config{Functions: map[string]exec.Function{
		"weigh": {Call: func(context.Context, map[string]any) (any, error) { return 2.5, nil }, Idempotent: true},
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	w, _ := workflow.Load("greeting.yaml", []byte(greeting), e.Registry())
	c, _ := workflow.Compile(w)
	report, err := workflow.Verify(ctx, c)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := e.Add(c, report); err != nil {
		fmt.Println(err)
		return
	}
	d, _ := e.Definition("greeting")
	models := provider.NewResolver()
	models.Add("script", func(provider.Ref) (model.LLM, error) {
		return &provider.Script{Turns: []provider.ScriptTurn{{Text: "Your parcel is light."}}, Repeat: true}, nil
	})
	rt, err := managed.New(managed.Config{Journal: journaltest.NewMemory(), Models: models, Programs: e.Programs(),
		Shared: []managed.Definition{d}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer rt.Close(ctx)
	ada := managed.Owner{User: "ada"}
	s, err := rt.StartSession(ctx, ada, managed.SessionRequest{Agent: managed.SharedID("greeting")})
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := rt.Send(ctx, ada, s.ID, managed.Once{}, managed.Text("How heavy is it?")); err != nil {
		fmt.Println(err)
		return
	}
	for ev, err := range rt.Events(ctx, ada, s.ID, 0, true) {
		switch {
		case err != nil:
			fmt.Println(err)
			return
		case ev.Type == managed.AgentMessage:
			fmt.Printf("%s: %s\n", ev.Agent, ev.Content[0].Text)
		case ev.Type == managed.StatusIdle:
			return
		}
	}
	// Output:
	// weigh: 2.5
	// tell: Your parcel is light.
	// greeting: Your parcel is light.
}

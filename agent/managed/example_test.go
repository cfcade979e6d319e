package managed_test

import (
	"context"
	"fmt"
	"log"

	"google.golang.org/adk/v2/model"

	"github.com/voicegw/voicegw/agent"
	"github.com/voicegw/voicegw/agent/managed"
	"github.com/voicegw/voicegw/agent/provider"
	"github.com/voicegw/voicegw/journal/journaltest"
)

// start makes a runtime whose model answers from a script, with an agent.
func start(ctx context.Context, owner managed.Owner) (*managed.Runtime, *managed.Agent) {
	models := provider.NewResolver()
	models.Add("script", func(provider.Ref) (model.LLM, error) {
		return &provider.Script{Turns: []provider.ScriptTurn{{Text: "Hello!"}}}, nil
	})
	rt, err := managed.New(managed.Config{Journal: journaltest.NewMemory(), Models: models})
	if err != nil {
		log.Fatal(err)
	}
	desk, err := rt.CreateAgent(ctx, owner, managed.Definition{Name: "desk", Model: managed.ModelRef{ID: "script"},
		System: "You are helpful."})
	if err != nil {
		log.Fatal(err)
	}
	return rt, desk
}

// Create an agent, start a session, stream its events and send it a message.
func Example() {
	ctx, owner := context.Background(), managed.Owner{Tenant: "acme", User: "ada"}
	rt, desk := start(ctx, owner)
	defer func() { _ = rt.Close(ctx) }()
	session, err := rt.StartSession(ctx, owner, managed.SessionRequest{Agent: desk.ID})
	if err != nil {
		log.Fatal(err)
	}
	events := rt.Events(ctx, owner, session.ID, 1, true)
	if _, err := rt.Send(ctx, owner, session.ID, managed.Once{}, managed.Text("Hi!")); err != nil {
		log.Fatal(err)
	}
	for ev, err := range events {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(ev.Seq, ev.Type)
		if ev.Type == managed.AgentMessage {
			fmt.Println(ev.Content[0].Text)
		}
		if ev.Type == managed.StatusIdle {
			fmt.Println(ev.StopReason.Type)
			break
		}
	}
	// Output:
	// 1 user.message
	// 2 session.status_running
	// 3 user.message
	// 4 span.model_request_start
	// 5 span.model_request_end
	// 6 agent.message
	// Hello!
	// 7 session.usage
	// 8 session.status_idle
	// end_turn
}

// The rest of a session's life: pause, resume, interrupt, status, archive, delete.
func ExampleRuntime() {
	ctx, owner := context.Background(), managed.Owner{Tenant: "acme"}
	rt, desk := start(ctx, owner)
	defer func() { _ = rt.Close(ctx) }()
	session, err := rt.StartSession(ctx, owner, managed.SessionRequest{Agent: desk.ID})
	if err != nil {
		log.Fatal(err)
	}
	for _, do := range []func(context.Context, managed.Owner, string) error{rt.Pause, rt.Resume, rt.Interrupt} {
		if err := do(ctx, owner, session.ID); err != nil {
			log.Fatal(err)
		}
	}
	now, err := rt.Session(ctx, owner, session.ID)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(now.Status, now.Paused)
	if now, err = rt.ArchiveSession(ctx, owner, session.ID); err != nil {
		log.Fatal(err)
	}
	fmt.Println(now.Status)
	if err := rt.DeleteSession(ctx, owner, session.ID); err != nil {
		log.Fatal(err)
	}
	_, err = rt.Session(ctx, owner, session.ID)
	fmt.Println(managed.CodeOf(err))
	// Output:
	// idle false
	// terminated
	// not_found
}

// The same session in the format of adk-managed.
func ExampleRuntime_CompatEvents() {
	ctx, owner := context.Background(), managed.Owner{Tenant: "acme"}
	rt, desk := start(ctx, owner)
	defer func() { _ = rt.Close(ctx) }()
	session, err := rt.StartSession(ctx, owner, managed.SessionRequest{Agent: desk.ID,
		Initial: []managed.Event{managed.Text("Hi!")}})
	if err != nil {
		log.Fatal(err)
	}
	for ev, err := range rt.CompatEvents(ctx, owner, session.ID, managed.CompatAll, true) {
		if err != nil {
			log.Fatal(err)
		}
		if ev.Type == managed.CompatIdle {
			fmt.Println(ev.Seq, ev.Type, ev.Stop.Reason)
			break
		}
		b, err := ev.MarshalJSON()
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(string(b))
	}
	// Output:
	// {"type":"status.running","seq":0}
	// {"type":"agent.message","content":[{"type":"text","text":"Hello!"}],"seq":1}
	// 2 status.idle end_turn
}

// A program of two agents: a host who hands over to a kitchen. What their models and tools do survives crashes as
// everything in a session does, and the agent that has the conversation keeps it.
func ExampleConfig_programs() {
	ctx, owner := context.Background(), managed.Owner{Tenant: "acme", User: "ada"}
	models := provider.NewResolver()
	for name, turns := range map[string][]provider.ScriptTurn{
		"host": {{Calls: []provider.ScriptCall{{Name: "transfer_to_agent", Args: map[string]any{"agent_name": "kitchen"}}}}},
		"cook": {{Text: "There is soup."}},
	} {
		models.Add(name, func(provider.Ref) (model.LLM, error) { return &provider.Script{Turns: turns, Repeat: true}, nil })
	}
	restaurant := func(_ context.Context, w *managed.Work) (*agent.Program, error) {
		host, err := w.Agent(agent.Agent{Name: "host", Instruction: w.Instructions, Tools: w.Tools(),
			TransferTo: []string{"kitchen"}}, "") // asks the model of the definition
		if err != nil {
			return nil, err
		}
		kitchen, err := w.Agent(agent.Agent{Name: "kitchen", Description: "knows the dishes"}, "cook")
		if err != nil {
			return nil, err
		}
		return w.New(agent.Config{Agents: []agent.Agent{host, kitchen}})
	}
	rt, err := managed.New(managed.Config{Journal: journaltest.NewMemory(), Models: models,
		Programs: map[string]managed.ProgramFunc{"restaurant": restaurant}})
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = rt.Close(ctx) }()
	desk, err := rt.CreateAgent(ctx, owner, managed.Definition{Name: "desk", Model: managed.ModelRef{ID: "host"},
		Program: "restaurant"})
	if err != nil {
		log.Fatal(err)
	}
	session, err := rt.StartSession(ctx, owner, managed.SessionRequest{Agent: desk.ID,
		Initial: []managed.Event{managed.Text("What do you have?")}})
	if err != nil {
		log.Fatal(err)
	}
	for ev, err := range rt.Events(ctx, owner, session.ID, 1, true) {
		if err != nil {
			log.Fatal(err)
		}
		switch ev.Type {
		case managed.AgentToolUse:
			fmt.Println(ev.Agent, "calls", ev.Name)
		case managed.AgentMessage:
			fmt.Println(ev.Agent, "says", ev.Content[0].Text)
		case managed.StatusIdle:
			fmt.Println(ev.StopReason.Type)
			return
		}
	}
	// Output:
	// host calls transfer_to_agent
	// kitchen says There is soup.
	// end_turn
}

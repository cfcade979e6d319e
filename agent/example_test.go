package agent_test

import (
	"context"
	"fmt"

	"google.golang.org/adk/v2/session"
	"google.golang.org/genai"

	"github.com/voicegw/voicegw/agent"
	"github.com/voicegw/voicegw/agent/provider"
	"github.com/voicegw/voicegw/verify"
)

// An agent with one tool, proved and then run for one turn.
func Example() {
	type day struct{ Day string }
	menu := agent.FuncTool[day]{
		Declares: &genai.FunctionDeclaration{Name: "menu", Description: "the dish of a day"},
		Do: func(_ context.Context, d day) (map[string]any, error) {
			return map[string]any{"day": d.Day, "dish": "soup"}, nil
		},
	}
	prog, err := agent.New(agent.Config{Agents: []agent.Agent{{
		Name: "host", Instruction: "You take orders.", Model: provider.Parrot{}, Tools: []agent.Tool{menu},
	}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	report, err := agent.Prove(context.Background(), prog, verify.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(report.Outcome())

	s, err := agent.Start(prog, agent.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	var history []*genai.Content
	end, err := s.Run(context.Background(), &agent.Turn{
		ID:      "t1",
		Message: genai.NewContentFromText(`call menu {"Day": "monday"}`, genai.RoleUser),
		History: func() []*genai.Content { return history },
		Emit: func(ev *session.Event, kind agent.EventKind) error {
			history = append(history, ev.Content)
			if kind == agent.Answer {
				fmt.Println(ev.Content.Parts[0].Text)
			}
			return nil
		},
	})
	fmt.Println(end.How, err)
	fmt.Println("closed:", s.Close())
	// Output:
	// proved
	// menu: {"day":"monday","dish":"soup"}
	// answered <nil>
	// closed: <nil>
}

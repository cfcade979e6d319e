package adkagent_test

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/tool/functiontool"
	"google.golang.org/genai"

	"github.com/voicegw/voicegw/agent/adkagent"
	"github.com/voicegw/voicegw/agent/provider"
)

// An agent of ADK, moved over: the configuration is that of llmagent, the runner is ADK's.
func Example() {
	type day struct {
		Day string `json:"day"`
	}
	menu, err := functiontool.New(functiontool.Config{Name: "menu", Description: "the dish of a day"},
		func(_ agent.Context, d day) (map[string]any, error) {
			return map[string]any{"dish": "soup", "day": d.Day}, nil
		})
	if err != nil {
		fmt.Println(err)
		return
	}
	source := adkagent.NewSource("seed", time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	a, err := adkagent.New(llmagent.Config{Name: "host", Instruction: "You take orders.", Model: provider.Parrot{},
		Tools: []tool.Tool{menu}}, adkagent.Options{Source: source})
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := runner.NewInMemory("shop", a)
	if err != nil {
		fmt.Println(err)
		return
	}
	message := genai.NewContentFromText(`call menu {"day": "monday"}`, genai.RoleUser)
	for ev, err := range r.Run(source.Context(context.Background()), "ada", "s1", message, agent.RunConfig{}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(ev.Timestamp.Format(time.TimeOnly), ev.Author, ev.IsFinalResponse())
	}
	fmt.Println("closed:", a.Close())
	// Output:
	// 03:05:05 host false
	// 03:05:05 host false
	// 03:05:05 host true
	// closed: <nil>
}

package agent_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/session"
	"google.golang.org/genai"

	"github.com/voicegw/voicegw/agent"
	"github.com/voicegw/voicegw/verify"
)

// answer is a branch that answers at once.
func answer(name, text string) agent.Branch {
	return agent.Branch{Name: name, Do: func(context.Context, *agent.Request) (*model.LLMResponse, error) {
		return reply(text), nil
	}}
}

func reply(text string) *model.LLMResponse {
	return &model.LLMResponse{Content: genai.NewContentFromText(text, genai.RoleModel)}
}

func textOf(c *genai.Content) string { return c.Parts[0].Text }

// prove makes a program of one agent with a strategy and prints whether all claims about it are proved.
func prove(st agent.Strategy) (*agent.Program, error) {
	prog, err := agent.New(agent.Config{Agents: []agent.Agent{{Name: "host", Strategy: st}},
		Limits: agent.Limits{Reasks: 1, MaxCalls: 1}})
	if err != nil {
		return nil, err
	}
	report, err := agent.Prove(context.Background(), prog, verify.Config{})
	if err != nil {
		return nil, err
	}
	fmt.Println(report.Outcome())
	return prog, nil
}

// converse runs one turn for each message and prints what is heard.
func converse(prog *agent.Program, messages ...string) error {
	s, err := agent.Start(prog, agent.Options{})
	if err != nil {
		return err
	}
	for i, m := range messages {
		_, err := s.Run(context.Background(), &agent.Turn{ID: fmt.Sprint("t", i),
			Message: genai.NewContentFromText(m, genai.RoleUser),
			Emit: func(ev *session.Event, kind agent.EventKind) error {
				if kind != agent.Step {
					fmt.Printf("%s: %s\n", kind, textOf(ev.Content))
				}
				return nil
			}})
		if err != nil {
			return errors.Join(err, s.Close())
		}
	}
	return s.Close()
}

// A small model has half a second. If it has not answered by then, or has failed, a large one begins.
// The first answer cancels the other.
func ExampleRace() {
	cancelled := make(chan string, 1)
	small := agent.Branch{Name: "small", Do: func(ctx context.Context, r *agent.Request) (*model.LLMResponse, error) {
		if strings.Contains(textOf(r.Turn.Message), "hard") {
			<-ctx.Done() // it would take for ever
			cancelled <- "the small model is cancelled"
			return reply("too late"), nil
		}
		return reply("soup"), nil
	}}
	prog, err := prove(agent.Race{Patience: 500 * time.Millisecond, Tiers: [][]agent.Branch{
		{small}, {answer("large", "ragout")}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(converse(prog, "an easy dish", "a hard dish"))
	fmt.Println(<-cancelled)
	// Output:
	// proved
	// answer: soup
	// answer: ragout
	// <nil>
	// the small model is cancelled
}

// Two of three critics are enough. The third is cancelled, and its late result is drained.
func ExampleQuorum() {
	first, drained := make(chan bool), make(chan string, 1)
	critic := func(name, verdict string, wait, then chan bool) agent.Branch {
		return agent.Branch{Name: name, Do: func(context.Context, *agent.Request) (*model.LLMResponse, error) {
			if wait != nil {
				<-wait
			}
			if then != nil {
				close(then)
			}
			return reply(verdict), nil
		}}
	}
	late := agent.Branch{Name: "cid", Do: func(ctx context.Context, _ *agent.Request) (*model.LLMResponse, error) {
		<-ctx.Done()
		drained <- "cid is late"
		return reply("bad"), nil
	}}
	prog, err := prove(agent.Quorum{K: 2, Branches: []agent.Branch{
		critic("ann", "good", first, nil), critic("bob", "good", nil, first), late,
	}, Merge: func(list []*agent.Attempt) *model.LLMResponse {
		return reply(fmt.Sprintf("%d say %s", len(list), textOf(list[0].Out.Content)))
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(converse(prog, "how is the soup?"))
	fmt.Println(<-drained)
	// Output:
	// proved
	// answer: 2 say good
	// <nil>
	// cid is late
}

// A draft is shown at once and checked. A draft that is rejected gives way to the fallback.
func ExampleOptimistic() {
	check := agent.Branch{Name: "critic", Do: func(_ context.Context, r *agent.Request) (*model.LLMResponse, error) {
		draft := textOf(r.Request.Contents[len(r.Request.Contents)-1])
		if !strings.Contains(textOf(r.Turn.Message), "soup") {
			return nil, fmt.Errorf("%q is no answer to that", draft)
		}
		return nil, nil
	}}
	prog, err := prove(agent.Optimistic{Draft: answer("cache", "Soup is 5 euros."), Check: check,
		Fallback: answer("clerk", "I have to ask the cook."), Patience: time.Second})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(converse(prog, "how much is soup?", "how much is a ragout?"))
	// Output:
	// proved
	// partial: Soup is 5 euros.
	// answer: Soup is 5 euros.
	// partial: Soup is 5 euros.
	// answer: I have to ask the cook.
	// <nil>
}

// The dishes of a menu are priced by two workers. What is collected can be read meanwhile.
func ExampleBatch() {
	prices := func(c *agent.Collected) string {
		var all []string
		for _, a := range c.Results {
			all = append(all, textOf(a.Out.Content))
		}
		slices.Sort(all)
		return strings.Join(all, ", ")
	}
	prog, err := prove(agent.Batch{Workers: 2, Max: 4,
		Split: func(r *agent.Request) (jobs []*model.LLMRequest) {
			for dish := range strings.FieldsSeq(textOf(r.Turn.Message)) {
				jobs = append(jobs, &model.LLMRequest{Contents: genai.Text(dish)})
			}
			return jobs
		},
		Do: agent.Branch{Name: "price", Do: func(_ context.Context, r *agent.Request) (*model.LLMResponse, error) {
			dish := textOf(r.Request.Contents[0])
			return reply(fmt.Sprintf("%s %d", dish, len(dish))), nil
		}},
		Show: func(c *agent.Collected) *model.LLMResponse {
			return reply(fmt.Sprintf("%d of %d prices", len(c.Results), c.Expected))
		},
		Merge: func(c *agent.Collected) *model.LLMResponse { return reply(prices(c)) }})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(converse(prog, "soup ragout bread"))
	// Output:
	// proved
	// partial: 1 of 3 prices
	// partial: 2 of 3 prices
	// partial: 3 of 3 prices
	// answer: bread 5, ragout 6, soup 4
	// <nil>
}

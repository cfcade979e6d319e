package desk

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"google.golang.org/adk/v2/model"
	"google.golang.org/genai"

	"github.com/voicegw/voicegw/agent"
	"github.com/voicegw/voicegw/verify"
)

// prices is the menu, in euros.
var prices = map[string]int{"bread": 3, "soup": 6, "ragout": 14, "cake": 5}

func dishes() []string { return slices.Sorted(maps.Keys(prices)) }

// agents returns the two agents of the desk, which ask a model. A session begins with the first one.
func agents(llm model.LLM) []agent.Agent {
	return []agent.Agent{{
		Name: "host", Description: "shows the menu and takes orders", Model: llm, TransferTo: []string{"cashier"},
		Instruction: "You are the host of a small restaurant. Show the menu and take orders with your tools. " +
			"Whoever wants to pay is the cashier's.",
		Tools: []agent.Tool{menu(), order()},
	}, {
		Name: "cashier", Description: "makes the bill", Model: llm, TransferTo: []string{"host"},
		Instruction: "You are the cashier of a small restaurant. Make the bill with your tool. Whoever wants to order is " +
			"the host's.",
		Tools: []agent.Tool{bill{}},
	}}
}

// Config describes the program of the desk. One turn may ask the model again four times.
func Config(llm model.LLM) agent.Config {
	return agent.Config{Name: "desk", Agents: agents(llm), Limits: agent.Limits{
		Reasks: 4, ToolSlots: 2, MaxCalls: 4, GaveUpText: "I am going round in circles. What would you like?"}}
}

// Prove proves the net of a program and returns a line that says so. What is not proved is an error.
func Prove(ctx context.Context, prog *agent.Program) (string, error) {
	report, err := agent.Prove(ctx, prog, verify.Config{})
	if err != nil {
		return "", err
	}
	if report.Outcome() != verify.Proved {
		return "", fmt.Errorf("desk: the net is %s:\n%s", report.Outcome(), report)
	}
	claims := 0
	for _, r := range report.Reports {
		claims += len(r.Results)
	}
	net, err := prog.Compiled()
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("net %s: %d places, %d transitions, %d claims proved", net.Name(), len(net.Places()),
		len(net.Transitions()), claims), nil
}

func menu() agent.Tool {
	return agent.FuncTool[struct{}]{
		Declares: &genai.FunctionDeclaration{Name: "menu", Description: "the dishes and their prices in euros"},
		Do: func(context.Context, struct{}) (map[string]any, error) {
			list := map[string]any{}
			for dish, price := range prices {
				list[dish] = price
			}
			return list, nil
		},
	}
}

// ordered is what the tool order takes.
type ordered struct {
	Dish  string `json:"dish"`
	Count int    `json:"count"`
}

const countMax = 20

func order() agent.Tool {
	return agent.FuncTool[ordered]{
		Declares: &genai.FunctionDeclaration{Name: "order", Description: "orders a dish for the guest",
			Parameters: &genai.Schema{Type: genai.TypeObject, Required: []string{"dish", "count"},
				Properties: map[string]*genai.Schema{
					"dish": {Type: genai.TypeString, Enum: dishes()}, "count": {Type: genai.TypeInteger},
				}}},
		Do: func(_ context.Context, o ordered) (map[string]any, error) {
			switch price, ok := prices[o.Dish]; {
			case !ok:
				return nil, fmt.Errorf("there is no %q; the dishes are %s", o.Dish, strings.Join(dishes(), ", "))
			case o.Count < 1 || o.Count > countMax:
				return nil, fmt.Errorf("%d is too few or too many; order 1 to %d", o.Count, countMax)
			default:
				return map[string]any{"dish": o.Dish, "count": o.Count, "euros": o.Count * price}, nil
			}
		},
	}
}

// bill adds up what was ordered. The session is its memory: every order that succeeded has its result
// there.
type bill struct{}

func (bill) Name() string { return "bill" }

func (bill) Declaration() *genai.FunctionDeclaration {
	return &genai.FunctionDeclaration{Name: "bill", Description: "adds up what the guest has ordered, in euros"}
}

func (bill) Call(_ context.Context, c *agent.Call) (*agent.Reply, error) {
	if c.Turn.History == nil {
		return nil, errors.New("the session has no history")
	}
	sum := 0
	for _, content := range c.Turn.History() {
		for _, p := range content.Parts {
			if r := p.FunctionResponse; r != nil && r.Name == "order" {
				sum += number(r.Response["euros"])
			}
		}
	}
	return &agent.Reply{Response: map[string]any{"euros": sum}}, nil
}

// number reads a number that may have been stored as JSON.
func number(v any) int {
	switch n := v.(type) {
	case int:
		return n
	case float64:
		return int(n)
	}
	return 0
}

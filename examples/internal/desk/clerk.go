package desk

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/adk/v2/model"
	"google.golang.org/genai"
)

// Clerk is a model that understands a few words: menu, order, pay, and the names of dishes. It is
// deterministic. Whoever cannot decide makes it look at the menu for ever, until the net stops it.
type Clerk struct{}

// Name returns "clerk".
func (Clerk) Name() string { return "clerk" }

// GenerateContent answers the last content of the request.
func (Clerk) GenerateContent(ctx context.Context, r *model.LLMRequest, _ bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		if err := ctx.Err(); err != nil {
			yield(nil, err)
			return
		}
		yield(&model.LLMResponse{TurnComplete: true, FinishReason: genai.FinishReasonStop,
			Content: &genai.Content{Role: genai.RoleModel, Parts: []*genai.Part{clerkAnswers(r)}}}, nil)
	}
}

func clerkAnswers(r *model.LLMRequest) *genai.Part {
	wish, results := lastWish(r.Contents)
	undecided := strings.Contains(wish, "decide")
	var lines []string
	for _, res := range results {
		if res.Name != "transfer_to_agent" && !undecided {
			lines = append(lines, report(res))
		}
	}
	if len(lines) > 0 {
		return &genai.Part{Text: strings.Join(lines, " ")}
	}
	dish, count := findDish(wish)
	switch {
	case strings.Contains(wish, "menu") || undecided:
		return use(r, "menu", nil, "host")
	case strings.Contains(wish, "pay") || strings.Contains(wish, "bill"):
		return use(r, "bill", nil, "cashier")
	case dish != "":
		return use(r, "order", map[string]any{"dish": dish, "count": count}, "host")
	}
	return &genai.Part{Text: "You can ask for the menu, order a dish, or pay."}
}

// use calls a tool, or hands over to the agent that has it.
func use(r *model.LLMRequest, tool string, args map[string]any, owner string) *genai.Part {
	if r.Config != nil {
		for _, t := range r.Config.Tools {
			for _, d := range t.FunctionDeclarations {
				if d.Name == tool {
					return genai.NewPartFromFunctionCall(tool, args)
				}
			}
		}
	}
	return genai.NewPartFromFunctionCall("transfer_to_agent", map[string]any{"agent_name": owner})
}

// lastWish returns the last words of the guest, in lower case, and the results of tools at the end.
func lastWish(list []*genai.Content) (wish string, results []*genai.FunctionResponse) {
	for i, c := range list {
		for _, p := range c.Parts {
			switch {
			case p.FunctionResponse != nil && i == len(list)-1:
				results = append(results, p.FunctionResponse)
			case p.FunctionResponse == nil && c.Role == genai.RoleUser:
				wish = strings.ToLower(p.Text)
			}
		}
	}
	return wish, results
}

// findDish finds what is ordered: "order DISH" with any name, or a dish of the menu, perhaps with a
// number before it.
func findDish(wish string) (dish string, count int) {
	words := strings.Fields(wish)
	count = 1
	for i, w := range words {
		w = strings.Trim(w, ".,!?")
		if n, err := strconv.Atoi(w); err == nil {
			count = n
		}
		if _, ok := prices[w]; ok {
			return w, count
		}
		if i > 0 && i == len(words)-1 && slices.Contains(words, "order") {
			return w, count
		}
	}
	return "", count
}

// report says the result of a tool.
func report(r *genai.FunctionResponse) string {
	if err, ok := r.Response["error"]; ok {
		_, text, _ := strings.Cut(fmt.Sprint(err), ": ")
		return "Sorry, " + text + "."
	}
	switch r.Name {
	case "menu":
		var list []string
		for _, dish := range slices.Sorted(maps.Keys(r.Response)) {
			list = append(list, fmt.Sprintf("%s %d", dish, number(r.Response[dish])))
		}
		return "We have " + strings.Join(list, ", ") + "."
	case "order":
		return fmt.Sprintf("%d %v for %d euros, noted.", number(r.Response["count"]), r.Response["dish"],
			number(r.Response["euros"]))
	case "bill":
		return fmt.Sprintf("That is %d euros.", number(r.Response["euros"]))
	}
	return fmt.Sprintf("%s says %v.", r.Name, r.Response)
}

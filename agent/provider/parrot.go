package provider

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strings"

	"google.golang.org/adk/v2/model"
	"google.golang.org/genai"
)

// Parrot is a model that repeats what it is told. Told "call NAME {json}" it calls that tool with these
// arguments, and then says the result. Told "call NAME {json} call OTHER {json}" it calls both.
type Parrot struct{}

// Name returns "parrot".
func (Parrot) Name() string { return "parrot" }

// GenerateContent answers the last content of the request. With stream it first yields the words of a
// text one by one.
func (Parrot) GenerateContent(ctx context.Context, r *model.LLMRequest, stream bool,
) iter.Seq2[*model.LLMResponse, error] {
	return yieldParts(ctx, parrotParts(r), "", stream)
}

func parrotParts(r *model.LLMRequest) []*genai.Part {
	if len(r.Contents) == 0 || r.Contents[len(r.Contents)-1] == nil {
		return []*genai.Part{{Text: "Hello."}}
	}
	var said, results []string
	for _, p := range r.Contents[len(r.Contents)-1].Parts {
		switch {
		case p == nil:
		case p.FunctionResponse != nil:
			b, err := json.Marshal(p.FunctionResponse.Response)
			if err != nil {
				b = []byte(err.Error())
			}
			results = append(results, fmt.Sprintf("%s: %s", p.FunctionResponse.Name, b))
		case p.Text != "":
			said = append(said, p.Text)
		}
	}
	if len(results) > 0 {
		return []*genai.Part{{Text: strings.Join(results, "\n")}}
	}
	text := strings.Join(said, "\n")
	if calls := commands(text); len(calls) > 0 {
		return calls
	}
	if text == "" {
		text = "I heard nothing."
	}
	return []*genai.Part{{Text: text}}
}

// commands reads "call NAME {json}", any number of times. It returns nil for any other text.
func commands(text string) []*genai.Part {
	var list []*genai.Part
	for rest := strings.TrimSpace(text); rest != ""; {
		word, after, ok := strings.Cut(rest, " ")
		if !ok || !strings.EqualFold(word, "call") {
			return nil
		}
		name, after, _ := strings.Cut(strings.TrimSpace(after), " ")
		if name == "" {
			return nil
		}
		call := &genai.FunctionCall{Name: name}
		rest = strings.TrimSpace(after)
		if strings.HasPrefix(rest, "{") {
			d := json.NewDecoder(strings.NewReader(rest))
			if d.Decode(&call.Args) != nil {
				return nil
			}
			rest = strings.TrimSpace(rest[d.InputOffset():])
		}
		list = append(list, &genai.Part{FunctionCall: call})
	}
	return list
}

// yieldParts yields a response: with stream and text alone, the words first.
func yieldParts(ctx context.Context, parts []*genai.Part, reason genai.FinishReason, stream bool,
) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		if stream && len(parts) == 1 && parts[0].Text != "" {
			for _, word := range strings.SplitAfter(parts[0].Text, " ") {
				if err := ctx.Err(); err != nil {
					yield(nil, err)
					return
				}
				if !yield(&model.LLMResponse{Partial: true, Content: genai.NewContentFromText(word, genai.RoleModel)}, nil) {
					return
				}
			}
		}
		if err := ctx.Err(); err != nil {
			yield(nil, err)
			return
		}
		if reason == "" {
			reason = genai.FinishReasonStop
		}
		yield(&model.LLMResponse{Content: &genai.Content{Role: genai.RoleModel, Parts: parts}, TurnComplete: true,
			FinishReason: reason}, nil)
	}
}

package provider_test

import (
	"context"
	"fmt"

	"google.golang.org/adk/v2/model"
	"google.golang.org/genai"

	"github.com/voicegw/voicegw/agent/provider"
)

// The parrot calls a tool when it is told to.
func Example() {
	llm, err := provider.NewResolver().Open(provider.Ref{Provider: "parrot"})
	if err != nil {
		fmt.Println(err)
		return
	}
	r := &model.LLMRequest{Contents: []*genai.Content{genai.NewContentFromText(`call menu {"day": "monday"}`, "user")}}
	for resp, err := range llm.GenerateContent(context.Background(), r, false) {
		if err != nil {
			fmt.Println(err)
			return
		}
		call := resp.Content.Parts[0].FunctionCall
		fmt.Println(call.Name, call.Args)
	}
	// Output: menu map[day:monday]
}

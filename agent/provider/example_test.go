package provider_test

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"

	"google.golang.org/adk/v2/model"
	"google.golang.org/genai"

	"github.com/voicegw/voicegw/agent/provider"
	"github.com/voicegw/voicegw/agent/provider/wiretest"
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

// A model of Anthropic streams its words; here a fake server stands for Anthropic.
func ExampleConfig() {
	server := httptest.NewServer(wiretest.New(wiretest.Anthropic, wiretest.Turn{Text: "Good morning."}))
	defer server.Close()
	cfg := provider.Config{
		Keys:     map[string]string{provider.Anthropic: wiretest.Key},
		BaseURLs: map[string]string{provider.Anthropic: server.URL},
		Client:   server.Client(),
	}
	r, err := cfg.Resolver()
	if err != nil {
		fmt.Println(err)
		return
	}
	llm, err := r.Open(provider.Ref{Provider: provider.Anthropic, Model: "claude-sonnet-5"})
	if err != nil {
		fmt.Println(err)
		return
	}
	ask := &model.LLMRequest{Contents: []*genai.Content{genai.NewContentFromText("Hello!", "user")}}
	for resp, err := range llm.GenerateContent(context.Background(), ask, true) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("partial %v: %q\n", resp.Partial, resp.Content.Parts[0].Text)
	}
	// Output:
	// partial true: "Good "
	// partial true: "morning."
	// partial false: "Good morning."
}

// Errors of all providers have the same kinds.
func ExampleError() {
	server := httptest.NewServer(wiretest.New(wiretest.OpenAI, wiretest.Turn{Status: 404, Message: "no model m"}))
	defer server.Close()
	cfg := provider.Config{
		Keys:     map[string]string{provider.OpenAI: wiretest.Key},
		BaseURLs: map[string]string{provider.OpenAI: server.URL + "/v1"},
		Client:   server.Client(),
	}
	r, err := cfg.Resolver()
	if err != nil {
		fmt.Println(err)
		return
	}
	llm, err := r.Open(provider.Ref{Provider: provider.OpenAI, Model: "m"})
	if err != nil {
		fmt.Println(err)
		return
	}
	ask := &model.LLMRequest{Contents: []*genai.Content{genai.NewContentFromText("Hello!", "user")}}
	for _, err := range llm.GenerateContent(context.Background(), ask, false) {
		var e *provider.Error
		if errors.As(err, &e) && e.Code == provider.NotFound {
			fmt.Println(e)
		}
	}
	// Output: provider: openai: not_found (HTTP 404): no model m [request req_1]
}

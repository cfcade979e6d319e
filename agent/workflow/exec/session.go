package exec

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/genai"

	"github.com/voicegw/voicegw/agent/managed"
)

// sessionTools are the built-in tools that belong to the session.
func sessionTools() []string {
	return []string{"load_memory", "preload_memory", "load_artifacts", "get_user_choice"}
}

// nativeTool is a tool that Gemini runs itself.
func nativeTool(name string) (*genai.Tool, bool) {
	switch name {
	case "google_search":
		return &genai.Tool{GoogleSearch: &genai.GoogleSearch{}}, true
	case "google_maps_grounding":
		return &genai.Tool{GoogleMaps: &genai.GoogleMaps{}}, true
	case "enterprise_web_search":
		return &genai.Tool{EnterpriseWebSearch: &genai.EnterpriseWebSearch{}}, true
	case "url_context":
		return &genai.Tool{URLContext: &genai.URLContext{}}, true
	}
	return nil, false
}

func (e *Engine) equipSession(_ *flow, _ *leaf, name string) error {
	return fmt.Errorf("the tool %q is not available yet", name)
}

func sessionTool(name string) *genai.FunctionDeclaration {
	return &genai.FunctionDeclaration{Name: name}
}

func (k *worker) sessionCall(context.Context, *run, *genai.FunctionCall) (map[string]any, error) {
	return nil, errors.New("not available yet")
}

func (e *Engine) search(context.Context, managed.ToolCall) (map[string]any, error) {
	return nil, errors.New("not available yet")
}

func (e *Engine) files(context.Context, managed.ToolCall) (map[string]any, error) {
	return nil, errors.New("not available yet")
}

func (r *run) artifactText(context.Context, string) (string, error) {
	return "", errors.New("not available yet")
}

package voicegw

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/voicegw/voicegw/live"
)

// Tool is a function that the model may call.
type Tool struct {
	// Name has 1 to 64 letters, digits and underscores.
	Name string
	// Description tells the model what the function does.
	Description string
	// Parameters is the JSON schema of the arguments, an object. nil means that there are none.
	Parameters json.RawMessage
	// NonBlocking lets the model speak while the function works. Scheduling then says when the
	// model mentions the result. docs/model.md lists the models that support this.
	NonBlocking bool
	Scheduling  live.Scheduling
	// Call runs in a goroutine of its own. args is a JSON object. ctx ends when nothing waits for
	// the result any more: the function took too long, the model cancelled it, or the call is over.
	// The result is JSON of at most ToolResultMax bytes. The model gets the text of an error. If
	// Call is nil, the peer answers with a tool_result.
	Call func(ctx context.Context, args json.RawMessage) (json.RawMessage, error)
}

// NewTool makes a tool from a typed function. ToolSchema of the struct In is the schema of its
// arguments.
func NewTool[In, Out any](name, description string, call func(context.Context, In) (Out, error)) (Tool, error) {
	schema, err := ToolSchema[In]()
	if err != nil {
		return Tool{}, fmt.Errorf("voicegw: tool %s: %w", name, err)
	}
	return Tool{Name: name, Description: description, Parameters: schema,
		Call: func(ctx context.Context, args json.RawMessage) (json.RawMessage, error) {
			var in In
			if err := json.Unmarshal(args, &in); err != nil {
				return nil, fmt.Errorf("the arguments do not fit: %w", err)
			}
			out, err := call(ctx, in)
			if err != nil {
				return nil, err
			}
			return json.Marshal(out)
		}}, nil
}

// CheckTools reports what is wrong with tools of one call: their number, names and parameters.
func CheckTools(tools []Tool) error {
	if len(tools) > ToolsMax {
		return fmt.Errorf("voicegw: %d tools; at most %d are possible", len(tools), ToolsMax)
	}
	seen := map[string]bool{}
	for _, t := range tools {
		if seen[t.Name] {
			return fmt.Errorf("voicegw: two tools have the name %q", t.Name)
		}
		seen[t.Name] = true
	}
	var setup live.Setup
	for _, t := range tools {
		setup.Tools = append(setup.Tools, t.declaration())
	}
	if err := setup.Check(); err != nil {
		return fmt.Errorf("voicegw: tools: %w", err)
	}
	return nil
}

func (t *Tool) declaration() live.Tool {
	return live.Tool{Name: t.Name, Description: t.Description, Parameters: t.Parameters, NonBlocking: t.NonBlocking}
}

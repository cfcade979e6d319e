package exec

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"google.golang.org/adk/v2/artifact"
	"google.golang.org/adk/v2/memory"
	"google.golang.org/genai"

	"github.com/voicegw/voicegw/agent/managed"
	"github.com/voicegw/voicegw/agent/workflow"
)

// The built-in tools that belong to the session.
const (
	loadMemory    = "load_memory"
	preloadMemory = "preload_memory" // no function of the model: what it finds is in the instruction
	loadArtifacts = "load_artifacts"
	userChoice    = "get_user_choice"
)

func sessionTools() []string { return []string{loadMemory, preloadMemory, loadArtifacts, userChoice} }

// native is a tool that Gemini runs itself.
type native struct {
	tool *genai.Tool
	doc  string
}

// nativeTools are the tools that Gemini runs itself, by name.
func nativeTools() map[string]native {
	return map[string]native{
		"google_search":         {&genai.Tool{GoogleSearch: &genai.GoogleSearch{}}, "Searches the web with Google."},
		"google_maps_grounding": {&genai.Tool{GoogleMaps: &genai.GoogleMaps{}}, "Looks up places in Google Maps."},
		"enterprise_web_search": {&genai.Tool{EnterpriseWebSearch: &genai.EnterpriseWebSearch{}},
			"Searches the web for enterprises."},
		"url_context": {&genai.Tool{URLContext: &genai.URLContext{}}, "Reads pages of the web by address."},
	}
}

// sessionTool is what the model learns of a tool of the session; nil for one that it cannot call.
func sessionTool(name string) *genai.FunctionDeclaration {
	list := func(text string) map[string]any {
		return map[string]any{"type": "array", "items": map[string]any{"type": "string"}, "description": text}
	}
	declare := func(text, arg string, schema map[string]any) *genai.FunctionDeclaration {
		return &genai.FunctionDeclaration{Name: name, Description: text, ParametersJsonSchema: map[string]any{
			"type": "object", "properties": map[string]any{arg: schema}, "required": []any{arg}}}
	}
	switch name {
	case loadMemory:
		return declare("Finds what was said in earlier sessions of the user.", "query",
			map[string]any{"type": "string", "description": "words to look for"})
	case loadArtifacts:
		return declare("Loads files of the session. Their content follows.", "artifact_names", list("names of files"))
	case userChoice:
		return declare("Lets the user choose one of several options, and returns it.", "options", list("the options"))
	}
	return nil
}

// choiceTool is get_user_choice as a tool of the client.
func choiceTool() managed.ToolConfig {
	d := sessionTool(userChoice)
	schema, _ := json.Marshal(d.ParametersJsonSchema) // a literal
	return managed.ToolConfig{Type: managed.CustomTool, Name: d.Name, Description: d.Description, InputSchema: schema}
}

// sessionCall runs a tool of the session.
func (k *worker) sessionCall(ctx context.Context, r *run, c *genai.FunctionCall) (map[string]any, error) {
	switch c.Name {
	case loadMemory:
		query, _ := c.Args["query"].(string)
		return call(ctx, k.own, r.turn, &genai.FunctionCall{ID: c.ID, Name: searchTool,
			Args: map[string]any{"query": query, "app": k.p.f.w.Name, "user": userID(r.ctx.Owner)}})
	case loadArtifacts:
		return map[string]any{"artifact_names": c.Args["artifact_names"], "status": "their content follows"}, nil
	case userChoice:
		return call(ctx, k.call, r.turn, c)
	}
	return map[string]any{"error": c.Name + " is no function"}, nil
}

// userID is a user towards the services of ADK. No two owners have the same: a tenant has no slash in it.
func userID(o managed.Owner) string { return url.PathEscape(o.Tenant) + "/" + o.User }

// memoriesMax is how many memories a search returns.
const memoriesMax = 20

// search is the tool that load_memory calls.
func (e *Engine) search(ctx context.Context, c managed.ToolCall) (map[string]any, error) {
	query, _ := c.Args["query"].(string)
	app, _ := c.Args["app"].(string)
	user, _ := c.Args["user"].(string)
	list, err := e.memories(ctx, &memory.SearchRequest{Query: query, AppName: app, UserID: user})
	return map[string]any{"memories": list}, err
}

// memories are the lines of what a search finds.
func (e *Engine) memories(ctx context.Context, q *memory.SearchRequest) ([]any, error) {
	found, err := e.cfg.Memory.SearchMemory(ctx, q)
	if err != nil {
		return nil, fmt.Errorf("the memory cannot be searched: %w", err)
	}
	list := []any{}
	for _, m := range found.Memories {
		if m.Content == nil || len(list) == memoriesMax {
			continue
		}
		list = append(list, m.Author+": "+plainText(m.Content))
	}
	return list, nil
}

// plainText is the text of a content that is no thought.
func plainText(c *genai.Content) string {
	var list []string
	for _, p := range c.Parts {
		if p != nil && p.Text != "" && !p.Thought {
			list = append(list, p.Text)
		}
	}
	return strings.Join(list, " ")
}

// remembered is what preload_memory adds to an instruction.
func (k *worker) remembered(ctx context.Context, r *run) (string, error) {
	list, err := k.p.e.memories(ctx, &memory.SearchRequest{Query: plainText(r.turn.Message), AppName: k.p.f.w.Name,
		UserID: userID(r.ctx.Owner)})
	if err != nil || len(list) == 0 {
		return "", err
	}
	var b strings.Builder
	b.WriteString("\n\nWhat was said in earlier sessions, and may matter now:")
	for _, m := range list {
		fmt.Fprintf(&b, "\n- %s", m)
	}
	return b.String(), nil
}

// artifactText is the text of a file of the session.
func (r *run) artifactText(ctx context.Context, name string) (string, error) {
	p, err := r.file(ctx, name)
	if err != nil {
		return "", err
	}
	if p.Text == "" && p.InlineData != nil {
		return string(p.InlineData.Data), nil
	}
	return p.Text, nil
}

// file loads a file of the session.
func (r *run) file(ctx context.Context, name string) (*genai.Part, error) {
	if r.p.f.files == nil {
		return nil, fmt.Errorf("it needs runtime.artifact_service")
	}
	found, err := r.p.f.files.Load(ctx, &artifact.LoadRequest{AppName: r.p.f.w.Name, UserID: userID(r.ctx.Owner),
		SessionID: r.ctx.Session, FileName: name})
	if err != nil {
		return nil, err
	}
	return found.Part, nil
}

// fileNames tells a model which files the session has.
func (r *run) fileNames(ctx context.Context) (string, error) {
	found, err := r.p.f.files.List(ctx, &artifact.ListRequest{AppName: r.p.f.w.Name, UserID: userID(r.ctx.Owner),
		SessionID: r.ctx.Session})
	if err != nil || len(found.FileNames) == 0 {
		return "", err
	}
	return "\n\nThe session has these files; load_artifacts loads them: " + strings.Join(found.FileNames, ", "), nil
}

// loaded are the files that a step has asked for.
func (r *run) loaded(ctx context.Context, s workflow.Step) []*genai.Content {
	var list []*genai.Content
	for _, c := range s.Calls {
		asked, _ := c.Args["artifact_names"].([]any)
		if c.Name != loadArtifacts {
			continue
		}
		for _, name := range asked {
			content := genai.NewContentFromText(fmt.Sprintf("The file %v:", name), genai.RoleUser)
			p, err := r.file(ctx, fmt.Sprint(name))
			if err != nil {
				p = &genai.Part{Text: fmt.Sprintf("it cannot be loaded: %v", err)}
			}
			content.Parts = append(content.Parts, p)
			list = append(list, content)
		}
	}
	return list
}

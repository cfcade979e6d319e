package managed

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"google.golang.org/adk/v2/model"

	"github.com/voicegw/voicegw/agent/provider"
	"github.com/voicegw/voicegw/journal/journaltest"
)

// mcpMode makes the test binary an MCP server on its standard input and output. So does an argument that begins with
// mcpArg.
const (
	mcpMode = "VOICEGW_TEST_MCP"
	mcpArg  = "mcp:"
)

// mcpPipe is a named pipe that is open for writing while a process runs.
const mcpPipe = "VOICEGW_TEST_MCP_PIPE"

// serveMCP runs a server until its input ends.
func serveMCP(mode string) int {
	switch mode {
	case "mute":
		select {}
	case "holder": // a grandchild, which keeps the pipes of its parent
		if _, err := os.OpenFile(os.Getenv(mcpPipe), os.O_WRONLY, 0); err != nil {
			return 1
		}
		fmt.Fprintln(os.Stderr, "open")
		select {}
	case "noise":
		fmt.Println("Welcome to the file server!")
		select {}
	}
	if err := filesServer().Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		return 1
	}
	return 0
}

// filesServer is a server with tools that behave and tools that do not.
func filesServer() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "files", Version: "1"}, nil)
	type tool func(ctx context.Context, args map[string]string) (string, error)
	add := func(name string, hints *mcp.ToolAnnotations, do tool) {
		s.AddTool(&mcp.Tool{Name: name, Description: name, Annotations: hints, InputSchema: map[string]any{"type": "object"}},
			func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				args := map[string]string{}
				if err := json.Unmarshal(r.Params.Arguments, &args); err != nil {
					return nil, err
				}
				text, err := do(ctx, args)
				result := &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}
				if err != nil {
					result.SetError(err)
				}
				return result, nil
			})
	}
	add("read_file", nil, func(_ context.Context, args map[string]string) (string, error) {
		b, err := os.ReadFile(args["path"])
		return string(b), err
	})
	add("die", nil, func(context.Context, map[string]string) (string, error) { os.Exit(3); return "", nil })
	add("fork", nil, func(_ context.Context, args map[string]string) (string, error) {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), mcpMode+"=holder", mcpPipe+"="+args["path"])
		cmd.Stdout = os.Stdout
		ready, err := cmd.StderrPipe()
		if err != nil {
			return "", err
		}
		if err := cmd.Start(); err != nil {
			return "", err
		}
		_, err = ready.Read(make([]byte, 1))
		return "forked", err
	})
	add("hang", nil, func(context.Context, map[string]string) (string, error) { select {} })
	add("garbage", nil, func(ctx context.Context, _ map[string]string) (string, error) {
		fmt.Println("panic: something")
		<-ctx.Done()
		return "", ctx.Err()
	})
	add("big", nil, func(context.Context, map[string]string) (string, error) {
		return strings.Repeat("x", resultMax+1), nil
	})
	add("huge", nil, func(context.Context, map[string]string) (string, error) {
		return strings.Repeat("x", messageMax+1), nil
	})
	add("pid", nil, func(context.Context, map[string]string) (string, error) { return fmt.Sprint(os.Getpid()), nil })
	add("env", nil, func(context.Context, map[string]string) (string, error) {
		return strings.Join(append(os.Environ(), os.Args[1:]...), "\n"), nil
	})
	note := func(ctx context.Context, args map[string]string) (string, error) {
		f, err := os.OpenFile(args["path"], os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return "", err
		}
		defer f.Close()
		before, err := os.ReadFile(args["path"])
		if err != nil {
			return "", err
		}
		if _, err := fmt.Fprintln(f, "called"); err != nil || len(before) > 0 {
			return "noted again", err
		}
		<-ctx.Done() // the first call does not come back
		return "", ctx.Err()
	}
	add("note", nil, note)
	add("note_again", &mcp.ToolAnnotations{IdempotentHint: true}, note)
	return s
}

// witness is a model that keeps the requests it gets.
type witness struct {
	provider.Script
	mu   sync.Mutex
	seen []string // as JSON
	last *model.LLMRequest
}

func (w *witness) GenerateContent(ctx context.Context, r *model.LLMRequest, stream bool,
) iter.Seq2[*model.LLMResponse, error] {
	b, err := json.Marshal(r.Contents)
	w.mu.Lock()
	w.seen, w.last = append(w.seen, string(b)), r
	w.mu.Unlock()
	if err != nil {
		panic(err)
	}
	return w.Script.GenerateContent(ctx, r, stream)
}

// heard holds the last request to what a test wants.
func (h *mcpHouse) heard(parts ...string) {
	h.Helper()
	h.model.mu.Lock()
	defer h.model.mu.Unlock()
	for _, part := range parts {
		if last := h.model.seen[len(h.model.seen)-1]; !strings.Contains(last, part) {
			h.Errorf("the model does not hear %q, but %s", part, last)
		}
	}
}

// offers are the names of the tools in the last request.
func (h *mcpHouse) offers() []string {
	h.model.mu.Lock()
	defer h.model.mu.Unlock()
	var list []string
	for _, t := range h.model.last.Config.Tools {
		for _, d := range t.FunctionDeclarations {
			list = append(list, d.Name)
		}
	}
	return list
}

// mcpHouse is a house whose time is real, because its servers are processes and sockets.
type mcpHouse struct {
	house
	model *witness
	idles int // that the test has waited for
}

// stdio is a server in a process of its own, with its toolset.
func stdio(name, mode string) (MCPServer, ToolConfig) {
	return MCPServer{Type: "stdio", Name: name, Command: os.Args[0], Args: []string{mcpArg + mode}},
		ToolConfig{Type: MCPToolset, Server: name, Default: &ToolPolicy{Permission: &Permission{Type: AlwaysAllow}}}
}

// with is a definition with a server of each mode. Their names are the modes.
func withServers(modes ...string) Definition {
	var d Definition
	for _, m := range modes {
		s, set := stdio(m, strings.TrimRight(m, "0123456789"))
		d.MCPServers, d.Tools = append(d.MCPServers, s), append(d.Tools, set)
	}
	return d
}

func newMCPHouse(t *testing.T, change func(*Config), d Definition, turns []provider.ScriptTurn,
	tools ...Tool) *mcpHouse {
	t.Helper()
	models := provider.NewResolver()
	h := &mcpHouse{house: house{T: t, engine: journaltest.NewMemory()}, model: &witness{}}
	h.model.Turns = turns
	models.Add("script", func(provider.Ref) (model.LLM, error) { return h.model, nil })
	h.cfg = Config{Journal: h.engine, Models: models, Tools: tools, Node: "a", Commands: []string{os.Args[0]}}
	if change != nil {
		change(&h.cfg)
	}
	h.open()
	t.Cleanup(h.close)
	d.Name, d.Model.ID = "desk", "script"
	a, err := h.rt.CreateAgent(t.Context(), ada, d)
	if err != nil {
		t.Fatal(err)
	}
	s, err := h.rt.StartSession(t.Context(), ada, SessionRequest{Agent: a.ID})
	if err != nil {
		t.Fatal(err)
	}
	h.session = s.ID
	return h
}

// ask sends events and waits until the session is idle once more.
func (h *mcpHouse) ask(events ...Event) {
	h.Helper()
	if _, err := h.rt.Send(h.Context(), ada, h.session, Once{}, events...); err != nil {
		h.Fatal(err)
	}
	h.idle()
}

// idle waits until the session is idle once more.
func (h *mcpHouse) idle() {
	h.Helper()
	h.idles++
	ctx, cancel := context.WithTimeout(h.Context(), time.Minute)
	defer cancel()
	n := 0
	for ev, err := range h.rt.Events(ctx, ada, h.session, 0, true) {
		if err != nil {
			h.Fatal(err)
		}
		if ev.Type == StatusIdle {
			if n++; n == h.idles {
				return
			}
		}
	}
	h.Fatalf("the session is not idle: %s", letters(h.events()))
}

// result is the text of the newest result of a call.
func (h *mcpHouse) result() string {
	h.Helper()
	return h.find(AgentMCPToolResult).Content[0].Text
}

// one is a model that makes one call, and says so.
func one(name string, args map[string]any) []provider.ScriptTurn {
	return []provider.ScriptTurn{calls(provider.ScriptCall{Name: name, Args: args, ID: "mcp_tc_001"}), says("Done.")}
}

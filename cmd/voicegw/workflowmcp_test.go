package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestWorkflowCredential runs a workflow with an MCP server that demands the secret which the workflow names. Without
// the operator's file, or with what is wrong in it, there is an error that says so.
func TestWorkflowCredential(t *testing.T) {
	t.Parallel()
	const secret = "tok-42.secret"
	var asked atomic.Int32
	s := mcp.NewServer(&mcp.Implementation{Name: "orders", Version: "1"}, nil)
	s.AddTool(&mcp.Tool{Name: "order", Description: "knows orders", InputSchema: map[string]any{"type": "object"}},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			asked.Add(1)
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "late"}}}, nil
		})
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s },
		&mcp.StreamableHTTPOptions{Stateless: true})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+secret {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		handler.ServeHTTP(w, r)
	}))
	defer server.Close()
	flow := writeFile(t, "flow.yaml", fmt.Appendf(nil, `
name: flow
agents: [{name: desk, type: llm, model: parrot, instruction: Help., tools: [orders]}]
orchestration: {type: sequential, agents: [desk]}
runtime: {mcp_servers: [{name: orders, transport: http, uri: "%s/mcp", credential: crm}]}
`, server.URL))
	script := writeFile(t, "script.json", []byte(`{"turns":[{"calls":[{"name":"order"}]},{"text":"It is late."}]}`))
	bearers := func(name, secret string) string {
		file := writeFile(t, "secret", []byte(secret))
		return writeFile(t, "bearers.yaml", fmt.Appendf(nil, "%s: {url: '%s', file: '%s'}\n", name, server.URL, file))
	}
	for _, c := range []struct {
		name, file     string
		code           int
		stdout, stderr string
		asked          int32
	}{
		{"the secret", bearers("crm", secret), 0, "It is late.\n", "", 1},
		{"another secret", bearers("crm", "other"), 0, "It is late.\n", "orders", 0},
		{"no file", "", 2, "", "; --mcp-bearers FILE has them", 0},
		{"another name", bearers("mail", secret), 2, "", "; --mcp-bearers FILE has them", 0},
		{"a file that is gone", filepath.Join(t.TempDir(), "gone"), 2, "", "--mcp-bearers: open ", 0},
		{"a broken file", writeFile(t, "bad.yaml", []byte("crm: {uri: x}\n")), 2, "", "--mcp-bearers: ", 0},
	} {
		asked.Store(0)
		words := []string{"run", flow, "-m", "My order?", "--model", "script/" + script, "--mcp-private"}
		if c.file != "" {
			words = append(words, "--mcp-bearers", c.file)
		}
		code, stdout, stderr := flowCommand(words...)
		if code != c.code || stdout != c.stdout || !strings.Contains(stderr, c.stderr) || asked.Load() != c.asked {
			t.Errorf("%s: exit code %d, asked %d times\n%s\n%s\nwant %d, %q and %q", c.name, code, asked.Load(), stdout,
				stderr, c.code, c.stdout, c.stderr)
		}
		if strings.Contains(stdout+stderr, secret) {
			t.Errorf("%s: the secret is printed", c.name)
		}
	}
}

// mcpServer is the argument with which the test binary is an MCP server on its standard input and output.
const mcpServer = "-mcp-server-of-test"

// serveMCP serves one tool, which answers with a variable of the environment.
func serveMCP() error {
	s := mcp.NewServer(&mcp.Implementation{Name: "parcels", Version: "1"}, nil)
	s.AddTool(&mcp.Tool{Name: "where", Description: "knows parcels", InputSchema: map[string]any{"type": "object"}},
		func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			text := fmt.Sprintf("parcel %s is in %s", r.Params.Arguments, os.Getenv("PARCEL_PLACE"))
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil
		})
	return s.Run(context.Background(), &mcp.StdioTransport{})
}

// TestWorkflowStdio runs a workflow whose model calls a tool of an MCP server that is a program.
func TestWorkflowStdio(t *testing.T) {
	t.Setenv("PARCEL_PLACE", "Bern")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	file := writeFile(t, "flow.yaml", fmt.Appendf(nil, `
name: flow
agents: [{name: desk, type: llm, model: parrot, instruction: Help., tools: [parcels]}]
orchestration: {type: sequential, agents: [desk]}
runtime: {mcp_servers: [{name: parcels, transport: stdio, command: %q, args: [%q]}]}
`, self, mcpServer))
	for want, more := range map[string][]string{`parcel {\"id\":7} is in Bern`: {"--mcp-command-env", "PARCEL_PLACE"},
		`parcel {\"id\":7} is in "`: nil} {
		words := append([]string{"run", file, "-m", `call where {"id":7}`, "--mcp-commands", self}, more...)
		if code, stdout, stderr := flowCommand(words...); code != 0 || !strings.Contains(stdout, want) {
			t.Errorf("%v: exit code %d\n%s\n%s\nwant %s", more, code, stdout, stderr, want)
		}
	}
}

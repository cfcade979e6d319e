package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
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

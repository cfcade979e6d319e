package managed

import (
	"fmt"
	"path"
	"slices"

	"github.com/voicegw/voicegw/agent"
)

// Confirmed returns a copy of a tool for one agent of a program. Calls by that agent wait until the client allows them,
// even where the policy of the tool always allows them. t comes from Work.Tools or Work.Tool, or is chosen from an MCP
// server. The patterns select tools of an MCP server by the server's own names; without patterns all of them wait.
func Confirmed(t agent.Tool, patterns ...string) (agent.Tool, error) {
	for _, p := range patterns {
		if _, err := path.Match(p, ""); err != nil {
			return nil, fmt.Errorf("managed: the pattern %q of tools of %s: %w", p, t.Name(), err)
		}
	}
	if patterns == nil {
		patterns = []string{"*"}
	}
	return confirmed{t, patterns}, nil
}

// confirmed is a tool whose calls wait for a confirmation.
type confirmed struct {
	agent.Tool
	patterns []string
}

// asks reports whether calls of a tool by the agent wait for a confirmation. b is the tool of an MCP server that it is.
func (h *hasTools) asks(name string, b *boundName) bool {
	if b == nil {
		return h.confirmed[name] != nil
	}
	return slices.ContainsFunc(h.confirmed["mcp:"+b.Server], func(p string) bool {
		ok, err := path.Match(p, b.Tool)
		return p == "*" || ok && err == nil
	})
}

// toolOf is the tool with a name as an agent has it. nil is the only agent. The caller holds mu.
func (o *owned) toolOf(h *hasTools, name string) *boundTool {
	t := o.tool(name)
	if t == nil || h == nil || t.policy.permission != AlwaysAllow || !h.asks(name, o.st.bound[name]) {
		return t
	}
	own := *t
	own.policy.permission = AlwaysAsk
	return &own
}

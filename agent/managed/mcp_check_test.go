package managed

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/voicegw/voicegw/journal/journaltest"
)

// TestMCPRefusals refuses definitions that cannot work, and names the server.
func TestMCPRefusals(t *testing.T) {
	change := func(f func(d *Definition)) Definition {
		d := withServers("files")
		f(&d)
		return d
	}
	server := func(f func(s *MCPServer)) Definition { return change(func(d *Definition) { f(&d.MCPServers[0]) }) }
	for want, d := range map[string]Definition{
		`tools[0].mcp_server_name: there is no MCP server "other"`: change(func(d *Definition) {
			d.Tools[0].Server = "other"
		}),
		"tools[0].configs[0].name: it must have": change(func(d *Definition) { d.Tools[0].Configs = []ToolPolicy{{}} }),
		`tools[1].mcp_server_name: two toolsets name the MCP server "files"`: change(func(d *Definition) {
			d.Tools = append(d.Tools, d.Tools[0])
		}),
		`no tool of type mcp_toolset names the MCP server "files"`: change(func(d *Definition) { d.Tools = nil }),
		`mcp_servers[1].name: two servers are called "files"`: change(func(d *Definition) {
			d.MCPServers = append(d.MCPServers, d.MCPServers[0])
		}),
		"there are 21; at most 20": change(func(d *Definition) {
			for i := range 20 {
				more := withServers(fmt.Sprint("files", i))
				d.MCPServers, d.Tools = append(d.MCPServers, more.MCPServers...), append(d.Tools, more.Tools...)
			}
		}),
		"mcp_servers[0].name: it must have 1 to 255": server(func(s *MCPServer) { s.Name = "" }),
		`the command "/bin/sh" of the MCP server "files" is not allowed`: server(func(s *MCPServer) {
			s.Command = "/bin/sh"
		}),
		"mcp_servers[0].env: a definition sets no variables": server(func(s *MCPServer) {
			s.Env = map[string]string{"TOKEN": "hunter2"}
		}),
		"Config.CommandEnv": server(func(s *MCPServer) { s.Env = map[string]string{"A": "x"} }),
		`mcp_servers[0].credential: the MCP server "files" has no URL`: server(func(s *MCPServer) {
			s.Credential = "github"
		}),
		"at most 4096": server(func(s *MCPServer) { s.Args = []string{strings.Repeat("x", 4096)} }),
		`"pipe" of the MCP server "files" is none of url, stdio`: server(func(s *MCPServer) { s.Type = "pipe" }),
		"needs a command":                                            server(func(s *MCPServer) { s.Command = "" }),
		"has no command or args":                                     server(func(s *MCPServer) { s.Type = "url" }),
		`"file:///etc" of the MCP server "files" must be`:            web("files", "file:///etc"),
		`"http://u:p@example.com" of the MCP server "files" must be`: web("files", "http://u:p@example.com"),
		`"http://10.0.0.1/" of the MCP server "files" is a private`:  web("files", "http://10.0.0.1/"),
		`"http://localhost/" of the MCP server "files" is a private`: web("files", "http://localhost/"),
		`"sometimes" is none of always_allow`: change(func(d *Definition) {
			d.Tools[0].Default.Permission.Type = "sometimes"
		}),
	} {
		h := newHouse(t, Definition{}, nil)
		h.close()
		h.cfg.Commands = []string{os.Args[0]}
		h.open()
		d.Name, d.Model.ID = "desk", "script"
		if _, err := h.rt.CreateAgent(t.Context(), ada, d); CodeOf(err) != Invalid || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want %s", err, want)
		}
		h.close()
	}
}

// TestMCPCommandsNone allows no command by default, and no path that depends on the working directory.
func TestMCPCommandsNone(t *testing.T) {
	h := newHouse(t, Definition{}, nil)
	defer h.close()
	d := withServers("files")
	d.Name, d.Model.ID = "desk", "script"
	_, err := h.rt.CreateAgent(t.Context(), ada, d)
	if CodeOf(err) != Invalid || !strings.Contains(err.Error(), "not allowed") {
		t.Errorf("the error is %v", err)
	}
	for _, c := range []string{"", "bin/server", "./server"} {
		_, err := New(Config{Journal: journaltest.NewMemory(), Models: h.cfg.Models, Commands: []string{c}})
		if err == nil || !strings.Contains(err.Error(), "Config.Commands") {
			t.Errorf("%q: the error is %v", c, err)
		}
	}
}

// TestMCPOverride leaves out the servers that a session's own tools do not name, and checks those tools.
func TestMCPOverride(t *testing.T) {
	h := newMCPHouse(t, nil, withServers("files"), nil)
	id := h.status(Idle).Agent.ID
	s, err := h.rt.StartSession(t.Context(), ada, SessionRequest{Agent: id, Override: &Override{Tools: &[]ToolConfig{}}})
	if err != nil || len(s.Agent.MCPServers) != 0 {
		t.Errorf("%+v, %v", s, err)
	}
	for _, c := range []ToolConfig{{Type: MCPToolset, Server: "other"},
		{Type: AgentToolset, Default: &ToolPolicy{Permission: &Permission{Type: "sometimes"}}}} {
		_, err := h.rt.StartSession(t.Context(), ada, SessionRequest{Agent: id, Override: &Override{Tools: &[]ToolConfig{c}}})
		if CodeOf(err) != Invalid {
			t.Errorf("%+v: the error is %v", c, err)
		}
	}
}

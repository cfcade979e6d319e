package managed

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"google.golang.org/adk/v2/model"
	"google.golang.org/genai"
)

// Limits of MCP servers.
const (
	serverNameMax = 255
	serverTextMax = 4096 // bytes of a URL, of a command with its arguments, of an environment
	serverToolMax = 256  // tools of a server
	declareMax    = 256 << 10
	boundMax      = 2048 // tools that a session has ever had from MCP servers
	functionMax   = 64   // characters of the name of a tool towards a model
)

// checkServers finds what is wrong with the MCP servers of a definition and with their toolsets.
func (d *Definition) checkServers() error {
	if len(d.MCPServers) > serversMax {
		return invalid("mcp_servers", "there are %d; at most %d are allowed", len(d.MCPServers), serversMax)
	}
	named := map[string]int{} // toolsets by the name of their server
	for i := range d.MCPServers {
		s, at := &d.MCPServers[i], fmt.Sprintf("mcp_servers[%d]", i)
		if n := utf8.RuneCountInString(s.Name); n < 1 || n > serverNameMax {
			return invalid(at+".name", "it must have 1 to %d characters", serverNameMax)
		}
		if _, twice := named[s.Name]; twice {
			return invalid(at+".name", "two servers are called %q; give each a name of its own", s.Name)
		}
		named[s.Name] = 0
		if err := s.check(at); err != nil {
			return err
		}
	}
	for i := range d.Tools {
		c, at := &d.Tools[i], fmt.Sprintf("tools[%d].mcp_server_name", i)
		n, known := named[c.Server]
		switch {
		case c.Type != MCPToolset:
			continue
		case !known:
			return invalid(at, "there is no MCP server %q in mcp_servers", c.Server)
		case n > 0:
			return invalid(at, "two toolsets name the MCP server %q; keep one", c.Server)
		}
		named[c.Server]++
	}
	for i := range d.MCPServers {
		if named[d.MCPServers[i].Name] == 0 {
			return invalid(fmt.Sprintf("mcp_servers[%d]", i), "no tool of type %s names the MCP server %q; add one",
				MCPToolset, d.MCPServers[i].Name)
		}
	}
	return nil
}

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// check finds what is wrong with a server by itself.
func (s *MCPServer) check(at string) error {
	size := len(s.URL) + len(s.Command)
	for _, a := range s.Args {
		size += len(a)
	}
	if len(s.Env) > 0 {
		return invalid(at+".env", "a definition sets no variables of the environment; the operator names those that the MCP "+
			"server %q gets: Config.CommandEnv, or --mcp-command-env of voicegw serve", s.Name)
	}
	if size > serverTextMax {
		return invalid(at, "the MCP server %q has %d bytes of text; at most %d are allowed", s.Name, size, serverTextMax)
	}
	switch s.Type {
	case "url":
		u, err := url.Parse(s.URL)
		switch {
		case s.Command != "" || len(s.Args) > 0:
			return invalid(at, "the MCP server %q has a URL, so it has no command or args", s.Name)
		case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil:
			return invalid(at+".url", "%q of the MCP server %q must be an http or https URL with a host and without "+
				"a password", s.URL, s.Name)
		}
	case "stdio":
		if s.URL != "" || s.Command == "" {
			return invalid(at+".command", "the MCP server %q needs a command and no URL", s.Name)
		}
		if s.Credential != "" {
			return invalid(at+".credential", "the MCP server %q has no URL, so it has no credential", s.Name)
		}
	default:
		return invalid(at+".type", "%q of the MCP server %q is none of url, stdio", s.Type, s.Name)
	}
	return nil
}

// checkCommands finds entries of Config.Commands that no definition could name.
func checkCommands(list []string) error {
	for _, c := range list {
		if c == "" || strings.ContainsRune(c, '/') && !filepath.IsAbs(c) {
			return fmt.Errorf("managed: Config.Commands has %q; give an absolute path, or a name without a slash", c)
		}
	}
	return nil
}

// admits finds what the operator does not allow in the servers of an agent.
func (r *Runtime) admits(a *Agent) error {
	for i := range a.MCPServers {
		s, at := &a.MCPServers[i], fmt.Sprintf("mcp_servers[%d]", i)
		if s.Type == "stdio" && !slices.Contains(r.cfg.Commands, s.Command) {
			return invalid(at+".command", "the command %q of the MCP server %q is not allowed here; the operator allows: %s",
				s.Command, s.Name, strings.Join(r.cfg.Commands, ", "))
		}
		if s.Type == "url" && !r.cfg.AllowPrivate {
			if u, err := url.Parse(s.URL); err != nil || privateHost(u.Hostname()) {
				return invalid(at+".url", "%q of the MCP server %q is a private address; the operator does not allow those",
					s.URL, s.Name)
			}
		}
		if err := r.admitCredential(at, s); err != nil {
			return err
		}
	}
	return nil
}

// named are the servers that a toolset names.
func named(list []MCPServer, tools []ToolConfig) []MCPServer {
	return slices.DeleteFunc(slices.Clone(list), func(s MCPServer) bool {
		return !slices.ContainsFunc(tools, func(c ToolConfig) bool { return c.Type == MCPToolset && c.Server == s.Name })
	})
}

// boundName says which tool of an MCP server a name towards the model stands for. A session never gives the
// name to another tool, so that a call which waited or is repeated reaches the server it was meant for.
type boundName struct {
	Name   string `json:"name"`
	Server string `json:"server"`
	Tool   string `json:"tool"`
	Repeat bool   `json:"repeat,omitempty"` // the server says that a call may be repeated
}

// bind gives names to tools of a server. It returns the name of each tool by the server's own name, and
// the names that are new or have changed. taken are the names of other tools of the agent.
func (s *state) bind(server string, tools []*mcp.Tool, taken map[string]*boundTool) (map[string]string, []*boundName,
	error) {
	names := map[string]string{}
	for _, b := range s.bound {
		if old := names[b.Tool]; b.Server == server && taken[b.Name] == nil && (old == "" || b.Name < old) {
			names[b.Tool] = b.Name
		}
	}
	var fresh []*boundName
	made := map[string]bool{}
	for _, t := range tools {
		b := &boundName{Name: names[t.Name], Server: server, Tool: t.Name, Repeat: repeatable(t)}
		for n := 0; b.Name == ""; n++ {
			if name := functionName(server, t.Name, n); s.bound[name] == nil && taken[name] == nil && !made[name] {
				b.Name = name
			}
		}
		names[t.Name], made[b.Name] = b.Name, true
		if old := s.bound[b.Name]; old == nil || *old != *b {
			fresh = append(fresh, b)
		}
	}
	if len(s.bound)+len(fresh) > boundMax {
		return nil, nil, fmt.Errorf("the session has had %d tools of MCP servers, the most there may be", len(s.bound))
	}
	return names, fresh, nil
}

// repeatable reports whether a server says that a call of a tool may be repeated.
func repeatable(t *mcp.Tool) bool {
	return t.Annotations != nil && (t.Annotations.IdempotentHint || t.Annotations.ReadOnlyHint)
}

var noFunctionName = regexp.MustCompile(`[^A-Za-z0-9_-]`)

// functionName is choice n for the name of a tool towards the model: its own name, then one with the
// server's name in front, then numbered ones. It has characters that all models accept.
func functionName(server, tool string, n int) string {
	name := tool
	if n > 0 {
		name = server + "__" + tool
	}
	if n > 1 {
		name += fmt.Sprint("_", n)
	}
	clean := noFunctionName.ReplaceAllString(name, "_")
	if len(clean) > functionMax {
		sum := sha256.Sum256([]byte(name))
		clean = fmt.Sprintf("%s_%x", clean[:functionMax-9], sum[:4])
	}
	return clean
}

// gather gives the turn the tools of the agent's MCP servers. The turn goes on without a server that
// cannot be reached, and the session tells so once.
func (r *turnRun) gather(ctx context.Context) error {
	for _, l := range r.o.servers.list(ctx) {
		err := l.err
		var names map[string]string
		var fresh []*boundName
		if err == nil {
			r.o.mu.Lock()
			names, fresh, err = r.o.st.bind(l.server.def.Name, l.tools, r.o.agent.tools)
			r.o.mu.Unlock()
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			if err := r.unreachable(ctx, l.server.def.Name, err); err != nil {
				return err
			}
			continue
		}
		if len(fresh) > 0 {
			if err := r.o.store(ctx, just(&record{Kind: recordTools, Bound: fresh})); err != nil {
				return err
			}
		}
		for _, t := range l.tools {
			d := &genai.FunctionDeclaration{Name: names[t.Name], Description: t.Description, ParametersJsonSchema: t.InputSchema}
			r.offered = append(r.offered, offer{l.server.def.Name, t.Name, d})
		}
	}
	return nil
}

// unreachable tells once in a turn that an MCP server cannot be reached.
func (r *turnRun) unreachable(ctx context.Context, server string, err error) error {
	r.o.mu.Lock()
	told := r.t.unreachable[server]
	r.o.mu.Unlock()
	if told {
		return nil
	}
	kind := "mcp_connection_failed_error"
	if errors.Is(err, errUnauthorized) {
		kind = "mcp_authentication_failed_error"
	}
	failure := &Failure{Type: kind, Message: fmt.Sprintf("mcp server %q: %v", server, err), Server: server,
		Retry: &Retry{Type: "retrying"}}
	return r.o.store(ctx, just(&record{Kind: recordEvents, Events: []*Event{{Type: SessionError, Error: failure}}}))
}

// offer is a tool of an MCP server as the model sees it.
type offer struct {
	server  string
	tool    string // as the server calls it
	declare *genai.FunctionDeclaration
}

// offer adds the tools of MCP servers that an agent has to a request to its model. What the request points to
// does not change: branches share it.
func (r *turnRun) offer(of string, req *model.LLMRequest) {
	var list []*genai.FunctionDeclaration
	for _, o := range r.offered {
		if has := r.o.agent.has[of]; !r.o.agent.named || has != nil && has.chose(o.server, o.tool) {
			list = append(list, o.declare)
		}
	}
	if len(list) == 0 {
		return
	}
	with := &genai.GenerateContentConfig{}
	if req.Config != nil {
		*with = *req.Config
	}
	first := &genai.Tool{}
	if with.Tools = slices.Clone(with.Tools); len(with.Tools) == 0 {
		with.Tools = []*genai.Tool{first}
	} else {
		*first = *with.Tools[0]
		with.Tools[0] = first
	}
	first.FunctionDeclarations = append(slices.Clip(first.FunctionDeclarations), list...)
	req.Config = with
}

// tool is the tool that a name towards the model stands for; nil if there is none. The caller holds mu.
func (o *owned) tool(name string) *boundTool {
	if t := o.agent.tools[name]; t != nil {
		return t
	}
	b := o.st.bound[name]
	if b == nil {
		return nil
	}
	s := o.servers.named(b.Server)
	if s == nil {
		return nil
	}
	policy, on := s.set.policy(b.Tool, AlwaysAsk)
	if !on {
		return nil
	}
	return &boundTool{policy: policy, tool: &Tool{Server: b.Server, Idempotent: b.Repeat,
		Call: func(ctx context.Context, c ToolCall) (map[string]any, error) {
			result, err := s.call(ctx, b.Tool, c)
			if err != nil {
				return nil, fmt.Errorf("mcp server %q: %w", b.Server, err)
			}
			return result, nil
		}}}
}

// resultOf is the result of a call as models get it.
func resultOf(r *mcp.CallToolResult) (map[string]any, error) {
	var list []string
	for _, c := range r.Content {
		switch c := c.(type) {
		case *mcp.TextContent:
			list = append(list, c.Text)
		case *mcp.ImageContent:
			list = append(list, fmt.Sprintf("[an image, %s, %d bytes]", c.MIMEType, len(c.Data)))
		case *mcp.AudioContent:
			list = append(list, fmt.Sprintf("[audio, %s, %d bytes]", c.MIMEType, len(c.Data)))
		case *mcp.ResourceLink:
			list = append(list, c.Name+": "+c.URI)
		case *mcp.EmbeddedResource:
			if c.Resource != nil {
				list = append(list, c.Resource.Text)
			}
		}
	}
	text := strings.Join(list, "\n")
	switch {
	case r.IsError && text == "":
		return nil, errors.New("the tool failed and did not say why")
	case r.IsError:
		return nil, errors.New(text)
	case r.StructuredContent != nil:
		return map[string]any{"result": r.StructuredContent}, nil
	}
	return map[string]any{"result": text}, nil
}

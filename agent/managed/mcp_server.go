package managed

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/zap"
)

// stopWithin is how long an MCP server may take to end, or to take back a call, before it is killed.
const stopWithin = time.Second

// errLetGo means that the session leaves memory.
var errLetGo = errors.New("the session ends")

// servers are the MCP servers of a session. They are connected on demand.
type servers []*server

// server is one of them.
type server struct {
	rt   *Runtime
	def  MCPServer
	set  *ToolConfig
	lock chan struct{} // holds a token while nobody connects

	mu     sync.Mutex
	conn   *connection // nil: not connected
	closed bool
}

// connection is a connection to an MCP server.
type connection struct {
	session *mcp.ClientSession
	link    *link
	tools   []*mcp.Tool
	over    chan struct{} // closed when nothing of it is left

	uses  int  // calls that run; server.mu
	stale bool // it takes no more calls; server.mu
}

// link is what carries the messages of a connection.
type link struct {
	mcp.Transport
	kill func()       // ends it at once; it may be called often
	wait func()       // returns when nothing of it is left, after kill
	why  func() error // why it broke, if it knows

	secret string // that it sends; "" for none
}

// newServers prepares the servers of an agent.
func (r *Runtime) newServers(a *Agent) servers {
	var list servers
	for _, def := range a.MCPServers {
		i := slices.IndexFunc(a.Tools, func(c ToolConfig) bool { return c.Type == MCPToolset && c.Server == def.Name })
		s := &server{rt: r, def: def, set: &a.Tools[i], lock: make(chan struct{}, 1)}
		s.lock <- struct{}{}
		list = append(list, s)
	}
	return list
}

func (l servers) named(name string) *server {
	for _, s := range l {
		if s.def.Name == name {
			return s
		}
	}
	return nil
}

// listing are the tools of a server that its toolset enables, or why there are none.
type listing struct {
	server *server
	tools  []*mcp.Tool
	err    error
}

// list lists the tools of all servers, side by side.
func (l servers) list(ctx context.Context) []listing {
	all := make([]listing, len(l))
	var wait sync.WaitGroup
	for i, s := range l {
		wait.Go(func() {
			all[i].server = s
			c, err := s.acquire(ctx)
			if err != nil {
				all[i].err = err
				return
			}
			defer s.release(c)
			for _, t := range c.tools {
				if _, on := s.set.policy(t.Name, AlwaysAsk); on {
					all[i].tools = append(all[i].tools, t)
				}
			}
		})
	}
	wait.Wait()
	return all
}

// close ends all connections.
func (l servers) close() {
	var wait sync.WaitGroup
	for _, s := range l {
		wait.Go(func() {
			s.mu.Lock()
			c := s.conn
			s.conn, s.closed = nil, true
			s.mu.Unlock()
			if c != nil {
				c.close()
			}
		})
	}
	wait.Wait()
}

// acquire returns a connection, which it makes if there is none. Its caller releases it.
func (s *server) acquire(ctx context.Context) (*connection, error) {
	select {
	case <-s.lock:
		defer func() { s.lock <- struct{}{} }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if c, err := s.use(nil); c != nil || err != nil {
		return c, err
	}
	ctx, cancel := context.WithTimeout(ctx, s.rt.cfg.Limits.MCPStart)
	defer cancel()
	c, err := s.connect(ctx)
	if err != nil {
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			err = fmt.Errorf("it did not start within %v", s.rt.cfg.Limits.MCPStart)
		}
		return nil, err
	}
	return s.use(c)
}

// use counts one more use of the connection: a new one, or the one that there is.
func (s *server) use(fresh *connection) (*connection, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		if fresh != nil {
			go fresh.close()
		}
		return nil, errLetGo
	}
	if fresh != nil {
		s.conn = fresh
		go s.watch(fresh)
	}
	if s.conn != nil {
		s.conn.uses++
	}
	return s.conn, nil
}

// watch forgets a connection that has ended.
func (s *server) watch(c *connection) {
	<-c.over
	s.forget(c)
}

// forget lets no more calls use a connection.
func (s *server) forget(c *connection) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.stale = true
	if s.conn == c {
		s.conn = nil
	}
}

// release ends a use. The last one of a stale connection closes it.
func (s *server) release(c *connection) {
	s.mu.Lock()
	c.uses--
	last := c.stale && c.uses == 0
	s.mu.Unlock()
	if last {
		c.close()
	}
}

// connect connects to the server and lists its tools. Nothing is left behind if it fails.
func (s *server) connect(ctx context.Context) (*connection, error) {
	l, err := s.rt.link(&s.def)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, l.kill)
	defer stop()
	client := mcp.NewClient(&mcp.Implementation{Name: "voicegw", Version: "1"},
		&mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}})
	session, err := client.Connect(ctx, l, nil)
	if err != nil {
		l.kill()
		l.wait()
		return nil, l.because(err)
	}
	c := &connection{session: session, link: l, over: make(chan struct{})}
	go func() {
		defer close(c.over)
		_ = session.Wait()
		late := time.AfterFunc(stopWithin, l.kill)
		_ = session.Close() // it says goodbye to the server
		late.Stop()
		l.kill()
		l.wait()
	}()
	if c.tools, err = listTools(ctx, session); err != nil {
		l.kill()
		c.close()
		return nil, l.because(err)
	}
	if all := len(c.tools); l.secret != "" {
		c.tools = slices.DeleteFunc(c.tools, func(t *mcp.Tool) bool { return tells(t, l.secret) })
		if n := all - len(c.tools); n > 0 {
			s.rt.cfg.Logger.Warn("tools of an MCP server tell its credential and are left out",
				zap.String("server", s.def.Name), zap.Int("tools", n))
		}
	}
	return c, nil
}

// tells reports whether a tool has the secret anywhere: in its name, its description or its schemas.
func tells(t *mcp.Tool, secret string) bool {
	b, err := json.Marshal(t) // which escapes nothing that a bearer token may have
	return err != nil || bytes.Contains(b, []byte(secret))
}

// because is what broke a link, or else the error. A secret is not part of it.
func (l *link) because(err error) error {
	if why := l.why(); why != nil {
		return why
	}
	return withoutIn(l.secret, err)
}

// close ends a connection and waits until nothing of it is left.
func (c *connection) close() {
	late := time.AfterFunc(stopWithin, c.link.kill)
	defer late.Stop()
	_ = c.session.Close()
	<-c.over
}

// listTools lists the tools of a server, sorted by name.
func listTools(ctx context.Context, session *mcp.ClientSession) ([]*mcp.Tool, error) {
	var list []*mcp.Tool
	size, cursors, seen := 0, "", map[string]bool{}
	for page := 0; page == 0 || cursors != ""; page++ {
		if page == serverToolMax {
			return nil, fmt.Errorf("its list of tools has more than %d pages", serverToolMax)
		}
		r, err := session.ListTools(ctx, &mcp.ListToolsParams{Cursor: cursors})
		if err != nil {
			return nil, err
		}
		cursors = r.NextCursor
		for _, t := range r.Tools {
			if t == nil || t.Name == "" || seen[t.Name] || len(t.Name) > serverNameMax {
				continue
			}
			seen[t.Name] = true
			if _, ok := t.InputSchema.(map[string]any); !ok {
				t.InputSchema = map[string]any{"type": "object"}
			}
			schema, err := json.Marshal(t.InputSchema)
			if size += len(schema) + len(t.Description); err != nil || size > declareMax || len(list) == serverToolMax {
				return nil, fmt.Errorf("it has more than %d tools, or more than %d bytes of descriptions and schemas",
					serverToolMax, declareMax)
			}
			list = append(list, t)
		}
	}
	slices.SortFunc(list, func(a, b *mcp.Tool) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}

// keyName is the name of the idempotency key in the metadata of a call.
const keyName = "voicegw/idempotency-key"

// call runs a call of a tool. A server that hangs or breaks is connected anew at the next call.
func (s *server) call(ctx context.Context, tool string, call ToolCall) (map[string]any, error) {
	limit := s.rt.callTimeout()
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	c, err := s.acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer s.release(c)
	done := make(chan struct{})
	defer close(done)
	stop := context.AfterFunc(ctx, func() {
		late := time.NewTimer(min(stopWithin, limit/10))
		defer late.Stop()
		select {
		case <-late.C: // the call does not come back: what it waits for is gone after this
			c.link.kill()
		case <-done:
		}
	})
	defer stop()
	r, err := c.session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: call.Args,
		Meta: mcp.Meta{keyName: call.Key}})
	var answered *jsonrpc.Error
	switch {
	case err == nil:
		result, err := resultOf(r)
		return without(c.link.secret, result), withoutIn(c.link.secret, err)
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		s.forget(c)
		return nil, fmt.Errorf("the tool %q did not answer within %v", tool, limit)
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.As(err, &answered):
		return nil, withoutIn(c.link.secret, err)
	}
	s.forget(c)
	return nil, c.link.because(err)
}

// callTimeout is how long a call of an MCP server may take: a bit less than the agent's net allows, so that
// the result says what happened.
func (r *Runtime) callTimeout() time.Duration {
	limit := r.cfg.Limits.Agent.ToolTimeout
	if limit == 0 {
		limit = time.Minute
	}
	return limit * 5 / 6
}

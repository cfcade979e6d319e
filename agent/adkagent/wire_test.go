package adkagent

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	adk "google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/agent/remoteagent/v2"
	"google.golang.org/adk/v2/artifact"
	"google.golang.org/adk/v2/memory"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/server/adka2a/v2"
	"google.golang.org/adk/v2/server/adkrest"
	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/tool/mcptoolset"

	"github.com/voicegw/voicegw/agent"
)

// mcpServe is the variable that makes the test binary an MCP server.
const mcpServe = "ADKAGENT_TEST_MCP"

// mcpServer is an MCP server with the tools weigh, which answers, and fail, which does not.
func mcpServer() *mcp.Server {
	type args struct {
		Thing string `json:"thing"`
	}
	s := mcp.NewServer(&mcp.Implementation{Name: "scales", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "weigh", Description: "weighs a thing"}, func(_ context.Context, _ *mcp.CallToolRequest,
		a args) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprintf("%s: %d g", a.Thing,
			len(a.Thing))}}}, nil, nil
	})
	mcp.AddTool(s, &mcp.Tool{Name: "fail"}, func(context.Context, *mcp.CallToolRequest, args) (*mcp.CallToolResult, any,
		error) {
		return nil, nil, fmt.Errorf("broken scales")
	})
	return s
}

// closing is an MCP transport whose connections end with the test: ADK's toolset closes none.
type closing struct {
	mcp.Transport
	t testing.TB
}

func (c closing) Connect(ctx context.Context) (mcp.Connection, error) {
	conn, err := c.Transport.Connect(ctx)
	if err == nil {
		c.t.Cleanup(func() { _ = conn.Close() })
	}
	return conn, err
}

// TestMCP calls tools of an MCP server over stdio and over HTTP.
func TestMCP(t *testing.T) {
	if os.Getenv(mcpServe) != "" {
		if err := mcpServer().Run(context.Background(), &mcp.StdioTransport{}); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	for name, transport := range map[string]func(t *testing.T) mcp.Transport{
		"stdio": func(t *testing.T) mcp.Transport {
			self, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			c := exec.Command(self, "-test.run=^TestMCP$")
			c.Env = append(os.Environ(), mcpServe+"=1")
			return &mcp.CommandTransport{Command: c}
		},
		"http": func(t *testing.T) mcp.Transport {
			scales := mcpServer()
			s := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return scales }, nil))
			client := &http.Client{Transport: &http.Transport{}}
			t.Cleanup(func() {
				client.CloseIdleConnections()
				for one := range scales.Sessions() {
					_ = one.Close()
				}
				s.CloseClientConnections()
				s.Close()
			})
			return &mcp.StreamableClientTransport{Endpoint: s.URL, HTTPClient: client, DisableStandaloneSSE: true}
		},
	} {
		t.Run(name, func(t *testing.T) {
			set, err := mcptoolset.New(mcptoolset.Config{Transport: closing{transport(t), t}})
			if err != nil {
				t.Fatal(err)
			}
			cfg := waiter(t, script(calls(call("weigh", "thing", "an egg"), call("fail", "thing", "x"), call("weigh", "thing",
				7),
				monday()), text("Done."), calls(call("weigh", "thing", "egg")), text("Good.")))
			cfg.Toolsets = []tool.Toolset{set}
			w := newWorld(t, mustNew(t, cfg, Options{}))
			got, err := w.say("weigh")
			if err != nil || len(got) != 3 || !strings.Contains(got[1], `weigh{"output":"an egg: 6 g"}`) ||
				!strings.Contains(got[1], "broken scales") || !strings.HasSuffix(got[1], "! tool_failed ! tool_failed") {
				t.Errorf("%q, %v", got, err)
			}
			got, err = w.say("again")
			if err != nil || len(got) != 3 || !strings.Contains(got[1], "egg: 3 g") {
				t.Errorf("%q, %v", got, err)
			}
			answeredOnce(t, w.events())
		})
	}
}

// rest is ADK's REST server with an agent.
func rest(t *testing.T, a adk.Agent) *httptest.Server {
	t.Helper()
	s, err := adkrest.NewServer(adkrest.ServerConfig{SessionService: session.InMemoryService(),
		AgentLoader:   adk.NewSingleLoader(a),
		MemoryService: memory.InMemoryService(), ArtifactService: artifact.InMemoryService(), SSEWriteTimeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/adk/", http.StripPrefix("/adk", s))
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server
}

func post(t *testing.T, url string, body any) (int, string) {
	t.Helper()
	j, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.Post(url, "application/json", bytes.NewReader(j))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	http.DefaultClient.CloseIdleConnections()
	return r.StatusCode, string(b)
}

// TestREST talks to the agent through ADK's REST server, whole and streamed. Each request has a runner of its
// own; the net is the same.
func TestREST(t *testing.T) {
	a := mustNew(t, waiter(t, script(calls(monday()), text("One two three."), text("Bye now."))), Options{})
	s := rest(t, a)
	if code, body := post(t, s.URL+"/adk/apps/host/users/ada/sessions/s1", map[string]any{}); code != http.StatusOK {
		t.Fatalf("%d %s", code, body)
	}
	say := func(text string, stream bool) map[string]any {
		return map[string]any{"appName": "host", "userId": "ada", "sessionId": "s1", "streaming": stream,
			"newMessage": map[string]any{"role": "user", "parts": []any{map[string]any{"text": text}}}}
	}
	code, body := post(t, s.URL+"/adk/run", say("food", false))
	var events []map[string]any
	if err := json.Unmarshal([]byte(body), &events); err != nil || code != http.StatusOK || len(events) != 3 ||
		!strings.Contains(body, "One two three.") || !strings.Contains(body, "soup of monday") {
		t.Errorf("%d %s: %v", code, body, err)
	}
	code, body = post(t, s.URL+"/adk/run_sse", say("bye", true))
	if n := strings.Count(body, "data:"); code != http.StatusOK || n != 3 || strings.Count(body, `"partial":true`) != 2 {
		t.Errorf("%d, %d events: %s", code, n, body)
	}
	if n := a.Running(); n != 1 {
		t.Errorf("%d nets run", n)
	}
}

// TestRESTFault shows what went wrong to a user of the REST server.
func TestRESTFault(t *testing.T) {
	s := rest(t, mustNew(t, waiter(t, script()), Options{}))
	post(t, s.URL+"/adk/apps/host/users/ada/sessions/s1", map[string]any{})
	code, body := post(t, s.URL+"/adk/run", map[string]any{"appName": "host", "userId": "ada", "sessionId": "s1",
		"newMessage": hello()})
	if code != http.StatusOK || !strings.Contains(body, `"errorCode":"model_failed"`) {
		t.Errorf("%d %s", code, body)
	}
}

// TestA2A puts the agent behind an A2A server and talks to it as a remote agent: as a root, and as a guest of
// another net.
func TestA2A(t *testing.T) {
	m := script(calls(monday()), text("Soup."))
	m.Repeat = true
	executor := adka2a.NewExecutor(adka2a.ExecutorConfig{RunnerConfig: runner.Config{AppName: app,
		SessionService: session.InMemoryService(), Agent: mustNew(t, waiter(t, m), Options{})}})
	s := httptest.NewServer(a2asrv.NewJSONRPCHandler(a2asrv.NewHandler(executor)))
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
		http.DefaultClient.CloseIdleConnections()
	})
	card := &a2a.AgentCard{Name: "far", Capabilities: a2a.AgentCapabilities{Streaming: true},
		SupportedInterfaces: []*a2a.AgentInterface{a2a.NewAgentInterface(s.URL, a2a.TransportProtocolJSONRPC)}}
	far, err := remoteagent.NewA2A(remoteagent.A2AConfig{AgentCard: card, Name: "far"})
	if err != nil {
		t.Fatal(err)
	}
	got, err := newWorld(t, far).say("food")
	if err != nil || !strings.Contains(strings.Join(got, "\n"), "Soup.") {
		t.Errorf("as a root: %q, %v", got, err)
	}
	host := mustNew(t, llmagent.Config{Name: "near", Model: inTurn(calls(transfer("far"))), SubAgents: []adk.Agent{far}},
		Options{})
	got, err = newWorld(t, host).say("food")
	if err != nil || !strings.Contains(strings.Join(got, "\n"), "Soup.") || !strings.HasPrefix(got[0], "near call") {
		t.Errorf("as a guest: %q, %v", got, err)
	}
}

// TestSpans looks at the spans of a turn: one for the agent, one for each request and one for each call.
func TestSpans(t *testing.T) {
	rec := tracetest.NewSpanRecorder()
	p := trace.NewTracerProvider(trace.WithSpanProcessor(rec))
	before := otel.GetTracerProvider()
	otel.SetTracerProvider(p)
	t.Cleanup(func() { otel.SetTracerProvider(before) })
	w := newWorld(t, mustNew(t, waiter(t, script(calls(monday(), call("nowhere")), text("Soup."))), Options{}))
	got, err := w.say("food")
	if err != nil || len(got) != 3 {
		t.Fatalf("%q, %v", got, err)
	}
	if err := p.ForceFlush(t.Context()); err != nil {
		t.Fatal(err)
	}
	var names []string
	ids := map[string]bool{}
	for _, s := range rec.Ended() {
		names = append(names, s.Name())
		for _, a := range s.Attributes() {
			if a.Key == "gcp.vertex.agent.event_id" {
				ids[a.Value.AsString()] = true
			}
		}
		if s.Name() != "invoke_agent host" && !s.Parent().IsValid() {
			t.Errorf("%s has no parent", s.Name())
		}
	}
	slices.Sort(names)
	want := []string{"execute_tool menu", "execute_tool nowhere", "generate_content script", "generate_content script"}
	names = slices.DeleteFunc(names, func(s string) bool { return s == "invoke_agent host" }) // ADK's tracer is made once
	same(t, names, want)
	found := 0
	for _, e := range w.events() {
		if ids[e.ID] {
			found++
		}
	}
	if found != 2 {
		t.Errorf("the spans name %d events of the session, want 2", found)
	}
}

// TestStreaming passes on the parts of a response, which are not stored.
func TestStreaming(t *testing.T) {
	w := newWorld(t, mustNew(t, waiter(t, script(text("one two three"))), Options{}))
	var got []string
	for ev, err := range w.r.Run(t.Context(), user, sid, hello(), adk.RunConfig{StreamingMode: adk.StreamingModeSSE}) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, line(ev))
	}
	same(t, got, []string{`host partial "one "`, `host partial "two "`, `host partial "three"`, `host "one two three"`})
	if n := len(w.events()); n != 2 {
		t.Errorf("%d events are stored", n)
	}
}

// TestMemory adds a session to the memory, from which another session of the user gets it.
func TestMemory(t *testing.T) {
	mem := memory.InMemoryService()
	w := newWorld(t, mustNew(t, waiter(t, script(text("Soup is on mondays."))), Options{}),
		func(c *runner.Config) { c.MemoryService = mem })
	w.must("when is soup?", `host "Soup is on mondays."`)
	stored, err := w.svc.Get(t.Context(), &session.GetRequest{AppName: app, UserID: user, SessionID: sid})
	if err != nil {
		t.Fatal(err)
	}
	if err := mem.AddSessionToMemory(t.Context(), stored.Session); err != nil {
		t.Fatal(err)
	}
	cfg := waiter(t, script(calls(call("recall")), text("Done.")))
	cfg.Tools = []tool.Tool{fn(t, "recall", func(ctx adk.Context, _ struct{}) (map[string]any, error) {
		r, err := ctx.SearchMemory(ctx, "soup")
		if err != nil {
			return nil, err
		}
		var all []string
		for _, m := range r.Memories {
			all = append(all, m.Content.Parts[0].Text)
		}
		return map[string]any{"found": all}, nil
	})}
	other := newWorld(t, mustNew(t, cfg, Options{}), func(c *runner.Config) { c.MemoryService = mem })
	got, err := other.run(t.Context(), hello(), "s2")
	if err != nil || len(got) != 3 || !strings.Contains(got[1], "Soup is on mondays.") {
		t.Errorf("%q, %v", got, err)
	}
}

// TestRunsTogether runs turns, the REST server and a database at the same time, for the race detector.
func TestRunsTogether(t *testing.T) {
	m := script(calls(monday(), monday()), text("Soup."))
	m.Repeat = true
	a := mustNew(t, waiter(t, m), Options{Limits: agent.Limits{ToolSlots: 2}})
	s := rest(t, a)
	db := newWorld(t, a, over(Sessions(openSQLite(t))))
	mem := newWorld(t, a)
	var all sync.WaitGroup
	for i := range 3 {
		id := fmt.Sprint("r", i)
		all.Go(func() {
			post(t, s.URL+"/adk/apps/host/users/ada/sessions/"+id, map[string]any{})
			for range 3 {
				if code, body := post(t, s.URL+"/adk/run", map[string]any{"appName": "host", "userId": "ada", "sessionId": id,
					"newMessage": hello()}); code != http.StatusOK {
					t.Errorf("%d %s", code, body)
				}
			}
		})
		for _, w := range []*world{db, mem} {
			all.Go(func() {
				for range 3 {
					if got, err := w.run(t.Context(), hello(), fmt.Sprintf("%p%d", w, i)); err != nil || len(got) != 3 {
						t.Errorf("%q, %v", got, err)
					}
				}
			})
		}
	}
	all.Wait()
}

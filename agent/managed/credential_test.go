package managed

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/voicegw/voicegw/agent/provider"
	"github.com/voicegw/voicegw/journal"
)

const token = "tok-42.secret~+/=="

// gate lets requests with the token through.
type gate struct {
	next http.Handler

	mu  sync.Mutex
	got []string // headers
}

func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	g.got = append(g.got, r.Header.Get("Authorization"))
	g.mu.Unlock()
	if r.Header.Get("Authorization") != "Bearer "+token {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	g.next.ServeHTTP(w, r)
}

// telltale is an MCP server that sends the token back, in a result and in errors.
func telltale() http.Handler {
	s := mcp.NewServer(&mcp.Implementation{Name: "telltale", Version: "1"}, nil)
	add := func(name string, do mcp.ToolHandler) {
		s.AddTool(&mcp.Tool{Name: name, Description: name, InputSchema: map[string]any{"type": "object"}}, do)
	}
	add("back", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "you sent " + token}}}, nil
	})
	add("fail", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		r := &mcp.CallToolResult{}
		r.SetError(errors.New("no access with " + token))
		return r, nil
	})
	add("break", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return nil, errors.New("broken by " + token)
	})
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s },
		&mcp.StreamableHTTPOptions{Stateless: true})
}

// credentialed is a server with a URL and a credential.
func credentialed(url string) Definition {
	d := web("files", url)
	d.MCPServers[0].Credential = "files"
	return d
}

// TestCredential sends the secret, and keeps it out of the journal, the events, the requests to models and the log. A
// secret that cannot be read any more costs the turn the tools.
func TestCredential(t *testing.T) {
	g := &gate{next: telltale()}
	srv := httptest.NewServer(g)
	defer srv.Close()
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(token+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	logger := zap.New(zapcore.NewCore(zapcore.NewJSONEncoder(zap.NewProductionEncoderConfig()),
		zapcore.Lock(zapcore.AddSync(&log)), zap.DebugLevel))
	change := func(c *Config) {
		c.AllowPrivate, c.Logger = true, logger
		c.Credentials = map[string]Credential{"files": {URL: srv.URL, File: file}}
	}
	h := newMCPHouse(t, change, credentialed(srv.URL+"/mcp"), []provider.ScriptTurn{
		calls(provider.ScriptCall{Name: "back"}), calls(provider.ScriptCall{Name: "fail"}),
		calls(provider.ScriptCall{Name: "break"}), says("Done."), says("Bye.")})
	h.ask(Text("Go"))
	h.tells(`mes, running, mes', use back, done, use fail, done, use break, done, "Done.", idle end_turn`)
	h.heard("you sent [secret]", "no access with [secret]", "broken by [secret]")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	h.restart()
	h.ask(Text("Once more"))
	if got := h.find(SessionError).Error; got.Type != "mcp_authentication_failed_error" ||
		!strings.Contains(got.Message, "cannot be read") || strings.Contains(got.Message, file) {
		t.Errorf("the error is %+v", got)
	}
	if !strings.Contains(log.String(), file) {
		t.Errorf("the log does not say which file: %s", log.String())
	}
	if all := h.journal() + log.String() + strings.Join(h.model.seen, ""); strings.Contains(all, token) {
		t.Error("the secret is in the journal, in a request to a model or in the log")
	}
}

// TestCredentialInTools leaves out tools whose name, description or schema has the secret, and says so in the log
// alone. The server's other tools stay.
func TestCredentialInTools(t *testing.T) {
	s := mcp.NewServer(&mcp.Implementation{Name: "telltale", Version: "1"}, nil)
	add := func(name, description string, property string) {
		s.AddTool(&mcp.Tool{Name: name, Description: description, InputSchema: map[string]any{"type": "object",
			"properties": map[string]any{property: map[string]any{"type": "string"}}}},
			func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				return &mcp.CallToolResult{}, nil
			})
	}
	const plain = "plain.token" // a tool may be called so
	add("fine", "fine", "path")
	add("in_description", "for "+plain, "path")
	add("in_schema", "fine", "a"+plain)
	add("in-"+plain, "fine", "path")
	t.Setenv("VOICEGW_TEST_TOKEN", plain)
	srv := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s },
		&mcp.StreamableHTTPOptions{Stateless: true}))
	defer srv.Close()
	var log bytes.Buffer
	change := func(c *Config) {
		c.AllowPrivate = true
		c.Logger = zap.New(zapcore.NewCore(zapcore.NewJSONEncoder(zap.NewProductionEncoderConfig()),
			zapcore.Lock(zapcore.AddSync(&log)), zap.DebugLevel))
		c.Credentials = map[string]Credential{"files": {URL: srv.URL, Env: "VOICEGW_TEST_TOKEN"}}
	}
	h := newMCPHouse(t, change, credentialed(srv.URL), []provider.ScriptTurn{says("Done.")})
	h.ask(Text("Go"))
	if got := strings.Join(h.offers(), " "); got != "fine" {
		t.Errorf("the model may call %s", got)
	}
	h.close()
	if !strings.Contains(log.String(), `"tools":3`) {
		t.Errorf("the log does not say how many tools are left out: %s", log.String())
	}
	if strings.Contains(h.journal()+log.String(), plain) {
		t.Error("the secret is in the journal or in the log")
	}
}

// journal is all that the journal has.
func (h *house) journal() string {
	h.Helper()
	var b strings.Builder
	for rec, err := range h.engine.Read(h.Context(), logKey(h.session), 1, false) {
		if err != nil {
			h.Fatal(err)
		}
		b.Write(rec.Data)
	}
	docs, err := h.engine.List(h.Context(), journal.Query{})
	if err != nil || b.Len() == 0 || len(docs) == 0 {
		h.Fatal(len(docs), err)
	}
	for _, d := range docs {
		b.Write(d.Value)
	}
	return b.String()
}

// TestCredentialStaysThere sends the secret to no other address, not behind a redirect either.
func TestCredentialStaysThere(t *testing.T) {
	t.Setenv("VOICEGW_TEST_TOKEN", token)
	other := &gate{next: telltale()}
	stranger := httptest.NewServer(other)
	defer stranger.Close()
	srv := httptest.NewServer(http.RedirectHandler(stranger.URL, http.StatusTemporaryRedirect))
	defer srv.Close()
	change := func(c *Config) {
		c.AllowPrivate = true
		c.Credentials = map[string]Credential{"files": {URL: srv.URL, Env: "VOICEGW_TEST_TOKEN"}}
	}
	h := newMCPHouse(t, change, credentialed(srv.URL), []provider.ScriptTurn{says("Done.")})
	h.ask(Text("Go"))
	h.tells(`mes, running, mes', error retrying, "Done.", idle end_turn`)
	if len(other.got) == 0 || strings.Join(other.got, "") != "" {
		t.Errorf("the other server got %q", other.got)
	}
}

// TestCredentialRefusals refuses names that the operator does not have for a URL, and never repeats them.
func TestCredentialRefusals(t *testing.T) {
	t.Setenv("VOICEGW_TEST_TOKEN", token)
	t.Setenv("VOICEGW_TEST_EMPTY", " ")
	h := newHouse(t, Definition{}, nil)
	defer func() { h.close() }()
	h.close()
	h.cfg.Credentials = map[string]Credential{"files": {URL: "https://example.com/mcp", Env: "VOICEGW_TEST_TOKEN"},
		"empty": {URL: "https://example.com", Env: "VOICEGW_TEST_EMPTY"},
		"none":  {URL: "https://example.com", File: filepath.Join(t.TempDir(), "none")}}
	h.open()
	for _, c := range []struct{ url, name, want string }{
		{"https://example.com/mcp", "hunter2", "the operator has no credential of this name"},
		{"https://example.com.evil.org/mcp", "files", "the operator has no credential of this name for the URL"},
		{"https://example.com/other", "files", "has no credential"},
		{"https://example.com/", "empty", "cannot be read"},
		{"https://example.com/", "none", "cannot be read"},
	} {
		d := web("files", c.url)
		d.Name, d.Model.ID, d.MCPServers[0].Credential = "desk", "script", c.name
		_, err := h.rt.CreateAgent(t.Context(), ada, d)
		if CodeOf(err) != Invalid || !strings.Contains(err.Error(), "mcp_servers[0].credential: ") ||
			!strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "hunter2") ||
			strings.Contains(err.Error(), token) {
			t.Errorf("%s, %s: the error is %v", c.url, c.name, err)
		}
		if known := c.want == "cannot be read"; errors.Is(err, ErrNoCredential) == known {
			t.Errorf("%s, %s: %v is ErrNoCredential: %v", c.url, c.name, err, known)
		}
	}
	for want, c := range map[string]Credential{"must be https": {URL: "http://example.com", Env: "A"},
		"must have a scheme": {URL: "example.com", Env: "A"}, "scheme, a host": {URL: "https://u:p@example.com", Env: "A"},
		"either File or Env": {URL: "https://example.com"}, "name of a variable": {URL: "https://example.com", Env: "A B"}} {
		h.cfg.Credentials = map[string]Credential{"files": c}
		if _, err := New(h.cfg); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: the error is %v, want %s", c, err, want)
		}
	}
	h.cfg.Credentials = map[string]Credential{"a b": {URL: "https://example.com", Env: "A"}}
	if _, err := New(h.cfg); err == nil || !strings.Contains(err.Error(), `the name "a b"`) {
		t.Errorf("the error is %v", err)
	}
}

func TestCredentialCovers(t *testing.T) {
	c := Credential{URL: "https://example.com/mcp"}
	for text, want := range map[string]bool{"https://example.com/mcp": true, "https://EXAMPLE.com:443/mcp/": true,
		"https://example.com/mcp/files?a=b": true, "https://example.com/mcp2": false, "https://example.com/": false,
		"https://example.com/mcp/../admin": false, "https://example.com/mcp/%2e%2e/admin": false,
		"http://example.com/mcp": false, "https://example.com:8443/mcp": false, "https://example.com@evil.org/mcp": false,
		"https://sub.example.com/mcp": false} {
		u, err := url.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if c.covers(u) != want {
			t.Errorf("%s: %v", text, !want)
		}
	}
}

func TestParseCredentials(t *testing.T) {
	list, err := ParseCredentials([]byte("github: {url: https://example.com/mcp, file: /run/secrets/github}\n"))
	if err != nil || list["github"] != (Credential{URL: "https://example.com/mcp", File: "/run/secrets/github"}) {
		t.Errorf("%+v, %v", list, err)
	}
	for text, want := range map[string]string{"github: {url: https://example.com, token: hunter2}": "no secret",
		"github: hunter2": "no secret", "github: {url: https://example.com}": "either File or Env",
		strings.Repeat("#", definitionMax+1): "at most"} {
		if _, err := ParseCredentials([]byte(text)); err == nil || !strings.Contains(err.Error(), want) ||
			strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%.40s: the error is %v, want %s", text, err, want)
		}
	}
}

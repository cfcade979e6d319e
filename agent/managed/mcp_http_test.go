package managed

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/voicegw/voicegw/agent/provider"
)

// filesHandler serves the tools of filesServer over HTTP. A call of huge gets an answer without end.
func filesHandler() http.Handler {
	good := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return filesServer() },
		&mcp.StreamableHTTPOptions{Stateless: true})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(b))
		if !bytes.Contains(b, []byte(`"name":"huge"`)) {
			good.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		for err == nil {
			_, err = w.Write(bytes.Repeat([]byte("x"), 64<<10))
		}
	})
}

// web is a server with a URL, with its toolset.
func web(name, url string) Definition {
	return Definition{MCPServers: []MCPServer{{Type: "url", Name: name, URL: url}}, Tools: []ToolConfig{{Type: MCPToolset,
		Server: name, Default: &ToolPolicy{Permission: &Permission{Type: AlwaysAllow}}}}}
}

func private(c *Config) { c.AllowPrivate = true }

// TestMCPWeb calls a tool over HTTP.
func TestMCPWeb(t *testing.T) {
	srv := httptest.NewServer(filesHandler())
	defer srv.Close()
	file := filepath.Join(t.TempDir(), "notes.txt")
	if err := os.WriteFile(file, []byte("the secret is 42"), 0o600); err != nil {
		t.Fatal(err)
	}
	h := newMCPHouse(t, private, web("files", srv.URL), []provider.ScriptTurn{calls(provider.ScriptCall{Name: "huge"}),
		calls(provider.ScriptCall{Name: "read_file", Args: map[string]any{"path": file}}), says("Done.")})
	h.ask(Text("Read it"))
	h.tells(`mes, running, mes', use huge, done, use read_file, done, "Done.", idle end_turn`)
	h.heard("the secret is 42", "a message of more than")
	h.close()
}

// TestMCPWebRefuses tells what kind of error keeps a server from being used.
func TestMCPWebRefuses(t *testing.T) {
	locked := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
	}))
	defer locked.Close()
	gone := httptest.NewServer(nil)
	gone.Close()
	for url, want := range map[string]string{locked.URL: "mcp_authentication_failed_error",
		gone.URL: "mcp_connection_failed_error"} {
		h := newMCPHouse(t, private, web("files", url), []provider.ScriptTurn{says("Done.")})
		h.ask(Text("Go"))
		h.tells(`mes, running, mes', error retrying, "Done.", idle end_turn`)
		if got := h.find(SessionError).Error; got.Type != want || got.Server != "files" {
			t.Errorf("the error is %+v, want %s", got, want)
		}
	}
}

// TestGuard reaches no private address: not by itself, not behind a name, not behind a redirect.
func TestGuard(t *testing.T) {
	reached := false
	inner := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }))
	defer inner.Close()
	rt := &Runtime{guard: newGuard(false)}
	get := func(url string) error {
		l, err := rt.dialServer(&MCPServer{URL: url})
		if err != nil {
			return err
		}
		defer l.kill()
		client := l.Transport.(*mcp.StreamableClientTransport).HTTPClient
		resp, err := client.Get(url)
		if err == nil {
			_ = resp.Body.Close()
		}
		return err
	}
	_, port, err := net.SplitHostPort(inner.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	for _, url := range []string{inner.URL, "http://localhost:" + port, "http://[::ffff:127.0.0.1]:" + port,
		"http://169.254.169.254/latest", "http://0.0.0.0:" + port} {
		if err := get(url); err == nil || !strings.Contains(err.Error(), "is private") {
			t.Errorf("%s: the error is %v", url, err)
		}
	}
	// The first server stands for a public one; the guard must check the address behind its redirect, too.
	outer := httptest.NewServer(http.RedirectHandler(inner.URL, http.StatusTemporaryRedirect))
	defer outer.Close()
	guarded := newGuard(false)
	dial := guarded.DialContext
	guarded.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		if address == outer.Listener.Addr().String() {
			return (&net.Dialer{}).DialContext(ctx, network, address)
		}
		return dial(ctx, network, address)
	}
	defer guarded.CloseIdleConnections()
	rt.guard = guarded
	if err := get(outer.URL); err == nil || !strings.Contains(err.Error(), "is private") {
		t.Errorf("a redirect to %s: the error is %v", inner.URL, err)
	}
	if reached {
		t.Error("the private server was reached")
	}
}

// TestGuardRedirects follows no endless redirects.
func TestGuardRedirects(t *testing.T) {
	n := 0
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n++
		http.Redirect(w, r, fmt.Sprint("/", n), http.StatusTemporaryRedirect)
	}))
	defer srv.Close()
	h := newMCPHouse(t, private, web("files", srv.URL), []provider.ScriptTurn{says("Done.")})
	h.ask(Text("Go"))
	h.tells(`mes, running, mes', error retrying, "Done.", idle end_turn`)
	if n > 30 {
		t.Errorf("%d redirects are followed", n)
	}
}

func TestPrivateAddresses(t *testing.T) {
	for _, s := range []string{"127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1",
		"0.0.0.0", "224.0.0.1", "255.255.255.255", "240.0.0.1",
		"198.18.0.1", "::", "::1", "::ffff:10.0.0.1", "::10.0.0.1", "fe80::1%eth0", "fd00::1", "ff02::1", "64:ff9b::a00:1",
		"2002:a00:1::", "2001:0:a00:1::", "fec0::1"} {
		if !privateHost(s) {
			t.Errorf("%s is taken for public", s)
		}
	}
	for _, s := range []string{"8.8.8.8", "1.1.1.1", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "::ffff:8.8.8.8"} {
		if privateHost(s) {
			t.Errorf("%s is taken for private", s)
		}
	}
	for _, s := range []string{"localhost", "LOCALHOST.", "a.localhost", "127.0.0.1", "::1"} {
		if !privateHost(s) {
			t.Errorf("the host %s is taken for public", s)
		}
	}
}

// TestMCPVanished allows a call of a tool that the server no longer has, and one of a server that is gone.
func TestMCPVanished(t *testing.T) {
	for name, gone := range map[string]bool{"tool": false, "server": true} {
		t.Run(name, func(t *testing.T) {
			var now atomic.Value
			now.Store(filesHandler())
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				now.Load().(http.Handler).ServeHTTP(w, r)
			}))
			defer srv.Close()
			d := web("files", srv.URL)
			d.Tools[0].Default = nil
			h := newMCPHouse(t, private, d, one("pid", nil))
			h.ask(Text("Go"))
			use := h.find(AgentMCPToolUse)
			empty := mcp.NewServer(&mcp.Implementation{Name: "files", Version: "2"}, nil)
			now.Store(http.HandlerFunc(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return empty },
				&mcp.StreamableHTTPOptions{Stateless: true}).ServeHTTP))
			if gone {
				srv.Close()
			}
			h.restart()
			h.ask(Event{Type: UserConfirmation, ToolUseID: use.ID, Result: "allow"})
			h.heard(`mcp server \"files\"`)
			if done := h.find(AgentMCPToolResult); !*done.IsError || done.MCPUseID != use.ID {
				t.Errorf("%+v", done)
			}
		})
	}
}

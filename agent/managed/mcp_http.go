package managed

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/voicegw/voicegw/agent/fetch"
)

// errUnauthorized means that a server wants to know who asks.
var errUnauthorized = errors.New("it refuses us: it wants credentials")

// privateHost reports whether a host of a URL is private by its name or its address.
func privateHost(host string) bool {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	a, err := netip.ParseAddr(host)
	return err == nil && fetch.Private(a) != ""
}

// newGuard returns a transport that reaches public addresses only, unless private ones are allowed.
func newGuard(private bool) *http.Transport {
	var cfg fetch.Config
	if private {
		cfg.Allow = []string{"0.0.0.0/0", "::/0"}
	}
	c, err := fetch.New(cfg)
	if err != nil {
		panic(err) // both prefixes are right
	}
	return c.Transport()
}

// dialServer makes the link to a server with a URL.
func (r *Runtime) dialServer(def *MCPServer) (*link, error) {
	const redirectsMax = 5
	secret, err := r.bearer(def)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	trip := &tripper{ctx: ctx, next: r.guard, secret: secret, credential: r.cfg.Credentials[def.Credential]}
	client := &http.Client{Transport: trip, CheckRedirect: func(req *http.Request, via []*http.Request) error {
		if len(via) > redirectsMax || req.URL.Scheme != "http" && req.URL.Scheme != "https" {
			return fmt.Errorf("it redirects more than %d times, or to %q", redirectsMax, req.URL.Scheme)
		}
		return nil
	}}
	return &link{kill: cancel, wait: func() {}, why: trip.why, secret: secret,
		Transport: &mcp.StreamableClientTransport{Endpoint: def.URL, HTTPClient: client, MaxRetries: -1,
			DisableStandaloneSSE: true}}, nil
}

// tripper ends requests with its link, limits responses, and remembers that it was refused. It adds the secret to
// requests that the credential covers, so none that a redirect leads elsewhere has it.
type tripper struct {
	ctx        context.Context
	next       http.RoundTripper
	secret     string
	credential Credential

	mu     sync.Mutex
	broken error
}

// RoundTrip sends a request.
func (t *tripper) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(req.Context())
	stop := context.AfterFunc(t.ctx, cancel)
	end := func() { stop(); cancel() }
	req = req.WithContext(ctx)
	if t.secret != "" && t.credential.covers(req.URL) {
		req.Header = req.Header.Clone()
		req.Header.Set("Authorization", "Bearer "+t.secret)
	}
	resp, err := t.next.RoundTrip(req)
	if err != nil {
		end()
		return nil, err
	}
	if resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden {
		t.breaks(errUnauthorized)
	}
	resp.Body = &body{from: resp.Body, left: messageMax, end: end, breaks: t.breaks}
	return resp, nil
}

func (t *tripper) breaks(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.broken == nil {
		t.broken = err
	}
}

func (t *tripper) why() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.broken
}

// body is a response of up to messageMax bytes.
type body struct {
	from   io.ReadCloser
	left   int
	end    func()
	breaks func(error)
}

// Read reads from the response.
func (b *body) Read(p []byte) (int, error) {
	n, err := b.from.Read(p)
	if b.left -= n; b.left < 0 {
		err = fmt.Errorf("it sent a message of more than %d bytes", messageMax)
		b.breaks(err)
		return 0, err
	}
	return n, err
}

// Close ends the request.
func (b *body) Close() error {
	b.end()
	return b.from.Close()
}

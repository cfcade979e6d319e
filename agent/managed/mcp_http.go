package managed

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
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
	return err == nil && privateAddr(a)
}

// privateNets are networks that are not public, besides those that package netip knows.
func privateNets() []netip.Prefix {
	list := make([]netip.Prefix, 0, 12)
	for _, p := range []string{"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "198.18.0.0/15",
		"198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4", "64:ff9b::/96", "64:ff9b:1::/48", "2002::/16", "2001::/32",
		"::/96", "fec0::/10"} {
		list = append(list, netip.MustParsePrefix(p))
	}
	return list
}

// privateAddr reports whether an address is not one of the public network.
func privateAddr(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	if !a.IsGlobalUnicast() || a.IsPrivate() || a.IsLoopback() || a.IsLinkLocalUnicast() {
		return true
	}
	for _, p := range privateNets() {
		if p.Contains(a) {
			return true
		}
	}
	return false
}

// newGuard returns a transport that reaches public addresses only, unless private ones are allowed. It
// checks the address of every dial, behind the resolver, and uses no proxy.
func newGuard(private bool) *http.Transport {
	d := &net.Dialer{Timeout: 10 * time.Second, Control: func(_, address string, _ syscall.RawConn) error {
		a, err := netip.ParseAddrPort(address)
		if err != nil {
			return err
		}
		if !private && privateAddr(a.Addr()) {
			return fmt.Errorf("the address %s is private; the operator does not allow those", a.Addr())
		}
		return nil
	}}
	return &http.Transport{DialContext: d.DialContext, ForceAttemptHTTP2: true, TLSHandshakeTimeout: 10 * time.Second,
		MaxResponseHeaderBytes: 64 << 10, IdleConnTimeout: time.Minute, MaxConnsPerHost: 256}
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

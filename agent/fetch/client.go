package fetch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"
)

// Limits of a request.
const (
	BodyMax      = 1 << 20 // bytes of a response, decompressed, and of a request
	RedirectsMax = 5
	TimeoutMin   = time.Second
	TimeoutMax   = 300 * time.Second
	urlMax       = 8 << 10
	headersMax   = 64 << 10 // bytes of headers of a response
)

// timeoutDefault is how long a request may take that does not say it.
const timeoutDefault = 30 * time.Second

// Config configures a Client. The zero value reaches the public network only.
type Config struct {
	// Allow are addresses (127.0.0.1), prefixes (10.1.0.0/16) and hosts (crm.internal) that may be private. A host is
	// allowed with whatever address it has. It is the operator's: it must not come from a model or a workflow.
	Allow []string
	// Resolver looks up names; nil means that of the system.
	Resolver *net.Resolver
}

// Client makes requests to allowed addresses. It is safe for concurrent use.
type Client struct {
	http, still *http.Client // still follows no redirects
	transport   *http.Transport
}

// New checks a Config.
func New(cfg Config) (*Client, error) {
	allow, err := parseAllow(cfg.Allow)
	if err != nil {
		return nil, err
	}
	t := newTransport(allow, cfg.Resolver)
	return &Client{transport: t, http: &http.Client{Transport: t, CheckRedirect: redirect},
		still: &http.Client{Transport: t, CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		}}}, nil
}

// Transport is what makes the connections, for clients of protocols over HTTP. Their redirects, sizes and timeouts
// are theirs to limit.
func (c *Client) Transport() *http.Transport { return c.transport }

// hostKey is the key of the host in the context of a dial.
type hostKey struct{}

func newTransport(allow *allowList, r *net.Resolver) *http.Transport {
	d := &net.Dialer{Timeout: 10 * time.Second, Resolver: r,
		ControlContext: func(ctx context.Context, network, address string, _ syscall.RawConn) error {
			host, _ := ctx.Value(hostKey{}).(string)
			return checkDial(allow, host, network, address)
		}}
	dial := func(ctx context.Context, network, address string) (net.Conn, error) {
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			return nil, err
		}
		return d.DialContext(context.WithValue(ctx, hostKey{}, host), network, address)
	}
	return &http.Transport{DialContext: dial, ForceAttemptHTTP2: true, TLSHandshakeTimeout: 10 * time.Second,
		MaxResponseHeaderBytes: headersMax, IdleConnTimeout: time.Minute, MaxConnsPerHost: 256}
}

// checkDial refuses a connection to an address that is private and not allowed.
func checkDial(allow *allowList, host, network, address string) error {
	a, err := netip.ParseAddrPort(address)
	if err != nil || !strings.HasPrefix(network, "tcp") {
		return fmt.Errorf("the address %s %q is none of TCP", network, address)
	}
	if rule := Private(a.Addr()); rule != "" && !allow.has(host, a.Addr().Unmap().WithZone("")) {
		return &DeniedError{Host: host, Addr: a, Rule: rule}
	}
	return nil
}

// Request is a request. Only URL is required.
type Request struct {
	Method  string // GET if empty
	URL     string // http or https, without user information
	Header  http.Header
	Body    []byte
	Timeout time.Duration // 1 to 300 seconds; 30 if 0
	// Stay means that no redirect is followed: the response is the redirect. For requests whose body is secret.
	Stay bool
}

// Response is a whole response.
type Response struct {
	Status int
	Header http.Header
	Body   []byte // decompressed
	URL    string // behind the redirects
}

// Do makes a request and reads the response. Redirects to another origin carry no header of the request except
// Accept, Accept-Language, Content-Type and User-Agent. An error means that there is no whole response: a refused
// URL, a *DeniedError, a failed connection, more than BodyMax bytes, or ctx's end. A status of 400 or more is no
// error.
func (c *Client) Do(ctx context.Context, r Request) (*Response, error) {
	u, err := CheckURL(r.URL)
	if err != nil {
		return nil, err
	}
	if r.Timeout == 0 {
		r.Timeout = timeoutDefault
	}
	if r.Timeout < TimeoutMin || r.Timeout > TimeoutMax {
		return nil, fmt.Errorf("fetch: the timeout is %v; it must be 1 to 300 seconds", r.Timeout)
	}
	if len(r.Body) > BodyMax {
		return nil, fmt.Errorf("fetch: the body has %d bytes; at most %d are allowed", len(r.Body), BodyMax)
	}
	ctx, cancel := context.WithTimeout(ctx, r.Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, r.Method, u.String(), bytes.NewReader(r.Body))
	if err != nil {
		return nil, fmt.Errorf("fetch: %w", err)
	}
	if r.Header != nil {
		req.Header = r.Header.Clone()
	}
	via := c.http
	if r.Stay {
		via = c.still
	}
	resp, err := via.Do(req)
	if err != nil {
		return nil, plain(u, err, r.Timeout)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(resp.Body, BodyMax+1))
	switch {
	case err != nil:
		return nil, plain(u, err, r.Timeout)
	case len(body) > BodyMax:
		return nil, &SizeError{URL: shown(u), Status: resp.StatusCode}
	}
	return &Response{Status: resp.StatusCode, Header: resp.Header, Body: body, URL: resp.Request.URL.String()}, nil
}

// SizeError is the error of a response with more than BodyMax bytes.
type SizeError struct {
	URL    string // without its query
	Status int
}

// Error names the URL and the limit.
func (e *SizeError) Error() string {
	return fmt.Sprintf("fetch: %s: the response has more than %d bytes, the most there may be; ask for less", e.URL,
		BodyMax)
}

// Value is the body as a result of a tool: a JSON value if it is JSON, whatever the server says it is, and text if
// not. The error says that it is no text at all.
func (r *Response) Value() (any, error) {
	if !utf8.Valid(r.Body) {
		return nil, fmt.Errorf("the body is no text: it has %d bytes of type %q", len(r.Body), r.Header.Get("Content-Type"))
	}
	var v any
	if err := json.Unmarshal(r.Body, &v); err != nil || deep(v, DepthMax) {
		return string(r.Body), nil
	}
	return v, nil
}

// DepthMax is how deep a JSON value may be nested that Value returns. A deeper one is text.
const DepthMax = 64

// deep reports whether a value is nested deeper than so many levels.
func deep(v any, most int) bool {
	switch v := v.(type) {
	case []any:
		return most == 0 || slices.ContainsFunc(v, func(one any) bool { return deep(one, most-1) })
	case map[string]any:
		if most == 0 {
			return true
		}
		for _, one := range v {
			if deep(one, most-1) {
				return true
			}
		}
	}
	return false
}

// CheckURL parses a URL and refuses one that no Client requests, whatever its host resolves to.
func CheckURL(s string) (*url.URL, error) {
	if len(s) > urlMax {
		return nil, fmt.Errorf("fetch: the URL has %d bytes; at most %d are allowed", len(s), urlMax)
	}
	u, err := url.Parse(s)
	if err != nil {
		var parse *url.Error
		if errors.As(err, &parse) { // its text may have a password
			err = parse.Err
		}
		return nil, fmt.Errorf("fetch: it is no URL: %w", err)
	}
	return u, checkURL(u)
}

func checkURL(u *url.URL) error {
	host := u.Hostname()
	_, noAddr := netip.ParseAddr(host)
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return fmt.Errorf("fetch: the scheme of the URL is %.20q; it must be http or https", u.Scheme)
	case u.User != nil:
		return errors.New("fetch: the URL has a user name or a password; the operator gives credentials, a URL does not")
	case host == "":
		return errors.New("fetch: the URL has no host")
	case noAddr != nil && likeNumber(host):
		return fmt.Errorf("fetch: the host %.80q is no address that all resolvers read alike; write four numbers with dots",
			host)
	}
	return nil
}

// redirect decides on a redirect. It takes the headers from one that leaves the origin of the first request.
func redirect(req *http.Request, via []*http.Request) error {
	if len(via) > RedirectsMax {
		return fmt.Errorf("it redirects more than %d times", RedirectsMax)
	}
	if err := checkURL(req.URL); err != nil {
		return fmt.Errorf("it redirects to a URL that is refused: %w", err)
	}
	if req.Body != nil && origin(req.URL) != origin(via[0].URL) {
		return errors.New("it redirects a request with a body to another server")
	}
	req.Header.Del("Referer") // its query may be secret
	for _, r := range append(via[1:len(via):len(via)], req) {
		if origin(r.URL) != origin(via[0].URL) {
			kept := http.Header{}
			for _, name := range []string{"Accept", "Accept-Language", "Content-Type", "User-Agent"} {
				if v := req.Header.Values(name); v != nil {
					kept[name] = v
				}
			}
			req.Header = kept
		}
	}
	return nil
}

// origin is the scheme, host and port of a URL.
func origin(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return u.Scheme + "://" + net.JoinHostPort(canonical(u.Hostname()), port)
}

// plain is an error without the layers of net/http, and without the query of the URL.
func plain(u *url.URL, err error, limit time.Duration) error {
	var denied *DeniedError
	var in *url.Error
	switch {
	case errors.As(err, &denied):
		err = denied
	case errors.Is(err, context.DeadlineExceeded):
		err = fmt.Errorf("no whole response within %v, or the caller's time is over: %w", limit, context.DeadlineExceeded)
	case errors.As(err, &in):
		err = in.Err
	}
	return fmt.Errorf("fetch: %s: %w", shown(u), err)
}

// shown is a URL without its query, which may be secret.
func shown(u *url.URL) string { return u.Scheme + "://" + u.Host + u.EscapedPath() }

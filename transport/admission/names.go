package admission

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/voicegw/voicegw/transport"
)

// Names are the allowed names of a server and the allowed origins of pages. The zero value serves
// this machine and pages of the same host. Safe for concurrent use.
type Names struct {
	// Hosts are the names, without port, under which clients may address the server besides
	// localhost, 127.0.0.1, ::1 and the address the connection came in on. "*" means any: use it
	// only behind a proxy that checks.
	Hosts []string

	// Origins are the other origins whose pages may call, as "https://example.com". Pages of the
	// same host always may, and so may clients that are not browsers and send no Origin. "*" means
	// any page.
	Origins []string
}

// Check returns an error for the first entry of Hosts or Origins that can match nothing.
func (n Names) Check() error {
	for _, h := range n.Hosts {
		if h == "" || strings.ContainsAny(h, "/[] ") || strings.Count(h, ":") == 1 {
			return fmt.Errorf("Config.Hosts: %q is not a host name or address without port, nor \"*\"", h)
		}
	}
	for _, o := range n.Origins {
		if o != "*" && !isOrigin(o) {
			return fmt.Errorf("Config.Origins: %q is not an origin such as \"https://example.com\", nor \"*\"", o)
		}
	}
	return nil
}

func isOrigin(o string) bool {
	u, err := url.Parse(o)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.User == nil &&
		u.Path == "" && u.RawQuery == "" && u.Fragment == ""
}

// Request returns the refusal of a request, nil if it is admitted: 421 if it uses a name that is
// not the server's, 403 if it comes from a page that may not call.
func (n Names) Request(r *http.Request) error {
	switch {
	case !n.hostAllowed(r):
		return Refusal(http.StatusMisdirectedRequest, "host %q is not a name of this server",
			transport.Cut(r.Host, cutBytes))
	case !n.originAllowed(r):
		return Refusal(http.StatusForbidden, "pages of origin %q may not call this server",
			transport.Cut(strings.Join(r.Header.Values("Origin"), ", "), cutBytes))
	}
	return nil
}

// hostAllowed reports whether the request names this server. Without this check a page of a foreign
// name that resolves to this server would share our origin (DNS rebinding).
func (n Names) hostAllowed(r *http.Request) bool {
	name := hostName(r.Host)
	switch name {
	case "":
		return false
	case "localhost", "127.0.0.1", "::1":
		return true
	}
	own := func(h string) bool { return h == "*" || hostName(h) == name }
	if slices.ContainsFunc(n.Hosts, own) {
		return true
	}
	local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	return local != nil && hostName(local.String()) == name
}

// hostName returns a host in lower case without port, brackets and final dot.
func hostName(host string) string {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	return strings.ToLower(strings.TrimSuffix(host, "."))
}

// originAllowed reports whether the page that sent the request, if any, may call.
func (n Names) originAllowed(r *http.Request) bool {
	sent := r.Header.Values("Origin")
	if len(sent) == 0 || slices.Contains(n.Origins, "*") {
		return true
	}
	if len(sent) > 1 || !isOrigin(sent[0]) {
		return false
	}
	u, _ := url.Parse(sent[0]) // isOrigin has checked it
	if hostPort(u.Host, u.Scheme) == hostPort(r.Host, u.Scheme) {
		return true
	}
	return slices.ContainsFunc(n.Origins, func(o string) bool {
		a, err := url.Parse(o)
		return err == nil && a.Scheme == u.Scheme && hostPort(a.Host, a.Scheme) == hostPort(u.Host, u.Scheme)
	})
}

// hostPort returns a host in lower case with its port, by default the port of the scheme.
func hostPort(host, scheme string) string {
	_, port, err := net.SplitHostPort(host)
	if err != nil || port == "" {
		port = "80"
		if scheme == "https" {
			port = "443"
		}
	}
	return net.JoinHostPort(hostName(host), port)
}

// cutBytes is the maximum number of bytes of foreign text in a message.
const cutBytes = 100

package httpdoor

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"
)

// Names are those of a server and of the pages that may call it. The zero value serves this machine and pages of the
// same host. Safe for concurrent use.
type Names struct {
	// Hosts are names, without port, under which the server may be addressed besides localhost, 127.0.0.1, ::1 and the
	// address the connection came in on. "*" means any: only behind a proxy that checks.
	Hosts []string

	// Origins are the pages of other origins that may call, as "https://example.com"; pages of the same host always may,
	// and so may clients that are not browsers and send no Origin. "*" means any page.
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

// Refusal is the HTTP status and the reason for which a request is not let in, 0 when it is: it is by another name than
// the server's (421), or of a page that may not call (403).
func (n Names) Refusal(r *http.Request) (status int, why string) {
	switch {
	case !n.hostAllowed(r):
		return http.StatusMisdirectedRequest, fmt.Sprintf("host %q is not a name of this server", Cut(r.Host))
	case !n.originAllowed(r):
		return http.StatusForbidden, fmt.Sprintf("pages of origin %q may not call this server",
			Cut(strings.Join(r.Header.Values("Origin"), ", ")))
	}
	return 0, ""
}

// hostAllowed reports whether the request names this server. Without this check a page of a foreign name that resolves
// to us would share our origin (DNS rebinding).
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

// hostName is a host in lower case without port, brackets and final dot.
func hostName(host string) string {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	return strings.ToLower(strings.TrimSuffix(host, "."))
}

// originAllowed reports whether the page that sent the request, if it was a page, may call.
func (n Names) originAllowed(r *http.Request) bool {
	sent := r.Header.Values("Origin")
	if len(sent) == 0 || slices.Contains(n.Origins, "*") {
		return true
	}
	if len(sent) > 1 || !isOrigin(sent[0]) {
		return false
	}
	u, _ := url.Parse(sent[0]) // isOrigin has
	if hostPort(u.Host, u.Scheme) == hostPort(r.Host, u.Scheme) {
		return true
	}
	return slices.ContainsFunc(n.Origins, func(o string) bool {
		a, err := url.Parse(o)
		return err == nil && a.Scheme == u.Scheme && hostPort(a.Host, a.Scheme) == hostPort(u.Host, u.Scheme)
	})
}

// hostPort is a host in lower case with its port, which is the scheme's where none is written.
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

// cutBytes is how much of what came from outside goes into a message.
const cutBytes = 100

// Cut shortens what came from outside before it goes into a message: to valid UTF-8 of at most 100 bytes.
func Cut(s string) string {
	s = strings.ToValidUTF8(s, "?")
	if len(s) <= cutBytes {
		return s
	}
	n := cutBytes
	for !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

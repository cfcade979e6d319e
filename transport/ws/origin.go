package ws

import (
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// hostAllowed reports whether the request names this server: a name of the loopback, the address it came in on, or one
// of hosts. Without this check a page of a foreign name that resolves to us would share our origin (DNS rebinding).
func hostAllowed(r *http.Request, hosts []string) bool {
	name := hostName(r.Host)
	switch name {
	case "":
		return false
	case "localhost", "127.0.0.1", "::1":
		return true
	}
	if slices.Contains(hosts, "*") || slices.ContainsFunc(hosts, func(h string) bool { return hostName(h) == name }) {
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

// originAllowed reports whether the page that sent the request, if it was a page, may call: one of the same host and
// port, or one of origins.
func originAllowed(r *http.Request, origins []string) bool {
	sent := r.Header.Values("Origin")
	if len(sent) == 0 || slices.Contains(origins, "*") {
		return true
	}
	u, err := url.Parse(sent[0])
	if len(sent) > 1 || err != nil || u.Host == "" {
		return false
	}
	if hostPort(u.Host, u.Scheme) == hostPort(r.Host, u.Scheme) {
		return true
	}
	return slices.ContainsFunc(origins, func(o string) bool {
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

package admission

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
)

// from is a request to a server at 192.0.2.7.
func from(host, origin string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, "/v1/voice", nil)
	r.Host = host
	if origin != "" {
		r.Header.Set("Origin", origin)
	}
	local := &net.TCPAddr{IP: net.IPv4(192, 0, 2, 7), Port: 8080}
	return r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, net.Addr(local)))
}

// TestRefusal: this machine and the address the connection came in on are names of the server, a
// page of the same host may call; others are named.
func TestRefusal(t *testing.T) {
	shop := Names{Hosts: []string{"Voice.example"}, Origins: []string{"https://shop.example", "http://b:81"}}
	for _, tt := range []struct {
		names        Names
		host, origin string
		status       int
	}{
		{Names{}, "192.0.2.7:8080", "", 0},
		{Names{}, "192.0.2.7", "", 0},
		{Names{}, "192.0.2.8:8080", "", 421},
		{Names{}, "", "", 421},
		{Names{}, "LOCALHOST.:1", "", 0},
		{Names{}, "127.0.0.1", "", 0},
		{Names{}, "[::1]:80", "", 0},
		{Names{}, "voice.example", "", 421},
		{shop, "voice.EXAMPLE:443", "", 0},
		{shop, "voice.example.evil.example", "", 421},
		{Names{Hosts: []string{"*"}}, "evil.example", "", 0},
		{Names{}, "localhost:80", "http://localhost", 0},
		{Names{}, "localhost:443", "https://localhost", 0},
		{Names{}, "localhost:80", "http://localhost:81", 403},
		{Names{}, "localhost", "null", 403},
		{Names{}, "localhost", "https://shop.example", 403},
		{shop, "localhost", "https://shop.example", 0},
		{shop, "localhost", "http://shop.example", 403},
		{shop, "localhost", "https://shop.example:444", 403},
		{shop, "localhost", "http://b:81", 0},
		{shop, "localhost", "https://shop.example.evil.example", 403},
		{Names{Origins: []string{"*"}}, "localhost", "https://evil.example", 0},
		{Names{}, "localhost:80", "http://user@localhost", 403},
		{Names{}, "localhost:80", "//localhost", 403},
		{Names{}, "localhost:80", "ftp://localhost", 403},
		{Names{}, "localhost:80", "http://localhost/page", 403},
		{shop, "localhost", "https://user@shop.example", 403},
	} {
		err := tt.names.Request(from(tt.host, tt.origin))
		if statusOf(err) != tt.status {
			t.Errorf("%+v: host %q, origin %q: %v, want %d", tt.names, tt.host, tt.origin, err, tt.status)
		}
	}
	twice := from("localhost", "https://shop.example")
	twice.Header.Add("Origin", "https://shop.example")
	if err := shop.Request(twice); statusOf(err) != 403 {
		t.Errorf("two origins: %v", err)
	}
}

// statusOf is the status with which err is answered, 0 for nil.
func statusOf(err error) int {
	if err == nil {
		return 0
	}
	status, _ := Status(err)
	return status
}

func TestNamesCheck(t *testing.T) {
	good := Names{Hosts: []string{"*", "a.example", "10.0.0.1", "2001:db8::1"}, Origins: []string{"*",
		"https://a.example", "http://b:1"}}
	if err := good.Check(); err != nil {
		t.Error(err)
	}
	for _, n := range []Names{
		{Hosts: []string{""}}, {Hosts: []string{"a.example:80"}}, {Hosts: []string{"http://a"}}, {Hosts: []string{"[::1]"}},
		{Origins: []string{""}}, {Origins: []string{"a.example"}}, {Origins: []string{"https://a.example/"}},
		{Origins: []string{"ftp://a"}}, {Origins: []string{"https://u@a"}}, {Origins: []string{"https://"}},
	} {
		if err := n.Check(); err == nil {
			t.Errorf("%+v was taken", n)
		}
	}
}

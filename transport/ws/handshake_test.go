package ws

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// upgradeRequest is a request that is upgraded as it stands.
func upgradeRequest(t *testing.T, url string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(testContext(t), http.MethodGet, "http"+strings.TrimPrefix(url, "ws"), nil)
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range map[string]string{
		"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
		"Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Protocol": Subprotocol,
	} {
		r.Header.Set(k, v)
	}
	return r
}

func TestHandshake(t *testing.T) {
	tests := []struct {
		name   string
		cfg    Config
		change func(r *http.Request)
		status int
		words  string
	}{
		{"not a browser", Config{}, func(*http.Request) {}, 101, ""},
		{"localhost", Config{}, func(r *http.Request) { r.Host = "LocalHost.:7" }, 101, ""},
		{"IPv6 loopback", Config{}, func(r *http.Request) { r.Host = "[::1]:8080" }, 101, ""},
		{"a host of ours", Config{Hosts: []string{"Voice.example"}},
			func(r *http.Request) { r.Host = "voice.example:443" }, 101, ""},
		{"any host", Config{Hosts: []string{"*"}}, func(r *http.Request) { r.Host = "anything.example" }, 101, ""},
		{"forged host", Config{}, func(r *http.Request) { r.Host = "evil.example" }, 421, "evil.example"},
		{"forged host beside ours", Config{Hosts: []string{"voice.example"}},
			func(r *http.Request) { r.Host = "voice.example.evil.example" }, 421, "evil.example"},
		{"rebinding: host and origin agree", Config{}, func(r *http.Request) {
			r.Host = "evil.example"
			r.Header.Set("Origin", "http://evil.example")
		}, 421, "evil.example"},
		{"the same origin", Config{}, func(r *http.Request) { r.Header.Set("Origin", "http://"+r.URL.Host) }, 101, ""},
		{"the same origin behind TLS", Config{Hosts: []string{"voice.example"}}, func(r *http.Request) {
			r.Host = "voice.example"
			r.Header.Set("Origin", "https://voice.example:443")
		}, 101, ""},
		{"an allowed origin", Config{Origins: []string{"https://shop.example"}},
			func(r *http.Request) { r.Header.Set("Origin", "https://shop.example") }, 101, ""},
		{"any origin", Config{Origins: []string{"*"}}, func(r *http.Request) {
			r.Header.Set("Origin",
				"https://x.example")
		}, 101, ""},
		{"a foreign origin", Config{}, func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") }, 403,
			"evil.example"},
		{"another port is another origin", Config{}, func(r *http.Request) {
			r.Header.Set("Origin",
				"http://127.0.0.1:1")
		}, 403, ":1"},
		{"another scheme than allowed", Config{Origins: []string{"https://shop.example"}},
			func(r *http.Request) { r.Header.Set("Origin", "http://shop.example") }, 403, "shop.example"},
		{"another scheme on the port that is allowed", Config{Origins: []string{"https://shop.example:8443"}},
			func(r *http.Request) { r.Header.Set("Origin", "http://shop.example:8443") }, 403, "shop.example"},
		{"origin null", Config{}, func(r *http.Request) { r.Header.Set("Origin", "null") }, 403, "null"},
		{"empty origin", Config{}, func(r *http.Request) { r.Header.Set("Origin", "") }, 403, ""},
		{"two origins", Config{}, func(r *http.Request) {
			r.Header.Add("Origin", "http://"+r.URL.Host)
			r.Header.Add("Origin", "http://evil.example")
		}, 403, "evil.example"},
		{"POST", Config{}, func(r *http.Request) { r.Method = "POST" }, 405, "GET"},
		{"a plain GET", Config{}, func(r *http.Request) { r.Header.Del("Upgrade"); r.Header.Del("Connection") }, 426,
			Subprotocol},
		{"no subprotocol", Config{}, func(r *http.Request) { r.Header.Del("Sec-WebSocket-Protocol") }, 400, Subprotocol},
		{"another subprotocol", Config{}, func(r *http.Request) {
			r.Header.Set("Sec-WebSocket-Protocol",
				"chat, voicegw.v2")
		}, 400,
			"must offer voicegw.v1"},
		{"one of two subprotocols", Config{},
			func(r *http.Request) { r.Header.Set("Sec-WebSocket-Protocol", "chat, voicegw.v1") }, 101, ""},
		{"two tokens", Config{}, func(r *http.Request) { r.Header["Authorization"] = []string{"Bearer a", "Bearer b"} }, 401,
			"Bearer TOKEN"},
		{"an empty token", Config{}, func(r *http.Request) { r.Header.Set("Authorization", "Bearer ") }, 401, "Bearer TOKEN"},
		{"another scheme", Config{}, func(r *http.Request) { r.SetBasicAuth("u", "p") }, 101, ""},
		{"no key", Config{}, func(r *http.Request) { r.Header.Del("Sec-WebSocket-Key") }, 400, "Sec-WebSocket-Key"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.cfg.HelloTimeout = quick
			d := newEndpoint(t, tt.cfg)
			r := upgradeRequest(t, d.url)
			tt.change(r)
			tr := &http.Transport{DisableKeepAlives: true}
			defer tr.CloseIdleConnections()
			resp, err := tr.RoundTrip(r)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			if resp.StatusCode != tt.status {
				t.Errorf("status %d, want %d", resp.StatusCode, tt.status)
			}
			if tt.status == http.StatusSwitchingProtocols {
				if got := resp.Header.Get("Sec-WebSocket-Protocol"); got != Subprotocol {
					t.Errorf("subprotocol %q", got)
				}
				if got := resp.Header.Get("Sec-WebSocket-Extensions"); got != "" {
					t.Errorf("extensions %q, want none", got)
				}
			} else if body, _ := io.ReadAll(resp.Body); !strings.Contains(string(body), tt.words) || len(body) < 10 {
				t.Errorf("body %q, want ...%s...", body, tt.words)
			}
			_ = resp.Body.Close()
			if _, err := d.next(t); err == nil {
				t.Error("Accept gave a peer that said no hello")
			}
		})
	}
}

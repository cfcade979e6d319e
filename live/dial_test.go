package live

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

const testKey = "AIza-very-secret"

// wantDialError dials and looks at the error; the key must not be in it, however it is printed.
func wantDialError(t *testing.T, w Wire, class Class, code int, words ...string) {
	t.Helper()
	w.APIKey = testKey
	conn, err := w.Dial(context.Background(), Setup{})
	if err == nil {
		_ = conn.Close(1000, "")
		t.Fatal("dialled")
	}
	var e *CloseError
	if !errors.As(err, &e) || e.Class != class || e.Code != code {
		t.Errorf("error %v, %#v; want class %v, code %d", err, e, class, code)
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("error %q lacks %q", err, word)
		}
	}
	if all := fmt.Sprintf("%v %+v %#v", err, err, e); strings.Contains(all, testKey) {
		t.Errorf("the key is in %s", all)
	}
}

// freeAddress is a loopback address where nobody listens.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

func TestUnreachable(t *testing.T) {
	addr := freeAddress(t)
	wantDialError(t, Wire{BaseURL: "ws://" + addr}, ClassNetwork, 0, "cannot reach the model at "+addr,
		"connection refused", "check the network, the base URL and any proxy")
}

// TestHTTPRefusals answers the upgrade with something else. The body repeats the key.
func TestHTTPRefusals(t *testing.T) {
	tests := []struct {
		status int
		class  Class
		words  string
	}{
		{401, ClassKey, "refused the API key"},
		{403, ClassKey, `(HTTP 403: "the key [key] is no good")`},
		{404, ClassPayload, "has no Gemini Live service at this address"},
		{429, ClassBackend, "try again in a moment"},
		{500, ClassBackend, "the model's service failed (HTTP 500"},
		{200, ClassPayload, "check the base URL"},
	}
	for _, test := range tests {
		t.Run(http.StatusText(test.status), func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				http.Error(w, "the key\n"+r.Header.Get("X-Goog-Api-Key")+" is\tno good", test.status)
			}))
			defer server.Close()
			wantDialError(t, Wire{BaseURL: server.URL}, test.class, test.status, test.words)
		})
	}
}

// TestRedirect is not followed: the key would go along.
func TestRedirect(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("followed")
	}))
	defer other.Close()
	server := httptest.NewServer(http.RedirectHandler(other.URL+"/there", http.StatusFound))
	defer server.Close()
	wantDialError(t, Wire{BaseURL: server.URL}, ClassPayload, 302, "redirected to "+other.URL+"/there")
	wantDialError(t, Wire{BaseURL: server.URL, HTTPClient: &http.Client{
		Transport: &http.Transport{DisableKeepAlives: true}}}, ClassPayload, 302, "redirected")
}

func TestNoUpgrade(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Connection", "Upgrade")
		w.Header().Set("Upgrade", "websocket")
		w.Header().Set("Sec-WebSocket-Accept", "wrong")
		w.WriteHeader(http.StatusSwitchingProtocols)
	}))
	defer server.Close()
	wantDialError(t, Wire{BaseURL: server.URL}, ClassPayload, 0, "not a WebSocket upgrade")
}

// TestTLS meets certificates nobody vouches for, and servers that speak the other kind.
func TestTLS(t *testing.T) {
	handler := serveModel(t, nil, func(m model) {
		m.accept()
		_, _ = m.listen()
	})
	secure := httptest.NewUnstartedServer(handler)
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	defer secure.Close()
	plain := httptest.NewServer(handler)
	defer plain.Close()
	wantDialError(t, Wire{BaseURL: secure.URL}, ClassNetwork, 0, "certificate")
	wantDialError(t, Wire{BaseURL: strings.Replace(plain.URL, "http", "wss", 1)}, ClassNetwork, 0,
		"HTTP response to HTTPS client")
	wantDialError(t, Wire{BaseURL: strings.Replace(secure.URL, "https", "ws", 1)}, ClassPayload, 400, "HTTPS")

	trusting := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{
		RootCAs: secure.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs}}}
	conn, err := Wire{BaseURL: secure.URL, APIKey: testKey, HTTPClient: trusting}.Dial(t.Context(), Setup{})
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.Close(1000, ""); err != nil {
		t.Error(err)
	}
}

// TestSetupRefused answers the setup with a close or an error.
func TestSetupRefused(t *testing.T) {
	tests := []struct {
		name   string
		answer func(model)
		class  Class
		code   int
		words  string
	}{
		{"payload", func(m model) { m.close(1007, "Request contains an invalid argument.") }, ClassPayload, 1007,
			`the model refused the setup (close 1007: "Request contains an invalid argument."); check the settings`},
		{"key", func(m model) { m.close(1007, "API key not valid. Please pass a valid API key.") }, ClassKey, 1007,
			`refused the API key (close 1007: "API key not valid.`},
		{"key expired", func(m model) { m.close(1007, "API key expired. Key "+testKey) }, ClassKey, 1007, "[key]"},
		{"no key", func(m model) { m.close(1008, "Method doesn't allow unregistered callers") }, ClassKey, 1008, "key"},
		{"model", func(m model) {
			m.close(1008, "models/x is not found for API version v1beta, or is not supported for bidiGenerateContent.")
		}, ClassModel, 1008, `the model "` + DefaultModel + `" is not available (close 1008: "models/x is not found`},
		{"quota", func(m model) { m.close(1011, "You exceeded your current quota") }, ClassBackend, 1011, "quota"},
		{"error", func(m model) {
			_ = m.send(`{"error":{"code":400,"message":"bad ` + testKey + `","status":"INVALID_ARGUMENT"}}`)
		}, ClassPayload, 1007, "error 400 INVALID_ARGUMENT: bad [key]"},
		{"chatter", func(m model) {
			for m.send(`{"serverContent":{}}`) == nil {
			}
		}, ClassPayload, 0, "16 messages without setupComplete"},
		{"cut", func(model) {}, ClassNetwork, 1006, "broke before the setup was answered"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			server := httptest.NewServer(serveModel(t, nil, test.answer))
			defer server.Close()
			wantDialError(t, Wire{BaseURL: server.URL}, test.class, test.code, test.words)
		})
	}
}

// TestHandshakeTimeout never gets an answer, to the setup or to the upgrade.
func TestHandshakeTimeout(t *testing.T) {
	release := make(chan struct{})
	handlers := map[string]http.Handler{
		"did not answer the setup within 3s": serveModel(t, nil, func(m model) { _, _ = m.listen() }),
		"model did not answer within 3s":     http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }),
	}
	for words, handler := range handlers {
		synctest.Test(t, func(t *testing.T) {
			release = make(chan struct{})
			w, stop := pipeServer(handler)
			w.HandshakeTimeout = 3 * time.Second
			began := time.Now()
			_, err := w.Dial(t.Context(), Setup{})
			var e *CloseError
			if !errors.As(err, &e) || e.Class != ClassTimeout || !strings.Contains(err.Error(), words) {
				t.Errorf("error %v; want %s", err, words)
			}
			if d := time.Since(began); d != 3*time.Second {
				t.Errorf("after %v", d)
			}
			close(release)
			stop()
		})
	}
}

// TestDialCancelled gives up because the caller does.
func TestDialCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, stop := pipeServer(serveModel(t, nil, func(m model) { _, _ = m.listen() }))
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		_, err := w.Dial(ctx, Setup{})
		var e *CloseError
		if !errors.As(err, &e) || e.Class != ClassEnded || !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: %v", err)
		}
		ctx, cancel = context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = w.Dial(ctx, Setup{})
		if !errors.As(err, &e) || e.Class != ClassTimeout || !errors.Is(err, context.DeadlineExceeded) ||
			!strings.Contains(err.Error(), "within 1s") {
			t.Errorf("the caller's deadline: %v", err)
		}
		stop()
	})
}

// TestWrongSetup is refused before anything is sent.
func TestWrongSetup(t *testing.T) {
	hot, none := float32(3), int32(0)
	tests := []struct {
		field string
		wire  Wire
		setup Setup
		words string
	}{
		{"Setup.Model", Wire{}, Setup{Model: "Gemini Live"}, `"Gemini Live"; want a name such as "gemini-`},
		{"Setup.Voice", Wire{}, Setup{Voice: "Puck!"}, `"Puck!"; want a voice such as "Puck"`},
		{"Setup.Language", Wire{}, Setup{Language: "german"}, `"german"; want a BCP 47 tag such as "de-DE"`},
		{"Setup.SystemInstruction", Wire{}, Setup{SystemInstruction: strings.Repeat("x", 512<<10+1)}, "524289 bytes"},
		{"Setup.SystemInstruction", Wire{}, Setup{SystemInstruction: "\xff"}, "UTF-8"},
		{"Setup.Handle", Wire{}, Setup{Handle: strings.Repeat("x", 4097)}, "4097 bytes"},
		{"Setup.Temperature", Wire{}, Setup{Temperature: &hot}, "3; want 0 to 2"},
		{"Setup.MaxOutputTokens", Wire{}, Setup{MaxOutputTokens: &none}, "0; want 1 or more"},
		{"Setup.Tools[0].Name", Wire{}, Setup{Tools: []Tool{{Name: "1st"}}}, `"1st"`},
		{"Setup.Tools[1].Name", Wire{}, Setup{Tools: []Tool{{Name: "f"}, {Name: "f"}}}, "no other"},
		{"Setup.Tools[0].Parameters", Wire{}, Setup{Tools: []Tool{{Name: "f", Parameters: []byte(`[]`)}}},
			"schema that is an object"},
		{"Setup.Tools[0].Parameters", Wire{}, Setup{Tools: []Tool{{Name: "f", Parameters: []byte(`null`)}}},
			"schema that is an object"},
		{"Setup.Tools", Wire{}, Setup{Tools: make([]Tool, 129)}, "129"},
		{"Wire.HandshakeTimeout", Wire{HandshakeTimeout: -1}, Setup{}, "-1ns"},
		{"Wire.ReadLimit", Wire{ReadLimit: -1}, Setup{}, "-1"},
		{"Wire.BaseURL", Wire{BaseURL: "ftp://127.0.0.1"}, Setup{}, "want ws, wss, http or https"},
		{"Wire.BaseURL", Wire{BaseURL: "127.0.0.1:80"}, Setup{}, "a URL such as wss://"},
		{"Wire.BaseURL", Wire{BaseURL: "localhost"}, Setup{}, "not a URL with a host"},
		{"Wire.BaseURL", Wire{BaseURL: "ws://h?key=" + testKey}, Setup{}, "the key belongs in APIKey"},
		{"Wire.BaseURL", Wire{BaseURL: "ws://u:" + testKey + "@h"}, Setup{}, "not shown"},
		{"Wire.BaseURL", Wire{BaseURL: "ws://192.0.2.1"}, Setup{}, "want wss: the API key would be sent unencrypted"},
		{"Wire.APIKey", Wire{APIKey: testKey + "\n"}, Setup{}, "unprintable character at byte 16"},
	}
	for _, test := range tests {
		if test.wire.APIKey == "" {
			test.wire.APIKey = testKey
		}
		_, err := test.wire.Dial(t.Context(), test.setup)
		var e *SetupError
		if !errors.As(err, &e) || e.Field != test.field || !strings.Contains(err.Error(), test.words) {
			t.Errorf("%s: error %v; want %q", test.field, err, test.words)
		}
		if err != nil && strings.Contains(err.Error(), testKey) {
			t.Errorf("the key is in %v", err)
		}
	}
	var e *SetupError
	if _, err := (Wire{}).Dial(t.Context(), Setup{}); !errors.As(err, &e) || e.Field != "Wire.APIKey" {
		t.Errorf("no key: %v", err)
	}
}

// TestAddress is where a Wire dials.
func TestAddress(t *testing.T) {
	for base, want := range map[string]string{
		"":                         "wss://generativelanguage.googleapis.com" + livePath,
		"https://example.com":      "wss://example.com" + livePath,
		"wss://example.com/proxy/": "wss://example.com/proxy" + livePath,
		"http://localhost:8080":    "ws://localhost:8080" + livePath,
		"ws://[::1]:8080":          "ws://[::1]:8080" + livePath,
		"ws://127.9.9.9":           "ws://127.9.9.9" + livePath,
	} {
		if u, err := (Wire{BaseURL: base, APIKey: testKey}).address(); err != nil || u.String() != want {
			t.Errorf("%s: %v, %v; want %s", base, u, err, want)
		}
	}
	if u, err := (Wire{BaseURL: "ws://sim:80"}).address(); err != nil { // no key, nothing to hide
		t.Errorf("%v, %v", u, err)
	}
}

// TestWireHidesItsKey prints a Wire in every way there is.
func TestWireHidesItsKey(t *testing.T) {
	w := Wire{APIKey: testKey, Model: "m"}
	asJSON, err := json.Marshal(w)
	if err != nil {
		t.Fatal(err)
	}
	all := fmt.Sprintf("%v %+v %#v %s %q %d %x %v %+v %s", w, w, w, w, w, w, w, &w, []Wire{w}, asJSON)
	if strings.Contains(all, testKey) || strings.Contains(all, fmt.Sprintf("%x", testKey)) {
		t.Errorf("the key is in %s", all)
	}
	if !strings.Contains(all, "APIKey:hidden") || !strings.Contains(all, `Model:"m"`) {
		t.Error(all)
	}
}

// TestWhereTheKeyGoes looks at the request: one header and nothing else.
func TestWhereTheKeyGoes(t *testing.T) {
	var url string
	var header http.Header
	handler := serveModel(t, nil, func(m model) {
		m.accept()
		_, _ = m.listen()
	})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		url, header = r.URL.String(), r.Header.Clone()
		handler.ServeHTTP(w, r)
	}))
	defer server.Close()
	conn, err := Wire{BaseURL: server.URL, APIKey: testKey}.Dial(t.Context(), Setup{})
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.Close(1000, "")
	if header.Get("X-Goog-Api-Key") != testKey || url != livePath {
		t.Errorf("request for %s with %v", url, header)
	}
	header.Del("X-Goog-Api-Key")
	if strings.Contains(fmt.Sprint(header), testKey) {
		t.Errorf("the key is in another header: %v", header)
	}
}

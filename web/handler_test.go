package web_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/voicegw/voicegw/web"
)

func get(t *testing.T, h http.Handler, method, path string, header ...string) *http.Response {
	t.Helper()
	r := httptest.NewRequest(method, "http://localhost"+path, nil)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

func TestHandlerServes(t *testing.T) {
	h := web.Handler(web.Config{})
	for _, c := range []struct {
		method, path string
		status       int
		contentType  string
	}{
		{"GET", "/", 200, "text/html; charset=utf-8"},
		{"HEAD", "/", 200, "text/html; charset=utf-8"},
		{"GET", "/client.js", 200, "text/javascript; charset=utf-8"},
		{"GET", "/client/index.js", 200, "text/javascript; charset=utf-8"},
		{"GET", "/client/playout-worklet.js", 200, "text/javascript; charset=utf-8"},
		{"GET", "/client/index.d.ts", 200, "text/plain; charset=utf-8"},
		{"GET", "/client/element.d.ts", 200, "text/plain; charset=utf-8"},
		{"GET", "/page/page.css", 200, "text/css; charset=utf-8"},
		{"GET", "/page/favicon.svg", 200, "image/svg+xml"},
		{"GET", "/favicon.ico", 200, "image/svg+xml"},
		{"GET", "/page/index.html", 404, "text/plain; charset=utf-8"},
		{"GET", "/client/package.json", 404, "text/plain; charset=utf-8"},
		{"GET", "/client", 404, "text/plain; charset=utf-8"},
		{"GET", "/index.html", 404, "text/plain; charset=utf-8"},
		{"GET", "/handler.go", 404, "text/plain; charset=utf-8"},
		{"GET", "/testdata/unit/check.js", 404, "text/plain; charset=utf-8"},
		{"GET", "/../web/client.js", 404, "text/plain; charset=utf-8"},
		{"POST", "/", 405, "text/plain; charset=utf-8"},
		{"DELETE", "/client.js", 405, "text/plain; charset=utf-8"},
	} {
		res := get(t, h, c.method, c.path)
		got := res.Header.Get("Content-Type")
		if res.StatusCode != c.status || got != c.contentType {
			t.Errorf("%s %s: %d %s, want %d %s", c.method, c.path, res.StatusCode, got, c.status, c.contentType)
		}
	}
}

func TestHandlerHeaders(t *testing.T) {
	h := web.Handler(web.Config{})
	page, module := get(t, h, "GET", "/").Header, get(t, h, "GET", "/client.js").Header
	for _, c := range []struct {
		what      string
		got, want string
	}{
		{"policy of the page", page.Get("Content-Security-Policy"), "default-src 'none'; script-src 'self'"},
		{"microphone of the page", page.Get("Permissions-Policy"), "microphone=(self)"},
		{"sniffing", page.Get("X-Content-Type-Options"), "nosniff"},
		{"origins of a module", module.Get("Access-Control-Allow-Origin"), "*"},
		{"embedding of a module", module.Get("Cross-Origin-Resource-Policy"), "cross-origin"},
		{"cache", module.Get("Cache-Control"), "no-cache"},
	} {
		if !strings.HasPrefix(c.got, c.want) {
			t.Errorf("%s is %q, want %q", c.what, c.got, c.want)
		}
	}
	if origin := page.Get("Access-Control-Allow-Origin"); origin != "" {
		t.Errorf("the page may be read by %q", origin)
	}
	policy := page.Get("Content-Security-Policy")
	if strings.Contains(policy, "unsafe") || strings.Contains(policy, "http") {
		t.Errorf("policy %q allows more than the page needs", policy)
	}
}

func TestHandlerRevalidates(t *testing.T) {
	h := web.Handler(web.Config{})
	tag := get(t, h, "GET", "/client.js").Header.Get("ETag")
	if tag == "" || tag == get(t, h, "GET", "/client/call.js").Header.Get("ETag") {
		t.Fatalf("ETag %q does not name the content", tag)
	}
	res := get(t, h, "GET", "/client.js", "If-None-Match", tag)
	if body, _ := io.ReadAll(res.Body); res.StatusCode != http.StatusNotModified || len(body) != 0 {
		t.Errorf("with the ETag: %d and %d bytes, want 304 and none", res.StatusCode, len(body))
	}
	other := web.Handler(web.Config{Title: "other"})
	if get(t, h, "GET", "/").Header.Get("ETag") == get(t, other, "GET", "/").Header.Get("ETag") {
		t.Error("two titles have one ETag")
	}
}

func TestHandlerConfig(t *testing.T) {
	res := get(t, web.Handler(web.Config{Title: "Tom & <Jerry>", VoicePath: `/a"b`, WebRTCPath: "/w"}), "GET", "/")
	body, _ := io.ReadAll(res.Body)
	for _, want := range []string{"<title>Tom &amp; &lt;Jerry&gt;</title>", `content="/a&#34;b"`,
		`name="voicegw-webrtc-path" content="/w"`} {
		if !strings.Contains(string(body), want) {
			t.Errorf("the page does not contain %s", want)
		}
	}
	for _, module := range []string{"client/index.js", "client/voice-client.js", "page/net-view.js",
		"viewer/net-viewer.js", "viewer/build.js"} {
		if want := `<link rel="modulepreload" href="./` + module + `">`; strings.Count(string(body), want) != 1 {
			t.Errorf("the page does not contain %s once", want)
		}
	}
	for _, c := range []web.Config{{VoicePath: "v1/voice"}, {WebRTCPath: "v1/whip"}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("a relative path was accepted: %+v", c)
				}
			}()
			web.Handler(c)
		}()
	}
}

func ExampleHandler() {
	mux := http.NewServeMux()
	mux.Handle("/", web.Handler(web.Config{Title: "Bookings"})) // and the gateway at /v1/voice
	res := httptest.NewRecorder()
	mux.ServeHTTP(res, httptest.NewRequest(http.MethodGet, "/client.js", nil))
	fmt.Println(res.Code, res.Header().Get("Content-Type"))
	// Output: 200 text/javascript; charset=utf-8
}

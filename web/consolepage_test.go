package web_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/voicegw/voicegw/web"
)

// TestConsolePage asks for the page, its parts, and what is not part of it.
func TestConsolePage(t *testing.T) {
	h := http.StripPrefix("/console", web.ConsolePage(web.ConsolePageConfig{Title: "Tom & <Jerry>"}))
	for _, c := range []struct {
		method, path string
		status       int
		contentType  string
	}{
		{"GET", "/console/", 200, "text/html; charset=utf-8"},
		{"GET", "/console/console/console.js", 200, "text/javascript; charset=utf-8"},
		{"GET", "/console/console/recording.js", 200, "text/javascript; charset=utf-8"},
		{"GET", "/console/chat/sse.js", 200, "text/javascript; charset=utf-8"},
		{"GET", "/console/console/console.css", 200, "text/css; charset=utf-8"},
		{"GET", "/console/page/page.css", 200, "text/css; charset=utf-8"},
		{"GET", "/console/console/index.html", 404, "text/plain; charset=utf-8"},
		{"GET", "/console/chat/chat.js", 404, "text/plain; charset=utf-8"},
		{"POST", "/console/", 405, "text/plain; charset=utf-8"},
	} {
		res := get(t, h, c.method, c.path)
		if got := res.Header.Get("Content-Type"); res.StatusCode != c.status || got != c.contentType {
			t.Errorf("%s %s: %d %s, want %d %s", c.method, c.path, res.StatusCode, got, c.status, c.contentType)
		}
	}
	res := get(t, h, "GET", "/console/")
	body, _ := io.ReadAll(res.Body)
	if !strings.Contains(string(body), "Tom &amp; &lt;Jerry&gt;") || strings.Contains(string(body), "<script>") {
		t.Errorf("the page is %.600s", body)
	}
	if policy := res.Header.Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") ||
		strings.Contains(policy, "unsafe") {
		t.Errorf("the policy of the page is %q", policy)
	}
}

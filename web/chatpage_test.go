package web_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/voicegw/voicegw/web"
)

// TestChatPage asks for the page, its parts, and what is not part of it.
func TestChatPage(t *testing.T) {
	page := web.ChatPage(web.ChatPageConfig{Title: "Tom & <Jerry>", APIPath: `/a"/`, HomePath: "/"})
	h := http.StripPrefix("/chat", page)
	for _, c := range []struct {
		method, path string
		status       int
		contentType  string
	}{
		{"GET", "/chat/", 200, "text/html; charset=utf-8"},
		{"HEAD", "/chat/", 200, "text/html; charset=utf-8"},
		{"GET", "/chat/chat/chat.js", 200, "text/javascript; charset=utf-8"},
		{"GET", "/chat/chat/chat.css", 200, "text/css; charset=utf-8"},
		{"GET", "/chat/page/page.css", 200, "text/css; charset=utf-8"},
		{"GET", "/chat/page/elements.js", 200, "text/javascript; charset=utf-8"},
		{"GET", "/chat/page/favicon.svg", 200, "image/svg+xml"},
		{"GET", "/chat/chat/index.html", 404, "text/plain; charset=utf-8"},
		{"GET", "/chat/page/page.js", 404, "text/plain; charset=utf-8"},
		{"GET", "/chat/client.js", 404, "text/plain; charset=utf-8"},
		{"POST", "/chat/", 405, "text/plain; charset=utf-8"},
	} {
		res := get(t, h, c.method, c.path)
		if got := res.Header.Get("Content-Type"); res.StatusCode != c.status || got != c.contentType {
			t.Errorf("%s %s: %d %s, want %d %s", c.method, c.path, res.StatusCode, got, c.status, c.contentType)
		}
	}
	res := get(t, h, "GET", "/chat/")
	body, _ := io.ReadAll(res.Body)
	for _, want := range []string{"<title>Tom &amp; &lt;Jerry&gt;</title>", `name="voicegw-api" content="/a&#34;/"`,
		`<a href="/">Call instead</a>`, `<link rel="modulepreload" href="./chat/conversation.js">`} {
		if !strings.Contains(string(body), want) {
			t.Errorf("the page does not contain %s", want)
		}
	}
	if policy := res.Header.Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") ||
		strings.Contains(policy, "unsafe") {
		t.Errorf("the policy of the page is %q", policy)
	}
	alone := get(t, web.ChatPage(web.ChatPageConfig{}), "GET", "/")
	if body, _ := io.ReadAll(alone.Body); strings.Contains(string(body), "Call instead") {
		t.Error("the page links to a page for calls that there is not")
	}
	for _, path := range []string{"v1/", "/v1"} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("the path %q was accepted", path)
				}
			}()
			web.ChatPage(web.ChatPageConfig{APIPath: path})
		}()
	}
}

// TestHandlerLinksToTheChat: the page for calls links to the chat where there is one, and has none of its files.
func TestHandlerLinksToTheChat(t *testing.T) {
	for path, want := range map[string]bool{"": false, "/chat/": true} {
		h := web.Handler(web.Config{ChatPath: path})
		body, _ := io.ReadAll(get(t, h, "GET", "/").Body)
		if got := strings.Contains(string(body), `<a href="/chat/">`); got != want {
			t.Errorf("with the path %q there is a link: %v", path, got)
		}
		if status := get(t, h, "GET", "/chat/chat.js").StatusCode; status != http.StatusNotFound {
			t.Errorf("/chat/chat.js: %d", status)
		}
	}
}

package web

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"
)

// ChatPageConfig configures a ChatPage. The zero value works.
type ChatPageConfig struct {
	// Title is the name in the page's head and tab. Default "Agents".
	Title string
	// APIPath is the absolute path of the sessions API on the same origin, ending in "/". Default "/v1/".
	APIPath string
	// HomePath is the path of the page for calls, which the page links to. "" shows no link.
	HomePath string
}

// The module of the page, and its page.
const (
	chatModule = "/chat/chat.js"
	chatIndex  = "/chat/index.html"
)

// ChatPage serves a page for chats with managed agents, a client of the sessions API (package
// agent/managed/api). Mount it at a path that ends in "/", without that path:
//
//	mux.Handle("/chat/", http.StripPrefix("/chat", web.ChatPage(web.ChatPageConfig{})))
//	mux.Handle("/v1/", api)
//
// The page itself holds nothing of a session. It reads the sessions with the token that the person gives
// it. ChatPage panics when cfg.APIPath does not begin and end with "/".
func ChatPage(cfg ChatPageConfig) http.Handler {
	cfg.Title = cmp.Or(cfg.Title, "Agents")
	cfg.APIPath = cmp.Or(cfg.APIPath, "/v1/")
	if !strings.HasPrefix(cfg.APIPath, "/") || !strings.HasSuffix(cfg.APIPath, "/") {
		panic(fmt.Sprintf("web: use path %q: want one that begins and ends with a slash, such as /v1/", cfg.APIPath))
	}
	all := embedded()
	served := chosen(all, chatModule, "/chat/chat.css", "/page/page.css", "/page/favicon.svg")
	served["/"] = newFile("index.html", execute(all[chatIndex].body, struct {
		ChatPageConfig
		Modules []string
	}{cfg, imports(all, chatModule)}))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { serve(w, r, served) })
}

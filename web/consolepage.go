package web

import (
	"cmp"
	"net/http"
)

// ConsolePageConfig configures a ConsolePage. The zero value works.
type ConsolePageConfig struct {
	// Title is the name in the page's head. Default "Console".
	Title string
	// Shared makes the page of one shared call, which console.Sharer serves. Its default title is "A call".
	Shared bool
}

// ConsolePage serves the page of the console, which shows calls to an operator. Package console serves
// it beside its API, at ./api/. The page itself holds nothing of a call.
func ConsolePage(cfg ConsolePageConfig) http.Handler {
	if cfg.Shared {
		cfg.Title = cmp.Or(cfg.Title, "A call")
	}
	cfg.Title = cmp.Or(cfg.Title, "Console")
	const module = "/console/console.js"
	all := embedded()
	served := chosen(all, module, "/console/console.css", viewerStyle, "/page/page.css", "/page/favicon.svg")
	served["/"] = newFile("index.html", execute(all["/console/index.html"].body, struct {
		ConsolePageConfig
		Modules []string
	}{cfg, imports(all, module)}))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { serve(w, r, served) })
}

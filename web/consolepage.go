package web

import (
	"cmp"
	"net/http"
	"path"
)

// ConsolePageConfig configures a ConsolePage. The zero value works.
type ConsolePageConfig struct {
	// Title is the name in the page's head. Default "Console".
	Title string
}

// ConsolePage serves the page of the console, which shows calls to an operator. Package console serves
// it beside its API, at ./api/. The page itself holds nothing of a call.
func ConsolePage(cfg ConsolePageConfig) http.Handler {
	cfg.Title = cmp.Or(cfg.Title, "Console")
	all := map[string]*file{}
	for _, dir := range []string{"console", "chat", "page"} {
		entries, err := files.ReadDir(dir)
		must("read files", err)
		for _, e := range entries {
			name := path.Join(dir, e.Name())
			body, err := files.ReadFile(name)
			must("read files", err)
			all["/"+name] = newFile(name, body)
		}
	}
	const module = "/console/console.js"
	modules := imports(all, module)
	page := execute(all["/console/index.html"].body, struct {
		ConsolePageConfig
		Modules []string
	}{cfg, modules})
	served := map[string]*file{"/": newFile("index.html", page)}
	for _, name := range append(modules, module, "/console/console.css", "/page/page.css", "/page/favicon.svg") {
		served[name] = all[name]
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { serve(w, r, served) })
}

package web

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"
)

//go:embed client/*.js client/*.d.ts page/*.html page/*.js page/*.css page/*.svg net/*.html net/*.js
//go:embed chat/*.html chat/*.js chat/*.css
//go:embed console/*.html console/*.js console/*.css
//go:embed viewer/*.js viewer/*.css
var files embed.FS

// The address that pages import the client from, and its module: the entry of the client.
const (
	entryPath   = "/client.js"
	entryModule = "export * from \"./client/index.js\";\n"
)

// Config says what the page shows. The zero value works.
type Config struct {
	// Title is the name in the page's head and tab. Default "voicegw".
	Title string
	// VoicePath is the absolute path of the gateway's WebSocket on the same origin. Default
	// "/v1/voice".
	VoicePath string
	// WebRTCPath is the absolute path on the same origin where the gateway takes calls over WebRTC.
	// Default "/v1/whip". When nothing answers there, the page uses the WebSocket.
	WebRTCPath string
	// ChatPath is the path of a ChatPage, which the page links to. "" shows no link.
	ChatPath string
}

// policy is the Content-Security-Policy: the page loads only what this handler serves, and connects
// to its own origin.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// file is one response, complete in memory.
type file struct {
	name, contentType, etag string
	body                    []byte
}

// Handler serves the page at /, its parts below /page/, and the client at /client.js and below
// /client/, to GET and HEAD. Every other path is a 404. Pages of any origin may import the modules:
// they carry no secret. Browsers revalidate everything by ETag, so that a page and its modules are
// always of one version. Handler panics when a path of cfg is not absolute.
func Handler(cfg Config) http.Handler {
	cfg.Title = cmp.Or(cfg.Title, "voicegw")
	cfg.VoicePath = cmp.Or(cfg.VoicePath, "/v1/voice")
	cfg.WebRTCPath = cmp.Or(cfg.WebRTCPath, "/v1/whip")
	for _, p := range []string{cfg.VoicePath, cfg.WebRTCPath} {
		if !strings.HasPrefix(p, "/") {
			panic(fmt.Sprintf("web: use path %q: want an absolute one such as /v1/voice", p))
		}
	}
	served := load(cfg)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { serve(w, r, served) })
}

// load reads and renders every file once, by the path it is served at. NetPage, ChatPage and ConsolePage
// serve the others.
func load(cfg Config) map[string]*file {
	all := embedded()
	modules := imports(all, "/page/page.js")
	served := map[string]*file{entryPath: newFile("client.js", []byte(entryModule)), viewerStyle: all[viewerStyle]}
	for name, f := range all {
		if strings.HasPrefix(name, "/client/") || strings.HasPrefix(name, "/page/") || slices.Contains(modules, name) {
			served[name] = f
		}
	}
	served["/"] = newFile("index.html", render(served["/page/index.html"].body, cfg, modules))
	delete(served, "/page/index.html")
	served["/favicon.ico"] = served["/page/favicon.svg"] // browsers ask for it whatever the page says
	return served
}

// viewerStyle is the style of the storyboard and the net.
const viewerStyle = "/viewer/viewer.css"

// embedded returns all files, by their path with a slash in front.
func embedded() map[string]*file {
	all := map[string]*file{}
	must("read files", fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		body, err := files.ReadFile(name)
		all["/"+name] = newFile(name, body)
		return err
	}))
	return all
}

// chosen returns files of those, and all modules that a module imports.
func chosen(all map[string]*file, module string, names ...string) map[string]*file {
	served := map[string]*file{}
	for _, name := range append(append(imports(all, module), module), names...) {
		served[name] = all[name]
	}
	return served
}

// render fills in the page. It names all modules, so that a browser loads them at once and not one
// level of imports after the other.
func render(page []byte, cfg Config, modules []string) []byte {
	return execute(page, struct {
		Config
		Modules []string
	}{cfg, modules})
}

// execute fills data in a page.
func execute(page []byte, data any) []byte {
	t, err := template.New("index.html").Parse(string(page))
	must("parse index.html", err)
	var out bytes.Buffer
	must("render index.html", t.Execute(&out, data))
	return out.Bytes()
}

// importPattern finds what a module imports.
var importPattern = regexp.MustCompile(`(?m)^(?:import|export) .* from "(\.[^"]+)";$`)

// imports are the paths of all modules that a module imports, directly or not.
func imports(served map[string]*file, module string) []string {
	found := []string{module}
	for i := 0; i < len(found); i++ {
		f := served[found[i]]
		if f == nil {
			panic(fmt.Sprintf("web: find module %s: no such file", found[i]))
		}
		for _, m := range importPattern.FindAllSubmatch(f.body, -1) {
			if name := path.Join(path.Dir(found[i]), string(m[1])); !slices.Contains(found, name) {
				found = append(found, name)
			}
		}
	}
	return found[1:]
}

// must panics: only a wrong build can cause such an error.
func must(verb string, err error) {
	if err != nil {
		panic(fmt.Sprintf("web: %s: %v", verb, err))
	}
}

func newFile(name string, body []byte) *file {
	sum := sha256.Sum256(body)
	return &file{name: name, contentType: contentType(name), etag: `"` + hex.EncodeToString(sum[:12]) + `"`, body: body}
}

// contentType does not depend on the operating system: browsers do not run a module of type
// text/plain.
func contentType(name string) string {
	switch path.Ext(name) {
	case ".html":
		return "text/html; charset=utf-8"
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	default:
		return "text/plain; charset=utf-8"
	}
}

func serve(w http.ResponseWriter, r *http.Request, served map[string]*file) {
	f := served[r.URL.Path]
	if f == nil {
		http.NotFound(w, r)
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
		return
	}
	setHeaders(w.Header(), f)
	http.ServeContent(w, r, f.name, time.Time{}, bytes.NewReader(f.body))
}

func setHeaders(h http.Header, f *file) {
	h.Set("Content-Type", f.contentType)
	h.Set("ETag", f.etag)
	h.Set("Cache-Control", "no-cache")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Content-Security-Policy", policy)
	if path.Ext(f.name) == ".html" {
		h.Set("Permissions-Policy", "microphone=(self)")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		return
	}
	h.Set("Access-Control-Allow-Origin", "*")
	h.Set("Cross-Origin-Resource-Policy", "cross-origin")
}

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
	"strings"
	"time"
)

//go:embed index.html *.js *.css *.svg client.d.ts
var files embed.FS

// Config says what the page shows. The zero value works.
type Config struct {
	// Title is the name in the page's head and tab. Default "voicegw".
	Title string
	// VoicePath is where the gateway's socket is mounted on the same origin, an absolute path. Default "/v1/voice".
	VoicePath string
	// WebRTCPath is where it takes calls over WebRTC, an absolute path of the same origin. Default "/v1/whip". When there
	// is nothing, the page takes the socket.
	WebRTCPath string
}

// policy is the Content-Security-Policy: nothing but what this handler serves, and the socket beside it.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// file is one thing served, complete in memory.
type file struct {
	name, contentType, etag string
	body                    []byte
}

// Handler serves the page at / and the client module and its parts beside it, to GET and HEAD. Every other path is a
// 404. Modules may be imported by pages of any origin; they carry no secret. Everything is revalidated by ETag, so that
// a page and its modules are always of one version. It panics when a path of cfg is not absolute.
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

// load reads and renders everything once, by path. What is embedded can be read.
func load(cfg Config) map[string]*file {
	names, err := fs.Glob(files, "*")
	must("list files", err)
	served := make(map[string]*file, len(names))
	for _, name := range names {
		body, err := files.ReadFile(name)
		must("read "+name, err)
		served["/"+name] = newFile(name, body)
	}
	served["/"] = newFile("index.html", render(served["/index.html"].body, cfg))
	delete(served, "/index.html")
	served["/favicon.ico"] = served["/favicon.svg"] // browsers ask for it whatever the page says
	return served
}

func render(page []byte, cfg Config) []byte {
	t, err := template.New("index.html").Parse(string(page))
	must("parse index.html", err)
	var out bytes.Buffer
	must("render index.html", t.Execute(&out, cfg))
	return out.Bytes()
}

// must panics on what only a wrong build can cause.
func must(verb string, err error) {
	if err != nil {
		panic(fmt.Sprintf("web: %s: %v", verb, err))
	}
}

func newFile(name string, body []byte) *file {
	sum := sha256.Sum256(body)
	return &file{name: name, contentType: contentType(name), etag: `"` + hex.EncodeToString(sum[:12]) + `"`, body: body}
}

// contentType does not ask the operating system: a module served as text/plain is not run.
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

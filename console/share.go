package console

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/voicegw/voicegw/petri/event"
)

// ShareFor is how long a link to share works.
const ShareFor = 7 * 24 * time.Hour

// sharedMax is how many shared calls are read at one time, so that those who have links leave feeds to operators.
const sharedMax = 4

// A Sharer signs links to archived calls. Whoever has a link sees the call. Put no authorization in front
// of it, because the signature is the authorization. It shows one archived call without speech,
// text, digits and telephone numbers, and changes nothing. The zero value shares nothing.
type Sharer struct {
	// Key returns what signs links, at least 16 bytes. Another key ends the links of the one before.
	Key func() []byte
	// Path is that of the Sharer, such as /shared/, where links lead.
	Path string
	// Page serves the page of a shared call, web.ConsolePage with Shared; nil: a link leads to the report.
	Page http.Handler

	server *server
	places chan struct{} // a token for each feed or report
}

// link returns a link to an archived call, and when it ends.
func (s *server) link(r *http.Request) (any, error) {
	if s.cfg.Sharer == nil {
		return nil, &problem{http.StatusNotFound, "links to share are not configured"}
	}
	name := r.PathValue("name")
	_, _, file, err := s.open(name)
	if err != nil {
		return nil, err
	}
	_ = file.Close()
	until := time.Now().Add(ShareFor).Truncate(time.Second)
	path := fmt.Sprintf("%s%s/%d.%s/", s.cfg.Sharer.Path, url.PathEscape(name), until.Unix(),
		s.cfg.Sharer.sign(name, until.Unix()))
	return map[string]any{"path": path, "until": until}, nil
}

// sign signs the name of an archive and the time when its link ends.
func (h *Sharer) sign(name string, until int64) string {
	mac := hmac.New(sha256.New, h.Key())
	fmt.Fprintf(mac, "voicegw console share\n%d\n%s", until, name)
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// ServeHTTP serves the archived call that the path names, and that its signature is good for.
func (h *Sharer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name, rest, _ := strings.Cut(r.URL.Path[min(len(h.Path), len(r.URL.Path)):], "/")
	proof, rest, isWhole := strings.Cut(rest, "/")
	ends, signature, _ := strings.Cut(proof, ".")
	until, err := strconv.ParseInt(ends, 10, 64)
	switch {
	case h.server == nil || r.Method != http.MethodGet && r.Method != http.MethodHead:
		http.Error(w, "there is no shared call here", http.StatusNotFound)
	case err != nil || !hmac.Equal([]byte(signature), []byte(h.sign(name, until))):
		http.Error(w, "this link to a call is not valid: ask for a new one", http.StatusForbidden)
	case time.Now().Unix() > until:
		http.Error(w, "this link to a call has ended: ask for a new one", http.StatusGone)
	case !isWhole: // the page finds its parts below the link
		http.Redirect(w, r, r.URL.EscapedPath()+"/", http.StatusSeeOther)
	default:
		r = r.Clone(r.Context())
		r.SetPathValue("name", name)
		h.serve(w, r, rest)
	}
}

// serve answers a request with a good signature.
func (h *Sharer) serve(w http.ResponseWriter, r *http.Request, path string) {
	if h.Page == nil {
		path = "api/call/report"
	} else if !strings.HasPrefix(path, "api/") {
		r.URL.Path, r.URL.RawPath = "/"+path, ""
		h.Page.ServeHTTP(w, r)
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Referrer-Policy", "no-referrer")
	hash, isNet := strings.CutPrefix(path, "api/nets/")
	switch {
	case path == "api/call/feed":
		h.placed(h.server.feeding(h.server.archived))(w, r)
	case path == "api/call/report":
		h.placed(func(w http.ResponseWriter, r *http.Request) {
			h.server.reportOn(w, r, r.PathValue("name"), "inline")
		})(w, r)
	case isNet:
		answering(func(r *http.Request) (any, error) { return h.net(r, hash) })(w, r)
	default:
		refuse(w, &problem{http.StatusNotFound, "a link shows one call, and nothing else"})
	}
}

// placed answers only so many requests at one time.
func (h *Sharer) placed(do http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		select {
		case h.places <- struct{}{}:
			defer func() { <-h.places }()
			do(w, r)
		default:
			refuse(w, &problem{http.StatusServiceUnavailable, fmt.Sprintf("%d shared calls are being read, which is the "+
				"most; try again", sharedMax)})
		}
	}
}

// net describes the net of the shared call, and no other.
func (h *Sharer) net(r *http.Request, hash string) (any, error) {
	_, prog, file, err := h.server.open(r.PathValue("name"))
	if err != nil {
		return nil, err
	}
	_ = file.Close()
	if event.Hash(prog) != hash {
		return nil, &problem{http.StatusNotFound, "the shared call has another net"}
	}
	r.SetPathValue("hash", h.server.know(prog))
	return h.server.net(r)
}

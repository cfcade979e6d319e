package console

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// ShareFor is how long a link to share works.
const ShareFor = 7 * 24 * time.Hour

// A Sharer signs links to the reports of archived calls, and serves those reports to whoever has a link.
// Serve it without your own authorization: the signature is the authorization. It shows one archived
// call without speech, text, digits and telephone numbers, and changes nothing. The zero value shares
// nothing.
type Sharer struct {
	// Key returns what signs links, at least 16 bytes. Another key ends the links of the one before.
	Key func() []byte
	// Path is that of the Sharer, such as /shared/, where links lead.
	Path string

	server *server
}

// link returns a link to the report of an archive, and when it ends.
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
	query := url.Values{"until": {strconv.FormatInt(until.Unix(), 10)},
		"signature": {s.cfg.Sharer.sign(name, until.Unix())}}
	return map[string]any{"path": s.cfg.Sharer.Path + url.PathEscape(name) + "?" + query.Encode(), "until": until}, nil
}

// sign signs the name of an archive and the time when its link ends.
func (h *Sharer) sign(name string, until int64) string {
	mac := hmac.New(sha256.New, h.Key())
	fmt.Fprintf(mac, "voicegw console share\n%d\n%s", until, name)
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// ServeHTTP serves the report of the archive that the last part of the path names.
func (h *Sharer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name, query := r.URL.Path[min(len(h.Path), len(r.URL.Path)):], r.URL.Query()
	until, err := strconv.ParseInt(query.Get("until"), 10, 64)
	switch {
	case h.server == nil || r.Method != http.MethodGet && r.Method != http.MethodHead:
		http.Error(w, "there is no shared call here", http.StatusNotFound)
	case err != nil || !hmac.Equal([]byte(query.Get("signature")), []byte(h.sign(name, until))):
		http.Error(w, "this link to a call is not valid: ask for a new one", http.StatusForbidden)
	case time.Now().Unix() > until:
		http.Error(w, "this link to a call has ended: ask for a new one", http.StatusGone)
	default:
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("Referrer-Policy", "no-referrer")
		h.server.reportOn(w, r, name, "inline")
	}
}

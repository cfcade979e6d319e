package console

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/petri/event"
	"github.com/voicegw/voicegw/voicenets"
	"github.com/voicegw/voicegw/web"
)

// TestShare makes a link to a call. It shows that call and no other, without what was said, as long as it is valid, and
// no other link shows anything.
func TestShare(t *testing.T) {
	t.Parallel()
	p := newTape(t, voicenets.Config{})
	p.speak(second, 2*second)
	p.at(6*second, voicenets.Over.Token(voicenets.HungUp))
	p.run(7 * second)
	key := []byte("0123456789abcdef")
	share := &Sharer{Path: "/shared/", Key: func() []byte { return key },
		Page: web.ConsolePage(web.ConsolePageConfig{Shared: true})}
	h, err := New(Config{Gateway: new(voicegw.Gateway), Archives: fstest.MapFS{"c-1.jsonl": {Data: p.file()},
		"c-2.jsonl": {Data: p.file()}}, Sharer: share, Net: func(hash string) (*petri.Program, error) {
		if hash != event.Hash(p.prog) {
			return nil, errors.New("another net")
		}
		return p.prog, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	get := func(h http.Handler, method, path string) (int, string, http.Header) {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(method, path, nil))
		return w.Code, w.Body.String(), w.Header()
	}
	_, body, _ := get(h, http.MethodGet, "/api/archives/c-1/link")
	var link struct {
		Path  string
		Until time.Time
	}
	if err := json.Unmarshal([]byte(body), &link); err != nil || !strings.HasPrefix(link.Path, "/shared/c-1/") ||
		time.Until(link.Until) > ShareFor || time.Until(link.Until) < ShareFor-time.Minute {
		t.Fatalf("the link is %s, %v", body, err)
	}
	code, page, _ := get(share, http.MethodGet, link.Path)
	if code != http.StatusOK || !strings.Contains(page, "data-shared") {
		t.Errorf("the page: %d %.300s", code, page)
	}
	code, page, head := get(share, http.MethodGet, link.Path+"api/call/report")
	if code != http.StatusOK || !strings.Contains(page, "<h1>Call c-1</h1>") || strings.Contains(page, "<script") ||
		!strings.HasPrefix(head.Get("Content-Security-Policy"), "default-src 'none'") ||
		!strings.HasPrefix(head.Get("Content-Disposition"), "inline") {
		t.Errorf("the report: %d %v %.200s", code, head, page)
	}
	if code, _, head := get(share, http.MethodGet, strings.TrimSuffix(link.Path, "/")); head.Get("Location") != link.Path {
		t.Errorf("without the slash: %d, %v", code, head)
	}
	_, body, _ = get(share, http.MethodGet, link.Path+"api/call/feed")
	feed := readFeed(t, strings.NewReader(body), func(*Batch) {})
	if feed.head.Call.ID != "c-tape" || feed.head.Call.From != "" || len(feed.batches) == 0 || feed.over != "" {
		t.Errorf("the feed is %+v", feed)
	}
	sign := func(name string, until int64) string {
		return fmt.Sprintf("/shared/%s/%d.%s/", name, until, share.sign(name, until))
	}
	for path, want := range map[string]int{strings.Replace(link.Path, "c-1", "c-2", 1): http.StatusForbidden,
		strings.Replace(link.Path, "c-1/1", "c-1/2", 1): http.StatusForbidden, "/shared/c-1": http.StatusForbidden,
		"/shared/c-1/": http.StatusForbidden, "/shared/c-1/console/console.js": http.StatusForbidden,
		sign("c-1", 1_700_000_000): http.StatusGone, "/": http.StatusForbidden,
		link.Path + "console/console.js": http.StatusOK, link.Path + "page/page.css": http.StatusOK,
		link.Path + "api/nets/" + feed.head.Net: http.StatusOK, link.Path + "api/nets/other": http.StatusNotFound,
		link.Path + "api/calls": http.StatusNotFound, link.Path + "api/archives": http.StatusNotFound,
		link.Path + "api/archives/c-2/feed": http.StatusNotFound, link.Path + "api/call/transcript": http.StatusNotFound,
		link.Path + "api/call/link":                       http.StatusNotFound,
		sign("none", link.Until.Unix()) + "api/call/feed": http.StatusNotFound,
	} {
		if code, body, _ := get(share, http.MethodGet, path); code != want {
			t.Errorf("%s: %d %.200s, want %d", path, code, body, want)
		}
	}
	for range sharedMax {
		share.places <- struct{}{}
	}
	if code, body, _ := get(share, http.MethodGet, link.Path+"api/call/feed"); code != http.StatusServiceUnavailable {
		t.Errorf("one too many: %d %s", code, body)
	}
	if code, _, _ := get(share, http.MethodPost, link.Path); code != http.StatusNotFound {
		t.Errorf("POST: %d", code)
	}
	if code, body, _ := get(h, http.MethodGet, "/api/archives/none/link"); code != http.StatusNotFound {
		t.Errorf("a link to no archive: %d %s", code, body)
	}
	key = []byte("fedcba9876543210")
	if code, _, _ := get(share, http.MethodGet, link.Path); code != http.StatusForbidden {
		t.Errorf("with another key: %d", code)
	}
	if _, err := New(Config{Gateway: new(voicegw.Gateway), Sharer: &Sharer{}}); err == nil {
		t.Error("a Sharer without a key is accepted")
	}
}

// TestHistory takes the beginning of a running call from its archive, which grows meanwhile, and does without one
// that is missing, another call's, or does not go far enough.
func TestHistory(t *testing.T) {
	t.Parallel()
	p := newTape(t, voicenets.Config{})
	p.speak(second, 2*second)
	p.run(4 * second)
	file := p.file()
	dir := t.TempDir()
	write := func(name string, text []byte) {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Error(err)
		}
	}
	s := &server{cfg: Config{Archives: os.DirFS(dir), Net: func(string) (*petri.Program, error) { return p.prog, nil }}}
	rec0, _ := whole(t, p.prog, p.file())
	seq := rec0.t.Seq()
	write("c-1.jsonl", file[:len(file)/2]) // in the middle of a line
	grown := make(chan struct{})
	go func() {
		defer close(grown)
		write("c-1.jsonl", file)
	}()
	rec, err := s.history(t.Context(), "c-1", p.prog, seq)
	<-grown
	if err != nil || rec.t.Seq() != seq || len(rec.flush(0).Turns) != 1 {
		t.Fatalf("the history is %+v", rec)
	}
	write("c-2.jsonl", []byte("something else"))
	for _, c := range []struct {
		of   *server
		call string
		seq  uint64
		want error
	}{{s, "c-3", seq, errNoHistory}, {s, "c-2", seq, errLateHistory}, {s, "c-1", 1 << 30, errLongHistory},
		{&server{}, "c-1", seq, errNoHistory}} {
		if _, err := c.of.history(t.Context(), c.call, p.prog, c.seq); !errors.Is(err, c.want) {
			t.Errorf("%s, %d: %v, want %v", c.call, c.seq, err, c.want)
		}
	}
}

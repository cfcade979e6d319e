package console

import (
	"encoding/json"
	"errors"
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
)

// TestShare makes a link to a report. It shows that report without more, as long as it is valid, and no other link
// shows anything.
func TestShare(t *testing.T) {
	t.Parallel()
	p := newTape(t, voicenets.Config{})
	p.speak(second, 2*second)
	p.at(6*second, voicenets.Over.Token(voicenets.HungUp))
	p.run(7 * second)
	key := []byte("0123456789abcdef")
	share := &Sharer{Path: "/shared/", Key: func() []byte { return key }}
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
	if err := json.Unmarshal([]byte(body), &link); err != nil || !strings.HasPrefix(link.Path, "/shared/c-1?") ||
		time.Until(link.Until) > ShareFor || time.Until(link.Until) < ShareFor-time.Minute {
		t.Fatalf("the link is %s, %v", body, err)
	}
	code, page, head := get(share, http.MethodGet, link.Path)
	if code != http.StatusOK || !strings.Contains(page, "<h1>Call c-1</h1>") || strings.Contains(page, "<script") ||
		!strings.HasPrefix(head.Get("Content-Security-Policy"), "default-src 'none'") ||
		!strings.HasPrefix(head.Get("Content-Disposition"), "inline") {
		t.Errorf("%d %v %.200s", code, head, page)
	}
	old := "/shared/c-1?until=1700000000&signature=" + share.sign("c-1", 1_700_000_000)
	for path, want := range map[string]int{strings.Replace(link.Path, "c-1", "c-2", 1): http.StatusForbidden,
		strings.Replace(link.Path, "until=1", "until=2", 1): http.StatusForbidden, "/shared/c-1": http.StatusForbidden,
		old: http.StatusGone, "/": http.StatusForbidden} {
		if code, body, _ := get(share, http.MethodGet, path); code != want {
			t.Errorf("%s: %d %s, want %d", path, code, body, want)
		}
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
	rec := s.history(t.Context(), "c-1", p.prog, seq)
	<-grown
	if rec == nil || rec.t.Seq() != seq || len(rec.flush(0).Turns) != 1 {
		t.Fatalf("the history is %+v", rec)
	}
	write("c-2.jsonl", []byte("something else"))
	for name, rec := range map[string]*recorder{"missing": s.history(t.Context(), "c-3", p.prog, seq),
		"foreign": s.history(t.Context(), "c-2", p.prog, seq), "too long": s.history(t.Context(), "c-1", p.prog, 1<<30),
		"none": (&server{}).history(t.Context(), "c-1", p.prog, seq)} {
		if rec != nil {
			t.Errorf("%s: there is a history", name)
		}
	}
}

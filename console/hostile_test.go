package console

import (
	"context"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/voicenets"
)

// consoleOf is the console of a gateway without calls.
func consoleOf(t *testing.T, archives fs.FS) http.Handler {
	t.Helper()
	gw, err := voicegw.New(voicegw.Config{Dialer: live.Wire{BaseURL: "ws://127.0.0.1:1"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = gw.Close() })
	h, err := New(Config{Gateway: gw, Archives: archives})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// asked is the answer to a request.
func asked(ctx context.Context, h http.Handler, path string) (int, string) {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodGet, path, nil))
	return w.Code, w.Body.String()
}

// TestListWithoutArchives: a directory of archives that is gone hides no running call.
func TestListWithoutArchives(t *testing.T) {
	t.Parallel()
	h := consoleOf(t, os.DirFS(filepath.Join(t.TempDir(), "gone")))
	code, body := asked(t.Context(), h, "/api/calls")
	if code != http.StatusOK || !strings.Contains(body, `"calls":[]`) || !strings.Contains(body, "cannot be listed") {
		t.Errorf("%d %s", code, body)
	}
}

// TestNoTranscript: without transcripts the answer says why, and how to get them.
func TestNoTranscript(t *testing.T) {
	t.Parallel()
	s := &server{cfg: Config{Archives: fstest.MapFS{"c-1.jsonl": {}}}, feeds: make(chan struct{}, 1)}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{name}", answering(s.archivedTranscript))
	code, body := asked(t.Context(), mux, "/c-1")
	if code != http.StatusOK || !strings.Contains(body, `"said":[],"why":"transcripts are off`) {
		t.Errorf("%d %s", code, body)
	}
	s.cfg.Transcript = func(context.Context, string, time.Time) ([]Said, error) {
		return make([]Said, saidMax+5), nil
	}
	if _, body := asked(t.Context(), mux, "/c-1"); strings.Count(body, `"who"`) != saidMax {
		t.Errorf("of a long call come %d turns", strings.Count(body, `"who"`))
	}
	s.begin()
	if code, body := asked(t.Context(), mux, "/c-1"); code != http.StatusServiceUnavailable {
		t.Errorf("beside too many feeds: %d %s", code, body)
	}
}

// unopened is a directory whose files nobody may open.
type unopened struct{ fstest.MapFS }

// Open fails for all but the directory.
func (u unopened) Open(name string) (fs.File, error) {
	if name != "." {
		panic("somebody opens " + name)
	}
	return u.MapFS.Open(name)
}

// TestArchiveIsNoFile: what is in the directory and is no file is not opened: to open a pipe may take for ever.
func TestArchiveIsNoFile(t *testing.T) {
	t.Parallel()
	h := consoleOf(t, unopened{fstest.MapFS{"pipe.jsonl": {Mode: fs.ModeNamedPipe}, "c-1.jsonl/x": {}}})
	for _, name := range []string{"pipe", "c-1"} {
		for _, what := range []string{"/feed", "/report"} {
			if code, body := asked(t.Context(), h, "/api/archives/"+name+what); code != http.StatusNotFound {
				t.Errorf("%s%s: %d %s", name, what, code, body)
			}
		}
	}
}

// TestReportsAreFew: a report takes the place of a feed, and ends with its client.
func TestReportsAreFew(t *testing.T) {
	t.Parallel()
	p := newTape(t, voicenets.Config{})
	p.run(second)
	s := &server{cfg: Config{Archives: fstest.MapFS{"c-1.jsonl": {Data: p.file()}},
		Net: func(string) (*petri.Program, error) { return p.prog, nil }}, feeds: make(chan struct{}, 1)}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{name}", s.report)
	if code, body := asked(t.Context(), mux, "/c-1"); code != http.StatusOK || !strings.Contains(body, "Call c-1") {
		t.Errorf("a report: %d %.200s", code, body)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, body := asked(gone, mux, "/c-1"); body != "" || len(s.feeds) > 0 {
		t.Errorf("a client that is gone gets %.200s, and %d places are taken", body, len(s.feeds))
	}
	s.begin()
	if code, body := asked(t.Context(), mux, "/c-1"); code != http.StatusServiceUnavailable {
		t.Errorf("one report too many: %d %.200s", code, body)
	}
}

package adkagent

import (
	"bufio"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/genai"

	"github.com/voicegw/voicegw/agent/provider"
)

// TestNetsOnAPage finds the net of a session in the list, and watches it through a turn and to its end.
func TestNetsOnAPage(t *testing.T) {
	a := mustNew(t, llmagent.Config{Model: provider.Parrot{}}, Options{})
	w := newWorld(t, a)
	srv := httptest.NewServer(a.NetPage())
	defer srv.Close()
	get := func(path string) (*http.Response, *bufio.Reader) {
		resp, err := srv.Client().Get(srv.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = resp.Body.Close() })
		return resp, bufio.NewReader(resp.Body)
	}
	const query = "app=app&session=s1&user=ada"
	if resp, _ := get("/events?" + query); resp.StatusCode != http.StatusNotFound {
		t.Errorf("before the first turn: %s", resp.Status)
	}
	say := func() {
		if _, err := w.run(t.Context(), genai.NewContentFromText("secret", genai.RoleUser), sid); err != nil {
			t.Fatal(err)
		}
	}
	say()
	_, list := get("/")
	link := strings.ReplaceAll(query, "&", "&amp;")
	if page, err := io.ReadAll(list); err != nil || !strings.Contains(string(page), link) {
		t.Errorf("%v: %s", err, page)
	}
	_, events := get("/events?" + query)
	var seen strings.Builder
	until := func(text string) {
		t.Helper()
		for !strings.Contains(seen.String(), text) {
			line, err := events.ReadString('\n')
			if err != nil {
				t.Fatalf("%v after %s", err, seen.String())
			}
			seen.WriteString(line)
		}
	}
	until(`"quiet":1`)
	say()
	until(`turns/begin_host`)
	a.CloseSession(Key{app, user, sid})
	until("event: over")
	if strings.Contains(seen.String(), "secret") {
		t.Error("the page quotes what was said")
	}
}

package console

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/voicegw/voicegw/petri"
)

// TestReport: the report of an archived call says why it was silent, is whole in itself and runs
// nothing.
func TestReport(t *testing.T) {
	t.Parallel()
	p := posed(t)
	d := newDesk(t, fstest.MapFS{"c-1.jsonl": {Data: p.file(), Mode: 0o600}, "cut.jsonl": {Data: p.file()[:30_000]}},
		func(string) (*petri.Program, error) { return p.prog, nil })
	r, err := http.Get(d.url + "/console/api/archives/c-1/report")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	page := string(b)
	for _, want := range []string{"Call c-1", "Began 2023-11-14 22:13:20 UTC, lasted 39.0 s",
		"The call was on hold from 0:18.0 on", "The model called a function at 0:11.3", `<rect class="held"`,
		"<td>3 at 0:09.0</td>", "<li><b>tool</b> Silence for ",
		"<li><b>hold</b> Silence for ", " s (to the caller about half a second longer), from 0:11.0. ",
		"<th>(re)connecting</th><th>function</th><th>model</th>", "<td>interrupted</td>"} {
		if !strings.Contains(page, want) {
			t.Errorf("the report lacks %q", want)
		}
	}
	for _, never := range []string{"<script", "href", "src=", "url(", "http://", "https://"} {
		if strings.Contains(page, never) {
			t.Errorf("the report has %q", never)
		}
	}
	if got := r.Header.Get("Content-Disposition"); got != `attachment; filename="c-1.html"` {
		t.Errorf("it is served as %s", got)
	}
	if _, body := d.get("archives/cut/report"); !strings.Contains(body, "The last line of the archive is cut off") {
		t.Errorf("the report of a cut archive is %.200s", body)
	}
	if code, body := d.get("archives/none/report"); code != http.StatusNotFound {
		t.Errorf("none: %d %s", code, body)
	}
}

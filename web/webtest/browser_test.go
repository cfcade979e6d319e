package webtest_test

import (
	"encoding/base64"
	"encoding/binary"
	"net/http"
	"testing"

	"github.com/voicegw/voicegw/internal/browsertest"
)

// stage is one tab on the page of one double, in a browser that several tests share.
type stage struct {
	*browsertest.Tab
	*double
}

// open loads the page from a double of its own, with raw audio and the tap unless the query says
// otherwise.
func open(t *testing.T, browser *browsertest.Browser, query string) stage {
	t.Helper()
	return openWith(t, browser, query, nil)
}

func openWith(t *testing.T, browser *browsertest.Browser, query string, extra map[string]http.Handler) stage {
	t.Helper()
	return openBefore(t, browser, query, newDouble(t, extra))
}

// openBefore loads the page of a double.
func openBefore(t *testing.T, browser *browsertest.Browser, query string, d *double) stage {
	t.Helper()
	tab := browser.Open(t, d.URL+"/"+query)
	tab.WaitFor(`window.voicegw`)
	return stage{Tab: tab, double: d}
}

const tapped = "?raw=1&tap=1"

// talk presses Talk and answers the call.
func (s stage) talk() *call {
	s.t.Helper()
	s.Click("#talk")
	c := s.answer()
	s.WaitFor(`document.body.dataset.state === "live"`)
	return c
}

func (s stage) text(selector string) string {
	s.t.Helper()
	var text string
	s.Eval(`document.querySelector(`+quote(selector)+`).textContent.trim()`, &text)
	return text
}

// heard is everything the playout worklet put out so far, and its rate.
func (s stage) heard() ([]int16, int) {
	s.t.Helper()
	var tap struct {
		Rate   int
		Base64 string
	}
	s.Eval(`voicegw.heard()`, &tap)
	data, err := base64.StdEncoding.DecodeString(tap.Base64)
	if err != nil {
		s.t.Fatal(err)
	}
	pcm := make([]int16, len(data)/2)
	for i := range pcm {
		pcm[i] = int16(binary.LittleEndian.Uint16(data[2*i:]))
	}
	return pcm, tap.Rate
}

// quiet waits until nothing plays and the tap, which comes in parts of 100 ms, has all of it.
func (s stage) quiet() {
	s.t.Helper()
	s.WaitFor(`voicegw.log.findLast((e) => e.type === "playout")?.playing === false`)
	s.Eval(`(window.partsThen = voicegw.heard.parts(), 0)`, nil)
	s.WaitFor(`voicegw.heard.parts() > window.partsThen + 3`)
}

func quote(s string) string { return `"` + s + `"` }

package webtest_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// TestTransport chooses WebRTC on the page of gateways that do not take it.
func TestTransport(t *testing.T) {
	t.Parallel()
	browser := withMicrophone.Browser(t)
	for name, c := range map[string]struct {
		status int // of the endpoint for WebRTC
		end    string
		text   string
	}{
		"there is none":         {http.StatusNotFound, "", "No call could be made over WebRTC."},
		"the offer is not good": {http.StatusNotAcceptable, "", "No call could be made over WebRTC."},
		"all lines are busy":    {http.StatusServiceUnavailable, "failed", "All lines are busy."},
		"the token is wrong":    {http.StatusUnauthorized, "failed", "This page may not make this call."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked := make(chan string, 4)
			endpoint := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				offer, _ := io.ReadAll(r.Body)
				asked <- r.Method + " " + r.Header.Get("Content-Type") + " " + r.Header.Get("Voicegw-Hello") + string(offer)
				http.Error(w, http.StatusText(c.status), c.status)
			})
			s := openWith(t, browser, "", map[string]http.Handler{"/v1/whip": endpoint})
			s.choose("webrtc")
			s.Click("#talk")
			if got := <-asked; !strings.HasPrefix(got, "POST application/sdp {") || !strings.Contains(got, "m=audio") ||
				!strings.Contains(got, `"show_net":true`) {
				t.Errorf("the page asked %.300q", got)
			}
			if c.end != "" {
				s.showsNotice(c.end, c.text)
				return
			}
			fallsBack(t, s, c.text)
		})
	}
	t.Run("a choice is kept", func(t *testing.T) {
		t.Parallel()
		s := open(t, browser, "")
		s.WaitFor(`document.querySelector("#transport").value === ""`)
		for _, transport := range []string{"webrtc", ""} {
			s.choose(transport)
			s.Go(s.URL)
			s.WaitFor(`window.voicegw && document.querySelector("#transport").value === ` + quote(transport))
		}
		s.NoErrors()
	})
	t.Run("nothing can be kept", func(t *testing.T) {
		t.Parallel()
		s := open(t, browser, "")
		s.Eval(`(Storage.prototype.setItem = () => { throw new DOMException("no", "SecurityError") }, 0)`, nil)
		s.choose("webrtc")
		s.NoErrors()
	})
}

// choose selects the transport of the next call.
func (s stage) choose(transport string) {
	s.t.Helper()
	s.Eval(`((select) => {
		select.value = `+quote(transport)+`;
		select.dispatchEvent(new Event("change"));
	})(document.querySelector("#transport"))`, nil)
}

// fallsBack wants the call to come over the WebSocket, the page to say why, and the next one to go
// there at once.
func fallsBack(t *testing.T, s stage, notice string) {
	t.Helper()
	c := s.answer()
	s.WaitFor(`document.body.dataset.state === "live"`)
	s.shows("#notice-message", notice)
	s.shows("#notice-advice", "This one goes over the WebSocket.")
	s.shows("#connection", "Connected")
	if got := s.text("#connection"); got != "Connected" {
		t.Errorf("the page says %q", got)
	}
	s.Click("#talk")
	c.next("bye")
	c.bye("caller_hung_up", "", 1000)
	s.WaitFor(`document.body.dataset.state === "ended"`)
	s.talk()
	s.hides("#notice")
}

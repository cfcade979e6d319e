package webtest_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/voicegw/voicegw/internal/browsertest"
)

// showsNotice waits for the notice in a state of the page, and wants these texts in it.
func (s stage) showsNotice(state string, texts ...string) {
	s.t.Helper()
	s.WaitFor(`!document.querySelector("#notice").hidden && document.body.dataset.state === ` + quote(state))
	notice := strings.Join(strings.Fields(s.text("#notice > div")), " ")
	for _, want := range texts {
		if !strings.Contains(notice, want) {
			s.t.Errorf("the page says %q, want %q in it", notice, want)
		}
	}
	var talk struct {
		Text     string
		Disabled bool
	}
	s.Eval(`(({textContent, disabled}) => ({text: textContent.trim(), disabled}))(document.querySelector("#talk"))`, &talk)
	if state == "failed" && (talk.Text != "Talk" || talk.Disabled) {
		s.t.Errorf("after the failure the button is %+v, want Talk", talk)
	}
}

func TestMicrophoneRefused(t *testing.T) {
	t.Parallel()
	s := open(t, browsertest.Launch(t, browsertest.Config{DenyMicrophone: true}), "")
	s.Click("#talk")
	s.showsNotice("failed", "The microphone was refused.", "Allow it for this site", "press Talk")
	s.NoErrors()
}

func TestMicrophoneMissing(t *testing.T) {
	t.Parallel()
	s := open(t, withoutMicrophone.Browser(t), "")
	s.Click("#talk")
	s.showsNotice("failed", "No microphone was found.", "Connect one")
	s.NoErrors()
}

// TestFailures holds the stories of calls that go wrong, in a browser whose microphone works.
func TestFailures(t *testing.T) {
	t.Parallel()
	browser := withMicrophone.Browser(t)
	stories := map[string]func(*testing.T, stage){
		"microphone in use":        microphoneInUse,
		"insecure context":         insecureContext,
		"server gone before":       serverGoneBefore,
		"server gone during":       serverGoneDuring,
		"busy before the upgrade":  busyBeforeUpgrade,
		"refused before upgrade":   refusedBeforeUpgrade,
		"garbage from the server":  garbageFromServer,
		"microphone disconnected":  microphoneDisconnected,
		"hang up while connecting": hangUpWhileConnecting,
	}
	for name, story := range stories {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			story(t, open(t, browser, ""))
		})
	}
	t.Run("every end the gateway may say", func(t *testing.T) {
		t.Parallel()
		s := open(t, browser, "")
		for _, end := range ends() { // one after the other: after each the button calls again
			end.test(s)
		}
		s.NoErrors()
	})
}

// end is one way a gateway ends a call.
type end struct {
	reason, message string
	fatal           bool // an error event goes before the bye
	beforeReady     bool
	state           string
	texts           []string
}

func ends() []end {
	return []end{
		{"busy", "All lines are in use.", true, true, "failed", []string{"All lines are in use.", "Wait a moment"}},
		{"model_refused", "The key is wrong.", true, true, "failed", []string{"The key is wrong.", "check the key"}},
		{"model_timeout", "", true, true, "failed", []string{"The model did not answer in time.", "try again"}},
		{"model_lost", "The model hung up.", true, false, "failed", []string{"The model hung up.", "Press Talk"}},
		{"bad_hello", "detection is psychic", true, true, "failed", []string{"detection is psychic", "settings"}},
		{"idle_timeout", "", true, false, "failed", []string{"nothing was heard for a long time"}},
		{"going_away", "The gateway is shutting down.", false, false, "failed", []string{"shutting down", "back soon"}},
		{"max_duration", "", false, false, "failed", []string{"longest duration"}},
		{"done", "Goodbye.", false, false, "ended", []string{"Goodbye."}},
		{"caller_silent", "", false, false, "ended", []string{"not heard for a long time"}},
		{"no_consent", "", false, false, "ended", []string{"did not agree"}},
		{"record_lost", "", true, false, "failed", []string{"could not be recorded", "Press Talk"}},
		{"limit", "", true, true, "failed", []string{"reached your limit of calls", "try again later"}},
		{"a_reason_of_tomorrow", "Something new.", false, false, "failed", []string{"Something new."}},
	}
}

func (e end) test(s stage) {
	s.Click("#talk")
	c := s.accept()
	if !e.beforeReady {
		c.ready()
		s.WaitFor(`document.body.dataset.state === "live"`)
	}
	if e.fatal {
		c.send(event{"type": "error", "code": e.reason, "message": e.message, "fatal": true})
	}
	c.bye(e.reason, e.message, 4000)
	s.showsNotice(e.state, e.texts...)
	c.gone()
	var closed string
	if s.Eval(`voicegw.stats().closed`, &closed); closed != e.reason {
		s.t.Errorf("closed because of %q, want %q", closed, e.reason)
	}
}

// A browser has no way to occupy a microphone from outside, so what the system answers then is put
// in its mouth.
func microphoneInUse(t *testing.T, s stage) {
	s.Eval(`(navigator.mediaDevices.getUserMedia = async () => {
		throw new DOMException("", "NotReadableError");
	}, 0)`, nil)
	s.Click("#talk")
	s.showsNotice("failed", "The microphone is in use", "Close the other program")
	s.NoErrors()
}

func insecureContext(t *testing.T, s stage) {
	s.Eval(`(Object.defineProperty(globalThis, "isSecureContext", {value: false}), 0)`, nil)
	s.Click("#talk")
	s.showsNotice("failed", "not loaded securely", "localhost", "https")
	s.NoErrors()
}

func serverGoneBefore(t *testing.T, s stage) {
	s.stop()
	s.Click("#talk")
	s.showsNotice("failed", "The gateway cannot be reached.", "Check that it is running")
}

func serverGoneDuring(t *testing.T, s stage) {
	c := s.talk()
	c.send(event{"type": "turn", "state": "start", "generation": 1})
	c.play(syllables(c.rate(), 3000, 1))
	c.next("ack")
	s.stop()
	s.showsNotice("failed", "The connection to the gateway was lost.", "Check that it is still running")
	s.WaitFor(`document.body.dataset.speaking === "nobody"`)
}

func busyBeforeUpgrade(t *testing.T, s stage) {
	s.refuseWith(http.StatusServiceUnavailable)
	s.Click("#talk")
	s.showsNotice("failed", "All lines are busy.", "Wait a moment")
}

func refusedBeforeUpgrade(t *testing.T, s stage) {
	s.refuseWith(http.StatusForbidden)
	s.Click("#talk")
	s.showsNotice("failed", "The gateway refused this page.", "allowed in its configuration")
}

func garbageFromServer(t *testing.T, s stage) {
	c := s.talk()
	c.write(1, []byte(`no json`))
	c.write(2, []byte{1, 2, 3})
	c.send(event{"type": "turn", "state": "sideways", "generation": 1}, event{"type": "weather", "sky": "blue"},
		event{"type": "net_graph", "svg": "<not svg"}, event{"type": "toString"},
		event{"type": "transcript", "who": "model", "text": `<img src=x onerror="window.injected=true">`, "generation": 1})
	s.WaitFor(`document.querySelector("#transcript").textContent.includes("<img src=x")`)
	var stats struct{ UnknownEvents, BadEvents int }
	s.Eval(`voicegw.stats()`, &stats)
	if stats.BadEvents != 3 || stats.UnknownEvents != 2 {
		t.Errorf("stats %+v, want 3 bad and 2 unknown events", stats)
	}
	var injected bool
	if s.Eval(`window.injected === true`, &injected); injected {
		t.Error("text of the server was run")
	}
	if s.Eval(`document.querySelector("#net").hidden`, &injected); !injected {
		t.Error("a drawing that cannot be read is shown")
	}
	s.NoErrors()
}

func microphoneDisconnected(t *testing.T, s stage) {
	s.Eval(`(() => { const get = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
		navigator.mediaDevices.getUserMedia = async (c) => window.stream = await get(c); })()`, nil)
	c := s.talk()
	s.Eval(`window.stream.getAudioTracks()[0].dispatchEvent(new Event("ended"))`, nil)
	if e := c.next("mute"); e["on"] != true {
		t.Errorf("the page said %v", e)
	}
	s.showsNotice("live", "The microphone was disconnected.", "Connect it again")
	s.Eval(`voicegw.client.setMicrophone("")`, nil)
	if e := c.next("mute"); e["on"] != false {
		t.Errorf("with another microphone the page said %v", e)
	}
	s.NoErrors()
}

func hangUpWhileConnecting(t *testing.T, s stage) {
	s.Click("#talk")
	c := s.accept()
	s.Click("#talk")
	c.next("bye")
	c.bye("caller_hung_up", "The caller hung up.", 1000)
	s.WaitFor(`document.body.dataset.state === "ended"`)
	c.gone()
	s.NoErrors()
}

package mediastream_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/live/sim"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/mediastream"
	"github.com/voicegw/voicegw/transport/phone/phonetest"
)

// read waits until the model was sent a text that holds these words, and returns all texts.
func (w *world) read(words string) (all string) {
	w.t.Helper()
	w.eventually("the model reads "+words, func() bool {
		all = ""
		for _, c := range w.model.Connections() {
			for _, text := range c.Texts {
				all += text.Text + "\n"
			}
		}
		return strings.Contains(all, words)
	})
	return all
}

// TestKeysReachTheModel as a text, when # ends them or nothing more is pressed; those of protected
// input reach the integrator's code alone.
func TestKeysReachTheModel(t *testing.T) {
	for _, dialect := range []string{phonetest.Twilio, phonetest.Telnyx, phonetest.Plivo, phonetest.Exotel} {
		t.Run("dialect "+dialect, func(t *testing.T) {
			t.Parallel()
			var running atomic.Pointer[voicegw.Session]
			var entered atomic.Pointer[string]
			hooks := voicegw.Hooks{Running: running.Store,
				Digits: func(_ *voicegw.Session, digits string) { entered.Store(&digits) }}
			inBubble(t, plan{gw: voicegw.Config{Hooks: hooks}}, func(w *world) {
				p := w.call(phonetest.Config{Dialect: dialect})
				w.eventually("the call stands", func() bool { return running.Load() != nil })
				session := running.Load()
				press := func(keys string) {
					for _, k := range strings.Split(keys, "") {
						p.Press(k)
					}
				}
				press("42#")
				w.read("pressed 42")
				press("0815")
				w.read("pressed 0815")
				if err := session.Protect(true); err != nil {
					t.Fatal(err)
				}
				press("5105#")
				w.eventually("the integrator's code gets the keys", func() bool { return entered.Load() != nil })
				if got := *entered.Load(); strings.TrimSuffix(got, "#") != "5105" {
					t.Errorf("the integrator's code got %q", got)
				}
				if err := session.Protect(false); err != nil {
					t.Fatal(err)
				}
				press("7#")
				if all := w.read("pressed 7"); strings.Contains(all, "5105") {
					t.Errorf("the model read %q", all)
				}
			})
		})
	}
}

// posted posts a webhook of Twilio's and returns the TwiML.
func posted(t *testing.T, address string) string {
	t.Helper()
	resp, err := http.PostForm(address, url.Values{"CallSid": {"CA7"}, "From": {"+4930123"}, "To": {"+4930456"}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	defer http.DefaultClient.CloseIdleConnections()
	b, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s %v", address, resp.Status, err)
	}
	return string(b)
}

// handingOff is a plan in which the model has the caller transferred when it has heard something.
func handingOff(t *testing.T, to string) plan {
	t.Helper()
	script, err := sim.ParseScenario("a story", "on turn 1: call transfer {}")
	if err != nil {
		t.Fatal(err)
	}
	tool := voicegw.Tool{Name: "transfer", Description: "has somebody else take the call",
		Call: func(ctx context.Context, _ json.RawMessage) (json.RawMessage, error) {
			s, _ := voicegw.SessionOf(ctx)
			return nil, s.HandOff(to)
		}}
	return plan{model: sim.Config{Scenario: script}, gw: voicegw.Config{Tools: []voicegw.Tool{tool}},
		endpoint: mediastream.Config{Targets: map[string]string{"sales": "+493099"}}}
}

// TestHandOff is a whole call as Twilio has it: the webhook leads to the stream; the caller speaks;
// the model calls a function of the gateway's, which hands the call off; <Connect> is over, and
// Twilio is told whom to dial. A call that is handed to nobody the endpoint can dial ends.
func TestHandOff(t *testing.T) {
	for to, want := range map[string]string{
		"sales":       "<Dial><Number>+493099</Number></Dial>",
		"+4930456789": "<Dial><Number>+4930456789</Number></Dial>",
		"ask for Ann": "<Hangup/>",
	} {
		t.Run(to, func(t *testing.T) {
			t.Parallel()
			w := onLoopback(t, handingOff(t, to))
			hooks := strings.Replace(w.url, "ws", "http", 1)
			twiml := posted(t, hooks+"/voice")
			urls := regexp.MustCompile(`<Connect action="([^"]+)"><Stream url="([^"]+)">`).FindStringSubmatch(twiml)
			if urls == nil || urls[1] != hooks+"/after" {
				t.Fatalf("the webhook was answered by %s", twiml)
			}
			w.url = urls[2]
			p := w.call(phonetest.Config{Call: "CA7", Params: map[string]string{"from": "+4930123"}})
			p.Say(speech("hello", 8000))
			<-p.Done()
			if code, _ := p.End(); want != "<Hangup/>" && code != transport.ReasonTransferred.Code() {
				t.Errorf("the stream was closed with %d", code)
			}
			if got := posted(t, urls[1]); !strings.Contains(got, want) {
				t.Errorf("behind the stream Twilio is told %s, want %s", got, want)
			}
			if got := w.tap.hello(); got.From != "+4930123" {
				t.Errorf("the caller is %q", got.From)
			}
		})
	}
}

package rtc_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/audio/audiotest"
	"github.com/voicegw/voicegw/internal/browsertest"
	"github.com/voicegw/voicegw/live/sim"
	"github.com/voicegw/voicegw/transport/rtc"
)

// rewriting lets the answers of a door go through f, as if it were somewhere else.
func rewriting(door http.Handler, f func(answer string) string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rec := httptest.NewRecorder()
		door.ServeHTTP(rec, r)
		for key, values := range rec.Header() {
			w.Header()[key] = values
		}
		w.Header().Del("Content-Length")
		w.WriteHeader(rec.Code)
		_, _ = w.Write([]byte(f(rec.Body.String())))
	})
}

// calling makes a call from a browser that says something after a while, and returns when it stands.
func calling(t *testing.T, url string, after time.Duration) *browsertest.Tab {
	t.Helper()
	wav := microphone(t, quiet(int(after.Milliseconds())), speech("hello"), quiet(60000))
	tab := browsertest.Launch(t, browsertest.Config{Microphone: wav}).Open(t, url)
	tab.WaitFor(`window.loaded`)
	tab.Click("#talk")
	tab.WaitFor(`window.took || window.failed`)
	var code string
	tab.Eval(`window.failed ?? ""`, &code)
	if code != "" {
		t.Fatalf("there was no call: %s", code)
	}
	return tab
}

// TestChromiumOnBadNetworks hears the gateway over networks that lose, delay and shuffle packets. What it says is
// understood: its loudness over time is that of what was said, from beginning to end, and most of its pieces sound as
// they should. Where packets come late the browser stretches time, so that not all pieces can be laid over it. A busy
// machine may keep the browser from playing; then it calls again.
func TestChromiumOnBadNetworks(t *testing.T) {
	const calls = 3
	for name, network := range map[string]struct {
		down   weather
		pieces float64
	}{
		"good":                  {weather{}, 0.8},
		"lost and shuffled":     {weather{loss: 0.05, jitter: 40 * time.Millisecond}, 0.5},
		"far away and shuffled": {weather{delay: 150 * time.Millisecond, jitter: 60 * time.Millisecond}, 0.5},
	} {
		t.Run(name, func(t *testing.T) {
			for n := 1; ; n++ {
				err := heardThrough(t, network.down, network.pieces)
				if err == nil {
					break
				}
				if n == calls {
					t.Fatal(err)
				}
				t.Logf("once more, because %v", err)
			}
		})
	}
}

// heardThrough is a call on a network that is bad on the way down.
func heardThrough(t *testing.T, down weather, want float64) error {
	t.Helper()
	said := speech("long")
	w := newWorld(t, sim.Config{FixedReply: resampled(said, 24000)}, voicegw.Config{}, rtc.Config{Codecs: []rtc.Codec{}})
	n := newProxy(t, w, nil)
	tab := calling(t, webPageOf(t, rewriting(w.door, n.through)), 4*time.Second)
	n.worsen(weather{}, down)
	tab.WaitFor(`turns.some((turn) => turn.state === "end")`)
	tab.Eval(`new Promise((done) => setTimeout(() => done(0), 1000))`, nil)
	heard := pageHeard(t, tab)
	tab.NoErrors()
	n.mu.Lock()
	lost := n.lost
	n.mu.Unlock()
	if (down.loss > 0) != (lost > 10) {
		t.Errorf("%d packets were lost", lost)
	}
	loud, alike := pieces(said, heard)
	whole := audio.PCM{RateHz: 16000, Samples: heard[max(0, audiotest.FirstLoud(heard, 16000)-1600):]}
	corr, lag := audiotest.EnvelopeCorrelation(audio.PCM{RateHz: 16000, Samples: said}, whole)
	t.Logf("%d pieces of %d were heard, loudness %.3f alike, %v later; %d packets were lost", alike, loud, corr, lag,
		lost)
	if float64(alike) < want*float64(loud) || corr < 0.75 {
		return fmt.Errorf("of %d pieces %d were heard, want %.0f %%, and the loudness is %.3f alike, want 0.75", loud, alike,
			100*want, corr)
	}
	return nil
}

// clickMax is what a test allows from the click to the first sound on a machine that does other things too.
const clickMax = 3 * time.Second

// TestClickToSound measures how long it takes from the click on the page of package web until packets with sound go
// both ways, on the wire: for the first call of a browser, which starts its audio then, and for later ones. On a busy
// machine each may take long; one of them must not.
func TestClickToSound(t *testing.T) {
	w := newWorld(t, sim.Config{}, voicegw.Config{}, rtc.Config{Codecs: []rtc.Codec{}})
	n := newProxy(t, w, nil)
	url := strings.TrimSuffix(webPageOf(t, rewriting(w.door, n.through)), "webrtc.html")
	tab := browsertest.Launch(t, browsertest.Config{Microphone: microphone(t, quiet(60000))}).Open(t, url)
	tab.WaitFor(`window.voicegw`)
	overWebRTC(tab)
	tab.Eval(`document.querySelector("#talk").addEventListener("click", () => {
		window.clicked = performance.timeOrigin + performance.now();
	}, true)`, nil)
	best := time.Hour
	for call := range 3 {
		n.forget()
		tab.Click("#talk")
		w.eventually("sound both ways", func() bool {
			up, down := n.sound()
			return !up.IsZero() && !down.IsZero()
		})
		var ms float64
		tab.Eval(`clicked`, &ms)
		click := time.UnixMicro(int64(ms * 1000))
		up, down := n.sound()
		t.Logf("call %d: from the click to the first packet with sound: %v up, %v down", call+1,
			up.Sub(click).Round(time.Millisecond), down.Sub(click).Round(time.Millisecond))
		if up.Before(click) || down.Before(click) {
			t.Errorf("call %d: there was sound before the click", call+1)
		}
		best = min(best, max(up.Sub(click), down.Sub(click)))
		tab.WaitFor(`document.body.dataset.state === "live"`)
		tab.Click("#talk")
		tab.WaitFor(`document.body.dataset.state === "ended"`)
	}
	if best > clickMax {
		t.Errorf("the best of three calls had sound both ways %v after the click, want %v", best, clickMax)
	}
	tab.NoErrors()
}

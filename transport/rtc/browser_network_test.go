package rtc_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
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

// rewriting lets the answers of an endpoint go through f, as if it were somewhere else.
func rewriting(endpoint http.Handler, f func(answer string) string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rec := httptest.NewRecorder()
		endpoint.ServeHTTP(rec, r)
		for key, values := range rec.Header() {
			w.Header()[key] = values
		}
		w.Header().Del("Content-Length")
		w.WriteHeader(rec.Code)
		_, _ = w.Write([]byte(f(rec.Body.String())))
	})
}

// calling makes a call from a page that speaks when it is told to, and returns when the call stands.
func calling(t *testing.T, url string) *browsertest.Tab {
	t.Helper()
	tab := shared.Browser(t).Open(t, url+ownMicrophone)
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

// TestChromiumOnBadNetworks hears the gateway over networks that lose, delay and shuffle packets.
// What it says is understood: most of its pieces sound as they should, and its loudness rises and
// falls as that of what was said, stretch by stretch. Where packets come late the browser stretches
// time, so that not all pieces can be laid over it, and no long stretch can. A busy machine may keep the browser from
// playing, so the calls come one after the other and beside no other test, and one that was not
// understood is made again.
func TestChromiumOnBadNetworks(t *testing.T) {
	const calls = 5
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
	tab := calling(t, webPageOf(t, rewriting(w.endpoint, n.through)))
	n.worsen(weather{}, down)
	tab.Eval(`speak("hello")`, nil)
	tab.WaitFor(`turns.some((turn) => turn.state === "start")`)
	tab.WaitFor(`turns.some((turn) => turn.state === "end")`)
	tab.Eval(`new Promise((done) => setTimeout(() => done(0), 1000))`, nil)
	heard := pageHeard(t, tab)
	tab.NoErrors()
	n.mu.Lock()
	lost := n.lost
	n.mu.Unlock()
	if (down.loss > 0) != (lost > 10) {
		return fmt.Errorf("%d packets were lost", lost)
	}
	alike, loud := audiotest.Pieces(said, heard, 16000)
	followed, stretches := stretchesHeard(said, heard[max(0, audiotest.FirstLoud(heard, 16000)-1600):])
	t.Logf("%d pieces of %d were heard, %d stretches of %d; %d packets were lost", alike, loud, followed, stretches, lost)
	if float64(alike) < want*float64(loud) || 4*followed < 3*stretches {
		return fmt.Errorf("of %d pieces %d were heard, want %.0f %%, and of %d stretches %d, want 75 %%", loud, alike,
			100*want, stretches, followed)
	}
	return nil
}

// stretchesHeard counts the seconds of what was said, and those of them whose loudness was heard at
// about their time: at most half a second before the time that the last one lets expect, and at most
// a second and a half after it.
func stretchesHeard(said, heard []int16) (followed, stretches int) {
	const second = 16000
	shift := 0 // of the last stretch heard
	for at := 0; at+second <= len(said); at += second {
		stretches++
		from := at + shift - second/2
		to := min(from+second+3*second/2, len(heard))
		if from = max(0, from); to-from < second {
			continue
		}
		corr, lag := audiotest.EnvelopeCorrelation(audio.PCM{RateHz: second, Samples: said[at : at+second]},
			audio.PCM{RateHz: second, Samples: heard[from:to]})
		if corr >= 0.75 {
			followed++
			shift = from + int(lag*second/time.Second) - at
		}
	}
	return followed, stretches
}

// TestStretchesHeard: sound that comes in pieces is followed; other speech, the wrong order and half
// of it are not.
func TestStretchesHeard(t *testing.T) {
	said := speech("long")
	lead := make([]int16, 1600)
	var torn []int16
	for at := 0; at < len(said); at += 48000 {
		torn = append(append(torn, said[at:min(at+48000, len(said))]...), make([]int16, 3200)...)
	}
	half := len(said) / 2
	for name, tt := range map[string]struct {
		heard []int16
		want  bool
	}{
		"whole":        {said, true},
		"torn":         {torn, true},
		"half":         {slices.Concat(said[:half], make([]int16, half)), false},
		"wrong order":  {slices.Concat(said[half:], said[:half]), false},
		"other speech": {slices.Repeat(speech("question"), 4), false},
		"silence":      {make([]int16, len(said)), false},
	} {
		followed, stretches := stretchesHeard(said, slices.Concat(lead, tt.heard, lead))
		t.Logf("%s: %d of %d", name, followed, stretches)
		if (4*followed >= 3*stretches) != tt.want {
			t.Errorf("%s: %d stretches of %d were heard", name, followed, stretches)
		}
	}
}

// clickMax is what a test allows from the click to the first sound on a machine that does other
// things too.
const clickMax = 3 * time.Second

// TestClickToSound measures how long it takes from the click on the page of package web until
// packets with sound go both ways, on the wire: for the first call of a browser, which starts its
// audio then, and for later ones. On a busy machine each may take long; one of them must not. So it
// is the first test of the shared browser, and has the machine to itself.
func TestClickToSound(t *testing.T) {
	w := newWorld(t, sim.Config{}, voicegw.Config{}, rtc.Config{Codecs: []rtc.Codec{}})
	n := newProxy(t, w, nil)
	url := strings.TrimSuffix(webPageOf(t, rewriting(w.endpoint, n.through)), "webrtc.html")
	tab := shared.Browser(t).Open(t, url)
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

package webtest_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/audio/audiotest"
	"github.com/voicegw/voicegw/internal/browsertest"
	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/live/sim"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/voicenets"
	"github.com/voicegw/voicegw/web"
)

// served is a gateway with its page, before an embedded model, as `voicegw serve` makes it.
func served(t *testing.T) (url string, model *sim.Server) {
	t.Helper()
	model, err := sim.New(sim.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if err := model.Start("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	gw, err := voicegw.New(voicegw.Config{Dialer: live.Wire{BaseURL: model.URL()}, ShowNet: true,
		Model: transport.Model{Name: sim.ModelName, Embedded: true},
		Net:   voicenets.Config{FrameGap: 2 * time.Second}}) // a browser that stalls on a busy machine says one thing
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/", web.Handler(web.Config{}))
	mux.Handle("/v1/voice", gw)
	server := httptest.NewServer(mux)
	t.Cleanup(func() {
		_ = gw.Close()
		server.Close()
		_ = model.Close()
	})
	return server.URL, model
}

// speech is an utterance at a rate.
func speech(name string, rateHz int) []int16 {
	return audiotest.Resample(audiotest.Speech(name), rateHz).Samples
}

// spoken is a microphone's WAV: a second of silence, then utterances with silence behind each.
func spoken(gap time.Duration, names ...string) []int16 {
	out := make([]int16, 48000)
	for _, n := range names {
		out = append(out, speech(n, 48000)...)
		out = append(out, make([]int16, 48000*int(gap/time.Millisecond)/1000)...)
	}
	return out
}

// played is what the page's playout really put out.
func played(t *testing.T, tab *browsertest.Tab) audio.PCM {
	t.Helper()
	var heard struct {
		Rate   int
		Base64 string
	}
	tab.Eval(`voicegw.heard()`, &heard)
	data, err := base64.StdEncoding.DecodeString(heard.Base64)
	if err != nil {
		t.Fatal(err)
	}
	return audio.PCM{RateHz: heard.Rate, Samples: audio.AppendSamples(nil, data)}
}

// TestPageHearsItsOwnWords talks in a real browser: the page's speaker gives back what its
// microphone said.
//
// It is tried again where a busy machine made the browser stumble.
func TestPageHearsItsOwnWords(t *testing.T) {
	url, _ := served(t)
	said := spoken(8*time.Second, "question")
	for try := 1; ; try++ {
		browser := browsertest.Launch(t, browsertest.Config{Microphone: browsertest.WriteWAV(t, 48000, said)})
		tab := browser.Open(t, url+"/?raw=1&tap=1")
		tab.WaitFor(`window.voicegw`)
		tab.Click("#talk")
		tab.WaitFor(`document.querySelector("#reason").textContent.startsWith("Finished")`)
		tab.WaitFor(`document.querySelectorAll("#net [data-place]").length > 20`)
		heard := played(t, tab)
		heard.Samples = heard.Samples[max(0, audiotest.FirstLoud(heard.Samples, heard.RateHz)-heard.RateHz/2):]
		corr, _ := audiotest.EnvelopeCorrelation(audiotest.Speech("question"), heard)
		other, _ := audiotest.EnvelopeCorrelation(audiotest.Speech("german"), heard)
		t.Logf("envelope correlation %.3f, %d s heard at %d Hz", corr, len(heard.Samples)/heard.RateHz, heard.RateHz)
		if corr >= 0.9 && other <= 0.8 {
			tab.NoErrors()
			return
		}
		if try == tries {
			t.Fatalf("what the page played is like what was said by %.3f, want 0.9, and like another utterance by %.3f", corr,
				other)
		}
	}
}

// tries is how often a real browser may try on a busy machine.
const tries = 4

// TestPageBargeIn talks over the reply in a real browser.
func TestPageBargeIn(t *testing.T) {
	url, model := served(t)
	for try := 1; ; try++ {
		err := talkOver(t, url)
		if err == nil {
			break
		}
		t.Log(err)
		if try == tries {
			t.FailNow()
		}
	}
	heard := 0
	for _, c := range model.Connections() {
		heard = max(heard, len(c.Turns))
	}
	if heard < 2 {
		t.Errorf("the model heard %d turns, want 2", heard)
	}
}

// talkOver makes one such call.
func talkOver(t *testing.T, url string) error {
	t.Helper()
	// The reply to eight seconds begins about 9.5 s into the WAV; three seconds into it the caller
	// speaks again.
	said := spoken(4*time.Second, "long", "over")
	browser := browsertest.Launch(t, browsertest.Config{Microphone: browsertest.WriteWAV(t, 48000, said), Desktop: true})
	tab := browser.Open(t, url+"/?raw=1&tap=1")
	tab.WaitFor(`window.voicegw`)
	tab.Click("#talk")
	tab.WaitFor(`voicegw.log.some((e) => e.type === "turn" && e.state === "end" && e.reason === "interrupted")`)
	tab.WaitFor(`document.querySelector("#reason").textContent.includes("interrupted")`)
	tab.WaitFor(`voicegw.log.filter((e) => e.type === "turn" && e.state === "end").length > 1`)
	heard := played(t, tab)
	reply := audiotest.Resample(audiotest.Speech("long"), heard.RateHz).Samples
	rest := reply[6*heard.RateHz:]
	if _, corr := audiotest.Align(rest, heard.Samples); corr > 0.2 {
		return fmt.Errorf("the rest of the reply was heard by %.2f after the interruption, want below 0.2", corr)
	}
	if corr := best(reply[heard.RateHz/2:5*heard.RateHz/2], heard); corr < 0.7 {
		return fmt.Errorf("no half second of the beginning of the reply was heard by more than %.2f, want 0.7", corr)
	}
	tab.NoErrors()
	return nil
}

// best is how well the best half second of a reference is heard: a busy machine makes a browser
// stumble.
func best(ref []int16, heard audio.PCM) float64 {
	most := 0.0
	for half := heard.RateHz / 2; len(ref) >= half; ref = ref[half:] {
		_, corr := audiotest.Align(ref[:half], heard.Samples)
		most = max(most, corr)
	}
	return most
}

package voicegw_test

import (
	"encoding/base64"
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
	"github.com/voicegw/voicegw/web"
)

// served is a gateway with its page, before an embedded model, as `voicegw
// serve` makes it.
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
		Model: transport.Model{Name: sim.ModelName, Embedded: true}})
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

// spoken is a microphone's WAV: a second of silence, then utterances with
// silence behind each.
func spoken(gap time.Duration, names ...string) []int16 {
	out := make([]int16, 48000)
	for _, n := range names {
		out = append(out, audiotest.Resample(audiotest.Speech(n), 48000).Samples...)
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

// TestPageHearsItsOwnWords talks in a real browser: the page's speaker gives
// back what its microphone said.
func TestPageHearsItsOwnWords(t *testing.T) {
	t.Parallel()
	url, _ := served(t)
	said := spoken(8*time.Second, "question")
	browser := browsertest.Launch(t, browsertest.Config{Microphone: browsertest.WriteWAV(t, 48000, said)})
	tab := browser.Open(t, url+"/?raw=1&tap=1")
	tab.WaitFor(`window.voicegw`)
	tab.Click("#talk")
	tab.WaitFor(`document.querySelector("#reason").textContent.startsWith("Finished")`)
	tab.WaitFor(`document.querySelectorAll("#net [data-place]").length > 20 || document.querySelector("[data-place]")`)
	heard := played(t, tab)
	heard.Samples = heard.Samples[max(0, audiotest.FirstLoud(heard.Samples, heard.RateHz)-heard.RateHz/2):]
	corr, _ := audiotest.EnvelopeCorrelation(audiotest.Speech("question"), heard)
	t.Logf("envelope correlation %.3f, %d s heard at %d Hz", corr, len(heard.Samples)/heard.RateHz, heard.RateHz)
	if corr < 0.9 {
		t.Errorf("what the page played is like what was said by %.3f, want 0.9", corr)
	}
	other, _ := audiotest.EnvelopeCorrelation(audiotest.Speech("german"), heard)
	if other > 0.8 {
		t.Errorf("another utterance is as like: %.3f", other)
	}
	tab.NoErrors()
}

// TestPageBargeIn talks over the reply in a real browser.
func TestPageBargeIn(t *testing.T) {
	t.Parallel()
	url, model := served(t)
	// The reply to eight seconds begins about 9.5 s into the WAV; three seconds
	// into it the caller speaks again.
	said := spoken(4*time.Second, "long", "over")
	browser := browsertest.Launch(t, browsertest.Config{Microphone: browsertest.WriteWAV(t, 48000, said)})
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
		t.Errorf("the rest of the reply was heard by %.2f after the interruption, want below 0.2", corr)
	}
	if _, corr := audiotest.Align(reply[heard.RateHz:2*heard.RateHz], heard.Samples); corr < 0.7 {
		t.Errorf("the beginning of the reply was heard by %.2f, want 0.7", corr)
	}
	if n := len(model.Connections()[0].Turns); n < 2 {
		t.Errorf("the model heard %d turns, want 2", n)
	}
	tab.NoErrors()
}

package browsertest_test

import (
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/voicegw/voicegw/internal/browsertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// page serves one HTML page that logs nothing by itself.
func page(t *testing.T, body string) string {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<!doctype html><link rel=icon href=data:,><body>" + body))
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

func tone(rateHz, ms int) []int16 {
	pcm := make([]int16, rateHz*ms/1000)
	for i := range pcm {
		pcm[i] = int16(16384 * math.Sin(2*math.Pi*440*float64(i)/float64(rateHz)))
	}
	return pcm
}

const loudness = `(async () => {
	const audio = {autoGainControl: false, noiseSuppression: false, echoCancellation: false};
	const stream = await navigator.mediaDevices.getUserMedia({audio});
	const ctx = new AudioContext();
	const meter = new AnalyserNode(ctx, {fftSize: 2048});
	new MediaStreamAudioSourceNode(ctx, {mediaStream: stream}).connect(meter).connect(ctx.destination);
	const pcm = new Float32Array(2048);
	for (;;) {
		await new Promise(requestAnimationFrame);
		meter.getFloatTimeDomainData(pcm);
		const rms = Math.sqrt(pcm.reduce((sum, v) => sum + v * v, 0) / pcm.length);
		if (rms > 0.3) return rms;
	}
})()`

func TestMicrophoneIsTheWAV(t *testing.T) {
	wav := browsertest.WriteWAV(t, 48000, tone(48000, 3000))
	for _, desktop := range []bool{true, false} {
		browser := browsertest.Launch(t, browsertest.Config{Microphone: wav, LoopMicrophone: true, Desktop: desktop})
		tab := browser.Open(t, page(t, "hello"))
		var rms float64
		tab.Eval(loudness, &rms)
		if rms < 0.3 || rms > 0.4 { // a sine of peak 0.5 has 0.354
			t.Errorf("microphone has RMS %.3f, want 0.354", rms)
		}
		tab.NoErrors()
	}
}

func TestDeniedMicrophone(t *testing.T) {
	tab := browsertest.Launch(t, browsertest.Config{DenyMicrophone: true}).Open(t, page(t, "hello"))
	var name string
	tab.Eval(`navigator.mediaDevices.getUserMedia({audio: true}).then(() => "granted", (e) => e.name)`, &name)
	if name != "NotAllowedError" {
		t.Errorf("getUserMedia: %s, want NotAllowedError", name)
	}
}

func TestTabStepsAndErrors(t *testing.T) {
	browser := browsertest.Launch(t, browsertest.Config{NoMicrophone: true})
	tab := browser.Open(t, page(t, `<button onclick="this.textContent='clicked'">b</button>
		<input onkeydown="document.title+=event.key">`))
	tab.Click("button")
	tab.WaitFor(`document.querySelector("button").textContent === "clicked"`)
	tab.Click("input")
	tab.Press("a" + browsertest.Enter)
	tab.WaitFor(`document.title === "aEnter"`)
	tab.Resize(390, 700)
	var width int
	tab.Eval("innerWidth", &width)
	if width != 390 {
		t.Errorf("innerWidth %d after resize, want 390", width)
	}
	tab.NoErrors()
	tab.Eval(`console.error("ouch", 7)`, nil)
	tab.Eval(`setTimeout(() => { throw new Error("thrown later") })`, nil)
	tab.Eval(`fetch("http://127.0.0.1:1/").catch(() => 0)`, nil)
	tab.Eval(`new Promise((done) => setTimeout(done))`, nil)
	got := strings.Join(tab.Errors(), "\n")
	for _, want := range []string{"ouch 7", "thrown later", "127.0.0.1:1"} {
		if !strings.Contains(got, want) {
			t.Errorf("errors %q do not contain %q", got, want)
		}
	}
	var name string
	tab.Eval(`navigator.mediaDevices.getUserMedia({audio: true}).then(() => "granted", (e) => e.name)`, &name)
	if name != "NotFoundError" {
		t.Errorf("getUserMedia without a microphone: %s, want NotFoundError", name)
	}
}

func TestMissingChromiumSaysMakeDeps(t *testing.T) {
	for name, cfg := range map[string]browsertest.Config{
		"browser":    {Executable: "/nonexistent/chromium"},
		"microphone": {Microphone: "/nonexistent/hello.wav"},
	} {
		_, err := browsertest.Start(cfg)
		if err == nil {
			t.Errorf("%s: started", name)
			continue
		}
		if name == "browser" && !strings.Contains(err.Error(), "run make deps") {
			t.Errorf("error %q does not say: run make deps", err)
		}
	}
}

package main

import (
	"encoding/base64"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/audio/audiotest"
	"github.com/voicegw/voicegw/internal/browsertest"
)

// picture writes docs/page.png: go test ./cmd/voicegw -run Page -picture
var picture = flag.Bool("picture", false, "write the picture of the page in docs")

// pictureBytesMax keeps the repository small.
const pictureBytesMax = 300_000

// TestPageTalks talks to the embedded model as a person does who has just started `serve`: a
// button, an answer, and the net that moves beside it. The picture has the greeting too.
func TestPageTalks(t *testing.T) {
	const rateHz, silenceSeconds = 48000, 10
	turns, greetingSeconds, env := 1, 1, []string{"VOICEGW_GREETING="}
	if *picture {
		turns, greetingSeconds, env = 2, 7, nil
	}
	voice := audiotest.Resample(audiotest.Speech("question"), rateHz).Samples
	microphone := append(make([]int16, greetingSeconds*rateHz), voice...)
	microphone = append(microphone, make([]int16, silenceSeconds*rateHz)...)
	browser := browsertest.Launch(t, browsertest.Config{Microphone: browsertest.WriteWAV(t, rateHz, microphone),
		Desktop: true})
	s := startServe(t, env)
	tab := browser.Open(t, s.url+"?raw=1")
	tab.Resize(1280, 1000)
	tab.Click("#talk")
	tab.WaitFor(`document.body.dataset.state === "live"`)
	tab.WaitFor(`document.querySelector("#badge").textContent.includes("nothing leaves this machine")`)
	tab.WaitFor(`document.querySelector("#net-drawing [data-place]") !== null`)
	tab.WaitFor(fmt.Sprintf(`voicegw.log.filter((e) => e.type === "turn" && e.state === "start").length >= %d`, turns))
	tab.WaitFor(`document.querySelector("#transcript").innerText.includes("of speech")`)
	tab.WaitFor(`document.querySelector("#net-fired").textContent.length > 1`)
	if *picture {
		name := filepath.Join("..", "..", "docs", "page.png")
		tab.Eval(`new Promise((done) => setTimeout(done, 1500))`, nil) // in the middle of the answer
		tab.Screenshot(name)
		if info, err := os.Stat(name); err != nil || info.Size() > pictureBytesMax {
			t.Errorf("the picture is too large: %v", info.Size())
		}
	}
	tab.Click("#talk")
	tab.WaitFor(`document.body.dataset.state === "ended"`)
	tab.NoErrors()
	s.end()
}

// heardBy is what a page opened with ?tap=1 has played so far, at 16 kHz.
func heardBy(t *testing.T, tab *browsertest.Tab) []int16 {
	t.Helper()
	var tap struct {
		Rate   int
		Base64 string
	}
	tab.Eval(`voicegw.heard()`, &tap)
	data, err := base64.StdEncoding.DecodeString(tap.Base64)
	if err != nil {
		t.Fatal(err)
	}
	pcm := audio.PCM{RateHz: tap.Rate, Samples: audio.AppendSamples(nil, data)}
	return audiotest.Resample(pcm, 16000).Samples
}

// TestPageOverWebRTC talks to `serve` over WebRTC: the page hears the words it said, and typed ones
// are answered too.
func TestPageOverWebRTC(t *testing.T) {
	const rateHz = 48000
	voice := audiotest.Resample(audiotest.Speech("question"), rateHz).Samples
	microphone := append(make([]int16, 2*rateHz), voice...)
	browser := browsertest.Launch(t, browsertest.Config{Microphone: browsertest.WriteWAV(t, rateHz, microphone),
		Desktop: true})
	s := startServe(t, []string{"VOICEGW_GREETING="}, "--endpoints", "webrtc")
	tab := browser.Open(t, s.url+"?raw=1&tap=1")
	tab.WaitFor(`window.voicegw`)
	tab.Eval(`((way) => {
		way.value = "webrtc";
		way.dispatchEvent(new Event("change"));
	})(document.querySelector("#transport"))`, nil)
	tab.Click("#talk")
	tab.WaitFor(`document.querySelector("#connection").textContent === "Connected over WebRTC"`)
	tab.WaitFor(`voicegw.log.some((e) => e.type === "turn" && e.state === "end" && e.reason === "complete")`)
	tab.WaitFor(`voicegw.log.findLast((e) => e.type === "playout")?.playing === false`)
	said := audiotest.Resample(audiotest.Speech("question"), 16000).Samples
	alike, loud := audiotest.Pieces(said, heardBy(t, tab), 16000)
	german := audiotest.Resample(audiotest.Speech("german"), 16000).Samples
	other, others := audiotest.Pieces(german, heardBy(t, tab), 16000)
	t.Logf("%d of %d pieces were heard, and %d of %d of another recording", alike, loud, other, others)
	if loud < 3 || 10*alike < 6*loud || 10*other > 3*others {
		t.Error("that is not what was said")
	}
	var wait struct {
		Measured []int
		Shown    string
	}
	tab.Eval(`({measured: voicegw.stats().firstAudioMs, shown: document.querySelector("#first-audio").textContent})`,
		&wait)
	if len(wait.Measured) != 1 || wait.Measured[0] < 200 || wait.Shown != fmt.Sprintf("%d ms", wait.Measured[0]) {
		t.Errorf("the wait for the answer is %+v", wait)
	}
	types(tab, "Are you there?")
	tab.WaitFor(`voicegw.log.filter((e) => e.type === "turn" && e.state === "start").length === 2`)
	tab.WaitFor(`document.body.dataset.speaking === "model"`)
	if tab.Eval(`voicegw.stats().firstAudioMs`, &wait.Measured); len(wait.Measured) != 1 {
		t.Errorf("after typed words the waits are %v", wait.Measured)
	}
	tab.Click("#talk")
	tab.WaitFor(`document.body.dataset.state === "ended"`)
	var stats struct{ BadEvents, UnknownEvents, FramesReceived int }
	if tab.Eval(`voicegw.stats()`, &stats); stats.BadEvents+stats.UnknownEvents+stats.FramesReceived != 0 {
		t.Errorf("over WebRTC came %+v", stats)
	}
	tab.NoErrors()
	s.end()
}

// types says words with the keyboard.
func types(tab *browsertest.Tab, words string) {
	tab.Click("#text")
	tab.Press(words)
	tab.Press("\r")
}

// fickleModel says how the model of TestPageModes answers what is typed.
const fickleModel = `
speed 20
on text "noon": say 600ms "It is noon."
on text "clock": call get_time {}
on text "twice": say 600ms "Once is enough."
connection 1
on text "break": drop
connection 2-
on text "break": say 600ms "Here I am again."
`

// TestPageModes does on the page what is not talking, before `serve` and a model that loses its
// connection: words are typed, the page answers a tool, the call is on hold, and goes on behind a
// broken connection.
func TestPageModes(t *testing.T) {
	browser := browsertest.Launch(t, browsertest.Config{Microphone: browsertest.WriteWAV(t, 48000, make([]int16, 480))})
	m := start(t, nil, "sim", "--listen", "127.0.0.1:0", "--scenario", writeFile(t, "fickle.txt", []byte(fickleModel)))
	model, ok := strings.CutPrefix(m.line(), "the embedded model is at ")
	if !ok {
		t.Fatal("sim prints no URL")
	}
	tools := writeFile(t, "tools.json", []byte(`[{"name": "get_time", "description": "The time where the caller is."}]`))
	s := startProved(t, []string{"VOICEGW_GREETING="}, "--model-base-url", model, "--session-tools-file", tools)
	tab := browser.Open(t, s.url)
	tab.WaitFor(`window.voicegw`)
	tab.Eval(`(window.shown = [], new MutationObserver(() => shown.push(document.querySelector("#mode").textContent))
		.observe(document.querySelector("#mode"), {childList: true}), 0)`, nil)
	tab.Click("#talk")
	tab.WaitFor(`document.body.dataset.state === "live"`)
	answered := func(typed, answer string) {
		t.Helper()
		types(tab, typed)
		tab.WaitFor(fmt.Sprintf(`[...document.querySelectorAll(".said.model")].some((e) => e.textContent.includes(%q))`,
			answer))
	}
	answered("Is it noon?", "It is noon.")

	answered("What does the clock say?", "timeZone") // the model repeats the output
	tab.WaitFor(`document.querySelector("#transcript .aside").textContent.includes("get_time")`)

	tab.Click("#hold")
	tab.WaitFor(`document.querySelector("#mode").textContent.startsWith("On hold.")`)
	tab.WaitFor(`document.querySelector("#hold").getAttribute("aria-pressed") === "true"`)
	tab.WaitFor(`document.querySelector("#hold").textContent.includes("Resume")`)
	tab.WaitFor(`document.querySelector("#speaking").textContent === "The call is on hold."`)
	tab.Click("#hold")
	tab.WaitFor(`document.querySelector("#mode").hidden`)
	tab.WaitFor(`document.querySelector("#hold").getAttribute("aria-pressed") === "false"`)
	answered("Say it twice.", "Once is enough.")

	answered("Will you break?", "Here I am again.")
	tab.WaitFor(`voicegw.log.filter((e) => e.type === "model").map((e) => e.state).join() === "lost,back"`)
	tab.WaitFor(`shown.includes("Reconnecting to the model. The call goes on.") && shown.at(-1) === ""`)
	tab.WaitFor(`document.body.dataset.state === "live"`)
	var waits []int
	if tab.Eval(`voicegw.stats().firstAudioMs`, &waits); len(waits) > 0 {
		t.Errorf("replies to typed words have waits: %v", waits)
	}
	tab.Click("#talk")
	tab.WaitFor(`document.body.dataset.state === "ended"`)
	tab.NoErrors()
	s.end()
}

// TestPagePushToTalk talks to `serve` with the button: the page shows it, nothing is heard before
// it is pressed, and what is said while it is held is answered.
func TestPagePushToTalk(t *testing.T) {
	const rateHz = 48000
	voice := audiotest.Resample(audiotest.Speech("question"), rateHz).Samples
	browser := browsertest.Launch(t, browsertest.Config{Microphone: browsertest.WriteWAV(t, rateHz, voice),
		LoopMicrophone: true})
	s := startServe(t, []string{"VOICEGW_GREETING="})
	tab := browser.Open(t, s.url+"?raw=1")
	tab.WaitFor(`window.voicegw`)
	tab.Eval(`(document.querySelector("#detection").value = "push", 0)`, nil)
	tab.Click("#talk")
	tab.WaitFor(`document.body.dataset.state === "live"`)
	tab.WaitFor(`!document.querySelector("#push").hidden`)
	tab.WaitFor(`document.querySelector("#speaking").textContent.startsWith("Hold the button")`)
	const saidSome = `voicegw.stats().framesSent > window.before + 150` // more than the whole question
	tab.Eval(`(window.before = voicegw.stats().framesSent, 0)`, nil)
	tab.WaitFor(saidSome)
	var early int
	tab.Eval(`voicegw.log.filter((e) => e.type === "speech" || e.type === "turn").length`, &early)
	if early != 0 {
		t.Errorf("%d events of speech came before the button was pressed", early)
	}
	tab.Eval(`(document.activeElement.blur(), window.before = voicegw.stats().framesSent,
		document.body.dispatchEvent(new KeyboardEvent("keydown", {key: " ", bubbles: true})), 0)`, nil)
	tab.WaitFor(`voicegw.log.some((e) => e.type === "speech" && e.state === "start")`)
	tab.WaitFor(saidSome)
	tab.Eval(`(document.body.dispatchEvent(new KeyboardEvent("keyup", {key: " ", bubbles: true})), 0)`, nil)
	tab.WaitFor(`voicegw.log.some((e) => e.type === "speech" && e.state === "stop")`)
	tab.WaitFor(`voicegw.log.some((e) => e.type === "turn" && e.state === "start")`)
	tab.WaitFor(`voicegw.log.some((e) => e.type === "playout" && e.playing)`)
	tab.NoErrors()
	s.end()
}

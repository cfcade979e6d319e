package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/voicegw/voicegw/audio/audiotest"
	"github.com/voicegw/voicegw/internal/browsertest"
)

// picture writes docs/page.png: go test ./cmd/voicegw -run Page -picture
var picture = flag.Bool("picture", false, "write the picture of the page in docs")

// pictureBytesMax keeps the repository small.
const pictureBytesMax = 300_000

// TestPageTalks talks to the embedded model as a person does who has just started `serve`: a button, an answer, and the
// net that moves beside it. The picture has the greeting too.
func TestPageTalks(t *testing.T) {
	const rateHz, silenceSeconds = 48000, 10
	turns, greetingSeconds, env := 1, 1, []string{"VOICEGW_GREETING="}
	if *picture {
		turns, greetingSeconds, env = 2, 7, nil
	}
	voice := audiotest.Resample(audiotest.Speech("question"), rateHz).Samples
	microphone := append(make([]int16, greetingSeconds*rateHz), voice...)
	microphone = append(microphone, make([]int16, silenceSeconds*rateHz)...)
	browser := browsertest.Launch(t, browsertest.Config{Microphone: browsertest.WriteWAV(t, rateHz, microphone)})
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

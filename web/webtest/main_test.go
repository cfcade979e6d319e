package webtest_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"go.uber.org/goleak"

	"github.com/voicegw/voicegw/internal/browsertest"
)

// parallelDefault is how many tests run at once unless the flag -parallel says otherwise. A test
// with a call needs about half a processor, and most of its time it waits for sound.
const parallelDefault = "4"

// The browsers of all tests: one with a microphone that speaks, one without any microphone.
var (
	withMicrophone    = browsertest.Shared{Config: browsertest.Config{LoopMicrophone: true}}
	withoutMicrophone = browsertest.Shared{Config: browsertest.Config{NoMicrophone: true}}
)

// sharedDir is a folder for what tests share. TestMain makes and removes it.
var sharedDir string

func TestMain(m *testing.M) {
	// genai's dependency starts this one when the program does.
	goleak.VerifyTestMain(run{m}, goleak.IgnoreTopFunction("go.opencensus.io/stats/view.(*worker).start"))
}

// run runs the tests and releases what they share.
type run struct{ m *testing.M }

func (r run) Run() int {
	flag.Parse()
	parallelGiven := false
	flag.Visit(func(f *flag.Flag) { parallelGiven = parallelGiven || f.Name == "test.parallel" })
	var err error
	if !parallelGiven {
		err = flag.Set("test.parallel", parallelDefault)
	}
	if err == nil {
		sharedDir, err = os.MkdirTemp("", "webtest")
	}
	withMicrophone.Config.Microphone = filepath.Join(sharedDir, "microphone.wav")
	if err == nil {
		err = os.WriteFile(withMicrophone.Config.Microphone, browsertest.WAV(micRate, microphone()), 0o600)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "webtest:", err)
		return 1
	}
	defer func() { _ = os.RemoveAll(sharedDir) }()
	defer withoutMicrophone.Close()
	defer withMicrophone.Close()
	return r.m.Run()
}

// micRate is the rate of the WAV that is the microphone.
const micRate = 48000

// microphone is what the browser with a microphone hears, over and over: silence, then syllables.
// It is short, because tests wait for both.
func microphone() []int16 {
	return slices.Concat(silence(micRate, 700), syllables(micRate, 1300, 7))
}

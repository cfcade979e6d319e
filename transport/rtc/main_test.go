package rtc_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"github.com/voicegw/voicegw/internal/browsertest"
)

// parallelDefault is how many tests run at once unless the flag -parallel says otherwise. Tests in
// parallel run in real time: most of it they wait for sound. Tests where time is free want the
// processor instead, so they are not in parallel and come first.
const parallelDefault = "3"

// shared is the browser of most tests. Its microphone is silent; a page with [ownMicrophone] speaks
// all the same.
var shared browsertest.Shared

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
	dir := ""
	if err == nil {
		dir, err = os.MkdirTemp("", "rtc")
	}
	defer func() { _ = os.RemoveAll(dir) }()
	shared.Config.Microphone = filepath.Join(dir, "silence.wav")
	if err == nil {
		err = os.WriteFile(shared.Config.Microphone, browsertest.WAV(48000, make([]int16, 48000)), 0o600)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "rtc:", err)
		return 1
	}
	defer shared.Close()
	return r.m.Run()
}

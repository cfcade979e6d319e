// Package browsertest drives a real Chromium in tests: a [Browser] whose microphone is a WAV file,
// and in it a [Tab] that clicks, types, evaluates and keeps every error its page logged.
//
//	browser := browsertest.Launch(t, browsertest.Config{Microphone: "hello.wav"})
//	tab := browser.Open(t, url)
//	tab.Click("#talk")
//	tab.WaitFor(`document.body.dataset.state === "live"`)
//	tab.NoErrors()
//
// A missing Chromium fails the test and names the command that installs it; it never skips. The
// tests of a package may share a [Browser], see [Shared]; a Tab belongs to one goroutine.
package browsertest

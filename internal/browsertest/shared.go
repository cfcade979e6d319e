package browsertest

import (
	"sync"
	"testing"
)

// Shared is a browser that the tests of a package share: the first test that asks starts it,
// TestMain closes it. Each test opens tabs of its own. Its methods may be called by several
// goroutines.
type Shared struct {
	// Config is the kind of browser. It must not change after the first call of Browser.
	Config Config

	once    sync.Once
	browser *Browser
	err     error
}

// Browser returns the browser. It fails tb when Chromium is missing or does not start.
func (s *Shared) Browser(tb testing.TB) *Browser {
	tb.Helper()
	s.once.Do(func() { s.browser, s.err = Start(s.Config) })
	if s.err != nil {
		tb.Fatal(s.err)
	}
	return s.browser
}

// Close ends the browser if it was started. No test may use it any more.
func (s *Shared) Close() {
	s.once.Do(func() {})
	if s.browser != nil {
		s.browser.Close()
	}
}

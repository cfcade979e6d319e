package browsertest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// launchTimeout bounds how long a browser may take to start, closeTimeout how long to end before it is killed.
const (
	launchTimeout = 60 * time.Second
	closeTimeout  = 5 * time.Second
)

// Browser is a running Chromium. Its methods may be called by several goroutines.
type Browser struct {
	ctx  context.Context // the browser's own: chromedp keeps its connection in it
	stop context.CancelFunc
}

// Launch starts a browser for tb and ends it with tb. It fails tb when Chromium is missing or does not start.
func Launch(tb testing.TB, cfg Config) *Browser {
	tb.Helper()
	b, err := Start(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(b.Close)
	return b
}

// Start starts a browser that the caller ends with Close. Use it where no testing.TB lives long enough, as in TestMain.
func Start(cfg Config) (*Browser, error) {
	path, err := cfg.find()
	if err != nil {
		return nil, err
	}
	options, err := cfg.options(path)
	if err != nil {
		return nil, err
	}
	allocator, stopAllocator := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, cancel := chromedp.NewContext(allocator)
	b := &Browser{ctx: ctx, stop: func() { cancel(); stopAllocator() }}
	watchdog := time.AfterFunc(launchTimeout, b.stop) // a deadline on ctx would end the browser later
	defer watchdog.Stop()
	if err := chromedp.Do(ctx); err != nil {
		b.stop()
		return nil, fmt.Errorf("browsertest: start %s: %w", path, err)
	}
	return b, nil
}

// Close ends the browser and waits until its process is gone. It may be called more than once.
func (b *Browser) Close() {
	ctx, cancel := context.WithTimeout(b.ctx, closeTimeout)
	defer cancel()
	_ = chromedp.Cancel(ctx) // when it does not end by itself, stop kills it
	b.stop()
}

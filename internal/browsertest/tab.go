package browsertest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// stepTimeout bounds each step of a Tab: a wait that is not over by then fails the test.
const stepTimeout = 20 * time.Second

// errorsMax bounds what a Tab keeps of a page that logs without end.
const errorsMax = 100

// Tab is one page of a browser, in a profile of its own (nothing stored, no permission remembered). Its methods fail
// the test it was opened for; use it from the goroutine of that test only.
type Tab struct {
	tb  testing.TB
	ctx context.Context // the tab's own: chromedp keeps its connection in it

	mu     sync.Mutex
	errors []string // guarded by mu; at most errorsMax
}

// Open opens url in a new tab and waits until it has loaded. The tab closes with tb.
func (b *Browser) Open(tb testing.TB, url string) *Tab {
	tb.Helper()
	ctx, cancel := chromedp.NewContext(b.ctx, chromedp.WithNewBrowserContext())
	tb.Cleanup(cancel)
	t := &Tab{tb: tb, ctx: ctx}
	if err := chromedp.Listen(ctx, t.record); err != nil {
		tb.Fatalf("browsertest: open tab: %v", err)
	}
	t.run("go to "+url, chromedp.Navigate(url))
	return t
}

// record keeps what the page logged as an error or a warning, what it threw, and what the browser refused it.
func (t *Tab) record(event any) {
	text := ""
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		if e.Type == "error" || e.Type == "warning" || e.Type == "assert" {
			text = "console." + string(e.Type) + ": " + arguments(e.Args)
		}
	case *runtime.EventExceptionThrown:
		text = thrown(e.ExceptionDetails)
	case *log.EventEntryAdded:
		if e.Entry.Level == "error" || e.Entry.Level == "warning" {
			text = fmt.Sprintf("%s: %s %s", e.Entry.Source, e.Entry.Text, e.Entry.URL)
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if text != "" && len(t.errors) < errorsMax {
		t.errors = append(t.errors, text)
	}
}

func arguments(list []*runtime.RemoteObject) string {
	words := make([]string, 0, len(list))
	for _, a := range list {
		if a.Description != "" {
			words = append(words, a.Description)
		} else {
			words = append(words, strings.Trim(string(a.Value), `"`))
		}
	}
	return strings.Join(words, " ")
}

func thrown(d *runtime.ExceptionDetails) string {
	if d.Exception != nil && d.Exception.Description != "" {
		return d.Text + " " + d.Exception.Description
	}
	return d.Text
}

// Errors are the errors and warnings of the page so far, oldest first.
func (t *Tab) Errors() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]string(nil), t.errors...)
}

// NoErrors fails the test when the page logged an error or a warning.
func (t *Tab) NoErrors() {
	t.tb.Helper()
	for _, e := range t.Errors() {
		t.tb.Errorf("the page logged: %s", e)
	}
}

// Eval evaluates a JavaScript expression, waits for it when it is a promise, and stores its JSON value in out, which
// may be nil.
func (t *Tab) Eval(expression string, out any) {
	t.tb.Helper()
	ctx, cancel := context.WithTimeout(t.ctx, stepTimeout)
	defer cancel()
	wrapped := "(async () => JSON.stringify(await (" + expression + ")) ?? 'null')()"
	text, err := chromedp.Run(ctx, chromedp.Evaluate[string](wrapped, chromedp.EvalAwaitPromise))
	if err != nil {
		t.fatal("evaluate "+expression, err)
	}
	if out == nil {
		return
	}
	if err := json.Unmarshal([]byte(text), out); err != nil {
		t.fatal("decode "+expression, err)
	}
}

// WaitFor waits until a JavaScript expression is truthy.
func (t *Tab) WaitFor(expression string) {
	t.tb.Helper()
	poll := chromedp.Poll[bool]("Boolean("+expression+")", chromedp.WithPollingInterval(10*time.Millisecond),
		chromedp.WithPollingTimeout(stepTimeout))
	ctx, cancel := context.WithTimeout(t.ctx, stepTimeout+time.Second)
	defer cancel()
	if _, err := chromedp.Run(ctx, poll); err != nil {
		t.fatal("wait for "+expression, err)
	}
}

// Click clicks the element of a CSS selector with the mouse, scrolling to it first.
func (t *Tab) Click(selector string) {
	t.tb.Helper()
	t.run("click "+selector, chromedp.Click(chromedp.CSS(selector)))
}

// Press presses keys, each a rune or a constant of chromedp/kb such as [Enter].
func (t *Tab) Press(keys string) {
	t.tb.Helper()
	t.run("press "+keys, chromedp.KeyEvent(keys))
}

// Keys for [Tab.Press].
const (
	Enter  = kb.Enter
	Space  = " "
	TabKey = kb.Tab
)

// Resize gives the page a viewport of width x height CSS pixels.
func (t *Tab) Resize(width, height int) {
	t.tb.Helper()
	t.run("resize", chromedp.EmulateViewport(int64(width), int64(height)))
}

// Screenshot writes what the tab shows now to path, as PNG.
func (t *Tab) Screenshot(path string) {
	t.tb.Helper()
	ctx, cancel := context.WithTimeout(t.ctx, stepTimeout)
	defer cancel()
	png, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err != nil {
		t.fatal("take screenshot", err)
	}
	if err := os.WriteFile(path, png, 0o644); err != nil {
		t.fatal("write screenshot", err)
	}
}

// Context is the tab's context, for steps of chromedp that Tab does not have.
func (t *Tab) Context() context.Context { return t.ctx }

func (t *Tab) run(what string, step chromedp.Action[chromedp.Void]) {
	t.tb.Helper()
	ctx, cancel := context.WithTimeout(t.ctx, stepTimeout)
	defer cancel()
	if err := chromedp.Do(ctx, step); err != nil {
		t.fatal(what, err)
	}
}

func (t *Tab) fatal(what string, err error) {
	t.tb.Helper()
	t.tb.Fatalf("browsertest: %s: %v\nthe page logged: %q", what, err, t.Errors())
}

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
	"unicode"
)

// stepTimeout bounds each step of a Tab: a wait that is not over by then fails the test.
const stepTimeout = 20 * time.Second

// pollPause is between two looks of WaitFor.
const pollPause = 10 * time.Millisecond

// errorsMax bounds what a Tab keeps of a page that logs without end.
const errorsMax = 100

// Tab is one page of a browser, in a profile of its own (nothing stored, no permission remembered).
// Its methods fail the test it was opened for; use it from the goroutine of that test only.
type Tab struct {
	tb      testing.TB
	pipe    *pipe
	session string

	mu     sync.Mutex
	errors []string // guarded by mu; at most errorsMax
}

// Open opens url in a new tab and waits until it has loaded. The tab closes with tb.
func (b *Browser) Open(tb testing.TB, url string) *Tab {
	tb.Helper()
	t := &Tab{tb: tb, pipe: b.pipe}
	var profile struct {
		ID string `json:"browserContextId"`
	}
	var target struct {
		ID string `json:"targetId"`
	}
	var attached struct {
		ID string `json:"sessionId"`
	}
	type params = map[string]any
	t.Command("Target.createBrowserContext", params{"disposeOnDetach": true}, &profile)
	tb.Cleanup(func() {
		b.pipe.listen(t.session, nil)
		ctx, cancel := context.WithTimeout(context.Background(), stepTimeout)
		defer cancel()
		_ = b.pipe.call(ctx, "", "Target.disposeBrowserContext", params{"browserContextId": profile.ID}, nil)
	})
	t.Command("Target.createTarget", params{"url": "about:blank", "browserContextId": profile.ID}, &target)
	t.Command("Target.attachToTarget", params{"targetId": target.ID, "flatten": true}, &attached)
	t.session = attached.ID
	b.pipe.listen(t.session, t.record)
	for _, domain := range []string{"Page", "Runtime", "Log"} {
		t.Command(domain+".enable", nil, nil)
	}
	t.Go(url)
	return t
}

// Command sends a command of the Chrome DevTools Protocol to the tab and stores the answer in
// result, which may be nil.
func (t *Tab) Command(method string, params, result any) {
	t.tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), stepTimeout)
	defer cancel()
	if err := t.pipe.call(ctx, t.session, method, params, result); err != nil {
		t.fatal("ask the browser", err)
	}
}

// Go goes to url and waits until it has loaded.
func (t *Tab) Go(url string) {
	t.tb.Helper()
	var went struct {
		Error string `json:"errorText"`
	}
	t.Command("Page.navigate", map[string]any{"url": url}, &went)
	if went.Error != "" {
		t.fatal("go to "+url, fmt.Errorf("%s", went.Error))
	}
	t.WaitFor(`document.readyState === "complete"`)
}

// remote is a value of the page.
type remote struct {
	Value       json.RawMessage `json:"value"`
	Description string          `json:"description"`
}

// thrown is what the page threw.
type thrown struct {
	Text      string  `json:"text"`
	Exception *remote `json:"exception"`
}

// String is the text and what was thrown.
func (e *thrown) String() string {
	if e.Exception != nil && e.Exception.Description != "" {
		return e.Text + " " + e.Exception.Description
	}
	return e.Text
}

// record keeps what the page logged as an error or a warning, what it threw, and what the browser
// refused it.
func (t *Tab) record(method string, params json.RawMessage) {
	var e struct {
		Type   string   `json:"type"`             // of Runtime.consoleAPICalled
		Args   []remote `json:"args"`             // of the same
		Thrown *thrown  `json:"exceptionDetails"` // of Runtime.exceptionThrown
		Entry  struct {
			Source, Level, Text, URL string
		} `json:"entry"` // of Log.entryAdded
	}
	if json.Unmarshal(params, &e) != nil {
		return
	}
	text := ""
	switch method {
	case "Runtime.consoleAPICalled":
		if e.Type == "error" || e.Type == "warning" || e.Type == "assert" {
			text = "console." + e.Type + ": " + arguments(e.Args)
		}
	case "Runtime.exceptionThrown":
		if e.Thrown != nil {
			text = e.Thrown.String()
		}
	case "Log.entryAdded":
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

func arguments(list []remote) string {
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

// Eval evaluates a JavaScript expression, waits for it when it is a promise, and stores its JSON
// value in out, which may be nil.
func (t *Tab) Eval(expression string, out any) {
	t.tb.Helper()
	text, err := t.evaluate(expression)
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

// evaluate returns the value of an expression as JSON.
func (t *Tab) evaluate(expression string) (text string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), stepTimeout)
	defer cancel()
	var answer struct {
		Result struct {
			Value json.RawMessage `json:"value"` // a string; an object of an error that was thrown
		} `json:"result"`
		Thrown *thrown `json:"exceptionDetails"`
	}
	wrapped := "(async () => JSON.stringify(await (" + expression + ")) ?? 'null')()"
	err = t.pipe.call(ctx, t.session, "Runtime.evaluate",
		map[string]any{"expression": wrapped, "awaitPromise": true, "returnByValue": true}, &answer)
	switch {
	case err != nil:
		return "", err
	case answer.Thrown != nil:
		return "", fmt.Errorf("%s", answer.Thrown)
	}
	err = json.Unmarshal(answer.Result.Value, &text)
	return text, err
}

// WaitFor waits until a JavaScript expression is truthy. One that throws fails the test.
func (t *Tab) WaitFor(expression string) {
	t.tb.Helper()
	for end := time.Now().Add(stepTimeout); ; time.Sleep(pollPause) {
		switch text, err := t.evaluate("Boolean(" + expression + ")"); {
		case err == nil && text == "true":
			return
		case err != nil && !onItsWay(err):
			t.fatal("wait for "+expression, err)
		case time.Now().After(end):
			t.fatal("wait for "+expression, context.DeadlineExceeded)
		}
	}
}

// onItsWay reports whether an evaluation failed because another page came. The texts are Chrome's: its protocol has one
// code for these and many other failures. Tests that load pages pin them.
func onItsWay(err error) bool {
	return strings.Contains(err.Error(), "context was destroyed") || strings.Contains(err.Error(), "target navigated")
}

// Click clicks the element of a CSS selector with the mouse, scrolling to it first. It waits until
// there is one to be seen.
func (t *Tab) Click(selector string) {
	t.tb.Helper()
	quoted, _ := json.Marshal(selector)
	element := "document.querySelector(" + string(quoted) + ")"
	t.WaitFor(element + "?.checkVisibility({visibilityProperty: true})")
	var at struct{ X, Y float64 }
	t.Eval(`((e) => {
		e.scrollIntoView({block: "center", inline: "center", behavior: "instant"});
		const {x, y, width, height} = e.getBoundingClientRect();
		return {x: x + width / 2, y: y + height / 2};
	})(`+element+`)`, &at)
	for _, kind := range []string{"mouseMoved", "mousePressed", "mouseReleased"} {
		mouse := map[string]any{"type": kind, "x": at.X, "y": at.Y}
		if kind != "mouseMoved" {
			mouse["button"], mouse["clickCount"] = "left", 1
		}
		t.Command("Input.dispatchMouseEvent", mouse, nil)
	}
}

// Keys for [Tab.Press] besides characters.
const (
	Enter  = "\r"
	Space  = " "
	TabKey = "\t"
	Escape = "\x1b"
)

// Press presses keys and lets go of them, one after another: characters, and the keys of this
// package.
func (t *Tab) Press(keys string) {
	t.tb.Helper()
	for _, r := range keys {
		name, text := string(r), string(r)
		switch name {
		case Enter:
			name = "Enter"
		case TabKey:
			name, text = "Tab", ""
		case Escape:
			name, text = "Escape", ""
		}
		key := map[string]any{"type": "keyDown", "key": name, "text": text}
		if unicode.IsLetter(r) || unicode.IsDigit(r) || r <= ' ' { // whose codes on Windows are themselves
			key["windowsVirtualKeyCode"] = unicode.ToUpper(r)
		}
		t.Command("Input.dispatchKeyEvent", key, nil)
		key["type"] = "keyUp"
		delete(key, "text")
		t.Command("Input.dispatchKeyEvent", key, nil)
	}
}

// Resize gives the page a viewport of width x height CSS pixels.
func (t *Tab) Resize(width, height int) {
	t.tb.Helper()
	t.Command("Emulation.setDeviceMetricsOverride",
		map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false}, nil)
}

// Screenshot writes what the tab shows now to path, as PNG.
func (t *Tab) Screenshot(path string) {
	t.tb.Helper()
	var shot struct{ Data []byte }
	t.Command("Page.captureScreenshot", nil, &shot)
	if err := os.WriteFile(path, shot.Data, 0o644); err != nil {
		t.fatal("write screenshot", err)
	}
}

func (t *Tab) fatal(what string, err error) {
	t.tb.Helper()
	t.tb.Fatalf("browsertest: %s: %v\nthe page logged: %q", what, err, t.Errors())
}

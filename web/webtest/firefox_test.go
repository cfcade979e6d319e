package webtest_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"
)

const (
	firefoxStartTimeout = 60 * time.Second
	firefoxStepTimeout  = 60 * time.Second // the first one waits for the start
	bidiBytesMax        = 4 << 20          // of one message
)

// firefoxPrefs makes a profile that hears a tone as its microphone without asking, plays into a
// pretended sound card (an AudioContext without any never runs), and reaches nothing but this
// machine: the proxy for the rest is not there.
const firefoxPrefs = `
user_pref("media.navigator.permission.disabled", true);
user_pref("media.navigator.streams.fake", true);
user_pref("media.cubeb.force_mock_context", true);
user_pref("media.autoplay.default", 0);
user_pref("network.proxy.type", 1);
user_pref("network.proxy.http", "127.0.0.1");
user_pref("network.proxy.http_port", 9);
user_pref("network.proxy.ssl", "127.0.0.1");
user_pref("network.proxy.ssl_port", 9);
user_pref("app.update.disabledForTesting", true);
user_pref("datareporting.policy.dataSubmissionEnabled", false);
user_pref("toolkit.telemetry.reportingpolicy.firstRun", false);
user_pref("browser.aboutwelcome.enabled", false);
user_pref("browser.startup.page", 0);
`

// firefox is a running Firefox with one page, driven by WebDriver BiDi (w3.org/TR/webdriver-bidi).
// Its methods run on the goroutine of the test.
type firefox struct {
	t      *testing.T
	conn   *websocket.Conn
	id     int    // of the last command
	page   string // browsing context
	logged []string
}

// launchFirefox starts Debian's Firefox without a window, and ends it with the test.
func launchFirefox(t *testing.T) *firefox {
	t.Helper()
	path, err := exec.LookPath("firefox-esr")
	if err != nil {
		t.Fatal("firefox-esr is not installed: run make deps")
	}
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "user.js"), []byte(firefoxPrefs), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, "--headless", "--no-remote", "--remote-debugging-port", "0", "--profile", home,
		"about:blank")
	cmd.Env = append(os.Environ(), "HOME="+home, "MOZ_CRASHREPORTER_DISABLE=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // with its children
		_ = cmd.Wait()
	})
	f := &firefox{t: t}
	f.connect(listening(t, out))
	return f
}

// listening waits for the address that Firefox prints, and goes on reading what else it says.
func listening(t *testing.T, out io.Reader) string {
	t.Helper()
	address := make(chan string, 1)
	go func() {
		defer close(address)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if _, url, ok := strings.Cut(lines.Text(), "WebDriver BiDi listening on "); ok {
				address <- url
			}
		}
	}()
	select {
	case url, ok := <-address:
		if !ok {
			t.Fatal("firefox-esr ended before it listened")
		}
		return url
	case <-time.After(firefoxStartTimeout):
		t.Fatal("firefox-esr did not listen")
	}
	return ""
}

func (f *firefox) connect(url string) {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), firefoxStartTimeout)
	defer cancel()
	conn, _, err := websocket.Dial(ctx, url+"/session", nil)
	if err != nil {
		f.t.Fatal(err)
	}
	conn.SetReadLimit(bidiBytesMax)
	f.conn = conn
	f.t.Cleanup(func() { _ = conn.CloseNow() })
	f.do("session.new", map[string]any{"capabilities": map[string]any{}}, nil)
	f.do("session.subscribe", map[string]any{"events": []string{"log.entryAdded"}}, nil)
	var tree struct{ Contexts []struct{ Context string } }
	f.do("browsingContext.getTree", map[string]any{}, &tree)
	f.page = tree.Contexts[0].Context
}

// do runs a command and stores its result in out, which may be nil.
func (f *firefox) do(method string, params map[string]any, out any) {
	f.t.Helper()
	if err := f.try(method, params, out); err != nil {
		f.t.Fatalf("firefox: %s: %v", method, err)
	}
}

func (f *firefox) try(method string, params map[string]any, out any) error {
	ctx, cancel := context.WithTimeout(context.Background(), firefoxStepTimeout)
	defer cancel()
	f.id++
	command, err := json.Marshal(map[string]any{"id": f.id, "method": method, "params": params})
	if err != nil {
		return err
	}
	if err := f.conn.Write(ctx, websocket.MessageText, command); err != nil {
		return err
	}
	for {
		_, data, err := f.conn.Read(ctx)
		if err != nil {
			return err
		}
		var answer struct {
			ID             int
			Type, Message  string
			Result, Params json.RawMessage
		}
		if err := json.Unmarshal(data, &answer); err != nil {
			return err
		}
		switch {
		case answer.Type == "event":
			f.record(answer.Params)
		case answer.ID != f.id:
		case answer.Type == "error":
			return errors.New(answer.Message)
		case out != nil:
			return json.Unmarshal(answer.Result, out)
		default:
			return nil
		}
	}
}

// record keeps what the page logged as an error or a warning.
func (f *firefox) record(params json.RawMessage) {
	var entry struct {
		Level, Text string
		Source      struct{ Context string }
	}
	if json.Unmarshal(params, &entry) == nil && (entry.Level == "error" || entry.Level == "warn") {
		f.logged = append(f.logged, entry.Text)
	}
}

func (f *firefox) open(url string) {
	f.t.Helper()
	f.do("browsingContext.navigate", map[string]any{"context": f.page, "url": url, "wait": "complete"}, nil)
}

// eval evaluates an expression as a person's act, waits for it when it is a promise, and returns
// its JSON.
func (f *firefox) eval(expression string) string {
	f.t.Helper()
	var got struct {
		Type             string
		Result           struct{ Value string }
		ExceptionDetails struct{ Text string }
	}
	f.do("script.evaluate", map[string]any{
		"expression": "(async () => JSON.stringify(await (" + expression + ")) ?? 'null')()",
		"target":     map[string]any{"context": f.page}, "awaitPromise": true, "userActivation": true,
	}, &got)
	if got.Type != "success" {
		f.t.Fatalf("firefox: evaluate %s: %s", expression, got.ExceptionDetails.Text)
	}
	return got.Result.Value
}

// waitFor waits until an expression is truthy.
func (f *firefox) waitFor(expression string) {
	f.t.Helper()
	f.eval(fmt.Sprintf(`new Promise((done, fail) => {
		const late = setTimeout(() => fail(new Error("waited in vain")), 15_000);
		const look = () => (%s) ? (clearTimeout(late), done(true)) : setTimeout(look, 20);
		look();
	})`, expression))
}

// TestFirefox makes a call in Firefox: its microphone is heard, a reply is played and acknowledged
// to the millisecond, a clear falls silent, and hanging up ends it.
func TestFirefox(t *testing.T) {
	t.Parallel()
	d := newDouble(t, nil)
	f := launchFirefox(t)
	f.open(d.URL + "/?tap=1")
	f.waitFor(`window.voicegw`)
	f.eval(`(document.querySelector("#talk").click(), 0)`)
	c := d.answer()
	f.waitFor(`document.body.dataset.state === "live"`)
	c.listen(func(mic []int16) bool { return len(mic) > c.rate() && rms(mic[len(mic)-c.rate()/10:]) > 0.01 })
	reply := syllables(c.rate(), 1000, 1)
	c.send(event{"type": "turn", "state": "start", "generation": 1})
	c.play(reply)
	c.send(event{"type": "mark", "id": "1:end", "generation": 1})
	if ack := c.nextWhere("ack", func(e event) bool { return e["mark"] == "1:end" }); ack["played_ms"] != 1000.0 {
		t.Errorf("the mark was acknowledged with %v", ack)
	}
	c.send(event{"type": "turn", "state": "end", "generation": 1, "reason": "complete"},
		event{"type": "turn", "state": "start", "generation": 2})
	c.play(syllables(c.rate(), 3000, 2))
	c.nextWhere("ack", func(e event) bool { return e["generation"] == 2.0 && e["played_ms"].(float64) >= 300 })
	c.send(event{"type": "clear", "generation": 2})
	ack := c.nextWhere("ack", func(e event) bool { return e["cleared"] == true })
	if played := ack["played_ms"].(float64); played < 300 || played > 2900 {
		t.Errorf("cleared at %v", ack)
	}
	c.send(event{"type": "turn", "state": "end", "generation": 2, "reason": "interrupted"},
		event{"type": "tool_call", "id": "t-1", "name": "get_time"})
	if e := c.next("tool_result"); e["id"] != "t-1" || e["output"] == nil {
		t.Errorf("the page answered %v", e)
	}
	f.eval(`voicegw.client.sendText("hello")`)
	if e := c.next("text"); e["text"] != "hello" {
		t.Errorf("the page said %v", e)
	}
	f.eval(`(document.querySelector("#talk").click(), 0)`)
	c.next("bye")
	c.bye("caller_hung_up", "The caller hung up.", 1000)
	f.waitFor(`document.body.dataset.state === "ended"`)
	if stats := f.eval(`voicegw.stats().badEvents + voicegw.stats().unknownEvents`); stats != "0" {
		t.Errorf("the page did not understand %s events", stats)
	}
	for _, text := range f.logged {
		t.Errorf("the page logged: %s", text)
	}
}

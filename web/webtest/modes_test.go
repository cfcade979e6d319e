package webtest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/voicegw/voicegw/internal/browsertest"
)

// TestModes holds what a call can do beside talking: typed text, keys, a button to talk, hold,
// consent, tools.
func TestModes(t *testing.T) {
	t.Parallel()
	browser := withMicrophone.Browser(t)
	stories := map[string]func(*testing.T, stage){
		"typed text":              typedText,
		"keypad":                  keypad,
		"push to talk":            pushToTalk,
		"push to talk by key":     pushToTalkByKey,
		"hold":                    hold,
		"consent given":           consentGiven,
		"consent refused":         consentRefused,
		"modes shown":             modesShown,
		"a tool of the page":      toolOfThePage,
		"a tool that is too late": toolTooLate,
		"token and params":        tokenAndParams,
		"no token":                noToken,
		"transfer":                transfer,
		"another connection":      anotherConnection,
	}
	for name, story := range stories {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, browser, "")
			story(t, s)
			s.NoErrors()
		})
	}
}

// shows waits until an element is visible and its text begins with text.
func (s stage) shows(selector, text string) {
	s.t.Helper()
	s.WaitFor(fmt.Sprintf(`((e) => e && !e.hidden && e.textContent.trim().startsWith(%q))(document.querySelector(%q))`,
		text, selector))
}

func (s stage) hides(selector string) {
	s.t.Helper()
	s.WaitFor(fmt.Sprintf(`document.querySelector(%q).hidden`, selector))
}

// stays wants an element to keep its text when the page had time to change it.
func (s stage) stays(selector, text string) {
	s.t.Helper()
	s.Eval(`new Promise((done) => setTimeout(done, 100))`, nil)
	if got := s.text(selector); got != text {
		s.t.Errorf("%s says %q, want %q", selector, got, text)
	}
}

func (s stage) disabled(selector string, want bool) {
	s.t.Helper()
	s.WaitFor(fmt.Sprintf(`document.querySelector(%q).disabled === %v`, selector, want))
}

func typedText(t *testing.T, s stage) {
	s.disabled("#text", true)
	c := s.talk()
	s.disabled("#text", false)
	s.Click("#text")
	s.Press("   " + browsertest.Enter) // nothing
	s.Press("m My number is <b>12</b>." + browsertest.Enter)
	if e := c.next("text"); e["text"] != "m My number is <b>12</b>." {
		t.Errorf("the page said %v", e)
	}
	s.shows(".said.caller .words", "m My number is <b>12</b>.")
	var left struct {
		Value string
		Muted bool
	}
	if s.Eval(`({value: document.querySelector("#text").value, muted: voicegw.client.muted})`, &left); left.Value != "" ||
		left.Muted {
		t.Errorf("after it was sent: %+v", left)
	}
	c.send(event{"type": "error", "code": "text_lost", "message": "The text was not sent: the call is on hold."})
	s.showsNotice("live", "The text was not sent: the call is on hold.")
	for _, bad := range []string{`""`, `"x".repeat(4001)`} {
		var name string
		if s.Eval(`(() => { try { return String(voicegw.client.sendText(`+bad+`)) } catch (e) { return e.name } })()`,
			&name); name != "RangeError" {
			t.Errorf("sendText(%s) gave %s", bad, name)
		}
	}
	c.bye("done", "", 1000)
	s.disabled("#text", true)
	var sent bool
	if s.Eval(`voicegw.client.sendText("anybody?")`, &sent); sent {
		t.Error("text was sent without a call")
	}
}

func keypad(t *testing.T, s stage) {
	s.Eval(`(document.querySelector("#keys").closest("details").open = true, 0)`, nil)
	s.disabled(`[data-key="#"]`, true)
	c := s.talk()
	for _, key := range []string{"1", "0", "*", "#"} {
		s.Click(`[data-key="` + key + `"]`)
		if e := c.next("dtmf"); e["digits"] != key {
			t.Errorf("key %s said %v", key, e)
		}
	}
	s.shows("#pressed", "10*#")
	c.send(event{"type": "protected", "state": "start"})
	s.shows("#mode", "Private")
	s.shows("#speaking", "The model does not listen now.")
	s.Click(`[data-key="7"]`)
	if e := c.next("dtmf"); e["digits"] != "7" {
		t.Errorf("in private input the page said %v", e)
	}
	s.shows("#pressed", "10*#•")
	c.send(event{"type": "protected", "state": "stop"})
	s.hides("#mode")
	s.Click("#keys") // between the keys
	var name string
	s.Eval(`(() => { try { voicegw.client.sendDigits("12E") } catch (e) { return e.name } })()`, &name)
	if name != "RangeError" {
		t.Errorf("sendDigits of no key gave %q", name)
	}
}

// pointer presses or releases the left button of the mouse over an element.
func (s stage) pointer(kind, selector string) {
	s.t.Helper()
	var at struct{ X, Y float64 }
	s.Eval(`(({x, y, width, height}) => ({x: x + width / 2, y: y + height / 2}))(
		document.querySelector(`+quote(selector)+`).getBoundingClientRect())`, &at)
	s.Command("Input.dispatchMouseEvent",
		map[string]any{"type": kind, "x": at.X, "y": at.Y, "button": "left", "clickCount": 1}, nil)
}

// key presses a key, or lets go of it.
func (s stage) key(kind, key, text string) {
	s.t.Helper()
	s.Command("Input.dispatchKeyEvent", map[string]any{"type": kind, "key": key, "text": text}, nil)
}

// talkPushing makes a call in which the caller talks with a button.
func (s stage) talkPushing() *call {
	s.t.Helper()
	s.Eval(`(document.querySelector("#detection").value = "push", 0)`, nil)
	s.Click("#talk")
	c := s.accept()
	if c.hello["detection"] != "push" {
		s.t.Errorf("hello %v", c.hello)
	}
	c.ready()
	s.WaitFor(`document.body.dataset.state === "live"`)
	s.shows("#push", "Press and talk")
	s.shows("#speaking", "Hold the button")
	c.send(event{"type": "turn", "state": "start", "generation": 1})
	c.play(syllables(c.rate(), 1500, 3))
	s.shows("#speaking", "The model is speaking. Press the button to stop it.")
	s.shows("#speaking", "Hold the button")
	return c
}

// says waits for the next talk event.
func (c *call) talks(on bool) {
	c.t.Helper()
	if e := c.next("talk"); e["on"] != on {
		c.t.Errorf("the page said %v, want on %v", e, on)
	}
}

func pushToTalk(t *testing.T, s stage) {
	s.hides("#push")
	c := s.talkPushing()
	s.pointer("mousePressed", "#push")
	c.talks(true)
	s.shows("#push", "Let go to send")
	s.pointer("mouseReleased", "#talk") // anywhere: the button has the pointer
	c.talks(false)
	s.shows("#push", "Press and talk")
	s.pointer("mousePressed", "#push")
	c.talks(true)
	s.Eval(`(dispatchEvent(new Event("blur")), 0)`, nil) // another window
	c.talks(false)
	s.pointer("mouseReleased", "#push")
	c.send(event{"type": "mark", "id": "a while", "generation": 0})
	if e := <-c.events; e["type"] != "ack" {
		t.Errorf("after the button was let go of the page said %v", e)
	}
	c.bye("done", "", 1000)
	s.hides("#push")
	s.Eval(`(document.querySelector("#detection").value = "", 0)`, nil)
	c = s.talk()
	s.hides("#push")
	s.Press(browsertest.Space) // on the button that has the focus: hangs up
	c.next("bye")
}

func pushToTalkByKey(t *testing.T, s stage) {
	c := s.talkPushing()
	s.Eval(`(document.activeElement.blur(), 0)`, nil)
	for range 2 {
		s.key("keyDown", " ", " ")
		c.talks(true)
		heldDown(s, " ", " ")
		s.key("keyUp", " ", "")
		c.talks(false)
	}
	s.Eval(`(document.querySelector("#push").focus(), 0)`, nil)
	for _, key := range []string{" ", "Enter"} {
		s.key("keyDown", key, map[string]string{" ": " ", "Enter": "\r"}[key])
		c.talks(true)
		s.key("keyUp", key, "")
		c.talks(false)
	}
	s.Eval(`(document.activeElement.blur(), 0)`, nil)
	s.Press(browsertest.Enter) // elsewhere it still hangs up
	c.next("bye")
}

func hold(t *testing.T, s stage) {
	s.disabled("#hold", true)
	c := s.talk()
	s.Click("#hold")
	if e := c.next("hold"); e["on"] != true {
		t.Errorf("the page said %v", e)
	}
	s.hides("#mode") // the gateway has not said so
	c.send(event{"type": "hold", "state": "start"})
	s.shows("#mode", "On hold.")
	s.shows("#hold", "Resume")
	s.shows("#speaking", "The call is on hold.")
	c.send(event{"type": "speech", "state": "start"}) // on its way when the hold began
	s.stays("#speaking", "The call is on hold.")
	s.Press("h")
	if e := c.next("hold"); e["on"] != false {
		t.Errorf("the page said %v", e)
	}
	c.send(event{"type": "speech", "state": "stop"}, event{"type": "hold", "state": "stop"})
	s.hides("#mode")
	s.shows("#hold", "Hold")
	s.shows("#speaking", "Listening.")
	c.send(event{"type": "hold", "state": "start"})
	s.shows("#mode", "On hold.")
	c.bye("done", "", 1000)
	s.hides("#mode")
	s.disabled("#hold", true)
}

func consentGiven(t *testing.T, s stage) {
	s.hides("#consent")
	c := s.talk()
	c.send(event{"type": "consent", "state": "start"})
	s.shows("#consent", "May the model listen to you?")
	s.shows("#speaking", "The model does not listen before you agree.")
	s.Click("#agree")
	if e := c.next("consent"); e["on"] != true {
		t.Errorf("the page said %v", e)
	}
	s.shows("#consent", "May the model listen to you?") // until the gateway took it
	c.send(event{"type": "consent", "state": "stop"})
	s.hides("#consent")
	s.shows("#speaking", "Listening.")
}

func consentRefused(t *testing.T, s stage) {
	c := s.talk()
	c.send(event{"type": "consent", "state": "start"})
	s.shows("#consent", "May the model listen to you?")
	s.Click("#decline")
	if e := c.next("consent"); e["on"] != false {
		t.Errorf("the page said %v", e)
	}
	c.next("bye")
	c.bye("caller_hung_up", "The caller hung up.", 1000)
	s.WaitFor(`document.body.dataset.state === "ended"`)
	s.hides("#consent")
	if c = s.talk(); c != nil {
		s.hides("#consent")
	}
}

func modesShown(t *testing.T, s stage) {
	c := s.talk()
	for _, step := range []struct {
		kind, state, banner string
	}{
		{"model", "lost", "Reconnecting to the model."},
		{"hold", "start", "On hold."},
		{"protected", "start", "Private"},
		{"protected", "stop", "On hold."},
		{"hold", "stop", "Reconnecting"},
	} {
		c.send(event{"type": step.kind, "state": step.state})
		s.shows("#mode", step.banner)
	}
	c.send(event{"type": "model", "state": "back"})
	s.hides("#mode")
}

func toolOfThePage(t *testing.T, s stage) {
	c := s.talk()
	c.send(event{"type": "tool_call", "id": "t-1", "name": "get_time"})
	result := c.next("tool_result")
	output, _ := result["output"].(map[string]any)
	if result["id"] != "t-1" || output["time"] == nil || output["timeZone"] == nil || result["error"] != nil {
		t.Errorf("the page answered %v", result)
	}
	s.shows("#transcript .aside", "The model asks this page for get_time.")
	c.send(event{"type": "tool_call", "id": "t-2", "name": "launch_rocket", "args": event{"at": "once"}})
	result = c.next("tool_result")
	if result["id"] != "t-2" || result["error"] != "this page has no tool named launch_rocket" {
		t.Errorf("the page answered %v", result)
	}
}

// toolTooLate: a result that is no longer wanted is not sent, and the signal of the tool is
// aborted.
func toolTooLate(t *testing.T, s stage) {
	s.Eval(`(voicegw.client.configure({onToolCall: ({id, signal}) => new Promise((done) => {
		(window.signals ??= {})[id] = signal;
		signal.onabort = () => done("too late");
		(window.finish ??= {})[id] = done;
	})}), 0)`, nil)
	c := s.talk()
	c.send(event{"type": "tool_call", "id": "a", "name": "wait"}, event{"type": "tool_call", "id": "b", "name": "wait"},
		event{"type": "tool_call", "id": "c", "name": "wait"}, event{"type": "tool_cancel", "id": "a"})
	s.WaitFor(`window.signals?.a?.aborted && !window.signals.b.aborted`)
	s.Eval(`(window.finish.b({fine: true}), 0)`, nil)
	if e := c.next("tool_result"); e["id"] != "b" || fmt.Sprint(e["output"]) != "map[fine:true]" {
		t.Errorf("the page answered %v", e)
	}
	c.bye("done", "", 1000)
	s.WaitFor(`window.signals.c.aborted`)
}

func tokenAndParams(t *testing.T, s stage) {
	s.Eval(`(window.asked = 0, voicegw.client.configure({params: {customer: "4711"}}), 0)`, nil)
	s.Eval(`(document.querySelector("#token").value = " a.b.c ", 0)`, nil)
	c := s.talk()
	if c.hello["token"] != "a.b.c" || fmt.Sprint(c.hello["params"]) != "map[customer:4711]" {
		t.Errorf("hello %v", c.hello)
	}
	var seen string
	s.Eval(`JSON.stringify([voicegw.log, voicegw.stats(), performance.getEntriesByType("resource").map((e) => e.name)])`,
		&seen)
	if strings.Contains(seen, "a.b.c") {
		t.Errorf("the token shows in %s", seen)
	}
	c.bye("done", "", 1000)
	s.WaitFor(`voicegw.client.state === "ended"`)
	for want := range 2 {
		s.Eval(`(voicegw.client.configure({token: async () => "n." + window.asked++}), voicegw.client.start(), 0)`, nil)
		c = s.answer()
		if got := fmt.Sprintf("n.%d", want); c.hello["token"] != got {
			t.Errorf("hello %v, want token %s", c.hello, got)
		}
		s.WaitFor(`voicegw.client.state === "live"`)
		c.bye("done", "", 1000)
		s.WaitFor(`voicegw.client.state === "ended"`)
	}
}

func noToken(t *testing.T, s stage) {
	s.Eval(`(voicegw.client.configure({token: () => Promise.reject(new Error("down"))}), voicegw.client.start().catch(
		() => 0), 0)`, nil)
	s.showsNotice("failed", "could not get permission", "sign in again")
	s.Eval(`(voicegw.client.configure({token: undefined}), 0)`, nil)
	s.Click("#talk")
	c := s.accept()
	c.send(event{"type": "error", "code": "unauthorized", "message": "The token is too old.", "fatal": true})
	c.bye("unauthorized", "The token is too old.", 4007)
	s.showsNotice("failed", "The token is too old.", "for a token")
}

func transfer(t *testing.T, s stage) {
	c := s.talk()
	c.send(event{"type": "transfer", "to": "the night desk"})
	s.shows("#transcript .aside", "The call is transferred to the night desk.")
	c.bye("transferred", "Somebody else takes the call.", 1000)
	s.showsNotice("ended", "Somebody else takes the call.")
}

// anotherConnection makes a call over a connection of the test's own, whose sound is a stream.
func anotherConnection(t *testing.T, s stage) {
	s.Eval(`(() => {
		const world = window.world = {sent: [], streams: [], closed: 0, levels: {}};
		const connect = async ({url, token, signal, stream}, events) => {
			Object.assign(world, {url, token, events, stream});
			const context = new AudioContext();
			world.far = new MediaStreamAudioDestinationNode(context);
			world.tone = new GainNode(context, {gain: 0});
			const source = new OscillatorNode(context, {frequency: 440});
			source.connect(world.tone).connect(world.far);
			source.start();
			return {remote: world.far.stream, rate: 48000, open: true, accept: (r) => world.ready = r,
				send: (text) => world.sent.push(JSON.parse(text)), sendAudio: () => { throw new Error("PCM was sent") },
				setStream: (stream) => world.streams.push(stream), close: () => { world.closed++; context.close() }};
		};
		voicegw.client.configure({connect, token: "a.b.c"});
		voicegw.client.on("level", ({who}) => world.levels[who] = true);
		voicegw.client.start();
	})()`, nil)
	s.WaitFor(`window.world.sent[0]?.type === "hello"`)
	var hello event
	if s.Eval(`window.world.sent[0]`, &hello); hello["output_rate"] != 48000.0 || hello["token"] != "a.b.c" {
		t.Errorf("hello %v", hello)
	}
	s.Eval("(window.world.events.text(String.raw`"+string(readyTo(t, s.real, hello))+"`), 0)", nil)
	s.WaitFor(`voicegw.client.state === "live" && window.world.ready.model.embedded`)
	s.WaitFor(`window.world.levels.caller && window.world.levels.model`)
	s.Eval(`(window.world.events.text('{"type":"turn","state":"start","generation":4}'),
		window.world.tone.gain.value = 0.5)`, nil)
	s.WaitFor(`voicegw.log.some((e) => e.type === "playout" && e.playing && e.generation === 4)`)
	s.WaitFor(`document.body.dataset.speaking === "model"`)
	s.Eval(`(window.world.tone.gain.value = 0)`, nil)
	s.WaitFor(`voicegw.log.findLast((e) => e.type === "playout").playing === false`)
	s.Eval(`voicegw.client.setMicrophone("")`, nil)
	s.WaitFor(`window.world.streams.length === 1 && window.world.streams[0] !== window.world.stream`)
	s.Eval(`(voicegw.client.sendText("hello"), window.world.events.closed("model_lost"), 0)`, nil)
	s.showsNotice("failed", "The model was lost.")
	s.WaitFor(`window.world.closed === 1 && window.world.sent.some((e) => e.type === "text")`)
}

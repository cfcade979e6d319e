package webtest_test

import (
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/voicegw/voicegw/internal/npmtest"
)

// linked puts React beside the package, once for all tests.
var linked sync.Once

// packWithReact is the npm package in a project that has React.
func packWithReact(t *testing.T) npmPackage {
	t.Helper()
	p := pack(t)
	linked.Do(func() {
		npmtest.Link(t, p.modules, "react", "react-dom", "@types/react", "@types/react-dom")
	})
	return p
}

// gatewayOfExamples is the address that the example apps call.
const gatewayOfExamples = "http://localhost:8080"

// example is a copy of an example app beside the package, for a gateway at url.
func example(t *testing.T, name, url string) string {
	t.Helper()
	dir := filepath.Join(filepath.Dir(packWithReact(t).modules), "examples", name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	called := false
	err := fs.WalkDir(os.DirFS("../examples/"+name), ".", func(file string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() && (file == "node_modules" || file == "dist") {
			return fs.SkipDir
		}
		if err != nil || d.IsDir() {
			return err
		}
		text := fixture(t, "../../examples/"+name+"/"+file)
		called = called || strings.Contains(text, gatewayOfExamples)
		return os.WriteFile(filepath.Join(dir, file), []byte(strings.ReplaceAll(text, gatewayOfExamples, url)), 0o600)
	})
	if err != nil || !called {
		t.Fatalf("the example %s calls the gateway: %v; %v", name, called, err)
	}
	return dir
}

// openExample builds an example app and opens it in a browser, on an origin of its own.
func openExample(t *testing.T, name string) stage {
	t.Helper()
	browser := withMicrophone.Browser(t)
	d := newDouble(t, nil)
	app := example(t, name, d.URL)
	npmtest.Build(t, app)
	page := httptest.NewServer(http.FileServer(http.Dir(filepath.Join(app, "dist"))))
	t.Cleanup(page.Close)
	return stage{Tab: browser.Open(t, page.URL), double: d}
}

// TestExampleReact: the hook useVoice in an app that Vite has built makes a whole call.
func TestExampleReact(t *testing.T) {
	t.Parallel()
	s := openExample(t, "react")
	s.WaitFor(`document.querySelector("#state")?.textContent === "idle"`)
	s.Click("#talk")
	c := s.answer()
	s.WaitFor(`document.querySelector("#state").textContent === "live"`)
	s.holdsConversation(c, `document.querySelector("#app div")`, `document.querySelector("#transcript")`,
		`document.querySelector("#state").textContent === "The model is speaking."`)
	s.Click("#text")
	s.Press("Thanks" + "\r")
	if e := c.next("text"); e["text"] != "Thanks" {
		t.Errorf("the app said %v", e)
	}
	s.WaitFor(`document.querySelector("#transcript").lastElementChild.textContent === "Thanks"`)
	s.Click("#mute")
	if e := c.next("mute"); e["on"] != true {
		t.Errorf("the app said %v", e)
	}
	s.WaitFor(`document.querySelector("#mute").textContent === "Unmute"`)
	s.Click("#talk")
	c.next("bye")
	c.bye("caller_hung_up", "The caller hung up.", 1000)
	s.WaitFor(`document.querySelector("#state").textContent === "ended"`)
	s.refuseWith(http.StatusServiceUnavailable)
	s.Click("#talk")
	s.WaitFor(`document.querySelector("[role=alert]")?.textContent.includes("refused")`)
}

// TestExampleElement: the element <voicegw-call> in a page that Vite has built makes a whole call.
func TestExampleElement(t *testing.T) {
	t.Parallel()
	s := openExample(t, "element")
	s.Eval(`(window.part = (name) =>
		document.querySelector("voicegw-call").shadowRoot.querySelector("[part~=" + name + "]"), 0)`, nil)
	s.WaitFor(`window.part("talk").textContent === "Talk" && window.part("mute").hidden`)
	s.Eval(`(window.part("talk").click(), 0)`, nil)
	c := s.answer()
	if c.hello["language"] != "en-US" {
		t.Errorf("hello %v", c.hello)
	}
	s.WaitFor(`document.querySelector("voicegw-call[data-state=live]") && window.part("talk").textContent === "Hang up"`)
	c.send(event{"type": "consent", "state": "start"})
	s.WaitFor(`!window.part("agree").hidden && window.part("status").textContent.includes("before you agree")`)
	s.Eval(`(window.part("agree").click(), 0)`, nil)
	if e := c.next("consent"); e["on"] != true {
		t.Errorf("the element said %v", e)
	}
	c.send(event{"type": "consent", "state": "stop"})
	s.WaitFor(`window.part("agree").hidden && window.part("status").textContent === ""`)
	s.holdsConversation(c, `document.body`, `window.part("transcript")`,
		`document.querySelector("voicegw-call").client.levels.model > 0`)
	s.Eval(`(window.part("mute").click(), 0)`, nil)
	if e := c.next("mute"); e["on"] != true {
		t.Errorf("the element said %v", e)
	}
	s.Eval(`document.body.append(document.querySelector("voicegw-call"))`, nil) // a move is no end
	c.send(event{"type": "tool_call", "id": "t-3", "name": "paint_page", "args": event{"colour": "red"}})
	c.next("tool_result")
	s.Eval(`(window.call = document.querySelector("voicegw-call"), window.call.remove(), 0)`, nil)
	c.next("bye")
	c.bye("caller_hung_up", "The caller hung up.", 1000)
	s.WaitFor(`window.call.client.state === "ended"`)
	s.NoErrors()
}

// TestElementSnippet runs the lines of docs/embed.md that put the element into a page of another
// origin.
func TestElementSnippet(t *testing.T) {
	t.Parallel()
	d := newDouble(t, nil)
	_, after, _ := strings.Cut(fixture(t, "../../../docs/embed.md"), "## An element\n\n```html\n")
	lines, _, found := strings.Cut(after, "```")
	if !found {
		t.Fatal("docs/embed.md does not show the element")
	}
	body := strings.ReplaceAll(lines, "https://gateway.example", d.URL)
	page := shop(t, "", &body)
	s := stage{Tab: withMicrophone.Browser(t).Open(t, page.URL), double: d}
	s.WaitFor(`document.querySelector("voicegw-call").client`)
	s.Eval(`(document.querySelector("voicegw-call").shadowRoot.querySelector("button").click(), 0)`, nil)
	s.answer()
	s.WaitFor(`document.querySelector("voicegw-call[data-state=live]")`)
	s.NoErrors()
}

// TestReactOnServer renders the component of docs/embed.md in node.
func TestReactOnServer(t *testing.T) {
	t.Parallel()
	_, after, _ := strings.Cut(fixture(t, "../../../docs/embed.md"), "## React\n\n```js\n")
	code, _, _ := strings.Cut(after, "```")
	program := npmtest.Start(t, packWithReact(t).write(t, "server.mjs", code+`
		import { renderToString } from "react-dom/server";
		console.log(JSON.stringify({ type: "html", text: renderToString(createElement(TalkButton)) }));`))
	if e := program.AwaitType("html"); e.Text != "<button>Talk</button>" {
		t.Errorf("a server renders %s", e.Text)
	}
	program.Wait()
}

// holdsConversation has an app show a reply that is cut, and run its tool paint_page.
func (s stage) holdsConversation(c *call, painted, transcript, speaking string) {
	s.t.Helper()
	c.listen(func(mic []int16) bool { return len(mic) > 0 })
	c.send(event{"type": "transcript", "who": "caller", "text": "Any table?", "generation": 1, "final": true},
		event{"type": "turn", "state": "start", "generation": 2},
		event{"type": "transcript", "who": "model", "text": "One two three four.", "generation": 2})
	c.play(syllables(c.rate(), 20_000, 3))
	s.WaitFor(speaking)
	c.send(event{"type": "clear", "generation": 2})
	played := c.nextWhere("ack", func(e event) bool { return e["cleared"] == true })["played_ms"].(float64)
	c.send(event{"type": "turn", "state": "end", "generation": 2, "reason": "interrupted", "heard_ms": played})
	s.WaitFor(`[...` + transcript + `.children].map((e) => e.textContent).join("|") === "Any table?|One two three four."`)
	if played < 900 { // 19 letters at the pace that is assumed
		s.WaitFor(transcript + `.querySelector("s")?.textContent.endsWith("four.")`)
	}
	c.send(event{"type": "tool_call", "id": "t-1", "name": "paint_page", "args": event{"colour": "pink"}})
	if e := c.next("tool_result"); e["id"] != "t-1" || e["error"] != nil {
		s.t.Errorf("the tool gave %v", e)
	}
	s.WaitFor(painted + `.style.background.startsWith("pink")`)
	c.send(event{"type": "tool_call", "id": "t-2", "name": "paint_page", "args": event{"colour": "blue"}})
	if e := c.next("tool_result"); fmt.Sprint(e["output"]) != "map[before:pink]" {
		s.t.Errorf("the tool of a page that changed meanwhile gave %v", e)
	}
}

// TestReactTypes has TypeScript check the React app, and react.js against the types that it declares,
// both at once: most of the time goes into reading what they import.
func TestReactTypes(t *testing.T) {
	t.Parallel()
	p := packWithReact(t)
	p.write(t, "main.tsx", fixture(t, "../../examples/react/main.tsx"))
	p.write(t, "audio-worklet.d.ts", fixture(t, "audio-worklet.d.ts"))
	npmtest.CheckProject(t, p.write(t, "tsconfig.json", fixture(t, "tsconfig-react.json")))
}

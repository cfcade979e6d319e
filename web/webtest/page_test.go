package webtest_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/voicegw/voicegw/internal/browsertest"
	"github.com/voicegw/voicegw/transport"
)

// TestPage holds what the page shows and how it is used, in a browser whose microphone speaks.
func TestPage(t *testing.T) {
	t.Parallel()
	browser := withMicrophone.Browser(t)
	stories := map[string]func(*testing.T, stage){
		"keyboard":              keyboard,
		"net":                   netMoves,
		"speaking and reasons":  speakingAndReasons,
		"loudspeaker mode":      loudspeakerMode,
		"transcript":            transcriptOfBoth,
		"hears itself":          hearsItself,
		"microphones":           microphones,
		"names for all":         namesForAll,
		"nothing foreign loads": nothingForeignLoads,
	}
	for name, story := range stories {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, browser, "")
			story(t, s)
			s.NoErrors()
		})
	}
	for name, before := range map[string]string{"embedded elsewhere": "", "embedded with blobs": onlyBlobs} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			embeddedElsewhere(t, browser, before)
		})
	}
}

func keyboard(t *testing.T, s stage) {
	s.Press(browsertest.Space)
	s.answer()
	s.WaitFor(`document.body.dataset.state === "live"`)
	s.Press("m")
	s.WaitFor(`voicegw.client.muted && document.querySelector("#mute-label").textContent === "Unmute"`)
	s.Press("m")
	s.WaitFor(`!voicegw.client.muted`)
	s.Press(browsertest.Enter)
	s.WaitFor(`document.body.dataset.state !== "live"`)
	s.WaitFor(`document.body.dataset.state === "ended"`)

	s.Press(browsertest.TabKey)
	s.WaitFor(`document.activeElement.id === "talk"`)
	var outline string
	if s.Eval(`getComputedStyle(document.activeElement).outlineStyle`, &outline); outline != "solid" {
		t.Errorf("the focused button has outline %q", outline)
	}
	s.Press(browsertest.Enter)
	s.answer()
	s.WaitFor(`document.body.dataset.state === "live"`)
	heldDown(s, "Enter", "\r") // on the button
	s.Eval(`(document.activeElement.blur(), 0)`, nil)
	heldDown(s, " ", " ") // on the page
	heldDown(s, "m", "m")
	s.Eval(`new Promise((done) => setTimeout(done, 50))`, nil)
	if got := s.text("#talk-label") + " " + s.text("#mute-label"); got != "Hang up Mute" {
		t.Errorf("keys held down led to %q", got)
	}
	s.Eval(`document.querySelector("#language").closest("details").open = true`, nil)
	s.Eval(`(document.querySelector("#language").focus(), 0)`, nil)
	s.Press("m ")
	var typed struct {
		Value string
		Muted bool
		State string
	}
	s.Eval(`(({muted, state}) => ({value: document.querySelector("#language").value, muted, state}))(
		voicegw.client)`, &typed)
	if typed.Value != "m " || typed.Muted || typed.State != "live" {
		t.Errorf("typing in a field gave %+v", typed)
	}
}

// heldDown is what a keyboard sends for a key that was pressed long ago: a repeated press, whose
// character the browser makes itself unless the page objects.
func heldDown(s stage, key, text string) {
	s.t.Helper()
	s.Command("Input.dispatchKeyEvent", map[string]any{"type": "keyDown", "key": key, "text": text, "autoRepeat": true,
		"windowsVirtualKeyCode": strings.ToUpper(text)[0]}, nil)
}

// TestBadge: the page says where audio goes, as far as the gateway says it.
func TestBadge(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		model transport.Model
		want  string
	}{
		"embedded": {parrot, "embedded model – nothing leaves this machine"},
		"other":    {transport.Model{Name: "gemini-live-2.5"}, "audio goes to the model gemini-live-2.5"},
		"unnamed":  {transport.Model{}, "the gateway does not say where audio goes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openBefore(t, withMicrophone.Browser(t), "", newDoubleOf(t, c.model, nil))
			s.talk()
			if got := s.text("#badge"); got != c.want {
				t.Errorf("the badge says %q, want %q", got, c.want)
			}
			s.NoErrors()
		})
	}
}

func netMoves(t *testing.T, s stage) {
	c := s.talk()
	var hidden bool
	if s.Eval(`document.querySelector("#net").hidden`, &hidden); !hidden {
		t.Error("the net is shown before a drawing came")
	}
	c.send(event{"type": "net_graph", "svg": drawing(t)},
		event{"type": "net", "at_ms": 20, "fired": []string{"hand_frame", "unheard_of"},
			"marking": event{"chunk_budget": 20, "elsewhere": 3}})
	s.WaitFor(`document.querySelector('[data-transition="hand_frame"].fired-now')`)
	s.WaitFor(`document.querySelector('[data-place="chunk_budget"].marked .net-count').textContent === "20"`)
	s.WaitFor(`document.querySelector('[data-ref="chunk_budget"].marked')`)
	s.WaitFor(`!document.querySelector(".fired-now")`)
	c.send(event{"type": "net", "at_ms": 120, "marking": event{"caller_silent": 1}})
	s.WaitFor(`document.querySelector('[data-place="caller_silent"].marked')`)
	s.WaitFor(`!document.querySelector('[data-place="chunk_budget"].marked, [data-ref].marked')`)
	s.WaitFor(`document.querySelector('[data-place="chunk_budget"] .net-count').textContent === ""`)
	lit := func(tiles string) {
		t.Helper()
		s.WaitFor(`[...document.querySelectorAll("#board .lit")].map((e) => e.dataset.tile).join() === "` + tiles + `"`)
	}
	c.send(event{"type": "net", "at_ms": 220, "marking": event{"replying": 1, "online": 1}})
	lit("speaking")
	c.send(event{"type": "net", "at_ms": 320, "fired": []string{"turns/barge_in"},
		"marking": event{"in_turn": 1, "online": 1}})
	lit("caller-speaks,cut")
	lit("caller-speaks")
	var kept string
	s.Eval(`document.querySelector("#net-drawing").innerHTML`, &kept)
	for _, foreign := range []string{"example.invalid", "script", "image", "<use", "injected", "tabindex"} {
		if strings.Contains(kept, foreign) {
			t.Errorf("the drawing kept %s", foreign)
		}
	}
	s.Click("#net-size")
	s.WaitFor(`document.querySelector("#net").getBoundingClientRect().width > innerWidth - 40`)
	s.Press("\x1b")
	s.WaitFor(`document.querySelector("#net").getBoundingClientRect().width < innerWidth / 2`)
}

func speakingAndReasons(t *testing.T, s stage) {
	begins := func(selector, text string) string {
		return fmt.Sprintf(`document.querySelector(%q).textContent.startsWith(%q)`, selector, text)
	}
	shows := func(who, text string) {
		t.Helper()
		s.WaitFor(fmt.Sprintf(`document.body.dataset.speaking === %q && `, who) + begins("#speaking", text))
	}
	reason := func(text string) { s.WaitFor(begins("#reason", text)) }
	shows("nobody", "Press Talk")
	c := s.talk()
	shows("nobody", "Listening")
	c.send(event{"type": "speech", "state": "start"})
	shows("caller", "You are speaking.")
	c.send(event{"type": "speech", "state": "stop"}, event{"type": "turn", "state": "start", "generation": 1})
	c.play(syllables(c.rate(), 8000, 3))
	shows("model", "The model is speaking. Talk over it to stop it.")
	reason("Playing now")
	s.Press("m")
	shows("model", "The model is speaking. You are muted.")
	s.Press("m")
	shows("model", "The model is speaking. Talk over it to stop it.")
	c.send(event{"type": "speech", "state": "start"})
	shows("both", "You are speaking over the model")
	c.send(event{"type": "clear", "generation": 1}, event{"type": "turn", "state": "pause", "generation": 1})
	shows("caller", "You are speaking.")
	reason("Paused")
	c.send(event{"type": "speech", "state": "stop"}, event{"type": "turn", "state": "resume", "generation": 1})
	reason("Going on")
	for why, text := range map[string]string{"complete": "Finished.", "interrupted": "You interrupted.",
		"model_lost": "The model was lost.", "call_over": "The call ended."} {
		c.send(event{"type": "turn", "state": "end", "generation": 1, "reason": why})
		reason(text)
	}
}

func loudspeakerMode(t *testing.T, s stage) {
	s.Eval(`(document.querySelector("#half-duplex").checked = true, 0)`, nil)
	c := s.talk()
	c.send(event{"type": "turn", "state": "start", "generation": 1})
	c.play(syllables(c.rate(), 2000, 3))
	s.shows("#speaking", "The model is speaking. It cannot be interrupted.")
}

func transcriptOfBoth(t *testing.T, s stage) {
	c := s.talk()
	say := func(who, text string, generation int, final bool) {
		c.send(event{"type": "transcript", "who": who, "text": text, "generation": generation, "final": final})
	}
	say("caller", "What is ", 0, false)
	say("model", "It is ", 1, false) // while the caller's transcript still comes
	say("caller", "the time?", 0, true)
	say("model", "noon.", 1, false)
	c.send(event{"type": "turn", "state": "end", "generation": 1, "reason": "interrupted"})
	say("caller", "Thanks.", 1, false) // some gateways never say final
	say("model", "With pleasure.", 2, true)
	say("caller", "Bye.", 2, false)
	s.WaitFor(`document.querySelectorAll(".said").length === 5`)
	var got []string
	s.Eval(`[...document.querySelectorAll(".said")].map((e) => e.innerText.replaceAll("\n", "|"))`, &got)
	want := []string{
		"You|What is the time?", "Model|It is noon.|You interrupted here.", "You|Thanks.", "Model|With pleasure.",
		"You|Bye.",
	}
	if !slices.Equal(got, want) {
		t.Errorf("transcript %q, want %q", got, want)
	}
	c.send(event{"type": "turn", "state": "start", "generation": 3})
	say("model", "One two three", 3, false)
	c.send(event{"type": "turn", "state": "end", "generation": 3, "reason": "interrupted", "heard_ms": 700})
	say("model", " four.", 3, true) // comes late
	s.shows(".said:last-child s", "three four.")
	s.shows(".said:last-child .words", "One two three four.")
	s.shows(".said:last-child .cut", "You interrupted here, after 0.7 s.")
	for i := range 300 {
		say("caller", fmt.Sprintf("utterance %d", i), 0, true)
	}
	s.WaitFor(`document.querySelector("#transcript").lastElementChild.textContent.includes("utterance 299")`)
	var shown struct {
		Count  int
		Bottom float64
	}
	s.Eval(`((e) => ({count: e.children.length, bottom: e.scrollHeight - e.scrollTop - e.clientHeight}))(
		document.querySelector("#transcript"))`, &shown)
	if shown.Count != 200 || shown.Bottom > 2 {
		t.Errorf("%+v, want the last 200 utterances, scrolled to the end", shown)
	}
}

func hearsItself(t *testing.T, s stage) {
	c := s.talk()
	for generation := 1; generation <= 2; generation++ {
		c.send(event{"type": "turn", "state": "start", "generation": generation})
		c.play(syllables(c.rate(), 2000, 6))
		c.nextWhere("ack", func(e event) bool { return e["generation"] == float64(generation) })
		c.send(event{"type": "clear", "generation": generation})
		c.nextWhere("ack", func(e event) bool { return e["cleared"] == true })
		c.send(event{"type": "turn", "state": "end", "generation": generation, "reason": "interrupted"})
	}
	s.showsNotice("live", "seems to hear the loudspeaker", "Use headphones")
	s.Click("#notice-close")
	s.WaitFor(`document.querySelector("#notice").hidden`)
}

func microphones(t *testing.T, s stage) {
	c := s.talk()
	s.WaitFor(`document.querySelectorAll("#microphone option").length > 1`)
	s.Eval(`((e) => { e.selectedIndex = 1; e.dispatchEvent(new Event("change")); })(
		document.querySelector("#microphone"))`, nil)
	if e := c.next("mute"); e["on"] != false {
		t.Errorf("after the change the page said %v", e)
	}
	before := len(c.listen(func([]int16) bool { return true }))
	c.listen(func(mic []int16) bool { return len(mic) > before+c.rate()/2 })
	s.Eval(`voicegw.client.setMicrophone("no such device").catch((e) => e.code)`, nil)
	before = len(c.listen(func([]int16) bool { return true }))
	c.listen(func(mic []int16) bool { return len(mic) > before })
}

// namesForAll asks the browser for what a screen reader gets.
func namesForAll(t *testing.T, s stage) {
	type value struct{ Value any }
	var tree struct {
		Nodes []struct {
			Ignored    bool
			Role, Name *value
		}
	}
	s.Command("Accessibility.getFullAXTree", nil, &tree)
	roles := []string{"button", "combobox", "textbox", "checkbox", "link", "image", "log", "region", "heading"}
	named := 0
	for _, n := range tree.Nodes {
		if n.Ignored || n.Role == nil {
			continue
		}
		role := fmt.Sprint(n.Role.Value)
		if !slices.Contains(roles, role) {
			continue
		}
		if n.Name == nil || strings.TrimSpace(fmt.Sprint(n.Name.Value)) == "" {
			t.Errorf("a %s has no name", role)
		}
		named++
	}
	if named < 12 {
		t.Errorf("%d named things, want all of the page", named)
	}
}

func nothingForeignLoads(t *testing.T, s stage) {
	s.talk()
	var foreign []string
	s.Eval(`performance.getEntriesByType("resource").map((e) => e.name)
		.filter((name) => !name.startsWith(location.origin))`, &foreign)
	if len(foreign) > 0 {
		t.Errorf("the page loaded %v", foreign)
	}
	var icon int
	if s.Eval(`fetch("/favicon.ico").then((r) => r.status)`, &icon); icon != 200 {
		t.Errorf("favicon: %d", icon)
	}
}

// onlyBlobs makes a browser that refuses worklets of another origin.
const onlyBlobs = `<script>
	const add = AudioWorklet.prototype.addModule;
	AudioWorklet.prototype.addModule = function (url) {
		if (!String(url).startsWith("blob:")) return Promise.reject(new DOMException("refused", "AbortError"));
		document.title += " blob";
		return add.call(this, url);
	};
</script>`

// embeddedElsewhere takes the lines the page shows and puts them into a page of another origin.
func embeddedElsewhere(t *testing.T, browser *browsertest.Browser, before string) {
	d := newDouble(t, nil)
	shown := stage{Tab: browser.Open(t, d.URL), double: d}
	shown.WaitFor(`document.querySelector("#snippet").textContent`)
	snippet := shown.text("#snippet")
	if lines := strings.Count(snippet, "\n") + 1; lines != 5 {
		t.Errorf("the page shows %d lines to copy, want 5:\n%s", lines, snippet)
	}
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		const head = "<!doctype html><html lang=en><title>Elsewhere</title><link rel=icon href=data:,>"
		fmt.Fprintf(w, "%s<body>%s%s</body>", head, before, snippet)
	}))
	t.Cleanup(elsewhere.Close)
	s := stage{Tab: browser.Open(t, elsewhere.URL), double: d}
	s.Click("#talk")
	c := s.answer()
	c.listen(func(mic []int16) bool { return len(mic) > 0 })
	c.send(event{"type": "turn", "state": "start", "generation": 1})
	c.play(syllables(c.rate(), 300, 1))
	c.send(event{"type": "mark", "id": "end", "generation": 1})
	if ack := c.nextWhere("ack", func(e event) bool { return e["mark"] == "end" }); ack["played_ms"] != 300.0 {
		t.Errorf("the other page acknowledged %v", ack)
	}
	var title string
	if s.Eval(`document.title`, &title); before != "" && title != "Elsewhere blob blob" {
		t.Errorf("worklets were not loaded as blobs: %q", title)
	}
	s.Click("#talk")
	if e := c.next("bye"); e["reason"] != "caller_hung_up" {
		t.Errorf("bye said %v", e)
	}
	s.NoErrors()
}

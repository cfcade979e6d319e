package console

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"go.uber.org/goleak"

	"github.com/voicegw/voicegw/internal/browsertest"
	"github.com/voicegw/voicegw/internal/npmtest"
	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/voicenets"
)

var browser browsertest.Shared

func TestMain(m *testing.M) { goleak.VerifyTestMain(run{m}) }

// run runs the tests and closes the browser.
type run struct{ m *testing.M }

func (r run) Run() int {
	defer browser.Close()
	return r.m.Run()
}

// posed is a call in which much happens: a greeting, an interruption, a function, a hold, a lost
// connection and a slow model.
func posed(t *testing.T) *tape {
	p := newTape(t, voicenets.Config{ToolSlots: 2, Greeting: true})
	p.reply(400*time.Millisecond, 2*second, false)
	p.speak(4*second, 6*second)
	p.reply(6*second+700*time.Millisecond, 4*second, false)
	p.speak(9*second, 11*second)
	p.at(11*second+300*time.Millisecond, voicenets.ToolCalled.Token(&voicenets.ToolCall{}))
	p.at(13*second+900*time.Millisecond, voicenets.ToolDone.Token(&voicenets.ToolEnd{}))
	p.reply(14*second+200*time.Millisecond, 3*second, false)
	p.speak(15*second, 15*second+100*time.Millisecond)
	p.at(18*second, voicenets.Hold.Token(voicenets.On))
	p.at(21*second, voicenets.Hold.Token(voicenets.Off))
	p.speak(22*second, 24*second)
	p.at(24*second+100*time.Millisecond, voicenets.LinkDown.Token(struct{}{}))
	p.reply(26*second, 2*second, false)
	p.speak(29*second, 31*second)
	p.reply(36*second, 2*second, false)
	p.at(39*second, voicenets.Over.Token(voicenets.HungUp))
	p.run(40 * second)
	return p
}

// TestPage opens an archived call from the list, in the sizes and colours people see it in: the page
// says why the call is silent, nothing is cut, and axe finds nothing. With VOICEGW_SHOTS=dir it also
// writes pictures there, among them docs/console.png.
func TestPage(t *testing.T) {
	t.Parallel()
	p := posed(t)
	d := newDesk(t, fstest.MapFS{"c-1.jsonl": {Data: p.file(), Mode: 0o600}},
		func(string) (*petri.Program, error) { return p.prog, nil })
	tab := browser.Browser(t).Open(t, d.url+"/console/")
	axe := string(npmtest.Source(t, "axe-core/axe.min.js"))
	tab.Eval(`(() => {`+axe+`
		return 0;
	})()`, nil)
	tab.WaitFor(`document.querySelector("#archives a")`)
	looks(t, tab, "list", "light", 1280)
	tab.WaitFor(`document.body.dataset.state === "live" && !document.querySelector("#back").checkVisibility()`)
	looks(t, tab, "list", "dark", 390)
	reachable(t, tab)
	finds(t, tab)
	tab.WaitFor(`/^c-1\s*began .* · twilio · from \+4930123456.*\s1:23$/s.test(
		document.querySelector("#archives a").innerText.trim())`)
	tab.Click("#archives a")
	tab.WaitFor(`document.querySelector("#net-drawing svg") && document.querySelector(".silence") &&
		document.querySelector("#net-fired").textContent === "turns/end_turn"`)
	tab.Eval(`[...document.querySelectorAll(".silence button")].find((b) => b.textContent.includes("0:11.0")).click()`,
		nil)
	tab.WaitFor(`document.querySelector("#why-text").textContent.startsWith("The model called a function at 0:11.3") &&
		document.querySelector("[data-tile=thinking]").classList.contains("lit") &&
		document.querySelector("#why-lists").textContent.includes("tools/time_out_call_0") &&
		document.querySelector("[data-place=tool_running_0]").classList.contains("marked")`)
	tab.WaitFor(`[...document.querySelectorAll("#transcript li")].some((e) => e.innerText.includes("<b>Where</b> is")) &&
		document.querySelector("#transcript .now").innerText.includes("I mean order 17.")`)
	module, err := os.ReadFile(filepath.Join("..", "web", "viewer", "phase.js"))
	if err != nil {
		t.Fatal(err)
	}
	var page struct {
		Wrong string
		Cuts  []string
	}
	tab.Eval(`(() => {`+strings.ReplaceAll(string(module), "export ", "")+`
		const rec = voicegwConsole.rec;
		const spans = rec.lanes.get("phase").filter((s) => s.note !== "over" && s.to > s.from);
		return {
			wrong: spans.map((s) => [s.note, phaseOf(rec.tokens(rec.count(s.from)))])
				.filter(([a, b]) => a !== b).join(" for "),
			cuts: [...document.querySelectorAll("[data-transition]")].map((g) => g.dataset.transition).filter(isCut).sort(),
		};
	})()`, &page)
	var want []string
	for i := range cuts(p.prog, spotsOf(p.prog)) {
		want = append(want, p.prog.Transitions()[i].Name)
	}
	if slices.Sort(want); page.Wrong != "" || !slices.Equal(page.Cuts, want) {
		t.Errorf("the caller's page tells %s, and takes for cuts %v, want %v", page.Wrong, page.Cuts, want)
	}
	tab.Click("#step-on")
	tab.WaitFor(`document.querySelector("#clock").textContent === "0:13.900"`)
	tab.Eval(`(voicegwConsole.seek(12500), 0)`, nil)
	moment(tab)
	looks(t, tab, "call", "light", 1280)
	tab.Click("#make-link")
	tab.WaitFor(`document.querySelector("#link a") &&
		document.querySelector("#link").textContent.startsWith("For 7 days, until ") &&
		document.querySelector("#link button").checkVisibility()`)
	looks(t, tab, "call", "dark", 1280)
	looks(t, tab, "call", "light", 390)
	looks(t, tab, "call", "dark", 390)
	tab.WaitFor(`["#why", "#silences", "#board", "#canvas", "#turns"].map((s) =>
		document.querySelector(s).getBoundingClientRect().top).every((y, i, all) => i === 0 || y > all[i - 1])`)
	reachable(t, tab)
	tab.WaitFor(`document.querySelector(".aim .net-subnet-name").textContent.startsWith("tools")`)
	for _, c := range []struct{ at, tile, says string }{
		{"9200", "paused", "The reply has been paused since 0:09.0"},
		{"9600", "cut", "caller"},
		{"19000", "on-hold", "The call has been on hold since 0:18.0"},
		{"24300", "no-model", "There has been no connection to the model since 0:24.1"},
		{"33000", "thinking", "the model is slow"},
	} {
		tab.Eval(`(voicegwConsole.seek(`+c.at+`), 0)`, nil)
		tab.WaitFor(`document.querySelector("[data-tile=` + c.tile + `]").classList.contains("lit") &&
			document.querySelector("#why-text").textContent.includes("` + c.says + `")`)
	}
	tab.Eval(`((part) => {
		part.value = [...part.options].find((o) => o.text.startsWith("link")).value;
		part.dispatchEvent(new Event("change"));
	})(document.querySelector("#net-part"))`, nil)
	tab.WaitFor(`document.querySelectorAll("g.net-subnet.away").length ===
		document.querySelectorAll("g.net-subnet").length - 1`)
	means(tab)
	enter(tab, "#net-find", "retry_1")
	tab.WaitFor(`document.querySelector(".found")?.dataset.transition === "link/retry_1"`)
	enter(tab, "#net-find", "end_turn") // in another part
	tab.WaitFor(`document.querySelector("#net-tools output").textContent.endsWith(" found")`)
	tab.Eval(`(document.querySelector("#net-find").focus(), 0)`, nil)
	tab.Press(browsertest.Enter)
	tab.WaitFor(`document.querySelector("#net-tools output").textContent.startsWith("1 of ") &&
		!document.querySelector(".found").closest(".away")`)
	enter(tab, "#filter", "lose_link")
	tab.WaitFor(`document.querySelectorAll(".event").length === 1`)
	tab.Eval(`(document.querySelector("#link a").click(), 0)`, nil)
	tab.WaitFor(`location.pathname.startsWith("/console/shared/c-1/") && document.querySelector("#net-drawing svg") &&
		document.querySelector("#state").textContent === "Archived" && document.querySelector(".silence")`)
	tab.Eval(`(() => {`+axe+`
		return 0;
	})()`, nil)
	tab.WaitFor(`document.querySelector("#clock").textContent.startsWith("0:33.5") &&
		document.querySelector(".silence.now .longest").closest("li").textContent.includes("the model was slow")`)
	looks(t, tab, "shared", "light", 390)
	looks(t, tab, "shared", "dark", 1280)
	tab.Eval(`(voicegwConsole.seek(12500), 0)`, nil)
	tab.WaitFor(`document.querySelector("#why-text").textContent.startsWith("The model called a function at 0:11.3") &&
		document.querySelector("#said").hidden && document.querySelector("#make-link").hidden &&
		document.querySelector("#share").href.endsWith("/api/call/report")`)
	tab.NoErrors()
}

// means searches the net for what a place means, and for what nothing means or is called.
func means(tab *browsertest.Tab) {
	enter(tab, "#net-find", "function") // in no name
	tab.WaitFor(`[...document.querySelectorAll(".found")].some((g) => g.dataset.place === "tool_running_0")`)
	tab.Eval(`(document.querySelector("#net-follow").getAttribute("aria-pressed") === "true" ||
		document.querySelector("#net-follow").click(), 0)`, nil)
	enter(tab, "#net-find", "nothing like this")
	tab.Eval(`(document.querySelector("#net-find").focus(), 0)`, nil)
	tab.Press(browsertest.Enter)
	tab.WaitFor(`document.querySelector("#net-tools output").textContent === "none found" &&
		document.querySelector("#net-follow").getAttribute("aria-pressed") === "true"`)
}

// moment checks what the page says of the moment 0:12.5: which it is, and what comes after it.
func moment(tab *browsertest.Tab) {
	enter(tab, "#filter", "tool_")
	tab.WaitFor(`document.querySelector("#why-at").textContent === "At 0:12.5:" &&
		document.querySelector("#why-lists").textContent.includes("Timers that ran at 0:12.5") &&
		document.querySelector(".moment").textContent.startsWith("0:12.500 · ")`)
	tab.WaitFor(`(() => {
		const later = [...document.querySelectorAll(".event.later")].map((e) => e.innerText).join();
		const before = [...document.querySelectorAll(".event:not(.later)")].map((e) => e.innerText).join();
		const line = document.querySelector(".moment").getBoundingClientRect();
		const panel = document.querySelector("#events").getBoundingClientRect();
		return later.includes("tool_done") && !later.includes("tool_called") && before.includes("tool_called") &&
			line.top >= panel.top && line.bottom <= panel.bottom;
	})()`)
	enter(tab, "#filter", "")
	tab.WaitFor(`document.querySelectorAll(".event.later").length > 20 &&
		document.querySelector("#events").scrollTop > 0 &&
		!/_frame|model_audio|peer_ack/.test(document.querySelector("#events").textContent)`)
	tab.Eval(`(document.querySelector("#frames").click(), 0)`, nil)
	tab.WaitFor(`/accept_frame/.test(document.querySelector("#events").textContent)`)
	tab.Eval(`(document.querySelector("#frames").click(), 0)`, nil)
	tab.WaitFor(`(() => {
		const silences = [...document.querySelectorAll(".silence")];
		const at = silences.map((e) => e.querySelector("button").textContent.split(" at ")[1]);
		return silences.length > 3 && at.join() === at.toSorted().join() &&
			document.querySelectorAll(".longest").length === 1;
	})()`)
}

// finds searches for calls in the list, opens one, comes back to what was found, and clears the search.
func finds(t *testing.T, tab *browsertest.Tab) {
	t.Helper()
	shows := func(count, first, older string) {
		t.Helper()
		tab.WaitFor(fmt.Sprintf(`document.querySelector("#found").textContent.startsWith(%q) &&
			document.querySelector("#archives").innerText.includes(%q) &&
			document.querySelector("#older").checkVisibility() === %s`, count, first, older))
	}
	enter(tab, "#find", "+4930")
	tab.Eval(`(() => {
		document.querySelector("#find-since").value = "2026-11-27T00:00";
		document.querySelector("#find-until").value = "2026-11-30T12:30";
		document.querySelector("#find").focus();
	})()`, nil)
	tab.Press(browsertest.Enter)
	shows("1 call found, back to ", "twilio · from +4930123456 · to +4930654321 · caller hung up", "true")
	tab.Click("#archives a")
	tab.WaitFor(`!document.querySelector("#call").hidden`)
	tab.Click("#back") // All calls
	shows("1 call found", "1:23", "true")
	tab.Click("#older")
	shows("1 call found.", "c-1", "false")
	enter(tab, "#find", "model_lost")
	tab.Click("#search [type=submit]")
	shows("1 call found, back", "webrtc · acme · model lost · no archive", "true")
	looks(t, tab, "list", "light", 390)
	enter(tab, "#find", "nobody")
	tab.Click("#search [type=submit]")
	tab.WaitFor(`document.querySelector("#found").textContent.startsWith("No call found")`)
	tab.Click("#search [type=reset]")
	tab.WaitFor(`document.querySelector("#archives").innerText.includes("1:23") &&
		document.querySelector("#found").textContent === ""`)
}

// enter enters a text in a field.
func enter(tab *browsertest.Tab, field, text string) {
	tab.Eval(fmt.Sprintf(`((e) => { e.value = %q; e.dispatchEvent(new Event("input")); })(document.querySelector(%q))`,
		text, field), nil)
}

// reachable checks that a finger hits what can be pressed: 44 pixels, and 24 in a line of text (WCAG 2.2, 2.5.8).
func reachable(t *testing.T, tab *browsertest.Tab) {
	t.Helper()
	touch := func(isOn bool) {
		tab.Command("Emulation.setTouchEmulationEnabled", map[string]any{"enabled": isOn}, nil)
	}
	touch(true)
	defer touch(false)
	tab.WaitFor(`matchMedia("(pointer: coarse)").matches`)
	var small []string
	tab.Eval(`[...document.querySelectorAll("main button, main select, main input, main a")]
		.filter((e) => e.checkVisibility() && !e.matches("#link a, [type=checkbox]") &&
			e.getBoundingClientRect().height < 44)
		.map((e) => e.outerHTML + " " + e.getBoundingClientRect().height)`, &small)
	if len(small) > 0 {
		t.Errorf("too small to press are %q", small)
	}
}

// looks checks what a page looks like.
func looks(t *testing.T, tab *browsertest.Tab, what, scheme string, width int) {
	t.Helper()
	height := map[int]int{1280: 2380, 390: 3800}[width]
	if what == "list" {
		height = 400
	}
	tab.Resize(width, height)
	tab.Command("Emulation.setEmulatedMedia",
		map[string]any{"features": []any{map[string]any{"name": "prefers-color-scheme", "value": scheme}}}, nil)
	tab.Eval(`scrollTo(0, 0)`, nil)
	tab.WaitFor(`!document.getAnimations().some((a) => a.transitionProperty)`)
	var wide, found []string
	script, err := os.ReadFile(filepath.Join("..", "web", "webtest", "testdata", "wide.js"))
	if err != nil {
		t.Fatal(err)
	}
	tab.Eval(string(script), &wide)
	tab.Eval(`axe.run({exclude: [["#net-drawing svg"]]}).then(({violations}) =>
		violations.flatMap((v) => v.nodes.map((n) => v.id + ": " + n.html)))`, &found)
	if len(wide)+len(found) > 0 {
		t.Errorf("%s at %d px, %s: too wide are %q, axe finds %q", what, width, scheme, wide, found)
	}
	if dir := os.Getenv("VOICEGW_SHOTS"); dir != "" {
		tab.Screenshot(filepath.Join(dir, fmt.Sprintf("console-%s-%d-%s.png", what, width, scheme)))
	}
}

// TestEndedCall shows a running call to its end, from where a link leads to its archive.
func TestEndedCall(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var prog atomic.Pointer[petri.Program]
	d := newDeskIn(t, os.DirFS(dir), func(string) (*petri.Program, error) { return prog.Load(), nil },
		func(call string) (io.WriteCloser, error) { return os.Create(filepath.Join(dir, call+".jsonl")) })
	session := d.call()
	prog.Store(session.Program())
	tab := browser.Browser(t).Open(t, d.url+"/console/#calls/"+session.ID())
	tab.WaitFor(`document.querySelector("#net-drawing svg") &&
		document.querySelector("#transcript").innerText.includes("Hello so far.")`)
	if err := session.HangUp(); err != nil {
		t.Fatal(err)
	}
	tab.WaitFor(`document.querySelector("#state").textContent === "The call is over" &&
		document.querySelector("#why-text").textContent.startsWith("The call ended at 0:")`)
	<-session.Done()
	tab.Click("#since a")
	tab.WaitFor(`document.querySelector("#state").textContent === "Archived" &&
		document.querySelector("#transcript").innerText.includes("I mean order 17.") &&
		document.querySelector("#transcript-note").textContent === ""`)
}

// TestLostFeed breaks the connection to the gateway while the page shows a running call: the page does not say that the
// call is over.
func TestLostFeed(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil, nil)
	session := d.call()
	tab := browser.Browser(t).Open(t, d.url+"/console/#calls/"+session.ID())
	tab.WaitFor(`document.querySelector("#net-drawing svg") && document.querySelector("#state").textContent === "Live"`)
	d.drop()
	tab.WaitFor(`document.querySelector("#state").textContent === "Disconnected" &&
		document.querySelector("#live").hidden`)
}

// TestStalledTile opens a call whose model stops in the middle of a reply: the lit tile says that nothing is heard.
func TestStalledTile(t *testing.T) {
	t.Parallel()
	p := newTape(t, voicenets.Config{})
	p.speak(second, 2*second)
	p.reply(3*second, second, true)
	p.reply(7*second, second, false)
	p.at(9*second, voicenets.Over.Token(voicenets.HungUp))
	p.run(10 * second)
	d := newDesk(t, fstest.MapFS{"c-1.jsonl": {Data: p.file(), Mode: 0o600}},
		func(string) (*petri.Program, error) { return p.prog, nil })
	tab := browser.Browser(t).Open(t, d.url+"/console/#archives/c-1")
	tab.WaitFor(`document.querySelector("#net-drawing svg") && document.querySelector(".silence")`)
	for at, says := range map[string]string{"3500": "The caller hears a reply.",
		"5500": "The model stopped sending. Nothing is heard."} {
		tab.Eval(`(voicegwConsole.seek(`+at+`), 0)`, nil)
		tab.WaitFor(`document.querySelector("[data-tile=speaking].lit .tile-note")?.textContent === "` + says + `"`)
	}
	tab.NoErrors()
}

// TestBusyCall feeds the page 200 events a second and more for three seconds. At the end it has every
// one, and is not behind.
func TestBusyCall(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil, nil)
	session := d.call()
	tab := browser.Browser(t).Open(t, d.url+"/console/#calls/"+session.ID())
	tab.WaitFor(`document.querySelector("#net-drawing svg")`)
	watch, err := session.Watch()
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Close()
	tab.WaitFor(`document.querySelector("#transcript").innerText.includes("Hello so far.") &&
		/^Shown from 0:\d\d\.\d on, when you opened it: it is not/.test(document.querySelector("#since").textContent)`)
	first := watch.Tracker().Seq()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for i := range 300 {
		<-tick.C
		if err := session.Mute(i%2 == 0); err != nil {
			t.Fatal(err)
		}
	}
	if err := session.Hold(true); err != nil {
		t.Fatal(err)
	}
	tab.WaitFor(`document.querySelector("[data-tile=on-hold]").classList.contains("lit")`)
	last := watch.Tracker()
	for !held(last) {
		events, err := watch.Next(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			if err := last.Apply(e); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n := last.Seq() - first; n < 600 {
		t.Errorf("only %d events came in 3 s", n)
	}
	tab.WaitFor(fmt.Sprintf(`voicegwConsole.rec.head.seq + voicegwConsole.rec.times.length >= %d`, last.Seq()))
	var behind float64
	tab.Eval(`voicegwConsole.rec.end`, &behind)
	if behind = ms(time.Since(session.State().Began)) - behind; behind > 5000 {
		t.Errorf("the page is %.0f ms behind", behind)
	}
	tab.NoErrors()
}

func held(t *petri.Tracker) bool { return t.Count(t.Program().Place(voicenets.Held.String())) > 0 }

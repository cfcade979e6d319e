package rtc_test

import (
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/audio/audiotest"
	"github.com/voicegw/voicegw/internal/browsertest"
	"github.com/voicegw/voicegw/live/sim"
	"github.com/voicegw/voicegw/transport/rtc"
	"github.com/voicegw/voicegw/web"
)

// ownMicrophone is the query of the page that has it speak through a microphone of its own, when it
// is told to: speak(name).
const ownMicrophone = "?own-microphone"

// page calls over WebRTC with the client of package web, and keeps what is heard at 16 kHz.
const page = `<!doctype html><meta charset="utf-8"><title>WebRTC</title><button id="talk">Talk</button>
<script type="module">
if (location.search === "?own-microphone") {
  const studio = new AudioContext();
  const microphone = studio.createMediaStreamDestination();
  const quiet = new ConstantSourceNode(studio, { offset: 0 }); // without a source no sound is sent
  quiet.connect(microphone);
  quiet.start();
  navigator.mediaDevices.getUserMedia = async () => microphone.stream.clone();
  window.speak = async (name) => {
    const wav = await (await fetch("/said/" + name)).arrayBuffer();
    const source = new AudioBufferSourceNode(studio, { buffer: await studio.decodeAudioData(wav) });
    source.connect(microphone);
    source.start();
  };
}
import { VoiceClient, connectWebRTC } from "/client.js";
import { loadWorklets } from "/client/worklets.js";
const heard = [];
let context;
async function keep(stream) {
  context = new AudioContext();
  await loadWorklets(context);
  const node = new AudioWorkletNode(context, "voicegw-capture", { processorOptions: { rate: 16000 } });
  node.port.onmessage = ({ data }) => heard.push(new Uint8Array(data.pcm));
  new MediaStreamAudioSourceNode(context, { mediaStream: stream }).connect(node);
  node.connect(context.destination);
}
const connect = async (options, events) => {
  window.connection = await connectWebRTC(options, events);
  await keep(window.connection.remote);
  return window.connection;
};
window.call = new VoiceClient({ url: "/v1/whip", connect, raw: true, language: "de-DE", params: { name: "Jürgen" } });
window.turns = [];
call.on("turn", (turn) => turns.push(turn));
call.on("end", (end) => (window.over = end));
window.heard = () => {
  let text = "";
  for (const block of heard) for (const byte of block) text += String.fromCharCode(byte);
  return btoa(text);
};
document.querySelector("#talk").onclick = () => {
  window.began = performance.now();
  call.start().then(() => (window.took = performance.now() - began), (error) => (window.failed = error.code));
};
window.loaded = true;
</script>`

// webPage serves the page, the client and the gateway from one origin.
func webPage(t *testing.T) (*world, string) {
	t.Helper()
	w := newWorld(t, sim.Config{}, voicegw.Config{}, rtc.Config{Codecs: []rtc.Codec{}})
	return w, webPageOf(t, w.endpoint)
}

// webPageOf serves them with an endpoint.
func webPageOf(t *testing.T, endpoint http.Handler) string {
	t.Helper()
	mux := http.NewServeMux()
	mux.Handle("/v1/whip", endpoint)
	mux.Handle("/v1/whip/", endpoint)
	mux.Handle("/", web.Handler(web.Config{}))
	mux.HandleFunc("/said/{name}", serveSpeech)
	mux.HandleFunc("/webrtc.html", func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = rw.Write([]byte(page))
	})
	return serve(t, mux) + "/webrtc.html"
}

// serveSpeech serves an utterance for a page to speak.
func serveSpeech(w http.ResponseWriter, r *http.Request) {
	_, _ = w.Write(browsertest.WAV(16000, speech(r.PathValue("name"))))
}

// serve serves a handler and returns its address.
func serve(t *testing.T, h http.Handler) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

// quiet is silence at 16 kHz.
func quiet(ms int) []int16 { return make([]int16, ms*16) }

// pageHeard is what the page heard so far.
func pageHeard(t *testing.T, tab *browsertest.Tab) []int16 {
	t.Helper()
	var text string
	tab.Eval(`heard()`, &text)
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return audio.AppendSamples(nil, b)
}

// microphone is a WAV at the rate that Chromium likes.
func microphone(t *testing.T, parts ...[]int16) string {
	t.Helper()
	pcm := audiotest.Resample(audio.PCM{RateHz: 16000, Samples: slices.Concat(parts...)}, 48000)
	return browsertest.WriteWAV(t, 48000, pcm.Samples)
}

// TestChromium talks to the gateway from a real browser and hears its words again: Opus goes up,
// and what this program was built with comes down. Its microphone is that of the browser, in real
// time, so the test has the machine to itself.
func TestChromium(t *testing.T) { browsertest.Again(t, func() bool { return hearsItself(t) }) }

// hearsItself is one call of TestChromium, and whether its words were heard.
func hearsItself(t *testing.T) bool {
	said := speech("question")
	browser := browsertest.Launch(t, browsertest.Config{Microphone: microphone(t, quiet(2000), said, quiet(60000)),
		Desktop: true})
	w, url := webPage(t)
	tab := browser.Open(t, url)
	tab.WaitFor(`window.loaded`)
	tab.Click("#talk")
	tab.WaitFor(`window.took || window.failed`)
	var took float64
	tab.Eval(`took`, &took)
	t.Logf("ready %v ms after the click", took)
	tab.WaitFor(`turns.some((turn) => turn.state === "end")`)
	tab.Eval(`new Promise((done) => setTimeout(() => done(0), 1000))`, nil)
	heard := understood(t, said, pageHeard(t, tab), 0.8)
	var stats struct{ Sent, Received string }
	tab.Eval(`(async () => {
		const all = [...(await connection.stats()).values()];
		const used = (type) => all.find((s) => s.type === type && s.codecId)?.codecId;
		const codec = (type) => all.find(({ id }) => id === used(type))?.mimeType;
		return { sent: codec("outbound-rtp"), received: codec("inbound-rtp") };
	})()`, &stats)
	best := "audio/G722"
	if rtc.HasOpusEncoder {
		best = "audio/opus"
	}
	if stats.Sent != "audio/opus" || stats.Received != best {
		t.Errorf("codecs %+v", stats)
	}
	t.Logf("codecs %+v", stats)
	tab.Eval(`call.end().then(() => 0)`, nil)
	w.eventually("the call is over", func() bool { return w.gw.Calls() == 0 })
	tab.NoErrors()
	return heard
}

// TestChromiumBargeIn speaks over a long reply, two seconds after the page has learned of it: a busy machine then
// delays both.
func TestChromiumBargeIn(t *testing.T) {
	t.Parallel()
	browsertest.Again(t, func() bool { return speaksOver(t) })
}

// speaksOver is one call of TestChromiumBargeIn, and whether the words over the reply were heard.
func speaksOver(t *testing.T) bool {
	over := speech("over")
	_, url := webPage(t)
	tab := calling(t, url)
	tab.Eval(`speak("long")`, nil)
	tab.WaitFor(`turns.some((turn) => turn.state === "start")`)
	tab.Eval(`new Promise((done) => setTimeout(done, 2000)).then(() => speak("over"))`, nil)
	tab.WaitFor(`turns.some((turn) => turn.state === "end" && turn.reason === "interrupted")`)
	at := len(pageHeard(t, tab))
	tab.WaitFor(`turns.some((turn) => turn.state === "end" && turn.reason === "complete")`)
	tab.Eval(`new Promise((done) => setTimeout(() => done(0), 1000))`, nil)
	heard := pageHeard(t, tab)
	answered := understood(t, over, heard[min(at, len(heard)):], 0.7)
	if _, rest := audiotest.Align(speech("long")[16000*5:], heard); rest > 0.3 {
		t.Errorf("the rest of the reply was heard by %.3f", rest)
	}
	tab.NoErrors()
	return answered
}

// understood reports whether most of the loud pieces of what was said were heard.
func understood(t *testing.T, said, heard []int16, want float64) bool {
	t.Helper()
	found, loud := audiotest.Pieces(said, heard, 16000)
	t.Logf("%d of %d pieces were heard", found, loud)
	return loud > 0 && float64(found) >= want*float64(loud)
}

// TestChromiumRefused tells the page why it may not call.
func TestChromiumRefused(t *testing.T) {
	t.Parallel()
	w, url := webPage(t)
	_ = w.gw.Close()
	tab := shared.Browser(t).Open(t, url)
	tab.WaitFor(`window.loaded`)
	tab.Click("#talk")
	tab.WaitFor(`window.failed`)
	var code string
	tab.Eval(`failed`, &code)
	if code != "busy" {
		t.Errorf("the page was told %q", code)
	}
}

// TestChromiumShowsTheNet makes a call over WebRTC with the page of package web, which shows the
// net of the call: the drawing comes whole, before what moves on it, and its places are marked.
func TestChromiumShowsTheNet(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sim.Config{}, voicegw.Config{ShowNet: true, Greeting: "Greet the caller."},
		rtc.Config{Codecs: []rtc.Codec{}})
	tab := shared.Browser(t).Open(t, strings.TrimSuffix(webPageOf(t, w.endpoint), "webrtc.html"))
	tab.WaitFor(`window.voicegw`)
	overWebRTC(tab)
	tab.Eval(`(() => {
		window.order = [];
		for (const kind of ["ready", "net_graph", "net"]) voicegw.client.on(kind, () => order.push(kind));
	})()`, nil)
	tab.Click("#talk")
	tab.WaitFor(`document.querySelector("#net [data-place].marked")`)
	tab.WaitFor(`order.includes("net")`)
	var got struct {
		Order       []string
		Transitions int
	}
	tab.Eval(`({ order: order.slice(0, 3),
		transitions: document.querySelectorAll("#net [data-transition]").length })`, &got)
	if want := []string{"ready", "net_graph", "net"}; !slices.Equal(got.Order, want) || got.Transitions < 50 {
		t.Errorf("the page is told %v of a drawing of %d transitions, want %v", got.Order, got.Transitions, want)
	}
	tab.Click("#talk")
	w.eventually("the call is over", func() bool { return w.gw.Calls() == 0 })
	tab.NoErrors()
}

// overWebRTC has the page of package web make its next call so.
func overWebRTC(tab *browsertest.Tab) {
	tab.Eval(`((select) => {
		select.value = "webrtc";
		select.dispatchEvent(new Event("change"));
	})(document.querySelector("#transport"))`, nil)
}

// TestChromiumTypesAndPresses is a call on that page without a spoken word: what is typed reaches
// the model, which calls a function of the page's; so do keys; and the page says who takes the call
// in the end.
func TestChromiumTypesAndPresses(t *testing.T) {
	t.Parallel()
	script, err := sim.ParseScenario("a story", "on text 1: call get_time {}")
	if err != nil {
		t.Fatal(err)
	}
	sessions := make(chan *voicegw.Session, 1)
	w := newWorld(t, sim.Config{Scenario: script}, voicegw.Config{
		Hooks: voicegw.Hooks{Running: func(s *voicegw.Session) { sessions <- s }},
		Tools: []voicegw.Tool{{Name: "get_time", Description: "tells the time"}}}, rtc.Config{Codecs: []rtc.Codec{}})
	tab := shared.Browser(t).Open(t, strings.TrimSuffix(webPageOf(t, w.endpoint), "webrtc.html"))
	tab.WaitFor(`window.voicegw`)
	overWebRTC(tab)
	tab.Click("#talk")
	tab.WaitFor(`document.body.dataset.state === "live"`)
	tab.Eval(`(() => {
		document.querySelector("#text").value = "What time is it?";
		document.querySelector("#say").requestSubmit();
	})()`, nil)
	w.read("What time is it?")
	w.eventually("the page answers", func() bool { return len(w.model.Connections()[0].ToolReplies) > 0 })
	if got := w.model.Connections()[0].ToolReplies[0].Response; !strings.Contains(got, "timeZone") {
		t.Errorf("the page answered %s", got)
	}
	tab.WaitFor(`document.body.textContent.includes("The model asks this page for get_time.")`)
	tab.Eval(`[..."42#"].forEach((key) => document.querySelector('#keys [data-key="' + key + '"]').click())`, nil)
	w.read("pressed 42")
	if err := (<-sessions).HandOff("+4930123"); err != nil {
		t.Fatal(err)
	}
	tab.WaitFor(`document.body.textContent.includes("The call is transferred to +4930123.")`)
	tab.WaitFor(`document.body.dataset.state === "ended"`)
	tab.NoErrors()
}

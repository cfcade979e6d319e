package webtest_test

import "testing"

// TestDevices holds what a page can choose of its sound: the loudspeaker, the volume, and a stream
// of its own as the microphone.
func TestDevices(t *testing.T) {
	t.Parallel()
	withLoudspeaker, without := withMicrophone.Browser(t), withoutMicrophone.Browser(t)
	for name, story := range map[string]func(*testing.T, stage){
		"loudspeaker":                      loudspeaker,
		"loudspeaker by an element":        loudspeakerByElement,
		"loudspeaker that is not there":    loudspeakerMissing,
		"volume":                           volume,
		"loudspeaker and volume of WebRTC": outputOfStream,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			story(t, open(t, withLoudspeaker, tapped))
		})
	}
	for name, story := range map[string]func(*testing.T, stage){
		"stream of the page":         streamOfThePage,
		"stream without a track":     streamWithoutTrack,
		"stream over another socket": streamOverAnotherConnection,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, without, tapped)
			s.Eval(fixture(t, "own-stream.js"), nil)
			story(t, s)
			s.NoErrors()
		})
	}
}

// code is the code with which a promise of the page is rejected, "" when it is not.
func (s stage) code(promise string) string {
	s.t.Helper()
	var code string
	s.Eval(promise+`.then(() => "", (e) => e.code ?? String(e))`, &code)
	return code
}

func (s stage) wants(promise, code string) {
	s.t.Helper()
	if got := s.code(promise); got != code {
		s.t.Errorf("%s is rejected with %q, want %q", promise, got, code)
	}
}

// sinks records on which devices the page wants to play.
const sinks = `(window.sinks = [], [AudioContext, HTMLMediaElement].forEach(({name, prototype}) => {
	const set = prototype.setSinkId;
	prototype.setSinkId = async function (id) { await set.call(this, id); window.sinks.push(name + " " + id); };
}), 0)`

func loudspeaker(t *testing.T, s stage) {
	s.Eval(sinks, nil)
	c := s.talk()
	s.WaitFor(`document.querySelectorAll("#output option").length > 1 && window.sinks.length === 0`)
	s.Eval(`((e) => { e.selectedIndex = 1; e.dispatchEvent(new Event("change")); })(
		document.querySelector("#output"))`, nil)
	s.WaitFor(`window.sinks.includes("AudioContext " + document.querySelector("#output").value)`)
	s.wants(`voicegw.client.setOutput("nowhere")`, "output_missing")
	s.heardToEnd(c, 1)
	c.bye("done", "", 1000)
	s.WaitFor(`voicegw.client.state === "ended"`)
	s.Eval(`(window.sinks.length = 0)`, nil)
	s.talk() // the choice stays
	s.WaitFor(`window.sinks.join() === "AudioContext " + document.querySelector("#output").value`)
	s.wants(`voicegw.client.setOutput("")`, "")
	s.WaitFor(`window.sinks.at(-1) === "AudioContext "`)
	s.NoErrors()
}

// heardToEnd plays a reply of 300 ms and waits until all of it was played.
func (s stage) heardToEnd(c *call, generation int) {
	s.t.Helper()
	c.send(event{"type": "turn", "state": "start", "generation": generation})
	c.play(syllables(c.rate(), 300, 3))
	c.send(event{"type": "mark", "id": "end", "generation": generation})
	if ack := c.nextWhere("ack", func(e event) bool { return e["mark"] == "end" }); ack["played_ms"] != 300.0 {
		s.t.Errorf("ack %v, want 300 ms", ack)
	}
}

// loudspeakerByElement: in a browser whose AudioContext has no setSinkId, an element plays.
func loudspeakerByElement(t *testing.T, s stage) {
	s.Eval(sinks, nil)
	s.Eval(`delete AudioContext.prototype.setSinkId`, nil)
	c := s.talk()
	s.wants(`voicegw.client.constructor.outputs().then((list) => voicegw.client.setOutput(list.at(-1).deviceId))`, "")
	s.WaitFor(`window.sinks.length === 1 && window.sinks[0].length > "HTMLMediaElement ".length`)
	s.heardToEnd(c, 1)
	s.wants(`voicegw.client.setOutput("nowhere")`, "output_missing")
	s.Eval(`delete HTMLMediaElement.prototype.setSinkId`, nil)
	s.wants(`voicegw.client.setOutput("nowhere")`, "output_unsupported")
	s.heardToEnd(c, 2)
	s.NoErrors()
}

// loudspeakerMissing: a call begins on the system's loudspeaker when the chosen one is gone.
func loudspeakerMissing(t *testing.T, s stage) {
	s.Eval(`(voicegw.client.configure({outputId: "nowhere"}), voicegw.client.start(), 0)`, nil)
	c := s.answer()
	s.showsNotice("live", "That loudspeaker was not found.", "Connect it")
	s.heardToEnd(c, 1)
	s.NoErrors()
}

func volume(t *testing.T, s stage) {
	// What goes to the loudspeaker, behind the volume.
	s.Eval(`(window.GainNode = class extends GainNode {
		constructor(context, options) {
			super(context, options);
			this.connect(window.meter = new AnalyserNode(context));
		}
	}, window.loudest = () => { const data = new Float32Array(2048); window.meter.getFloatTimeDomainData(data);
		return Math.max(...data.map(Math.abs)); }, 0)`, nil)
	s.Eval(`(voicegw.client.setVolume(0.5), 0)`, nil)
	c := s.talk()
	c.send(event{"type": "turn", "state": "start", "generation": 1})
	c.play(syllables(c.rate(), 20_000, 3))
	s.WaitFor(`voicegw.client.levels.model > 0.05 && window.loudest() > 0.05`)
	s.Eval(`((e) => { e.value = 0; e.dispatchEvent(new Event("input")); })(document.querySelector("#volume"))`, nil)
	s.WaitFor(`voicegw.client.volume === 0 && window.loudest() < 0.001`)
	s.WaitFor(`voicegw.client.levels.model > 0.05 && window.loudest() < 0.001`)
	s.Eval(`(voicegw.client.setVolume(1), 0)`, nil)
	s.WaitFor(`window.loudest() > 0.05`)
	for _, bad := range []string{`-0.1`, `1.1`, `NaN`, `"loud"`} {
		var name string
		if s.Eval(`(() => { try { return String(voicegw.client.setVolume(`+bad+`)) } catch (e) { return e.name } })()`,
			&name); name != "RangeError" {
			t.Errorf("setVolume(%s) gave %s", bad, name)
		}
	}
	c.bye("done", "", 1000)
	s.WaitFor(`voicegw.client.levels.model === 0 && voicegw.client.levels.caller === 0`)
	s.NoErrors()
}

// outputOfStream: a reply that comes as a stream is played by an element, on the same device.
func outputOfStream(t *testing.T, s stage) {
	s.Eval(sinks, nil)
	s.Eval(`(window.Audio = class extends Audio { constructor() { super(); window.element = this; } }, 0)`, nil)
	s.Eval(fixture(t, "own-stream.js"), nil)
	s.streams(`{volume: 0.25}`)
	s.WaitFor(`window.element.volume === 0.25`)
	s.wants(`voicegw.client.constructor.outputs().then((list) => voicegw.client.setOutput(list.at(-1).deviceId))`, "")
	s.WaitFor(`window.sinks.some((text) => text.startsWith("HTMLMediaElement "))`)
	s.Eval(`(voicegw.client.setVolume(0.75), 0)`, nil)
	s.WaitFor(`window.element.volume === 0.75`)
	s.NoErrors()
}

// streams makes a call over a connection whose sound is streams.
func (s stage) streams(options string) {
	s.t.Helper()
	s.Eval(`(voicegw.client.configure({connect: window.connect, ...`+options+`}), voicegw.client.start(), 0)`, nil)
	s.WaitFor(`window.world.sent[0]?.type === "hello"`)
	var hello event
	s.Eval(`window.world.sent[0]`, &hello)
	s.Eval("(window.world.events.text(String.raw`"+string(readyTo(s.t, s.real, hello))+"`), 0)", nil)
	s.WaitFor(`voicegw.client.state === "live"`)
}

// streamOfThePage is a call in a browser without a microphone.
func streamOfThePage(t *testing.T, s stage) {
	s.Eval(`(voicegw.client.configure({microphone: window.own.stream}), voicegw.client.start(), 0)`, nil)
	c := s.answer()
	s.WaitFor(`voicegw.client.state === "live"`)
	loud := func(mic []int16) bool { n := len(mic); return n > 4800 && rms(mic[n-4800:]) > 0.02 }
	quiet := func(mic []int16) bool { n := len(mic); return n > 9600 && rms(mic[n-4800:]) < 0.001 }
	c.listen(loud)
	s.WaitFor(`voicegw.client.levels.caller > 0.02`)
	s.Eval(`(voicegw.client.mute(), 0)`, nil)
	c.next("mute")
	before := len(c.listen(func([]int16) bool { return true }))
	s.heardToEnd(c, 1)
	if after := len(c.listen(func([]int16) bool { return true })); after != before {
		t.Errorf("%d samples came while muted", after-before)
	}
	s.WaitFor(`window.own.track.enabled && voicegw.client.levels.caller === 0`)
	s.Eval(`(voicegw.client.mute(false), 0)`, nil)
	c.listen(func(mic []int16) bool { return len(mic) > before+4800 && loud(mic) })
	s.Eval(`(window.own.track.enabled = false, 0)`, nil) // the page's own mute
	c.listen(quiet)
	s.wants(`voicegw.client.setMicrophone("no such device")`, "mic_missing")
	s.wants(`voicegw.client.setMicrophone(window.other.stream)`, "")
	c.listen(loud)
	c.bye("done", "", 1000)
	s.WaitFor(`voicegw.client.state === "ended"`)
	s.WaitFor(`[window.own, window.other].every(({track}) => track.readyState === "live")`)
	s.Eval(`(voicegw.client.start(), 0)`, nil) // the choice stays
	s.answer().listen(loud)
}

func streamWithoutTrack(t *testing.T, s stage) {
	s.Eval(`(voicegw.client.configure({microphone: new MediaStream()}), 0)`, nil)
	s.wants(`voicegw.client.start()`, "mic_missing")
	s.Eval(`(window.own.track.stop(), voicegw.client.configure({microphone: window.own.stream}), 0)`, nil)
	s.wants(`voicegw.client.start()`, "mic_missing")
}

// streamOverAnotherConnection: a connection of streams gets a copy, which the client mutes.
func streamOverAnotherConnection(t *testing.T, s stage) {
	s.streams(`{microphone: window.own.stream}`)
	s.Eval(`(voicegw.client.mute(), 0)`, nil)
	s.WaitFor(`!window.world.stream.getAudioTracks()[0].enabled && window.own.track.enabled`)
	s.wants(`voicegw.client.setMicrophone(window.other.stream)`, "")
	s.WaitFor(`!window.world.streams[0].getAudioTracks()[0].enabled && window.other.track.enabled`)
	s.Eval(`(voicegw.client.end(), 0)`, nil)
	s.WaitFor(`window.world.streams[0].getAudioTracks()[0].readyState === "ended"`)
	s.WaitFor(`window.other.track.readyState === "live"`)
}

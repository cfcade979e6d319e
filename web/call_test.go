package web_test

import (
	"fmt"
	"slices"
	"testing"
)

// TestCall holds the stories of a call that goes well, in a browser whose microphone speaks.
func TestCall(t *testing.T) {
	browser := launch(t)
	stories := map[string]func(*testing.T, stage){
		"hello names rates and settings": helloNamesRates,
		"echo is heard to the sample":    echoIsHeard,
		"the caller is heard":            callerIsHeard,
		"acks, mark and the dry queue":   acksAndMark,
		"clear stops sound":              clearStopsSound,
		"cough: pause and resume":        coughResumes,
		"mute sends nothing":             muteSendsNothing,
		"another output rate":            anotherOutputRate,
		"latencies":                      latencies,
		"hang up and call again":         hangUpAndCallAgain,
	}
	for name, story := range stories {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, browser, tapped)
			story(t, s)
			s.NoErrors()
		})
	}
}

func helloNamesRates(t *testing.T, s stage) {
	s.Eval(`document.querySelector("#language").value = "de-DE"`, nil)
	s.Eval(`document.querySelector("#half-duplex").checked = true`, nil)
	s.Eval(`document.querySelector("#detection").value = "server"`, nil)
	c := s.talk()
	var rate float64
	s.Eval(`voicegw.stats().contextRate`, &rate)
	want := event{
		"type": "hello", "version": 1.0, "input_rate": rate, "output_rate": rate, "language": "de-DE",
		"half_duplex": true, "detection": "server", "show_net": true, "client": "browser",
	}
	if fmt.Sprint(c.hello) != fmt.Sprint(want) {
		t.Errorf("hello is %v, want %v", c.hello, want)
	}
}

func callerIsHeard(t *testing.T, s stage) {
	c := s.talk()
	mic := c.listen(func(mic []int16) bool { return len(mic) > 3*c.rate() })
	if got := likeness(mic[:3*c.rate()], c.rate(), slices.Concat(microphone(), microphone()), micRate); got < 0.9 {
		t.Errorf("what the double heard is like the microphone by %.3f, want 0.9", got)
	}
	var stats struct{ FramesSent, MicDropped int }
	s.Eval(`voicegw.stats()`, &stats)
	if stats.FramesSent < 140 || stats.MicDropped > 20 {
		t.Errorf("frames sent %d, dropped %d", stats.FramesSent, stats.MicDropped)
	}
}

func echoIsHeard(t *testing.T, s stage) {
	c := s.talk()
	mic := c.listen(func(mic []int16) bool { return len(mic) > 3*c.rate() && firstLoud(mic) >= 0 })
	reply := mic[:len(mic)-len(mic)%(c.rate()/50)]
	c.send(event{"type": "turn", "state": "start", "generation": 1})
	c.play(reply)
	c.send(event{"type": "mark", "id": "1:end", "generation": 1})
	c.nextWhere("ack", func(e event) bool { return e["mark"] == "1:end" })
	s.quiet()
	c.send(event{"type": "turn", "state": "end", "generation": 1, "reason": "complete"})
	s.WaitFor(`document.querySelector("#reason").textContent === "Finished."`)
	heard, _ := s.heard()
	from := firstLoud(heard) - firstLoud(reply)
	if from < 0 || len(heard)-from < len(reply) {
		t.Fatalf("%d samples were heard, loud from %d", len(heard), firstLoud(heard))
	}
	for i, want := range reply {
		if heard[from+i] != want {
			t.Fatalf("sample %d of %d is %d, want %d", i, len(reply), heard[from+i], want)
		}
	}
}

func acksAndMark(t *testing.T, s stage) {
	c := s.talk()
	c.send(event{"type": "turn", "state": "start", "generation": 3})
	c.play(syllables(c.rate(), 1000, 1))
	c.send(event{"type": "mark", "id": "3:end", "generation": 3})
	last := 0.0
	for {
		ack := c.next("ack")
		played := ack["played_ms"].(float64)
		if ack["generation"] != 3.0 || played < last || played > last+120 || int(played)%20 != 0 {
			t.Errorf("ack %v after %v ms", ack, last)
		}
		last = played
		if ack["mark"] == "3:end" {
			break
		}
	}
	if last != 1000 {
		t.Errorf("the mark was acknowledged at %v ms, want 1000", last)
	}
	c.send(event{"type": "mark", "id": "late", "generation": 3})
	if ack := c.nextWhere("ack", func(e event) bool { return e["mark"] == "late" }); ack["played_ms"] != 1000.0 {
		t.Errorf("a mark on the dry queue was acknowledged with %v", ack)
	}
}

func clearStopsSound(t *testing.T, s stage) {
	c := s.talk()
	c.send(event{"type": "turn", "state": "start", "generation": 1})
	c.play(syllables(c.rate(), 3000, 2))
	c.nextWhere("ack", func(e event) bool { return e["played_ms"].(float64) >= 500 })
	c.send(event{"type": "clear", "generation": 1})
	c.send(event{"type": "turn", "state": "end", "generation": 1, "reason": "interrupted"})
	ack := c.nextWhere("ack", func(e event) bool { return e["cleared"] == true })
	played := int(ack["played_ms"].(float64))
	if played < 500 || played > 2900 || played%20 != 0 {
		t.Errorf("cleared at %v", ack)
	}
	s.WaitFor(`document.querySelector("#reason").textContent === "You interrupted."`)
	s.quiet()
	heard, rate := s.heard()
	audible := 1000 * (lastLoud(heard) - firstLoud(heard)) / rate
	if audible > played+40 || audible < played-40 {
		t.Errorf("%d ms were audible, %d acknowledged", audible, played)
	}
	var stats struct{ Clears, FramesCleared, Interruptions int }
	s.Eval(`voicegw.stats()`, &stats)
	if want := (3000 - played) / 20; stats.Clears != 1 || stats.Interruptions != 1 || stats.FramesCleared != want {
		t.Errorf("stats %+v, want 1 clear of %d frames", stats, want)
	}
}

func coughResumes(t *testing.T, s stage) {
	c := s.talk()
	reply := syllables(c.rate(), 2000, 3)
	c.send(event{"type": "turn", "state": "start", "generation": 5})
	c.play(reply)
	c.nextWhere("ack", func(e event) bool { return e["played_ms"].(float64) >= 300 })
	c.send(event{"type": "speech", "state": "start"}, event{"type": "clear", "generation": 5},
		event{"type": "turn", "state": "pause", "generation": 5})
	played := int(c.nextWhere("ack", func(e event) bool { return e["cleared"] == true })["played_ms"].(float64))
	s.WaitFor(`document.querySelector("#reason").textContent.startsWith("Paused")`)
	c.send(event{"type": "speech", "state": "stop"}, event{"type": "turn", "state": "resume", "generation": 5})
	c.play(reply[played*c.rate()/1000:])
	c.send(event{"type": "mark", "id": "5:end2", "generation": 5})
	last := played
	for {
		ack := c.next("ack")
		if now := int(ack["played_ms"].(float64)); now < last {
			t.Errorf("played_ms went from %d down to %d", last, now)
		} else {
			last = now
		}
		if ack["mark"] == "5:end2" {
			break
		}
	}
	if last != 2000 {
		t.Errorf("after the cough %d ms were played in all, want 2000", last)
	}
	s.quiet()
	heard, _ := s.heard()
	before, after := reply[:played*c.rate()/1000], reply[played*c.rate()/1000:]
	for name, part := range map[string][]int16{"before": before, "after": after} {
		if !contains(heard, part) {
			t.Errorf("what was said %s the cough (%d samples) was not heard as it was", name, len(part))
		}
	}
}

func muteSendsNothing(t *testing.T, s stage) {
	c := s.talk()
	c.listen(func(mic []int16) bool { return len(mic) > 0 })
	s.Press("m")
	if e := c.next("mute"); e["on"] != true {
		t.Errorf("mute said %v", e)
	}
	before := len(c.listen(func([]int16) bool { return true }))
	c.send(event{"type": "mark", "id": "a while", "generation": 0}) // a round trip through the page
	c.next("ack")
	s.WaitFor(`document.querySelector("#mute").getAttribute("aria-pressed") === "true"`)
	s.Eval(`new Promise((done) => setTimeout(done, 200))`, nil)
	if after := len(c.listen(func([]int16) bool { return true })); after != before {
		t.Errorf("%d samples came while muted", after-before)
	}
	s.Press("m")
	if e := c.next("mute"); e["on"] != false {
		t.Errorf("unmute said %v", e)
	}
	c.listen(func(mic []int16) bool { return len(mic) > before })
}

func anotherOutputRate(t *testing.T, s stage) {
	s.Click("#talk")
	c := s.accept()
	c.hello["output_rate"], c.hello["input_rate"] = 24000.0, 16000.0
	c.ready()
	reply := syllables(24000, 1500, 4)
	c.send(event{"type": "turn", "state": "start", "generation": 1})
	c.play(reply)
	c.send(event{"type": "mark", "id": "end", "generation": 1})
	if ack := c.nextWhere("ack", func(e event) bool { return e["mark"] == "end" }); ack["played_ms"] != 1500.0 {
		t.Errorf("ack %v, want 1500 ms", ack)
	}
	s.quiet()
	heard, rate := s.heard()
	if got := likeness(reply, 24000, slices.Concat(heard, silence(rate, 100)), rate); got < 0.98 {
		t.Errorf("resampled reply is heard by %.3f, want 0.98", got)
	}
	mic := c.listen(func(mic []int16) bool { return len(mic) > 3*16000 })
	if got := likeness(mic[:3*16000], 16000, slices.Concat(microphone(), microphone()), micRate); got < 0.9 {
		t.Errorf("resampled microphone is like the WAV by %.3f, want 0.9", got)
	}
}

func latencies(t *testing.T, s stage) {
	c := s.talk()
	loud := func(mic []int16) bool { n := len(mic); return n > 4800 && rms(mic[n-4800:]) > 0.02 }
	quiet := func(mic []int16) bool { n := len(mic); return firstLoud(mic) >= 0 && rms(mic[n-9600:]) < 0.001 }
	c.listen(loud)
	c.send(event{"type": "speech", "state": "start"})
	c.listen(quiet)
	c.send(event{"type": "speech", "state": "stop"}, event{"type": "turn", "state": "start", "generation": 1})
	c.play(syllables(c.rate(), 20_000, 5)) // longer than a busy machine takes to hear the caller
	s.WaitFor(`/^[0-9]+ ms$/.test(document.querySelector("#first-audio").textContent)`)
	c.listen(loud) // the caller speaks over the reply
	c.send(event{"type": "speech", "state": "start"}, event{"type": "clear", "generation": 1})
	c.nextWhere("ack", func(e event) bool { return e["cleared"] == true })
	c.send(event{"type": "turn", "state": "end", "generation": 1, "reason": "interrupted"})
	s.WaitFor(`/^[0-9]+ ms$/.test(document.querySelector("#barge-in").textContent)`)
	var stats struct{ FirstAudioMs, BargeInSilenceMs []int }
	s.Eval(`voicegw.stats()`, &stats)
	t.Logf("first audio %v ms, barge-in to silence %v ms", stats.FirstAudioMs, stats.BargeInSilenceMs)
	if len(stats.FirstAudioMs) != 1 || stats.FirstAudioMs[0] < 150 || stats.FirstAudioMs[0] > 5000 {
		t.Errorf("first audio %v ms", stats.FirstAudioMs)
	}
	if len(stats.BargeInSilenceMs) != 1 || stats.BargeInSilenceMs[0] < 20 || stats.BargeInSilenceMs[0] > 5000 {
		t.Errorf("barge-in to silence %v ms", stats.BargeInSilenceMs)
	}
}

func hangUpAndCallAgain(t *testing.T, s stage) {
	c := s.talk()
	s.Click("#talk")
	if e := c.next("bye"); e["reason"] != "caller_hung_up" {
		t.Errorf("bye said %v", e)
	}
	c.bye("caller_hung_up", "The caller hung up.", 1000)
	s.WaitFor(`document.body.dataset.state === "ended"`)
	if notice := s.text("#notice"); notice != "" {
		var hidden bool
		if s.Eval(`document.querySelector("#notice").hidden`, &hidden); !hidden {
			t.Errorf("after hanging up the page says %q", notice)
		}
	}
	c = s.talk()
	c.listen(func(mic []int16) bool { return len(mic) > 0 })
}

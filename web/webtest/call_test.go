package webtest_test

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// TestCall holds the stories of a call that goes well, in a browser whose microphone speaks.
func TestCall(t *testing.T) {
	t.Parallel()
	browser := withMicrophone.Browser(t)
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
		"a hold is not measured":         holdIsNotMeasured,
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
		"half_duplex": true, "detection": "server", "show_net": true, "client": "browser", "resume": map[string]any{},
	}
	if fmt.Sprint(c.hello) != fmt.Sprint(want) {
		t.Errorf("hello is %v, want %v", c.hello, want)
	}
}

// hears waits for three seconds of the microphone that are like its WAV, in two pieces. A busy
// machine loses some of it: a piece that is not like the WAV does not count.
func (c *call) hears(rateHz int) {
	c.t.Helper()
	piece, wav := rateHz*3/2, slices.Concat(microphone(), microphone())
	var alike []float64
	defer func() { c.t.Logf("pieces are like the microphone by %.3f, want 0.9 of two", alike) }()
	c.listen(func(mic []int16) bool {
		for (len(alike)+1)*piece <= len(mic) {
			alike = append(alike, likeness(mic[len(alike)*piece:(len(alike)+1)*piece], rateHz, wav, micRate))
		}
		good := slices.DeleteFunc(slices.Clone(alike), func(v float64) bool { return v < 0.9 })
		return len(good) >= 2
	})
}

func callerIsHeard(t *testing.T, s stage) {
	c := s.talk()
	c.hears(c.rate())
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
	s.played(heard, reply)
}

// played wants all of part to be heard, sample for sample. A busy machine may bring audio late:
// where the queue ran dry, as the page counts it, silence may be between two samples.
func (s stage) played(heard, part []int16) {
	s.t.Helper()
	if firstLoud(part) < 0 {
		return // the clear came behind the last sound
	}
	var dry int
	s.Eval(`voicegw.stats().underruns`, &dry)
	want := lastLoud(part) - firstLoud(part)
	if n, gaps := matched(heard, part); n < want || gaps > dry {
		s.t.Errorf("%d of %d samples were heard as they were sent, with %d gaps; the queue ran dry %d times", n, want, gaps,
			dry)
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
	reply := syllables(c.rate(), 3000, 2)
	c.play(reply)
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
	n, gaps := matched(heard, reply)
	part := reply[:firstLoud(reply)+n] // may end in a pause, which sounds like the silence after the clear
	if to, loudTo := 1000*len(part)/rate, 1000*lastLoud(part)/rate; loudTo > played+40 || to < played-40 {
		t.Errorf("%d to %d ms were audible, %d acknowledged", loudTo, to, played)
	}
	var stats struct{ Clears, FramesCleared, Interruptions, Underruns int }
	s.Eval(`voicegw.stats()`, &stats)
	if want := (3000 - played) / 20; stats.Clears != 1 || stats.Interruptions != 1 || stats.FramesCleared != want ||
		gaps > stats.Underruns {
		t.Errorf("stats %+v, want 1 clear of %d frames; %d gaps", stats, want, gaps)
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
	s.played(heard, reply[:played*c.rate()/1000])
	s.played(heard, reply[played*c.rate()/1000:])
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

// anotherOutputRate wants a resampled reply to be heard as it is. A busy machine may bring audio late: a reply in
// which the queue ran dry, as the page counts it, is sent again.
func anotherOutputRate(t *testing.T, s stage) {
	s.Click("#talk")
	c := s.accept()
	c.hello["output_rate"], c.hello["input_rate"] = 24000.0, 16000.0
	c.ready()
	reply := syllables(24000, 1500, 4)
	for generation := 1; ; generation++ {
		end := fmt.Sprintf("%d:end", generation)
		c.send(event{"type": "turn", "state": "start", "generation": generation})
		c.play(reply)
		c.send(event{"type": "mark", "id": end, "generation": generation})
		if ack := c.nextWhere("ack", func(e event) bool { return e["mark"] == end }); ack["played_ms"] != 1500.0 {
			t.Errorf("ack %v, want 1500 ms", ack)
		}
		s.quiet()
		heard, rate := s.heard()
		got := likeness(reply, 24000, slices.Concat(heard, silence(rate, 100)), rate)
		if got >= 0.98 {
			break
		}
		var dry int
		s.Eval(`voicegw.stats().underruns`, &dry)
		if dry < generation || generation == 5 { // this reply had no gap, or there was one in each of five
			t.Fatalf("resampled reply %d is heard by %.3f, want 0.98; the queue ran dry %d times", generation, got, dry)
		}
	}
	c.hears(16000)
}

// latencies: the page measures them within the time that the call has had, whatever the machine makes of it.
func latencies(t *testing.T, s stage) {
	began := time.Now()
	c := s.talk()
	loud := func(mic []int16) bool { return endsLoud(mic, 4800) }
	quiet := func(mic []int16) bool { return firstLoud(mic) >= 0 && endsQuiet(mic, 9600) }
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
	took := int(time.Since(began).Milliseconds())
	t.Logf("first audio %v ms, barge-in to silence %v ms, of %d ms", stats.FirstAudioMs, stats.BargeInSilenceMs, took)
	if len(stats.FirstAudioMs) != 1 || stats.FirstAudioMs[0] < 150 || stats.FirstAudioMs[0] > took {
		t.Errorf("first audio %v ms", stats.FirstAudioMs)
	}
	if len(stats.BargeInSilenceMs) != 1 || stats.BargeInSilenceMs[0] < 20 || stats.BargeInSilenceMs[0] > took {
		t.Errorf("barge-in to silence %v ms", stats.BargeInSilenceMs)
	}
}

// holdIsNotMeasured: the wait for a reply that a hold put off is the caller's own.
func holdIsNotMeasured(t *testing.T, s stage) {
	c := s.talk()
	for generation, mode := range []string{"hold", "protected", "consent"} {
		before := len(c.listen(func([]int16) bool { return true }))
		c.listen(func(mic []int16) bool { return len(mic) > before+4800 && endsLoud(mic, 4800) })
		c.send(event{"type": "speech", "state": "start"})
		c.listen(func(mic []int16) bool { return endsQuiet(mic, 9600) })
		c.send(event{"type": "speech", "state": "stop"}, event{"type": mode, "state": "start"})
		c.send(event{"type": mode, "state": "stop"}, event{"type": "turn", "state": "start", "generation": generation + 1})
		c.play(syllables(c.rate(), 500, 5))
		c.send(event{"type": "mark", "id": mode, "generation": generation + 1})
		c.nextWhere("ack", func(e event) bool { return e["mark"] == mode })
		c.send(event{"type": "turn", "state": "end", "generation": generation + 1, "reason": "complete"})
	}
	s.quiet()
	var waits []int
	if s.Eval(`voicegw.stats().firstAudioMs`, &waits); len(waits) > 0 {
		t.Errorf("replies after a hold, private input and consent have waits: %v ms", waits)
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

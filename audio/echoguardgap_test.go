package audio_test

import (
	"math"
	"testing"
	"time"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/audio/audiotest"
)

// gapCall is a call whose microphone sends frames only at times, because the caller closes it or
// because the connection stalls. It counts time in frames.
type gapCall struct {
	g      *audio.EchoGuard
	delay  int     // from when the gateway expects a frame to play until the microphone hears it
	gain   float64 // of the echo; 0 is a headset
	packet int     // frames that arrive together
	before int     // frames that a microphone sends, when it opens, from before that
	acks   bool    // the listener says every 100 ms what was played

	now     int
	pending []int16 // the rest of the reply
	played  []int16 // what plays from time 0 on
	mic     []int16 // what the microphone captured
	speech  []bool  // which frames of it are of the caller's speech
	sent    int     // frames of mic that have arrived, or never will
	closed  bool    // the microphone is
	stalled bool    // the connection is

	taken, lost    int // frames of speech, and those that the guard took for echo
	echoed, passed int // frames of echo, and those that it did not
}

const gapLoud = 0.003

func (c *gapCall) time() time.Duration { return time.Duration(c.now) * audio.FrameDuration }

// play begins a reply.
func (c *gapCall) play(reply []int16) {
	c.pending = append(c.pending[:0], reply...)
}

// rest plays nothing until now.
func (c *gapCall) rest() {
	c.played = append(c.played, make([]int16, max(0, c.now*320-len(c.played)))...)
}

// run lets frames pass while the caller says voice.
func (c *gapCall) run(frames int, voice []int16) {
	said := make([]int16, 320)
	for i := range frames {
		for len(c.pending) >= 320 && len(c.played) < (c.now+20)*320 && !c.stalled {
			c.g.Playing(c.time(), c.pending[:320])
			c.rest()
			c.played = append(c.played, c.pending[:320]...)
			c.pending = c.pending[320:]
		}
		if c.acks && !c.stalled && c.now%5 == 0 {
			c.g.Alive(c.time())
			if len(c.pending) < 320 && c.now*320 >= len(c.played)+c.delay*320 {
				c.g.Played()
			}
		}
		clear(said)
		if i*320 < len(voice) {
			copy(said, voice[i*320:])
		}
		c.capture(said)
	}
}

// capture captures a frame, and sends what has to be sent.
func (c *gapCall) capture(said []int16) {
	for k, v := range said {
		if j := (c.now-c.delay)*320 + k; j >= 0 && j < len(c.played) {
			v += int16(c.gain * float64(c.played[j]))
		}
		c.mic = append(c.mic, v)
	}
	c.speech = append(c.speech, audio.RMS(said) > gapLoud)
	c.now++
	if c.closed {
		c.sent = max(c.sent, c.now-c.before)
		return
	}
	for !c.stalled && c.now-c.sent >= c.packet {
		n := min(c.packet, c.now-c.sent)
		for i := range n {
			c.send(n - 1 - i)
		}
	}
}

// send lets the next frame arrive, with after frames behind it.
func (c *gapCall) send(after int) {
	frame := c.mic[c.sent*320 : c.sent*320+320]
	speech := c.speech[c.sent]
	c.sent++
	explained := c.g.Explains(c.time()-time.Duration(after)*audio.FrameDuration, frame)
	switch loud := audio.RMS(frame) > gapLoud; {
	case speech && loud:
		if c.taken++; explained {
			c.lost++
		}
	case loud:
		if c.echoed++; !explained {
			c.passed++
		}
	}
}

// echoGap is a caller who closes the microphone at some time of each reply and asks something after it.
type echoGap struct {
	gapCall
	reply, question []int16
	replies         int
	closes          int // frame of the reply at which the microphone closes; -1: before it
	after           int // frames from the end of the reply, as the caller hears it, to the question
}

// talk makes the call, and counts the last question.
func (e *echoGap) talk() {
	for range e.replies {
		e.closed = false
		e.run(50, nil)
		e.closed = e.closes < 0
		e.run(50, nil)
		e.play(e.reply)
		for f := range len(e.reply)/320 + e.delay + e.after {
			e.closed = e.closed || f == e.closes
			e.run(1, nil)
		}
		e.taken, e.lost = 0, 0
		e.run(e.before, e.question)
		e.closed = false
		e.run(len(e.question)/320-e.before, e.question[e.before*320:])
		e.run(100, nil)
	}
}

// TestEchoGuardGaps: a caller whose microphone is closed for up to 18 s, with a headset or a
// loudspeaker, asks something after a reply. Nothing of it is taken for echo. If the listener never
// says what was played, this holds for microphones that send nothing from before they open.
func TestEchoGuardGaps(t *testing.T) {
	names := audiotest.SpeechNames()
	for i, name := range names {
		reply, question := trimmed(audiotest.Speech(name).Samples), trimmed(audiotest.Speech(names[(i+1)%len(names)]).Samples)
		for k := range question {
			question[k] /= int16(1 + 2*(i%2)) // every second caller is quiet
		}
		for _, closes := range []int{-1, 0, len(reply) / 1280, len(reply) / 640, len(reply) / 320} {
			calls, taken, lost := 0, 0, 0
			for n, after := range []int{5, 10, 30, 60, 150, 500} {
				for _, gainDB := range []float64{-100, -15} {
					for _, replies := range []int{1, 3} {
						e := &echoGap{gapCall: gapCall{g: audio.NewEchoGuard(), delay: 8, gain: math.Pow(10, gainDB/20),
							packet: 1 + 4*((n+replies/2)%2), before: 12 * (replies / 2), acks: after < 30 || n%2 == 0 || replies > 1},
							reply: reply, question: question, replies: replies, closes: closes, after: after}
						e.talk()
						calls, taken, lost = calls+1, taken+e.taken, lost+e.lost
					}
				}
			}
			t.Logf("%s, closed at %d: %d of %d frames lost in %d calls", name, closes, lost, taken, calls)
			if lost > 0 || taken < 50*calls {
				t.Errorf("%s, closed at %d: %d of %d frames were lost in %d calls", name, closes, lost, taken, calls)
			}
		}
	}
}

// TestEchoGuardOpensOverReply: a caller with a headset opens the microphone only to speak over replies.
// What little the guard hears of the first replies does not make it learn an echo.
func TestEchoGuardOpensOverReply(t *testing.T) {
	reply, question := trimmed(audiotest.Speech("long").Samples), trimmed(audiotest.Speech("hello").Samples)
	e := &echoGap{gapCall: gapCall{g: audio.NewEchoGuard(), delay: 8, packet: 5, acks: true},
		reply: reply, question: question, replies: 3, closes: -1, after: -150}
	e.talk()
	t.Logf("%d of %d frames lost", e.lost, e.taken)
	if e.lost > 0 || e.taken < 50 {
		t.Errorf("%d of %d frames of the third question were lost", e.lost, e.taken)
	}
}

// TestEchoGuardStalls: when the connection stalls in a reply and then brings the frames of the
// microphone all at once, the guard still knows the echo in them.
func TestEchoGuardStalls(t *testing.T) {
	reply := audiotest.Speech("long").Samples
	for _, stall := range []int{5, 15, 25, 50, 100, 200, 350} {
		for _, at := range []int{50, 120, 250} {
			for _, acks := range []bool{false, true} {
				c := &gapCall{g: audio.NewEchoGuard(), delay: 8, gain: math.Pow(10, -15./20), packet: 1, acks: acks}
				c.run(100, nil)
				c.play(reply)
				c.run(len(reply)/320+50, nil)
				c.play(reply)
				c.run(at, nil)
				c.echoed, c.passed = 0, 0
				c.stalled = true
				c.run(stall, nil)
				c.stalled = false
				c.run(30, nil)
				t.Logf("a stall of %d at %d, acks %v: %d of %d frames of echo passed", stall, at, acks, c.passed, c.echoed)
				if c.echoed < 10 || c.passed > 2 {
					t.Errorf("a stall of %d at %d, acks %v: %d of %d frames of echo passed", stall, at, acks, c.passed, c.echoed)
				}
			}
		}
	}
}

// trimmed is pcm without the silence at its ends.
func trimmed(pcm []int16) []int16 {
	loud := func(i int) bool { return audio.RMS(pcm[i*320:i*320+320]) > 3*gapLoud }
	from, to := 0, len(pcm)/320
	for !loud(from) {
		from++
	}
	for !loud(to - 1) {
		to--
	}
	return pcm[from*320 : to*320]
}

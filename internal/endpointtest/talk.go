package endpointtest

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/audio/audiotest"
)

// Talk is a conversation over an endpoint, as a client of some protocol has it: a microphone that
// runs in real time, and a recorder.
type Talk struct {
	// Greet says what comes first, and reads until the call stands.
	Greet func(c *websocket.Conn)
	// Frame makes the message that carries 20 ms of 16 kHz.
	Frame func(pcm []int16) []byte
	// Hear takes a message. It may answer.
	Hear func(at time.Duration, message []byte, e *Recorder, answer func([]byte))
	// Over is what is said after two seconds of the reply to "long".
	Over string
	// Binary messages, not text.
	Binary bool
}

// talkMax is how long a talk lasts: "long", its echo, what was said over it, and its echo.
const talkMax = 25 * time.Second

// Run makes the call in a bubble's world: it says "long" and, over the reply, Over. It returns what
// was heard.
func (k Talk) Run(t *testing.T, w *World) (heard audio.PCM) {
	t.Helper()
	c := w.Dial()
	k.Greet(c)
	typ := websocket.MessageText
	if k.Binary {
		typ = websocket.MessageBinary
	}
	say := func(b []byte) { _ = c.Write(context.Background(), typ, b) }
	var mu sync.Mutex // of rec
	rec, start, first := NewRecorder(24000), time.Now(), time.Duration(0)
	var reading sync.WaitGroup
	reading.Go(func() {
		for {
			_, b, err := c.Read(context.Background())
			if err != nil {
				return
			}
			mu.Lock()
			k.Hear(time.Since(start), b, rec, say)
			if first == 0 && len(rec.joined) > 0 {
				first = time.Since(start)
			}
			mu.Unlock()
		}
	})
	words := audiotest.Speech("long").Samples
	over := audiotest.Speech(k.Over).Samples
	for at := time.Duration(0); at < talkMax; at += audio.FrameDuration {
		frame := make([]int16, 320)
		words = words[copy(frame, words):]
		say(k.Frame(frame))
		time.Sleep(time.Until(start.Add(at + audio.FrameDuration)))
		mu.Lock()
		if first > 0 && at > first+2*time.Second {
			words, over = append(words, over...), nil
		}
		mu.Unlock()
	}
	_ = c.Close(websocket.StatusNormalClosure, "")
	reading.Wait()
	w.Eventually("the call has ended", func() bool { return w.Gateway.Calls() == 0 })
	return rec.Heard(time.Since(start))
}

// Cough judges a talk whose Over is a cough: the reply pauses and goes on to its end, with at most
// a few frames lost or repeated, and the model never hears of it.
func (k Talk) Cough(t *testing.T, w *World) {
	t.Helper()
	k.Over = "cough"
	heard := k.Run(t, w)
	ref := audiotest.Resample(audiotest.Speech("long"), heard.RateHz).Samples
	second := heard.RateHz
	begin, corr := audiotest.Align(ref[second/2:3*second/2], heard.Samples)
	end, rest := audiotest.Align(ref[5*second/2:], heard.Samples)
	gap := float64(end-begin)/float64(second) - 2
	t.Logf("before the cough %.3f, after it %.3f, %.2f s of pause", corr, rest, gap)
	if corr < Least || rest < Least || gap < 0.1 || gap > 1.5 {
		t.Errorf("the reply was heard by %.3f before the cough and by %.3f after a pause of %.2f s", corr, rest, gap)
	}
	if n := w.Count("activity_start"); n != 1 {
		t.Errorf("the model was told of %d activity starts, want the one of the question", n)
	}
}

// What BargeIn measures with, in seconds of the reply: pieces of it, and when it must be silent.
// Whoever speaks after two seconds is loud 300 ms later, and heard to speak 100 ms after that; 100
// ms may be on their way.
const (
	pieceLen  = 0.1
	stoppedBy = 2.65
)

// BargeIn judges a talk whose Over is speech: what is heard afterwards is nothing of the rest of
// the reply.
func (k Talk) BargeIn(t *testing.T, w *World) {
	t.Helper()
	k.Over = "over"
	heard := k.Run(t, w)
	if rest := Rest(heard, "long", 3.2); rest > 0.2 {
		t.Errorf("what was heard is like the rest of the interrupted reply by %.2f", rest)
	}
	ref := audiotest.Resample(audiotest.Speech("long"), heard.RateHz).Samples
	last := 0.0
	for at := 2.0; at < 3.2; at += pieceLen { // piece by piece: until when was the reply heard?
		piece := ref[int(at*float64(heard.RateHz)):int((at+pieceLen)*float64(heard.RateHz))]
		if _, corr := audiotest.Align(piece, heard.Samples); corr > Least {
			last = at + pieceLen
		}
	}
	t.Logf("the reply was heard for %.1f s", last)
	if last > stoppedBy {
		t.Errorf("the reply was heard for %.1f s, want at most %.1f: it was spoken over after 2.3", last, stoppedBy)
	}
	Echo(t, heard, "over")
}

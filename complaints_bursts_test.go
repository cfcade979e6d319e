//go:build !race

package voicegw_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/audio/audiotest"
	"github.com/voicegw/voicegw/live/sim"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/voicenets"
)

// bursts is a minute of a room in which something bangs once in a while: for a tenth of a second,
// loud enough to be taken for the beginning of speech.
func bursts(every time.Duration) []int16 {
	bang := scaled(audiotest.White(rand.New(rand.NewPCG(3, 4)), 16000/10), 0.5)
	room := make([]int16, 60*16000)
	for at := 0; at+len(bang) < len(room); at += int(every * 16000 / time.Second) {
		copy(room[at:], bang)
	}
	return room
}

// banged wants the bangs to have been taken for the beginning of speech.
func (p *phone) banged(least int) {
	p.t.Helper()
	n := 0
	for _, h := range p.all() {
		if h.Kind == transport.MessageSpeech && h.State == transport.StateStart {
			n++
		}
	}
	if n < least {
		p.t.Errorf("speech was noticed %d times, want %d: the story is empty\n%s", n, least, p.story())
	}
}

// TestComplaintNoiseInBursts leaves a caller's line open in a room that bangs: whatever the model
// makes of it, the caller is asked whether anybody is there, and the call ends soon after.
func TestComplaintNoiseInBursts(t *testing.T) {
	for ref, c := range map[string]struct {
		script string
		every  time.Duration
	}{
		"livekit/agents#6030, every second":            {"short 1s", time.Second},
		"livekit/agents#6499, every two seconds":       {"short 1s", 2 * time.Second},
		"livekit/agents#6499, nothing comes for noise": {"on start 1: freeze", time.Second},
	} {
		t.Run(ref, func(t *testing.T) {
			t.Parallel()
			m := sim.Config{Scenario: scenario(t, "about A model.\n"+c.script)}
			inBubble(t, plan{gw: prompted(), model: m}, func(w *world) {
				p := w.call(hello(), manner{})
				p.say(bursts(c.every))
				asked := p.turn(transport.StateStart)
				if asked.at < 4900*time.Millisecond || asked.at > 12*time.Second {
					t.Errorf("the caller was asked at %v\n%s", asked.at, p.story())
				}
				p.over(transport.ReasonCallerSilent, "")
				if at := p.now(); at > 35*time.Second {
					t.Errorf("the call went on for %v\n%s", at, p.story())
				}
				p.banged(4)
				if corr := p.like(asked.Generation, speech("german", 24000)); corr < 0.4 {
					t.Errorf("what was heard is like the question by %.2f", corr)
				}
			})
		})
	}
}

// TestComplaintAnsweredOverBursts asks something in a room that bangs before the answer can come.
// It comes, once, as soon as in a quiet room.
func TestComplaintAnsweredOverBursts(t *testing.T) {
	t.Run("livekit/agents#6499", func(t *testing.T) {
		m := sim.Config{Latency: 2 * time.Second, FixedReply: speech("hello", 24000)}
		inBubble(t, plan{model: m}, func(w *world) {
			p := w.call(hello(), manner{})
			p.say(append(append(speech("question", 16000), make([]int16, 16000)...), bursts(time.Second)...))
			time.Sleep(time.Duration(len(speech("question", 16000))) * time.Second / 16000)
			asked := p.now()
			h := p.turn(transport.StateStart)
			if took := h.at - asked; took > 4*time.Second {
				t.Errorf("the answer came after %v\n%s", took, p.story())
			}
			p.ended(transport.TurnComplete)
			p.heardOn(h.Generation, speech("hello", 24000))
			p.banged(3)
		})
	})
}

// TestComplaintReplyPendingOverBursts asks something of a model that has frozen, and so have all
// that follow it, in a room that bangs: within the deadline of the turn the caller hears that there
// is no answer.
func TestComplaintReplyPendingOverBursts(t *testing.T) {
	t.Run("livekit/agents#6499", func(t *testing.T) {
		cfg := voicegw.Config{Prompts: map[voicenets.Prompt]voicegw.Prompt{
			voicenets.Fallback: {PCM: speech("over", 16000), RateHz: 16000}}}
		m := sim.Config{Scenario: scenario(t, "about A frozen model.\non start 1: freeze")}
		inBubble(t, plan{gw: cfg, model: m}, func(w *world) {
			p := w.call(hello(), manner{})
			p.say(append(append(speech("question", 16000), make([]int16, 16000)...), bursts(time.Second)...))
			h := p.turn(transport.StateStart)
			if h.at > 36*time.Second {
				t.Errorf("the caller heard nothing until %v\n%s", h.at, p.story())
			}
			p.ended(transport.TurnComplete)
			p.heardOn(h.Generation, speech("over", 24000))
			p.banged(10)
		})
	})
}

// TestComplaintSpeaksWhenAsked is about to be asked whether anybody is there, and speaks: a short
// word, or at length. Nobody asks then.
func TestComplaintSpeaksWhenAsked(t *testing.T) {
	for name, words := range map[string]string{"at length": "long", "a short word": "cough"} {
		t.Run("pipecat-ai/pipecat#1124, "+name, func(t *testing.T) {
			t.Parallel()
			m := sim.Config{Latency: time.Second, FixedReply: speech("hello", 24000)}
			inBubble(t, plan{gw: prompted(), model: m}, func(w *world) {
				p := w.call(hello(), manner{})
				time.Sleep(4300 * time.Millisecond)
				p.utters(words)
				h := p.turn(transport.StateStart)
				p.ended(transport.TurnComplete)
				p.hears(h.Generation, speech("hello", 24000))
				p.askedAfter(p.lastHeard(h.Generation))
			})
		})
	}
}

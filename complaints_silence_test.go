//go:build !race

package voicegw_test

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/audio/audiotest"
	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/live/sim"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/voicenets"
)

// askedAfter waits for the question whether anybody is there, and wants it five seconds after from,
// give or take what a frame, an acknowledgement and the end of speech may take.
func (p *phone) askedAfter(from time.Duration) heard {
	p.t.Helper()
	h := p.turn(transport.StateStart)
	p.ended(transport.TurnComplete)
	if corr := p.like(h.Generation, speech("german", 24000)); corr < 0.9 {
		p.t.Fatalf("what began at %v is like the question by %.2f\n%s", h.at, corr, p.story())
	}
	if d := h.at - from; d < 4900*time.Millisecond || d > 7*time.Second {
		p.t.Errorf("the caller was asked %v after the last sound, want 5s\n%s", d, p.story())
	}
	return h
}

// TestComplaintAskedTooEarly lets the model deliver eight seconds of speech at once, or slowly. The
// caller is asked five seconds after the last of it was heard, not after it came.
func TestComplaintAskedTooEarly(t *testing.T) {
	for ref, m := range map[string]sim.Config{
		"pipecat-ai/pipecat#1124": {FixedReply: speech("long", 24000), Speed: 1},
		"pipecat-ai/pipecat#2741": {FixedReply: speech("long", 24000), Speed: 100},
	} {
		t.Run(ref, func(t *testing.T) {
			t.Parallel()
			inBubble(t, plan{gw: prompted(), model: m}, func(w *world) {
				p := w.call(hello(), manner{})
				gen := p.answered("hello", 5*time.Second).Generation
				p.ended(transport.TurnComplete)
				p.hears(gen, speech("long", 24000))
				p.askedAfter(p.lastHeard(gen))
				p.over(transport.ReasonCallerSilent, "")
			})
		})
	}
}

// TestComplaintAskedOnce answers the question whether anybody is there and falls silent again: it
// is asked again, however often, also of a caller without a transcript; and in the end the call is
// over.
func TestComplaintAskedOnce(t *testing.T) {
	for ref, script := range map[string]string{
		"livekit/agents#6883":     "",
		"livekit/agents#2819":     "speed 20",
		"pipecat-ai/pipecat#4343": "transcripts missing",
	} {
		t.Run(ref, func(t *testing.T) {
			t.Parallel()
			m := sim.Config{Scenario: scenario(t, "about A model.\n"+script)}
			inBubble(t, plan{gw: prompted(), model: m}, func(w *world) {
				p := w.call(hello(), manner{})
				for range 4 {
					gen := p.answered("hello", 5*time.Second).Generation
					p.ended(transport.TurnComplete)
					p.askedAfter(p.lastHeard(gen))
				}
				began := p.now()
				p.over(transport.ReasonCallerSilent, "")
				if took := p.now() - began; took < 4*time.Second || took > 10*time.Second {
					t.Errorf("the call went on for %v", took)
				}
			})
		})
	}
}

// TestComplaintAskedWhileBusy is not asked anything, and not hung up on, while the microphone is
// off, digits are entered, the call is on hold or a tool works; five seconds after that it is.
func TestComplaintAskedWhileBusy(t *testing.T) {
	busy := func(kind transport.EventKind) func(*phone, *voicegw.Session) {
		return func(p *phone, _ *voicegw.Session) {
			p.send(transport.Event{Kind: kind, On: true})
			time.Sleep(30 * time.Second)
			p.send(transport.Event{Kind: kind})
		}
	}
	for ref, wait := range map[string]func(*phone, *voicegw.Session){
		"pipecat-ai/pipecat#3742, the microphone is off": busy(transport.EventMute),
		"pipecat-ai/pipecat#3742, on hold":               busy(transport.EventHold),
		"pipecat-ai/pipecat#3742, a card number is entered": func(p *phone, s *voicegw.Session) {
			if err := s.Protect(true); err != nil {
				p.t.Error(err)
			}
			for range 16 {
				p.send(transport.Event{Kind: transport.EventDTMF, Text: "4"})
				time.Sleep(2 * time.Second)
			}
			if err := s.Protect(false); err != nil {
				p.t.Error(err)
			}
		},
	} {
		t.Run(ref, func(t *testing.T) {
			t.Parallel()
			cfg, sessions := withSession(prompted())
			inBubble(t, plan{gw: cfg}, func(w *world) {
				p := w.call(hello(), manner{})
				wait(p, <-sessions)
				if n := len(p.starts()); n != 0 {
					t.Fatalf("%d prompts were heard\n%s", n, p.story())
				}
				p.askedAfter(p.now())
			})
		})
	}
}

// TestComplaintAskedOverLookUp plays a filler while a tool takes twelve seconds. Nobody asks
// whether the caller is there, before or after the filler, until the answer was heard.
func TestComplaintAskedOverLookUp(t *testing.T) {
	for ref, filler := range map[string]bool{"livekit/agents#6904": true, "livekit/agents#6937": false,
		"pipecat, in the middle of a reply": true} {
		t.Run(ref, func(t *testing.T) {
			t.Parallel()
			cfg := prompted()
			cfg.Tools = []voicegw.Tool{lookUp(12*time.Second, nil)}
			if filler {
				cfg.Prompts[voicenets.Filler] = voicegw.Prompt{PCM: speech("cough", 16000), RateHz: 16000}
			}
			script := "on turn 1: call look_up {}"
			if strings.Contains(ref, "middle") {
				script = "on chunk 3 of reply 1: call look_up {}"
			}
			m := sim.Config{FixedReply: speech("question", 24000), Scenario: scenario(t, script)}
			inBubble(t, plan{gw: cfg, model: m}, func(w *world) {
				p := w.call(hello(), manner{})
				p.utters("hello")
				gen := uint64(0)
				for len(w.connection(1).ToolReplies) == 0 {
					gen = p.turn(transport.StateStart).Generation
					p.ended(transport.TurnComplete)
					if p.like(gen, speech("german", 24000)) > 0.9 {
						t.Fatalf("the caller was asked over the look-up\n%s", p.story())
					}
				}
				p.askedAfter(p.lastHeard(gen))
			})
		})
	}
}

// TestComplaintAskedOverQuietLookUp lets the model answer at once, while a tool works on for twelve
// seconds and its result is not spoken of. The caller is asked five seconds after that, not after
// the answer.
func TestComplaintAskedOverQuietLookUp(t *testing.T) {
	t.Run("livekit/agents#6937", func(t *testing.T) {
		cfg := prompted()
		cfg.Tools, cfg.Setup.Model = []voicegw.Tool{lookUp(12*time.Second, nil)}, sim.ModelName
		cfg.Tools[0].NonBlocking, cfg.Tools[0].Scheduling = true, live.ScheduleSilent
		m := sim.Config{FixedReply: speech("question", 24000), Scenario: scenario(t, "on turn 1: call look_up {}")}
		inBubble(t, plan{gw: cfg, model: m}, func(w *world) {
			p := w.call(hello(), manner{})
			p.answered("hello", time.Second)
			p.ended(transport.TurnComplete)
			p.replied(w)
			p.askedAfter(p.now())
		})
	})
}

// replied waits until the model has the result of its tool.
func (p *phone) replied(w *world) {
	for deadline := p.now() + time.Minute; len(w.connection(1).ToolReplies) == 0; time.Sleep(20 * time.Millisecond) {
		if p.now() > deadline {
			p.t.Fatalf("the model never got the result\n%s", p.story())
		}
	}
}

// TestComplaintNoiseIsSomebody puts a noisy line in front of a caller who has gone: noise is
// nobody, and the call ends when it would end in silence.
func TestComplaintNoiseIsSomebody(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	noises := map[string][]int16{
		"livekit/agents#6030, hiss": scaled(audiotest.White(rnd, 16000*60), 0.02),
		"livekit/agents#6253, hum":  scaled(audiotest.Pink(rnd, 16000*60), 0.05),
	}
	for ref, noise := range noises {
		t.Run(ref, func(t *testing.T) {
			t.Parallel()
			inBubble(t, plan{gw: prompted()}, func(w *world) {
				p := w.call(hello(), manner{})
				p.say(noise)
				p.over(transport.ReasonCallerSilent, "")
				if at := p.now(); at > 25*time.Second {
					t.Errorf("the call went on for %v\n%s", at, p.story())
				}
			})
		})
	}
}

// scaled is a signal made louder or quieter, so that its peak is that.
func scaled(pcm []int16, peak float64) []int16 {
	most := 1
	for _, s := range pcm {
		most = max(most, int(s), -int(s))
	}
	for i, s := range pcm {
		pcm[i] = int16(float64(s) * peak * 32767 / float64(most))
	}
	return pcm
}

// TestComplaintAskedAfterTheEnd hangs up, in every way, right before the caller would be asked:
// nothing is said to a call that is over, or about to be.
func TestComplaintAskedAfterTheEnd(t *testing.T) {
	type end struct {
		call func(*world, *phone, *voicegw.Session) error
		want transport.Reason
	}
	for name, c := range map[string]end{
		"the caller": {func(_ *world, p *phone, _ *voicegw.Session) error {
			return p.client.SendEvent(context.Background(), &transport.Event{Kind: transport.EventBye})
		}, transport.ReasonCallerHungUp},
		"the host": {func(_ *world, _ *phone, s *voicegw.Session) error { return s.HangUp() }, transport.ReasonDone},
		"the hand-off": {func(_ *world, _ *phone, s *voicegw.Session) error { return s.HandOff("sip:desk") },
			transport.ReasonTransferred},
		"the gateway": {func(w *world, _ *phone, _ *voicegw.Session) error { return w.gw.Close() },
			transport.ReasonGoingAway},
	} {
		t.Run("pipecat-ai/pipecat#741, "+name, func(t *testing.T) {
			t.Parallel()
			cfg, sessions := withSession(prompted())
			inBubble(t, plan{gw: cfg}, func(w *world) {
				p := w.call(hello(), manner{})
				s := <-sessions
				time.Sleep(4990 * time.Millisecond)
				if err := c.call(w, p, s); err != nil {
					t.Error(err)
				}
				p.over(c.want, "")
				if n := len(p.starts()); n != 0 {
					t.Errorf("%d prompts were heard\n%s", n, p.story())
				}
			})
		})
	}
}

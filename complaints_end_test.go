//go:build !race

package voicegw_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/live/sim"
	"github.com/voicegw/voicegw/transport"
)

// leaves are ways in which a caller is gone.
func leaves() map[string]func(*phone) {
	return map[string]func(*phone){
		"says goodbye":        func(p *phone) { p.send(transport.Event{Kind: transport.EventBye}) },
		"closes the socket":   func(p *phone) { _ = p.client.Close() },
		"drops off the net":   func(p *phone) { p.tap.cut() },
		"breaks the protocol": func(p *phone) { _ = p.tap.raw(opBinary, []byte{1}) },
	}
}

// TestComplaintCloseHangs leaves in the middle of a reply, while speaking over it and with a tool
// at work. The call is over within three seconds, with a reason, told once; and everything it held
// is let go.
func TestComplaintCloseHangs(t *testing.T) {
	for name, leave := range leaves() {
		t.Run("livekit/agents#5497, "+name, func(t *testing.T) {
			t.Parallel()
			records, released := make(chan voicegw.Record, 9), new(atomic.Int64)
			pl := tooled(t, lookUp(time.Minute, nil), "on generated 1: call look_up {}")
			pl.model.FixedReply, pl.model.Speed = speech("long", 24000), 40
			pl.gw.Hooks = voicegw.Hooks{
				Begin: func(context.Context, *transport.Hello) (*voicegw.Plan, error) {
					return &voicegw.Plan{Release: func() { released.Add(1) }}, nil
				},
				Ended: func(r voicegw.Record) { records <- r },
			}
			inBubble(t, pl, func(w *world) {
				p := w.call(hello(), manner{})
				p.reply(time.Second)
				p.say(speech("over", 16000))
				time.Sleep(150 * time.Millisecond)
				began := time.Now()
				leave(p)
				w.settled()
				if took := time.Since(began); took > 3*time.Second {
					t.Errorf("the call went on for %v", took)
				}
				if r := <-records; r.Reason == "" || len(records) > 0 || released.Load() != 1 {
					t.Errorf("the call ended as %+v, %d more records; released %d times", r, len(records), released.Load())
				}
			})
		})
	}
}

// TestComplaintShutdownRace presses the mute button many times and shuts the gateway down in the
// middle of it, at every moment of a call: it ends at once, and what counts is the last press.
func TestComplaintShutdownRace(t *testing.T) {
	t.Run("pipecat-ai/pipecat#3757", func(t *testing.T) {
		for _, after := range []time.Duration{0, 300 * time.Millisecond, 2700 * time.Millisecond, 4 * time.Second} {
			inBubble(t, plan{model: long()}, func(w *world) {
				p := w.call(hello(), manner{})
				p.say(speech("hello", 16000))
				time.Sleep(after)
				for presses := range 2 {
					for n := range 101 + presses {
						p.send(transport.Event{Kind: transport.EventMute, On: n%2 == 0})
					}
					time.Sleep(100 * time.Millisecond)
					before := w.heardOf()
					p.say(speech("over", 16000))
					time.Sleep(time.Second)
					if n := w.heardOf() - before; (n == 0) != (presses == 0) {
						t.Errorf("the model heard %d samples of a microphone that was pressed %d times", n, 101+presses)
					}
				}
				began := time.Now()
				go func() { _ = w.gw.Close() }()
				p.over(transport.ReasonGoingAway, "")
				w.settled()
				if took := time.Since(began); took > 3*time.Second {
					t.Errorf("shut down %v into the call it took %v", after, took)
				}
			})
		}
	})
}

// TestComplaintOthersAreCut ends calls in every way. Another one, in the middle of its reply each
// time, does not notice.
func TestComplaintOthersAreCut(t *testing.T) {
	t.Run("livekit/agents#4268", func(t *testing.T) {
		inBubble(t, plan{gw: greets(), model: long()}, func(w *world) {
			other := w.call(hello(), manner{})
			other.ended(transport.TurnComplete)
			for name, leave := range leaves() {
				p := w.call(hello(), manner{})
				other.say(speech("hello", 16000))
				gen := other.turn(transport.StateStart).Generation
				leave(p)
				w.eventually(name+": one call is left", func() bool { return w.gw.Calls() == 1 })
				other.ended(transport.TurnComplete)
				other.hears(gen, speech("long", 24000))
			}
		})
	})
}

// TestComplaintLatencyGrows makes twenty turns, every other one over a reply that is delivered at
// once. The last answer comes as soon as the first.
func TestComplaintLatencyGrows(t *testing.T) {
	t.Run("aplisay/llm-agent#311", func(t *testing.T) {
		m := quick("", t)
		m.RepliesMax = -1
		inBubble(t, plan{model: m}, func(w *world) {
			p := w.call(hello(), manner{})
			first, last := p.waits(), time.Duration(0)
			for range 19 {
				last = p.waits()
			}
			if last > first+100*time.Millisecond || first > 100*time.Millisecond {
				t.Errorf("the first answer came after %v, the last after %v", first, last)
			}
		})
	})
}

// waits says something and returns how long after the end of speech the answer was audible, a
// second of which is heard.
func (p *phone) waits() time.Duration {
	p.t.Helper()
	from := p.now()
	p.utters("hello")
	stop := p.wait("the end of speech", func(h heard) bool {
		return h.Kind == transport.MessageSpeech && h.State == transport.StateStop && h.at > from
	})
	h := p.wait("audio", func(h heard) bool { return h.Kind == transport.MessageAudio && h.at >= stop.at })
	p.played(h.Generation, time.Second)
	return h.at - stop.at
}

// TestComplaintQueueStuck gives a gateway room for two seconds of a reply of eight. The model is
// not read meanwhile, nothing is lost, and a peer that acknowledges nothing for a while does not
// stop it for good.
func TestComplaintQueueStuck(t *testing.T) {
	slow := manner{lag: 1500 * time.Millisecond}
	for ref, m := range map[string]manner{"pipecat-ai/pipecat#721": {}, "livekit/sip#724": slow} {
		t.Run(ref, func(t *testing.T) {
			t.Parallel()
			pl := plan{model: quick("", t)}
			pl.gw.Net.ReplyFramesMax, pl.gw.Net.BudgetFrames = 100, 100
			inBubble(t, pl, func(w *world) {
				p := w.call(hello(), m)
				for range 2 {
					gen := p.answered("hello", 2*time.Second).Generation
					p.ended(transport.TurnComplete)
					p.hears(gen, speech("long", 24000))
				}
			})
		})
	}
}

// TestComplaintCallsPileUp makes forty calls, one after the other and four at a time, with tools
// and prompts, each gone in another way. Nothing of them is left: no line, no connection, no
// goroutine (the bubble ends).
func TestComplaintCallsPileUp(t *testing.T) {
	t.Run("livekit/agents#2166", func(t *testing.T) {
		released := new(atomic.Int64)
		cfg := prompted()
		cfg.CallsMax = 4
		cfg.Tools = []voicegw.Tool{lookUp(time.Minute, nil)}
		cfg.Hooks.Begin = func(context.Context, *transport.Hello) (*voicegw.Plan, error) {
			return &voicegw.Plan{Release: func() { released.Add(1) }}, nil
		}
		m := sim.Config{FixedReply: speech("long", 24000), Scenario: scenario(t, "on chunk 2: call look_up {}")}
		inBubble(t, plan{gw: cfg, model: m}, func(w *world) {
			for range 10 {
				for _, leave := range leaves() {
					p := w.call(hello(), manner{})
					p.utters("hello")
					leave(p)
				}
				w.settled()
			}
			if n := released.Load(); n != 40 {
				t.Errorf("%d of 40 calls were released", n)
			}
		})
	})
}

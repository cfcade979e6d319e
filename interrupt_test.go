package voicegw_test

import (
	"testing"
	"time"

	"github.com/voicegw/voicegw/audio/audiotest"
	"github.com/voicegw/voicegw/live/sim"
	"github.com/voicegw/voicegw/transport"
)

// long is a model that always says the same eight seconds.
func long() sim.Config { return sim.Config{FixedReply: speech("long", 24000)} }

// reply lets the caller say something and returns the generation of the reply, of which d was
// heard.
func (p *phone) reply(d time.Duration) uint64 {
	p.t.Helper()
	p.say(speech("hello", 16000))
	gen := p.turn(transport.StateStart).Generation
	p.played(gen, d)
	return gen
}

// after lists the messages of a kind that came behind the last wait.
func (p *phone) after(k transport.MessageKind) (list []heard) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, h := range p.log[p.next:] {
		if h.Kind == k {
			list = append(list, h)
		}
	}
	return list
}

// TestInterrupt speaks over a reply: it pauses, is cleared, ends, and nothing of it is handed over
// any more; what was said over it is answered.
func TestInterrupt(t *testing.T) {
	for _, d := range []transport.Detection{transport.DetectionGatewayVAD, transport.DetectionModelVAD} {
		t.Run(string(d), func(t *testing.T) {
			t.Parallel()
			// The model is away: it does not notice in the same instant what the gateway does.
			inBubble(t, plan{model: long(), away: 5 * time.Millisecond}, func(w *world) {
				h := hello()
				h.Detection = d
				p := w.call(h, manner{})
				gen := p.reply(2 * time.Second)
				said := p.now()
				p.say(speech("over", 16000))
				p.turn(transport.StatePause)
				if h := p.kind(transport.MessageClear); h.Generation != gen {
					t.Errorf("generation %d was cleared, want %d", h.Generation, gen)
				}
				cut := p.ended(transport.TurnInterrupted)
				if cut.Generation != gen || cut.at-said > 1500*time.Millisecond {
					t.Errorf("generation %d was cut %v after the caller began", cut.Generation, cut.at-said)
				}
				next := p.turn(transport.StateStart)
				for _, h := range p.all() {
					if h.Kind == transport.MessageAudio && h.Generation == gen && h.at > said+500*time.Millisecond {
						t.Errorf("%v after the caller began still came audio of the old reply", h.at-said)
					}
				}
				if next.Generation <= gen {
					t.Errorf("the next reply has generation %d after %d", next.Generation, gen)
				}
				p.ended(transport.TurnComplete)
				p.hears(next.Generation, speech("long", 24000))
				rest := speech("long", 24000)[3*24000:]
				if _, corr := audiotest.Align(rest, p.sound(gen)); corr > 0.2 {
					t.Errorf("the rest of the interrupted reply was heard by %.2f", corr)
				}
				turns := w.connection(1).Turns
				if len(turns) != 2 || !turns[1].OverReply || turns[1].Loud < time.Second {
					t.Errorf("the model heard %+v", turns)
				}
			})
		})
	}
}

// TestInterruptByServer is cut by the model alone: the gateway detects no speech.
func TestInterruptByServer(t *testing.T) {
	t.Parallel()
	p := plan{model: long()}
	p.gw.Activity.Threshold, p.gw.Activity.RaisedThreshold = 1e9, 1e9
	inBubble(t, p, func(w *world) {
		h := hello()
		h.Detection = transport.DetectionModelVAD
		p := w.call(h, manner{})
		gen := p.reply(2 * time.Second)
		p.say(speech("over", 16000))
		p.kind(transport.MessageClear)
		if h := p.ended(transport.TurnInterrupted); h.Generation != gen {
			t.Errorf("generation %d was cut, want %d", h.Generation, gen)
		}
		p.turn(transport.StateStart)
		p.ended(transport.TurnComplete)
	})
}

// TestCough pauses and resumes, loses nothing, and the model never hears of it.
func TestCough(t *testing.T) {
	t.Parallel()
	inBubble(t, plan{model: long()}, func(w *world) {
		p := w.call(hello(), manner{})
		gen := p.reply(2 * time.Second)
		before := w.connection(1)
		p.say(speech("cough", 16000))
		p.turn(transport.StatePause)
		p.kind(transport.MessageClear)
		if h := p.turn(transport.StateResume); h.Generation != gen {
			t.Errorf("generation %d resumes, want %d", h.Generation, gen)
		}
		p.ended(transport.TurnComplete)
		p.hears(gen, speech("long", 24000))
		if n := w.count(1, "activity_start"); n != 1 {
			t.Errorf("%d activity starts went to the model, want the one of the question", n)
		}
		if after := w.connection(1); after.Samples != before.Samples {
			t.Errorf("%d samples of the cough went to the model", after.Samples-before.Samples)
		}
	})
}

// TestEarlyInterrupt speaks on before the reply begins: the model is told at once, and nothing of
// the old reply is heard.
func TestEarlyInterrupt(t *testing.T) {
	t.Parallel()
	m := long()
	m.Latency = 2 * time.Second
	inBubble(t, plan{model: m}, func(w *world) {
		p := w.call(hello(), manner{})
		p.say(speech("hello", 16000))
		p.wait("the end of speech", func(h heard) bool {
			return h.Kind == transport.MessageSpeech && h.State == transport.StateStop
		})
		p.say(speech("over", 16000))
		p.turn(transport.StateStart)
		if n := w.count(1, "activity_start"); n != 2 {
			t.Errorf("%d activity starts went to the model", n)
		}
		p.ended(transport.TurnComplete)
		if n := w.count(1, "reply"); n != 2 {
			t.Errorf("the model replied %d times", n)
		}
	})
}

// TestSlowAnswerToClear answers the clear of a pause only when the reply goes on already. What is
// handed over again is acknowledged all the same, and the reply is not held up.
func TestSlowAnswerToClear(t *testing.T) {
	t.Parallel()
	far := plan{model: long()}
	far.gw.Net.BudgetFrames = 60 // covers the way there and back
	inBubble(t, far, func(w *world) {
		p := w.call(hello(), manner{lag: 700 * time.Millisecond})
		p.reply(2 * time.Second)
		p.say(speech("cough", 16000))
		p.turn(transport.StatePause)
		p.turn(transport.StateResume)
		resumed := p.now()
		h := p.ended(transport.TurnComplete)
		// six seconds were left, and at most one budget may be heard twice
		if took := h.at - resumed; took > 7500*time.Millisecond {
			t.Errorf("the rest of the reply took %v", took)
		}
		if n := w.count(1, "activity_start"); n != 1 {
			t.Errorf("%d activity starts went to the model", n)
		}
	})
}

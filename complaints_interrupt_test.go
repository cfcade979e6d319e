//go:build !race

package voicegw_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/audio/audiotest"
	"github.com/voicegw/voicegw/live/sim"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/voicenets"
)

// TestComplaintFalseInterruption says "mhm" over a reply, three times: it is heard whole every
// time, whatever the model makes of the "mhm".
func TestComplaintFalseInterruption(t *testing.T) {
	const transcript, interrupted = `"inputTranscription":{"text":"mhm","finished":true}`, `"interrupted":true`
	for ref, said := range map[string]string{"livekit/agents#4039": "", "livekit/agents#4395": transcript,
		"livekit/agents#4395, called an interruption": interrupted} {
		var words strings.Builder // of the "mhm", whenever they may come
		for ms := 1000; said != "" && ms < 9000; ms += 50 {
			fmt.Fprintf(&words, "on reply 1 +%dms: send {\"serverContent\":{%s}}\n", ms, said)
		}
		script := words.String()
		t.Run(ref, func(t *testing.T) {
			t.Parallel()
			inBubble(t, plan{model: quick(script, t)}, func(w *world) {
				p := w.call(hello(), manner{})
				gen := p.reply(0)
				for _, at := range []time.Duration{1500 * time.Millisecond, 3500 * time.Millisecond, 5500 * time.Millisecond} {
					p.played(gen, at)
					p.say(speech("cough", 16000))
					p.turn(transport.StatePause)
					p.turn(transport.StateResume)
				}
				p.ended(transport.TurnComplete)
				p.heardOn(gen, speech("long", 24000))
				if n := w.count(1, "activity_start"); n != 1 {
					t.Errorf("the model was told of %d turns, want the question alone", n)
				}
			})
		})
	}
}

// heardOn wants each second of ref in a generation, in spite of pauses.
func (p *phone) heardOn(generation uint64, ref []int16) {
	p.t.Helper()
	got, last := p.sound(generation), 0
	for from := 0; from+24000 <= len(ref); from += 24000 {
		lag, corr := audiotest.Align(ref[from:from+24000], got)
		if corr < 0.9 || lag < last {
			p.t.Errorf("second %d of the reply was heard by %.2f, at %d after %d\n%s", from/24000, corr, lag, last, p.story())
		}
		last = lag
	}
}

// TestComplaintCoughBeforeReply coughs between the question and its answer, which makes the model
// drop the answer. The caller gets one all the same.
func TestComplaintCoughBeforeReply(t *testing.T) {
	for name, script := range map[string]string{
		"livekit/agents#1229":                         "speed 4",
		"livekit/agents#1229, the cough gets nothing": "short 1s",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := sim.Config{Latency: 3 * time.Second, Scenario: scenario(t, script), FixedReply: speech("hello", 24000)}
			inBubble(t, plan{model: m}, func(w *world) {
				p := w.call(hello(), manner{})
				p.utters("question")
				time.Sleep(time.Second)
				h := p.answered("cough", 9*time.Second)
				p.ended(transport.TurnComplete)
				p.hears(h.Generation, speech("hello", 24000))
				p.answered("question", 5*time.Second)
				p.ended(transport.TurnComplete)
			})
		})
	}
}

// TestComplaintUninterruptible speaks, and types, over a notice that must be heard: it is heard
// whole, what was said over it is answered then, and that answer can be interrupted.
func TestComplaintUninterruptible(t *testing.T) {
	says := map[string]func(*phone){
		"livekit/agents#4316":     func(p *phone) { p.say(speech("over", 16000)) },
		"pipecat-ai/pipecat#4412": func(p *phone) { p.send(transport.Event{Kind: transport.EventText, Text: "stop"}) },
	}
	for ref, say := range says {
		t.Run(ref, func(t *testing.T) {
			t.Parallel()
			cfg := greets()
			cfg.Net.GreetingFirm = true
			m := long()
			m.Greeting = speech("long", 24000)
			inBubble(t, plan{gw: cfg, model: m}, func(w *world) {
				p := w.call(hello(), manner{})
				notice := p.turn(transport.StateStart)
				p.played(notice.Generation, 6500*time.Millisecond)
				say(p)
				p.ended(transport.TurnComplete)
				p.hears(notice.Generation, speech("long", 24000))
				answer := p.turn(transport.StateStart)
				p.played(answer.Generation, 2*time.Second)
				p.say(speech("over", 16000))
				if h := p.ended(transport.TurnInterrupted); h.Generation != answer.Generation {
					t.Errorf("generation %d was interrupted, want %d", h.Generation, answer.Generation)
				}
			})
		})
	}
}

// TestComplaintRejectedBargeIn coughs into the first word of a greeting of which everything waits
// already: nothing of it is lost.
func TestComplaintRejectedBargeIn(t *testing.T) {
	t.Run("vellum-ai/vellum-assistant#37061", func(t *testing.T) {
		m := quick("", t)
		inBubble(t, plan{gw: greets(), model: m}, func(w *world) {
			p := w.call(hello(), manner{})
			greeting := p.turn(transport.StateStart)
			p.played(greeting.Generation, 100*time.Millisecond)
			p.say(speech("cough", 16000))
			p.turn(transport.StatePause)
			p.turn(transport.StateResume)
			p.ended(transport.TurnComplete)
			p.heardOn(greeting.Generation, speech("long", 24000))
		})
	})
}

// cutShort is how a reply comes to be interrupted.
type cutShort struct {
	det    transport.Detection
	model  func(script string, t *testing.T) sim.Config
	budget int           // frames at the peer; 0: the usual 20
	at     time.Duration // of a reply of eight seconds
}

// TestComplaintPlaysOn interrupts a reply of which a lot is on its way, or all of it at the peer
// already. It is silent within a second, and what was left is never heard.
func TestComplaintPlaysOn(t *testing.T) {
	const gateway, model = transport.DetectionGatewayVAD, transport.DetectionModelVAD
	const early, late = 2 * time.Second, 6200 * time.Millisecond
	slow := func(string, *testing.T) sim.Config { return long() }
	for ref, c := range map[string]cutShort{
		"pipecat-ai/pipecat#366":                                    {gateway, slow, 0, early},
		"pipecat-ai/pipecat#4151":                                   {gateway, quick, 100, early},
		"aws-samples/sample-amazon-nova-sonic-twilio-integration#2": {model, quick, 100, early},
		"cloudflare/agents#2261":                                    {gateway, quick, 0, early},
		"openai/openai-agents-js#1184, all is at the carrier":       {gateway, quick, 100, late},
		"openai/openai-agents-js#1184, and the model detects":       {model, quick, 100, late},
		"gradio-app/fastrtc#417":                                    {model, slow, 0, early},
	} {
		t.Run(ref, func(t *testing.T) {
			t.Parallel()
			pl := plan{model: c.model("", t)}
			pl.gw.Net.BudgetFrames = c.budget
			inBubble(t, pl, func(w *world) { c.tell(w) })
		})
	}
}

func (c *cutShort) tell(w *world) {
	h := hello()
	h.Detection = c.det
	p := w.call(h, manner{})
	gen := p.reply(c.at)
	said := p.now()
	p.say(speech("over", 16000))
	if cl := p.kind(transport.MessageClear); cl.Generation != gen {
		w.t.Errorf("generation %d was cleared, want %d", cl.Generation, gen)
	}
	p.ended(transport.TurnInterrupted)
	next := p.turn(transport.StateStart)
	p.ended(transport.TurnComplete)
	p.hears(next.Generation, speech("long", 24000))
	if last := p.lastHeard(gen); last > said+time.Second {
		w.t.Errorf("the reply was heard %v after the caller began to speak over it\n%s", last-said, p.story())
	}
	rest := speech("long", 24000)[int((c.at+time.Second).Seconds()*24000):]
	if corr := p.like(gen, rest); corr > 0.3 {
		w.t.Errorf("the rest of the reply was heard by %.2f", corr)
	}
}

// TestComplaintYesterdaysWords interrupts a reply whose audio, end and acknowledgements come late.
// The next reply is heard whole, and nothing of the old one with it.
func TestComplaintYesterdaysWords(t *testing.T) {
	ended := `send {"serverContent":{"turnComplete":true}}`
	for ref, c := range map[string]struct {
		script string
		manner manner
	}{
		"pipecat-ai/pipecat#754":          {"on interrupted 1: audio 500ms\non interrupted 1 +200ms: audio 500ms", manner{}},
		"langwatch/scenario#907":          {"turn_complete not_after_interrupted\non reply 2 +400ms: " + ended, manner{}},
		"langwatch/scenario#907, at once": {"turn_complete not_after_interrupted\non reply 2: " + ended, manner{}},
		"openai/openai-agents-js#1608":    {"on interrupted 1 +100ms: audio 400ms", manner{lag: 700 * time.Millisecond}},
	} {
		t.Run(ref, func(t *testing.T) {
			t.Parallel()
			pl := plan{model: sim.Config{Scenario: scenario(t, c.script)}}
			pl.gw.Net.BudgetFrames = 60
			inBubble(t, pl, func(w *world) {
				p := w.call(hello(), c.manner)
				p.say(speech("long", 16000))
				old := p.turn(transport.StateStart).Generation
				p.played(old, 2*time.Second)
				p.say(speech("over", 16000))
				p.ended(transport.TurnInterrupted)
				next := p.turn(transport.StateStart).Generation
				p.ended(transport.TurnComplete)
				p.hears(next, speech("over", 24000))
				if got, want := len(p.sound(next)), len(speech("over", 24000)); got > want+24000 {
					t.Errorf("the next reply has %d samples, and should have %d and some silence", got, want)
				}
				time.Sleep(5 * time.Second)
				if n := len(p.starts()); n != 2 {
					t.Errorf("%d replies were heard, want 2\n%s", n, p.story())
				}
			})
		})
	}
}

// TestComplaintStaleTail loses the line in the middle of a notice that cannot be interrupted. Who
// calls again hears a new one from its beginning, and nothing of the old one.
func TestComplaintStaleTail(t *testing.T) {
	t.Run("pipecat-ai/pipecat#3872", func(t *testing.T) {
		cfg := greets()
		cfg.Net.GreetingFirm = true
		inBubble(t, plan{gw: cfg, model: quick("", t)}, func(w *world) {
			p := w.call(hello(), manner{})
			p.played(p.turn(transport.StateStart).Generation, 3*time.Second)
			p.tap.cut()
			again := w.call(hello(), manner{})
			h := again.turn(transport.StateStart)
			again.ended(transport.TurnComplete)
			again.hears(h.Generation, speech("long", 24000))
			if extra := len(again.sound(h.Generation)) - len(speech("long", 24000)); extra > 480 {
				t.Errorf("%d samples more than the greeting were heard", extra)
			}
		})
	})
}

// TestComplaintForgetsWhatWasHeard interrupts a reply and then loses the model for good. The next
// connection is told what both sides said.
func TestComplaintForgetsWhatWasHeard(t *testing.T) {
	t.Run("pipecat-ai/pipecat#4466", func(t *testing.T) {
		m := long()
		m.CallerText = "what about tomorrow"
		m.Scenario = scenario(t, "handles never\nconnection 1\non turn 2: drop")
		inBubble(t, plan{model: m}, func(w *world) {
			p := w.call(hello(), manner{})
			p.reply(2 * time.Second)
			p.say(speech("over", 16000))
			p.ended(transport.TurnInterrupted)
			p.state(transport.MessageModel, transport.StateBack)
			p.turn(transport.StateStart)
			p.ended(transport.TurnComplete)
			told := map[string]string{} // before the first audio
			for _, text := range w.connection(2).Texts {
				told[text.Role] += text.Text
			}
			if !strings.Contains(told["user"], m.CallerText) || told["model"] == "" {
				t.Errorf("the new connection was told %q", told)
			}
		})
	})
}

// TestComplaintWrongPrompt interrupts a prompt of ours that plays while a tool works: that prompt
// is cleared and nothing else, and the answer is heard whole.
func TestComplaintWrongPrompt(t *testing.T) {
	t.Run("jambonz/jambonz-feature-server#767", func(t *testing.T) {
		cfg := voicegw.Config{Tools: []voicegw.Tool{lookUp(6*time.Second, nil)},
			Prompts: map[voicenets.Prompt]voicegw.Prompt{voicenets.Filler: {PCM: speech("long", 16000), RateHz: 16000}}}
		m := tooled(t, cfg.Tools[0], "on turn 1: call look_up {}").model
		inBubble(t, plan{gw: cfg, model: m}, func(w *world) {
			p := w.call(hello(), manner{})
			p.utters("hello")
			filler := p.turn(transport.StateStart).Generation
			p.played(filler, 2*time.Second)
			p.say(speech("over", 16000))
			if h := p.kind(transport.MessageClear); h.Generation != filler {
				t.Errorf("generation %d was cleared, want %d", h.Generation, filler)
			}
			p.ended(transport.TurnInterrupted)
			answer := p.turn(transport.StateStart).Generation
			p.ended(transport.TurnComplete)
			p.hears(answer, speech("question", 24000))
			if corr := p.like(filler, speech("long", 24000)[4*24000:]); corr > 0.2 {
				t.Errorf("the rest of the prompt was heard by %.2f", corr)
			}
		})
	})
}

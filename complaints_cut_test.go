//go:build !race

package voicegw_test

import (
	"strings"
	"testing"
	"time"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/audio/audiotest"
	"github.com/voicegw/voicegw/live/sim"
	"github.com/voicegw/voicegw/transport"
)

// TestComplaintCutReply loses the connection, or is told that it ends at once, in the middle of a
// reply. What came of it is heard, and its end says that it was cut; the next connection is told,
// once, what was asked and what was heard, and its answer is heard whole.
func TestComplaintCutReply(t *testing.T) {
	const question = "What is new in the town of mine today, and who has said so?"
	for ref, c := range map[string]struct{ script, asked string }{
		"livekit/agents-js#2366":       {"on chunk 12 of reply 1: drop", question},
		"google/adk-python#5525":       {"on chunk 12 of reply 1: close 1011 Internal error encountered.", question},
		"google/adk-python#4996":       {"on chunk 12 of reply 1: go_away 1s", question},
		"google/adk-python#5525, mute": {"transcripts missing\non chunk 12 of reply 1: drop", ""},
	} {
		t.Run(ref, func(t *testing.T) {
			t.Parallel()
			m := sim.Config{FixedReply: speech("long", 24000), Speed: 1.2, CallerText: question,
				Scenario: scenario(t, "connection 1\n"+c.script)}
			inBubble(t, plan{model: m}, func(w *world) {
				p := w.call(hello(), manner{})
				first := p.answered("question", time.Second).Generation
				cut := p.ended(transport.TurnModelLost)
				second := p.turn(transport.StateStart)
				if d := second.at - cut.at; d > 2*time.Second {
					t.Errorf("the reply went on after %v", d)
				}
				p.ended(transport.TurnComplete)
				time.Sleep(10 * time.Second)
				if n := len(p.starts()); n != 2 {
					t.Errorf("%d replies, want 2\n%s", n, p.story())
				}
				p.partly(first, speech("long", 24000))
				texts := w.told(2)
				if len(texts) != 1 || len(w.connection(2).Turns) != map[bool]int{true: 0, false: 1}[c.asked != ""] {
					t.Fatalf("the second connection was told %v, in %d turns", texts, len(w.connection(2).Turns))
				}
				asked := strings.Contains(texts[0], "asked: \""+question+"\".")
				heard := strings.Contains(texts[0], `heard: "What`)
				if asked != (c.asked != "") || heard != asked {
					t.Errorf("the second connection was told %q", texts[0])
				}
			})
		})
	}
}

// told are the texts that a connection was sent as turns, which history is not.
func (w *world) told(connection int) (list []string) {
	for _, text := range w.connection(connection).Texts {
		if text.Kind == "text" {
			list = append(list, text.Text)
		}
	}
	return list
}

// partly wants the beginning of ref to be heard of a generation, whole, and nothing else.
func (p *phone) partly(generation uint64, ref []int16) {
	p.t.Helper()
	got := p.sound(generation)
	if len(got) < 24000/5 || len(got) >= len(ref) {
		p.t.Fatalf("%d samples were heard of %d\n%s", len(got), len(ref), p.story())
	}
	ref = ref[:max(0, len(got)-480)] // the last frame may be filled with silence
	lag, corr := audiotest.Align(ref, got)
	if holes := audiotest.Holes(ref, audiotest.Shift(got, lag, len(ref)), 24000); corr < 0.98 || holes > 0 {
		p.t.Errorf("what was heard is like the beginning by %.3f, with %d holes\n%s", corr, holes, p.story())
	}
}

// TestComplaintCutAfterTheEnd loses the connection when the model has given all of its reply and
// the caller has not heard it yet. It is heard whole, and not told of again.
func TestComplaintCutAfterTheEnd(t *testing.T) {
	t.Run("livekit/agents-js#2366", func(t *testing.T) {
		inBubble(t, plan{model: quick("connection 1\non generated 1: drop", t)}, func(w *world) {
			p := w.call(hello(), manner{})
			gen := p.answered("question", time.Second).Generation
			p.ended(transport.TurnComplete)
			p.hears(gen, speech("long", 24000))
			time.Sleep(5 * time.Second)
			if texts, turns := w.told(2), w.connection(2).Turns; len(texts)+len(turns) != 0 {
				t.Errorf("the second connection was told %v, in %d turns", texts, len(turns))
			}
		})
	})
}

// TestComplaintCutTwice interrupts a reply that was cut short: what the caller says then is
// answered, and nothing goes on.
func TestComplaintCutTwice(t *testing.T) {
	t.Run("livekit/agents-js#2366", func(t *testing.T) {
		m := sim.Config{FixedReply: speech("long", 24000), Speed: 4,
			Scenario: scenario(t, "connection 1\non chunk 20 of reply 1: drop")}
		inBubble(t, plan{model: m}, func(w *world) {
			p := w.call(hello(), manner{})
			p.answered("question", time.Second)
			p.state(transport.MessageModel, transport.StateBack)
			p.say(speech("over", 16000))
			p.ended(transport.TurnInterrupted)
			gen := p.turn(transport.StateStart).Generation
			p.ended(transport.TurnComplete)
			p.hears(gen, speech("long", 24000))
			time.Sleep(5 * time.Second)
			if texts, turns := w.told(2), w.connection(2).Turns; len(texts) != 0 || len(turns) != 1 || len(p.starts()) != 2 {
				t.Errorf("the second connection was told %v, in %d turns\n%s", texts, len(turns), p.story())
			}
		})
	})
}

// TestComplaintCutByRotation announces the end of the connection, or lets it come to its age, in
// the middle of a reply that lasts half a minute: it is heard whole. The connection is replaced
// after it, in time.
func TestComplaintCutByRotation(t *testing.T) {
	tale := speech("long", 24000)
	for len(tale) < 30*24000 {
		tale = append(tale, speech("long", 24000)...)
	}
	tale = tale[:30*24000]
	for ref, c := range map[string]struct {
		script string
		net    time.Duration // RotateAfter
	}{
		"google/adk-python#4996, soon":          {"on chunk 10 of reply 1: go_away 35s", 0},
		"sierra-research/tau2-bench#461, later": {"on chunk 10 of reply 1: go_away 60s", 0},
		"google/adk-python#2179, its age":       {"", time.Minute},
	} {
		t.Run(ref, func(t *testing.T) {
			t.Parallel()
			var cfg voicegw.Config
			cfg.Net.RotateAfter = c.net
			m := sim.Config{FixedReply: tale, Speed: 1, Scenario: scenario(t, "about A slow model.\nconnection 1\n"+c.script)}
			inBubble(t, plan{gw: cfg, model: m}, func(w *world) {
				p := w.call(hello(), manner{})
				time.Sleep(max(0, c.net-10*time.Second))
				gen := p.answered("question", time.Second).Generation
				end := p.ended(transport.TurnComplete)
				p.hears(gen, tale)
				time.Sleep(2 * time.Second)
				if texts, turns := w.told(2), w.connection(2).Turns; len(texts)+len(turns) != 0 {
					t.Errorf("the second connection was told %v, in %d turns", texts, len(turns))
				}
				for _, h := range p.all() {
					if h.Kind == transport.MessageModel && h.State == transport.StateLost && h.at > end.at+time.Second {
						t.Errorf("the connection was replaced at %v, the reply was over at %v", h.at, end.at)
					}
				}
				p.answered("hello", time.Second)
			})
		})
	}
}

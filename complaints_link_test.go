//go:build !race

package voicegw_test

import (
	"testing"
	"time"

	"github.com/voicegw/voicegw/live/sim"
	"github.com/voicegw/voicegw/transport"
)

// TestComplaintStuckAfterInterruption interrupts a model that then forgets the end of its turn,
// repeats itself, or falls silent. The next turns are answered.
func TestComplaintStuckAfterInterruption(t *testing.T) {
	const interrupted = `send {"serverContent":{"interrupted":true}}`
	const soon = 2 * time.Second
	for ref, c := range map[string]struct {
		script string
		within time.Duration // until the turn over the reply is answered
	}{
		"livekit/livekit#4484, it freezes":      {"connection 1\non interrupted 1: freeze", 12 * time.Second},
		"livekit/agents#4623, no end":           {"turn_complete not_after_interrupted", soon},
		"AidenAI-IO/aiden-firmware#644":         {"turn_complete never", soon},
		"livekit/agents#2165, a late answer":    {"turn_complete not_after_interrupted\nlatency 3s", 4 * time.Second},
		"livekit/agents-js#779, an empty turn":  {`on start 2 +50ms: send {"serverContent":{"turnComplete":true}}`, soon},
		"livekit/agents#4273, again":            {"on turn 2: " + interrupted + "\non turn 2 +10ms: " + interrupted, soon},
		"livekit/agents#5526, over the reply":   {"on chunk 2 of reply 2: " + interrupted, soon},
		"livekit/agents#2029, before the reply": {"latency 1s\non turn 2 +900ms: " + interrupted, soon},
	} {
		t.Run(ref, func(t *testing.T) {
			t.Parallel()
			m := long()
			m.Scenario = scenario(t, c.script)
			inBubble(t, plan{model: m}, func(w *world) {
				p := w.call(hello(), manner{})
				p.reply(2 * time.Second)
				h := p.answered("over", c.within+time.Second)
				p.turn(transport.StateEnd)
				p.hears(h.Generation, speech("long", 24000))
				p.answered("german", 6*time.Second)
				p.turn(transport.StateEnd)
			})
		})
	}
}

// TestComplaintSpeakingButSilent lets the model stop in the middle of a reply, for good. The reply
// is over within the time of SilentTurn, nobody has to speak first, and who does is answered.
func TestComplaintSpeakingButSilent(t *testing.T) {
	t.Run("livekit/agents#3418", func(t *testing.T) {
		m := long()
		m.Scenario = scenario(t, "connection 1\non chunk 6 of reply 1: freeze")
		inBubble(t, plan{model: m}, func(w *world) {
			p := w.call(hello(), manner{})
			gen := p.answered("hello", time.Second).Generation
			end := p.turn(transport.StateEnd)
			if d := end.at - p.lastHeard(gen); d > 6*time.Second {
				t.Errorf("the reply was over %v after its last sound", d)
			}
			h := p.answered("question", 12*time.Second)
			p.ended(transport.TurnComplete)
			p.hears(h.Generation, speech("long", 24000))
		})
	})
}

// TestComplaintDeadSocket breaks the connection while the caller speaks: the whole turn is heard by
// the next one, and answered with what was said.
func TestComplaintDeadSocket(t *testing.T) {
	for ref, script := range map[string]string{
		"livekit/agents-js#2366":                  "connection 1\non start 1 +1s: drop",
		"livekit/agents-js#2366, nobody hears it": "connection 1\non start 1 +1s: freeze\npongs never",
		"kazunori279/adk-streaming-guide#11":      "connection 1\non start 1 +1s: close 1011 Internal error encountered.",
		"google/adk-python#5525": "connection 1\non start 1 +1s: close 1011 x\n" +
			"connection 2\non setup: close 1011 x",
	} {
		t.Run(ref, func(t *testing.T) {
			t.Parallel()
			inBubble(t, plan{model: sim.Config{Scenario: scenario(t, script)}}, func(w *world) {
				p := w.call(hello(), manner{})
				h := p.answered("long", 15*time.Second)
				p.ended(transport.TurnComplete)
				p.hears(h.Generation, speech("long", 24000))
				p.answered("question", time.Second)
				p.ended(transport.TurnComplete)
			})
		})
	}
}

// TestComplaintGoAway announces the end of the connection in every way. It is replaced in time, by
// one that takes up its handle; the turns before, at and after it are answered at once.
func TestComplaintGoAway(t *testing.T) {
	for ref, c := range map[string]struct {
		script string
		by     time.Duration // when the connection is replaced at the latest
	}{
		"google/adk-python#4996, with time":    {"connection 1\non ready +8s: go_away 50s", 45 * time.Second},
		"google/adk-python#4996, with no time": {"connection 1\non ready +8s: go_away 0s", 13 * time.Second},
		"sierra-research/tau2-bench#461": {"connection 1\non ready +8s: go_away 10s silent\n" +
			"on ready +8s: freeze", 18 * time.Second},
	} {
		t.Run(ref, func(t *testing.T) {
			t.Parallel()
			inBubble(t, plan{model: sim.Config{Scenario: scenario(t, c.script)}}, func(w *world) {
				p := w.call(hello(), manner{})
				for p.now() < 90*time.Second {
					h := p.answered("hello", 4*time.Second)
					p.ended(transport.TurnComplete)
					p.hears(h.Generation, speech("hello", 24000))
					time.Sleep(2 * time.Second)
				}
				if len(w.model.Connections()) < 2 {
					t.Fatal("the connection was never replaced")
				}
				for _, h := range p.all() {
					if h.Kind == transport.MessageModel && h.State == transport.StateBack {
						if h.at > c.by {
							t.Errorf("the connection was replaced at %v, want %v", h.at, c.by)
						}
						break
					}
				}
				if w.connection(2).Handle == "" {
					t.Errorf("the second connection took up no handle: %s\n%v", w.connection(2).Setup, w.connection(1).Events)
				}
			})
		})
	}
}

// TestComplaintTimerOfTheOldConnection announces the end of a connection, which then breaks. The
// next one lasts: nothing of the announcement is left.
func TestComplaintTimerOfTheOldConnection(t *testing.T) {
	t.Run("livekit/agents-js#2507", func(t *testing.T) {
		script := "connection 1\non start 1: go_away 40s\non start 1 +1s: drop"
		inBubble(t, plan{model: sim.Config{Scenario: scenario(t, script)}}, func(w *world) {
			p := w.call(hello(), manner{})
			for p.now() < 2*time.Minute {
				p.answered("hello", 4*time.Second)
				p.turn(transport.StateEnd)
			}
			if n := len(w.model.Connections()); n != 2 {
				t.Errorf("%d connections, want 2\n%s", n, p.story())
			}
		})
	})
}

// TestComplaintTenMinutes talks for 25 minutes to a model that allows ten a connection, and says so
// a minute before. Every turn is answered at once and heard whole: nobody hears that there were
// three connections.
func TestComplaintTenMinutes(t *testing.T) {
	t.Run("google/adk-python#2179", func(t *testing.T) {
		script := "on ready +540s: go_away 60s\non ready +600s: close 1001 The session is over."
		inBubble(t, plan{model: sim.Config{Scenario: scenario(t, script)}}, func(w *world) {
			p := w.call(hello(), manner{})
			for p.now() < 25*time.Minute {
				h := p.answered("hello", 2500*time.Millisecond)
				p.ended(transport.TurnComplete)
				if p.hears(h.Generation, speech("hello", 24000)); p.now()%(10*time.Minute) < 8*time.Minute {
					time.Sleep(30 * time.Second) // and more often where a connection ends
				}
			}
			if n := len(w.model.Connections()); n < 3 || n > 5 {
				t.Errorf("%d connections", n)
			}
			for _, c := range w.model.Connections() {
				if c.Code == 1001 {
					t.Errorf("connection %d was kept until the model closed it", c.ID)
				}
			}
		})
	})
}

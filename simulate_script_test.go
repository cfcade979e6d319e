//go:build !race

package voicegw_test

import (
	"time"

	"github.com/voicegw/voicegw/transport"
)

// simVerb is what a caller, or the host, does.
type simVerb string

const (
	simAsk      simVerb = "asks" // when all is quiet, and waits for the answer
	simSay      simVerb = "says" // whatever goes on
	simCut      simVerb = "stops talking"
	simType     simVerb = "types"
	simKeys     simVerb = "presses"
	simMute     simVerb = "mutes"
	simHold     simVerb = "holds"
	simHostHold simVerb = "is held by the host"
	simProtect  simVerb = "is protected by the host"
	simConsent  simVerb = "consents"
	simTalk     simVerb = "presses the button"
	simStick    simVerb = "sends nothing"
	simHint     simVerb = "is hinted at"
	simHostSay  simVerb = "is spoken for by the host"
	simResult   simVerb = "answers a tool"
	simBye      simVerb = "says bye"
	simBreak    simVerb = "breaks the line"
	simBreach   simVerb = "breaks the protocol"
	simHandOff  simVerb = "is handed off"
	simHangUp   simVerb = "is hung up by the host"
)

// simStep is one thing that happens, and how long it takes until the next.
type simStep struct {
	do   simVerb
	what string // the utterance, the text, the keys
	on   bool
	then time.Duration
}

// simScript plans what happens in a call. The last step ends it.
func simScript(c chance, p *simCallPlan) []simStep {
	const ms = time.Millisecond
	var s []simStep
	add := func(v simVerb, what string, on bool, lo, hi time.Duration) {
		s = append(s, simStep{v, what, on, c.between(lo, hi)})
	}
	if p.consent {
		add(simConsent, "", !p.good && !c.oneIn(6) || p.good, 0, 3000*ms)
		if c.oneIn(3) { // once more: what was said before was dropped
			s = append([]simStep{{simSay, "over", false, c.between(0, 2000*ms)}}, s...)
		}
	}
	for range 1 + c.IntN(4) {
		simScene(c, p, add)
	}
	end := pick(c, simBye, simBye, simBye, simBreak, simBreach, simHandOff, simHangUp)
	add(end, "", true, 0, 0)
	return s
}

// simScene adds a few steps.
func simScene(c chance, p *simCallPlan, add func(simVerb, string, bool, time.Duration, time.Duration)) {
	const ms = time.Millisecond
	word := pick(c, "over", "hello", "question", "cough", "german", "short")
	both := func(v simVerb) {
		add(v, "", true, 0, 1500*ms)
		if c.oneIn(2) {
			add(simSay, word, false, 0, 2000*ms)
		}
		if c.oneIn(4) {
			add(v, "", true, 0, 300*ms) // once more
		}
		add(v, "", false, 0, 1500*ms)
	}
	switch c.IntN(16) {
	case 0, 1, 2, 3:
		add(simAsk, pick(c, "question", "hello", "german"), false, 0, 1200*ms)
	case 4, 5: // over the reply, or before it
		add(simSay, pick(c, "question", "hello", "over"), false, 800*ms, 5000*ms)
		add(simSay, word, false, 0, 3000*ms)
	case 6:
		add(simSay, "cough", false, 0, 1200*ms)
	case 7:
		add(simType, "and then?", false, 0, 2500*ms)
		if c.oneIn(2) {
			add(simType, "well?", false, 0, 2500*ms)
		}
	case 8:
		add(simKeys, pick(c, "1", "42#", "4711", "#", "0#1#"), false, 0, 2500*ms)
	case 9:
		both(simMute)
	case 10:
		both(pick(c, simHold, simHostHold))
	case 11:
		both(simProtect)
	case 12:
		add(simStick, "", true, 100*ms, 1500*ms)
		add(simStick, "", false, 0, 500*ms)
	case 13:
		if p.consent && c.oneIn(2) {
			both(simConsent)
		}
		add(simHint, pick(c, "back", "interrupts"), false, 0, 800*ms)
	case 14:
		add(simHostSay, "tell them", false, 0, 2500*ms)
	case 15:
		add(simSay, "german", false, 200*ms, 1000*ms)
		add(simCut, "", false, 0, 1500*ms)
		add(simResult, "nobody-asked", false, 0, 500*ms)
	}
}

// pushes reports whether speech needs the button.
func (p *simCallPlan) pushes() bool { return p.hello.Detection == transport.DetectionPush }

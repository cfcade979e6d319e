package simulate

import "time"

// action is what a caller, or the host, does in a step.
type action string

const (
	doAsk      action = "asks" // when all is quiet, and waits for the answer
	doSay      action = "says" // whatever goes on
	doCut      action = "stops talking"
	doType     action = "types"
	doKeys     action = "presses"
	doMute     action = "mutes"
	doHold     action = "holds"
	doHostHold action = "is held by the host"
	doProtect  action = "is protected by the host"
	doConsent  action = "consents"
	doTalk     action = "presses the button"
	doStick    action = "sends nothing"
	doHint     action = "is hinted at"
	doHostSay  action = "is spoken for by the host"
	doResult   action = "answers a tool"
	doBye      action = "says bye"
	doBreak    action = "breaks the line"
	doBreach   action = "breaks the protocol"
	doHandOff  action = "is handed off"
	doHangUp   action = "is hung up by the host"
)

// step is one thing that happens in a call, and how long it takes until the next.
type step struct {
	do   action
	what string // the utterance, the text, the keys
	on   bool
	then time.Duration
}

// newScript draws what happens in a call. The last step ends it.
func newScript(c chance, p *callPlan) []step {
	const ms = time.Millisecond
	var s []step
	add := func(v action, what string, on bool, lo, hi time.Duration) {
		s = append(s, step{v, what, on, c.between(lo, hi)})
	}
	if p.consent {
		add(doConsent, "", !p.good && !c.oneIn(6) || p.good, 0, 3000*ms)
		if c.oneIn(3) { // speech before consent, which is dropped
			s = append([]step{{doSay, "over", false, c.between(0, 2000*ms)}}, s...)
		}
	}
	for range 1 + c.IntN(4) {
		addScene(c, p, add)
	}
	end := pick(c, doBye, doBye, doBye, doBreak, doBreach, doHandOff, doHangUp)
	add(end, "", true, 0, 0)
	return s
}

// addScene adds a few steps that belong together.
func addScene(c chance, p *callPlan, add func(action, string, bool, time.Duration, time.Duration)) {
	const ms = time.Millisecond
	word := pick(c, "over", "hello", "question", "cough", "german", "short")
	both := func(v action) {
		add(v, "", true, 0, 1500*ms)
		if c.oneIn(2) {
			add(doSay, word, false, 0, 2000*ms)
		}
		if c.oneIn(4) {
			add(v, "", true, 0, 300*ms) // once more
		}
		add(v, "", false, 0, 1500*ms)
	}
	switch c.IntN(16) {
	case 0, 1, 2, 3:
		add(doAsk, pick(c, "question", "hello", "german"), false, 0, 1200*ms)
	case 4, 5: // over the reply, or before it
		add(doSay, pick(c, "question", "hello", "over"), false, 800*ms, 5000*ms)
		add(doSay, word, false, 0, 3000*ms)
	case 6:
		add(doSay, "cough", false, 0, 1200*ms)
	case 7:
		add(doType, "and then?", false, 0, 2500*ms)
		if c.oneIn(2) {
			add(doType, "well?", false, 0, 2500*ms)
		}
	case 8:
		add(doKeys, pick(c, "1", "42#", "4711", "#", "0#1#"), false, 0, 2500*ms)
	case 9:
		both(doMute)
	case 10:
		both(pick(c, doHold, doHostHold))
	case 11:
		both(doProtect)
	case 12:
		add(doStick, "", true, 100*ms, 1500*ms)
		add(doStick, "", false, 0, 500*ms)
	case 13:
		if p.consent && c.oneIn(2) {
			both(doConsent)
		}
		add(doHint, pick(c, "back", "interrupts"), false, 0, 800*ms)
	case 14:
		add(doHostSay, "tell them", false, 0, 2500*ms)
	case 15:
		add(doSay, "german", false, 200*ms, 1000*ms)
		add(doCut, "", false, 0, 1500*ms)
		add(doResult, "nobody-asked", false, 0, 500*ms)
	}
}

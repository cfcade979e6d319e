package wsclient

import (
	"time"

	"github.com/voicegw/voicegw/transport"
)

// consent is the state of the gateway's question for consent. In the zero value the gateway has not
// asked.
type consent struct {
	asked   bool
	given   bool
	givenAt time.Duration
}

// String returns the value of Report.Consent.
func (c consent) String() string {
	switch {
	case c.given:
		return "given"
	case c.asked:
		return "asked"
	}
	return ""
}

// takeConsent handles the gateway's question, and its acknowledgement of the answer. A caller that
// agrees is silent until the acknowledgement: before it the input gate is closed.
func (c *call) takeConsent(at time.Duration, m *transport.Message) {
	if m.State == transport.StateStop {
		c.consent.given, c.consent.givenAt = true, at
		return
	}
	c.consent = consent{asked: true}
	if c.cfg.Consent {
		c.send(transport.Event{Kind: transport.EventConsent, On: true})
		if c.phase == phaseSpeak {
			c.phase = phaseListen
			c.talk(false)
			c.mic.speak(nil)
		}
	}
}

// mayBegin reports whether the caller may begin to speak. After the gateway's question a caller that
// agrees waits for the acknowledgement, and then at most Patience for the greeting, if there is one.
func (c *call) mayBegin(at time.Duration) bool {
	if !c.consent.asked || !c.cfg.Consent {
		return true
	}
	if !c.consent.given {
		return false
	}
	last := time.Duration(0)
	if n := len(c.rec.turns); n > 0 {
		last = c.rec.turns[n-1].started
	}
	return !c.report.Ready.Greeting || last >= c.consent.givenAt || at-c.consent.givenAt >= c.cfg.Patience
}

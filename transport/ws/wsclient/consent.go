package wsclient

import (
	"time"

	"github.com/voicegw/voicegw/transport"
)

// consent is what became of the question whether the caller may be listened to. The zero value: nobody asked.
type consent struct {
	asked   bool
	given   bool
	givenAt time.Duration
}

// String is the word of Report.Consent.
func (c consent) String() string {
	switch {
	case c.given:
		return "given"
	case c.asked:
		return "asked"
	}
	return ""
}

// takeConsent hears that the gateway asks, or that it was told. A caller who agrees says nothing until then: it would
// not be heard.
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
			c.mic.speak(nil)
		}
	}
}

// mayBegin reports whether a caller who was asked, and agrees, has been told that this was understood, and has heard
// the greeting that comes behind it, if there is one.
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

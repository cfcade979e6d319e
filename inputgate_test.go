package voicegw_test

import (
	"strings"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/transport"
)

// closes is a way to close the input gate in the middle of what a caller says.
type closes struct {
	shut, open func(p *phone, s *voicegw.Session)
	waits      bool // what was said before goes up when it is over; else it does at once
	never      bool // it never does
}

func send(ev transport.Event) func(*phone, *voicegw.Session) {
	return func(p *phone, _ *voicegw.Session) { p.send(ev) }
}

func waysToClose() map[string]closes {
	return map[string]closes{
		"hold": {waits: true, shut: send(transport.Event{Kind: transport.EventHold, On: true}),
			open: send(transport.Event{Kind: transport.EventHold})},
		"protected input": {waits: true, shut: func(_ *phone, s *voicegw.Session) { _ = s.Protect(true) },
			open: func(_ *phone, s *voicegw.Session) { _ = s.Protect(false) }},
		"mute": {shut: send(transport.Event{Kind: transport.EventMute, On: true}),
			open: send(transport.Event{Kind: transport.EventMute})},
		"consent withdrawn": {never: true, shut: send(transport.Event{Kind: transport.EventConsent}),
			open: send(transport.Event{Kind: transport.EventConsent, On: true})},
	}
}

// textsOf is how often a text went up, on any connection.
func textsOf(w *world, text string) (n int) {
	for _, c := range w.model.Connections() {
		for _, said := range c.Texts {
			if strings.Contains(said.Text, text) {
				n++
			}
		}
	}
	return n
}

package voicegw_test

import (
	"testing"
	"time"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/transport"
)

// TestSpeaksWhenHeardAgain speaks while nobody may listen, and goes on when somebody may: the rest
// is heard without a pause for breath.
func TestSpeaksWhenHeardAgain(t *testing.T) {
	t.Parallel()
	for name, shut := range map[string]func(*phone, *voicegw.Session, bool){
		"hold": func(p *phone, _ *voicegw.Session, on bool) {
			p.send(transport.Event{Kind: transport.EventHold, On: on})
		},
		"protected": func(p *phone, s *voicegw.Session, on bool) {
			if err := s.Protect(on); err != nil {
				p.t.Error(err)
			}
		},
		"mute": func(p *phone, _ *voicegw.Session, on bool) {
			p.send(transport.Event{Kind: transport.EventMute, On: on})
		},
		"consent": func(p *phone, _ *voicegw.Session, on bool) {
			p.send(transport.Event{Kind: transport.EventConsent, On: !on})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg, sessions := withSession(voicegw.Config{})
			cfg.Net.Consent = name == "consent"
			inBubble(t, plan{gw: cfg}, func(w *world) {
				p, s := w.call(hello(), manner{}), <-sessions
				if name != "consent" { // where it is shut from the beginning
					shut(p, s, true)
				}
				p.say(speech("long", 16000))
				time.Sleep(3 * time.Second)
				shut(p, s, false)
				began := p.now()
				heard := p.state(transport.MessageSpeech, transport.StateStart)
				if late := heard.at - began; late < 0 || late > time.Second {
					t.Errorf("who speaks on was noticed after %v", late)
				}
				p.turn(transport.StateStart)
			})
		})
	}
}

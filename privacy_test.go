//go:build !race

package voicegw_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/live/sim"
	"github.com/voicegw/voicegw/transport"
)

// breaksLater is a model whose first connection is gone some time after the caller's first turn
// began, and that gives no handle to resume with.
func breaksLater(t *testing.T, after string) sim.Config {
	m := long()
	m.Scenario = scenario(t, "handles never\nlatency 10s\nconnection 1\non start 1 +"+after+": drop")
	return m
}

// TestNoTurnIsRepeatedWithInputClosed breaks the connection after the input gate was closed in the
// middle of a turn. The next connection gets that turn when it may leave.
func TestNoTurnIsRepeatedWithInputClosed(t *testing.T) {
	for name, way := range waysToClose() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg, sessions := withSession(voicegw.Config{})
			cfg.Net.Consent = way.never
			inBubble(t, plan{gw: cfg, model: breaksLater(t, "3s")}, func(w *world) {
				p := w.call(hello(), manner{})
				s := <-sessions
				if way.never {
					p.send(transport.Event{Kind: transport.EventConsent, On: true})
					time.Sleep(100 * time.Millisecond)
				}
				p.say(speech("long", 16000))
				time.Sleep(2 * time.Second)
				way.shut(p, s)
				time.Sleep(9 * time.Second) // the first connection broke 3 s after the turn began, or was closed
				told := int64(0)
				for _, c := range w.model.Connections()[1:] {
					told += c.Samples
				}
				switch {
				case !way.waits && !way.never && told == 0:
					t.Error("with a muted microphone the next connection heard nothing of the turn")
				case (way.waits || way.never) && told != 0:
					t.Errorf("meanwhile the next connection heard %d samples", told)
				}
				way.open(p, s)
				time.Sleep(4 * time.Second)
				told = 0
				for _, c := range w.model.Connections()[1:] {
					told += c.Samples
					if texts := c.Texts; way.never && len(texts) > 0 {
						t.Errorf("the next connection was told %v", texts)
					}
				}
				if way.never != (told == 0) {
					t.Errorf("in the end the next connection heard %d samples", told)
				}
			})
		})
	}
}

// TestTextWaits: text that waits for a reply which must be heard, when a hold or protected input
// begins, goes up afterwards; consent that is withdrawn drops it.
func TestTextWaits(t *testing.T) {
	for name, way := range waysToClose() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg, sessions := withSession(greets())
			cfg.Net.GreetingFirm, cfg.Net.Consent = true, way.never
			inBubble(t, plan{gw: cfg}, func(w *world) {
				p := w.call(hello(), manner{})
				s := <-sessions
				if way.never {
					p.send(transport.Event{Kind: transport.EventConsent, On: true})
				}
				reply := p.turn(transport.StateStart)
				p.played(reply.Generation, 200*time.Millisecond)
				p.send(transport.Event{Kind: transport.EventText, Text: "one two three"})
				time.Sleep(100 * time.Millisecond)
				way.shut(p, s)
				time.Sleep(20 * time.Second)
				if got := textsOf(w, "one two three"); got != 0 && (way.waits || way.never) {
					t.Errorf("meanwhile the text went up %d times", got)
				}
				way.open(p, s)
				time.Sleep(20 * time.Second)
				want := 1
				if way.never {
					want = 0
				}
				if got := textsOf(w, "one two three"); got != want {
					t.Errorf("in the end the text went up %d times, want %d", got, want)
				}
			})
		})
	}
}

// TestTextLost: text that comes where it may not leave is lost, and whoever sent it is told so;
// what comes behind four that wait is lost, too. Nothing of it is quoted, and nothing that comes
// later waits behind it.
func TestTextLost(t *testing.T) {
	cfg, sessions := withSession(voicegw.Config{})
	inBubble(t, plan{gw: cfg}, func(w *world) {
		p := w.call(hello(), manner{})
		s := <-sessions
		p.send(transport.Event{Kind: transport.EventHold, On: true})
		p.state(transport.MessageHold, transport.StateStart)
		for range 6 {
			p.send(transport.Event{Kind: transport.EventText, Text: "secret"})
			lost := p.kind(transport.MessageError)
			if lost.Code != "text_lost" || strings.Contains(lost.Text, "secret") {
				t.Errorf("the caller was told %+v", lost)
			}
		}
		if err := s.Text("secret"); !errors.Is(err, voicegw.ErrTextLost) || !strings.Contains(err.Error(), "hold") {
			t.Errorf("Text on hold: %v", err)
		}
		p.send(transport.Event{Kind: transport.EventDTMF, Text: "4242"})
		p.send(transport.Event{Kind: transport.EventHold})
		p.state(transport.MessageHold, transport.StateStop)
		if err := s.Text("after"); err != nil {
			t.Errorf("Text after the hold: %v", err)
		}
		p.turn(transport.StateStart)
		if textsOf(w, "secret")+textsOf(w, "4") != 0 || textsOf(w, "after") != 1 {
			t.Errorf("the model was told %v", w.connection(1).Texts)
		}
	})
}

// TestQueueToTheModelWaits: a slow connection has seconds of speech before it when the input gate
// is closed. They wait, or are dropped.
func TestQueueToTheModelWaits(t *testing.T) {
	for name, way := range waysToClose() {
		if name == "mute" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg, sessions := withSession(voicegw.Config{})
			cfg.Net.Consent = way.never
			// each write to the model takes as long as two frames
			inBubble(t, plan{gw: cfg, model: long(), away: 40 * time.Millisecond}, func(w *world) {
				p := w.call(hello(), manner{})
				s := <-sessions
				if way.never {
					p.send(transport.Event{Kind: transport.EventConsent, On: true})
					time.Sleep(time.Second)
				}
				p.say(speech("long", 16000))
				time.Sleep(4 * time.Second)
				way.shut(p, s)
				time.Sleep(500 * time.Millisecond) // what was being written, and TCP
				before := heardByAll(w)
				time.Sleep(10 * time.Second)
				if after := heardByAll(w); after != before || before == 0 {
					t.Errorf("the model had heard %d samples, and %d more with the input gate closed", before, after-before)
				}
				way.open(p, s)
				time.Sleep(10 * time.Second)
				if after := heardByAll(w); (after > before) == way.never {
					t.Errorf("the model heard %d samples more in the end", after-before)
				}
			})
		})
	}
}

// heardByAll is how many samples went up, on all connections.
func heardByAll(w *world) (n int64) {
	for _, c := range w.model.Connections() {
		n += c.Samples
	}
	return n
}

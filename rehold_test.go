//go:build !race

package voicegw_test

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/petri/event"
	"github.com/voicegw/voicegw/transport"
)

// lateStore is a store of events that are safe 2 s after they came.
type lateStore struct {
	mu     sync.Mutex
	stored uint64
	notify func()
}

func (l *lateStore) Append(events []petri.Event) {
	last := events[len(events)-1].Seq
	time.AfterFunc(2*time.Second, func() {
		l.mu.Lock()
		l.stored = last
		notify := l.notify
		l.mu.Unlock()
		notify()
	})
}

func (l *lateStore) Stored() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.stored
}

func (l *lateStore) Notify(fn func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.notify = fn
}

// storedLate is a configuration whose events take their time to be safe.
func storedLate(d *dialBook) voicegw.Config {
	return voicegw.Config{Dialer: d, Watch: func(string, *petri.Program) event.Store { return &lateStore{} }}
}

// TestHeldAgainBeforeTheRecord ends a hold and closes the input gate again, before the end of the
// hold is on record. What the caller said between the two waits, or is dropped: the late end of the
// hold lets nothing go.
func TestHeldAgainBeforeTheRecord(t *testing.T) {
	for name, way := range waysToClose() {
		if name == "mute" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			d := &dialBook{}
			cfg, sessions := withSession(storedLate(d))
			cfg.Net.Consent = way.never
			inBubble(t, plan{gw: cfg}, func(w *world) {
				p := w.call(hello(), manner{})
				s := <-sessions
				if way.never {
					p.send(transport.Event{Kind: transport.EventConsent, On: true})
					time.Sleep(3 * time.Second)
				}
				first := d.newest()
				p.say(slices.Concat(speech("long", 16000), speech("long", 16000)))
				time.Sleep(time.Second)
				p.send(transport.Event{Kind: transport.EventHold, On: true})
				time.Sleep(4 * time.Second)
				_, before := first.heard()
				p.send(transport.Event{Kind: transport.EventHold})
				time.Sleep(1800 * time.Millisecond)
				way.shut(p, s)
				time.Sleep(5 * time.Second)
				if _, after := first.heard(); after != before || before == 0 {
					t.Errorf("the model had heard %d frames, and %d more with the input gate closed", before, after-before)
				}
				way.open(p, s)
				time.Sleep(5 * time.Second)
				if _, after := first.heard(); (after > before) == way.never {
					t.Errorf("the model heard %d frames more in the end", after-before)
				}
			})
		})
	}
}

// TestLateTranscriptsAreDropped: transcripts of what was said before consent was withdrawn are sent
// to no other connection, even if they come later.
func TestLateTranscriptsAreDropped(t *testing.T) {
	d := &dialBook{}
	cfg, sessions := withSession(storedLate(d))
	cfg.Net.Consent = true
	inBubble(t, plan{gw: cfg}, func(w *world) {
		p := agreed(w, sessions)
		p.send(transport.Event{Kind: transport.EventHold, On: true})
		time.Sleep(2 * time.Second)
		p.send(transport.Event{Kind: transport.EventHold}) // the end of a hold is durable: the rest waits behind it
		time.Sleep(20 * time.Millisecond)
		p.send(transport.Event{Kind: transport.EventConsent})
		time.Sleep(20 * time.Millisecond)
		d.newest().says <- live.ServerMessage{Kind: live.ServerModelTranscript, Text: "your card is 4242"}
		time.Sleep(5 * time.Second)
		p.send(transport.Event{Kind: transport.EventConsent, On: true})
		time.Sleep(5 * time.Second)
		_ = d.newest().Close(0, "")
		time.Sleep(5 * time.Second)
	})
	if told, dials := d.tells("4242"); told != 0 || dials < 3 {
		t.Errorf("%d of %d dials told what was said before consent was withdrawn", told, dials)
	}
}

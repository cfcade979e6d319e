package voicegw_test

import (
	"errors"
	"testing"
	"time"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/petri/event"
	"github.com/voicegw/voicegw/transport"
)

// TestWatch watches a call from its middle to its end, next to a watcher that never reads. The call
// goes on as ever, the one is cut off, and the other gets every event.
func TestWatch(t *testing.T) {
	t.Parallel()
	inBubble(t, plan{gw: voicegw.Config{Greeting: greetCaller}}, func(w *world) {
		p := w.call(hello(), manner{})
		p.ended(transport.TurnComplete)
		session := w.gw.Sessions()[0]
		idle, err := session.Watch()
		if err != nil {
			w.t.Fatal(err)
		}
		defer idle.Close()
		watch, err := session.Watch()
		if err != nil {
			w.t.Fatal(err)
		}
		defer watch.Close()
		seen := make(chan *petri.Tracker)
		go func() { seen <- follow(w.t, watch) }()
		for range 12 {
			p.say(speech("over", 16000))
			p.ended(transport.TurnComplete)
			time.Sleep(3 * time.Second)
		}
		if _, err := idle.Next(w.t.Context(), nil); !errors.Is(err, event.ErrBehind) {
			w.t.Errorf("the watcher that never reads gets %v", err)
		}
		if err := session.HangUp(); err != nil {
			w.t.Fatal(err)
		}
		if end := <-seen; !end.Ended() || end.Seq() < 8192 {
			w.t.Errorf("the watcher saw %d events, and the end: %v", end.Seq(), end.Ended())
		}
	})
}

// follow reads a watch to its end.
func follow(t *testing.T, watch *voicegw.Watcher) *petri.Tracker {
	state := watch.Tracker()
	for {
		events, err := watch.Next(t.Context(), nil)
		if errors.Is(err, voicegw.ErrOver) {
			return state
		}
		if err != nil {
			t.Errorf("after event %d: %v", state.Seq(), err)
			return state
		}
		for _, e := range events {
			if err := state.Apply(e); err != nil {
				t.Error(err)
			}
		}
	}
}

package voicegw_test

import (
	"errors"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/petri/event"
	"github.com/voicegw/voicegw/transport"
)

// gatedStore is a store that blocks the net of its call between shut and open.
type gatedStore struct{ gate chan struct{} }

func newGatedStore() *gatedStore { return &gatedStore{make(chan struct{}, 1)} }

func (g *gatedStore) shut() { g.gate <- struct{}{} }
func (g *gatedStore) open() { <-g.gate }

func (g *gatedStore) Append([]petri.Event) {
	g.gate <- struct{}{}
	<-g.gate
}

func (*gatedStore) Stored() uint64 { return math.MaxUint64 }

// TestHostDoesNotWaitForTheCaller: while the net takes nothing and the caller moves a switch, the host gets ErrStalled
// within a second. Both switches work when the net does.
func TestHostDoesNotWaitForTheCaller(t *testing.T) {
	t.Parallel()
	hold := func(on bool) transport.Event { return transport.Event{Kind: transport.EventHold, On: on} }
	key := func(key string) transport.Event { return transport.Event{Kind: transport.EventDTMF, Text: key} }
	for name, test := range map[string]struct {
		caller, back transport.Event
		host         func(*voicegw.Session, bool) error
		on           func(voicegw.State) bool
	}{
		"hold":    {hold(true), hold(false), (*voicegw.Session).Hold, func(s voicegw.State) bool { return s.OnHold }},
		"protect": {key("*"), key("#"), (*voicegw.Session).Protect, func(s voicegw.State) bool { return s.Protected }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var store *gatedStore
			cfg, sessions := withSession(voicegw.Config{Keys: voicegw.Keys{Protect: "*", ProtectEnd: "#"},
				Watch: func(string, *petri.Program) event.Store { return store }})
			inBubble(t, plan{gw: cfg, before: func() { store = newGatedStore() }}, func(w *world) {
				p, s := w.call(hello(), manner{}), <-sessions
				time.Sleep(time.Second)
				store.shut()
				for range 2 { // the net takes one batch, and is blocked by its events
					for s.Mute(false) == nil {
					}
					synctest.Wait()
				}
				p.send(test.caller)
				synctest.Wait()
				began := time.Now()
				if err := test.host(s, true); !errors.Is(err, voicegw.ErrStalled) {
					t.Errorf("the host gets %v", err)
				}
				if took := time.Since(began); took > 2*time.Second {
					t.Errorf("the host waited %v", took)
				}
				store.open()
				synctest.Wait()
				if !test.on(s.State()) {
					t.Error("the caller's switch did not arrive")
				}
				p.send(test.back)
				synctest.Wait()
				if test.on(s.State()) {
					t.Error("a request that failed holds the switch")
				}
				err := test.host(s, true)
				synctest.Wait()
				if err != nil || !test.on(s.State()) {
					t.Errorf("the host's switch does not work: %v", err)
				}
			})
		})
	}
}

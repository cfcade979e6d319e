package voicegw_test

import (
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/petri/event"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/voicenets"
)

// stuckStore keeps the net of a call from going on, once, and notes by what its call ended.
type stuckStore struct {
	*event.Ring
	prog  *petri.Program
	stick atomic.Int64 // for so long, at the next event
	ended atomic.Pointer[string]
}

func (s *stuckStore) Append(events []petri.Event) {
	time.Sleep(time.Duration(s.stick.Swap(0)))
	for _, e := range events {
		if e.Kind != petri.Fired {
			continue
		}
		name := s.prog.Transitions()[e.Index].Name
		if name == "call/end_call" || name == "call/end_longest_call" {
			s.ended.Store(&name)
		}
	}
	s.Ring.Append(events)
}

// TestReasonIsTheNets holds up the net of a call while somebody hangs up and its longest duration
// passes. Whichever the net takes first is the reason: for the peer, the log, the record and the
// events.
func TestReasonIsTheNets(t *testing.T) {
	const longest, stuckAt, stuckFor = 10 * time.Second, 8 * time.Second, 4 * time.Second
	bye := func(_ *world, p *phone) { p.send(transport.Event{Kind: transport.EventBye}) }
	cut := func(_ *world, p *phone) { p.tap.cut() }
	closed := func(w *world, _ *phone) { go func() { _ = w.gw.Close() }() }
	const first, second = longest - time.Second, longest + time.Second
	for name, c := range map[string]struct {
		after time.Duration // when the call ends otherwise, after its beginning
		ends  func(*world, *phone)
		want  transport.Reason
		fired string
		gone  bool // the peer is gone, and gets no reason
	}{
		"bye behind the longest duration":    {second, bye, transport.ReasonMaxDuration, "end_longest_call", false},
		"bye before it":                      {first, bye, transport.ReasonCallerHungUp, "end_call", false},
		"lost behind the longest duration":   {second, cut, transport.ReasonMaxDuration, "end_longest_call", true},
		"lost before it":                     {first, cut, transport.ReasonPeerLost, "end_call", true},
		"closed behind the longest duration": {second, closed, transport.ReasonMaxDuration, "end_longest_call", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var store *stuckStore
			records := make(chan voicegw.Record, 1)
			core, logs := observer.New(zapcore.InfoLevel)
			pl := plan{gw: voicegw.Config{Log: zap.New(core), Net: voicenets.Config{MaxDuration: longest},
				Hooks: voicegw.Hooks{Ended: func(r voicegw.Record) { records <- r }},
				Watch: func(_ string, prog *petri.Program) event.Store {
					store = &stuckStore{Ring: event.NewRing(16), prog: prog}
					return store
				}}}
			inBubble(t, pl, func(w *world) {
				p := w.call(hello(), manner{})
				time.Sleep(stuckAt)
				store.stick.Store(int64(stuckFor))
				p.send(transport.Event{Kind: transport.EventMute, On: true})
				time.Sleep(c.after - stuckAt)
				if c.ends(w, p); !c.gone {
					p.over(c.want, "")
				}
				w.settled()
				if r := <-records; r.Reason != c.want.String() {
					t.Errorf("the record says %s, want %s", r.Reason, c.want)
				}
				if fired := store.ended.Load(); fired == nil || *fired != "call/"+c.fired {
					t.Errorf("the net ended by %v, want %s", fired, c.fired)
				}
				for _, e := range logs.FilterMessage("call ended").All() {
					if got := e.ContextMap()["reason"]; got != c.want.String() {
						t.Errorf("the log says %v, want %s", got, c.want)
					}
				}
			})
		})
	}
}

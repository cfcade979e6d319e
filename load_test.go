package voicegw_test

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/voicegw/voicegw/access"
	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/petri/event"
	"github.com/voicegw/voicegw/transport"
)

// heavy is a store that holds its net up now and then, while it is on.
type heavy struct {
	event.Store
	on   *atomic.Bool
	last time.Time
}

func (h *heavy) Append(list []petri.Event) {
	if h.on.Load() && time.Since(h.last) > 60*time.Millisecond {
		time.Sleep(180 * time.Millisecond)
		h.last = time.Now()
	}
	h.Store.Append(list)
}

// TestLateNetsRefuseCalls: while the nets of calls hand over late, whatever the processors and
// timers say, who comes is told to come back later, and those that run are not. Then calls are
// taken again.
func TestLateNetsRefuseCalls(t *testing.T) {
	t.Parallel()
	var load *access.Load
	var on atomic.Bool
	p := plan{gw: greets(), model: long()}
	p.gw.Watch = func(string, *petri.Program) event.Store { return &heavy{Store: event.NewRing(16), on: &on} }
	p.gw.Lateness = func(d time.Duration) { load.Late(d) }
	p.gw.Guard = func(l transport.Lines) transport.Lines {
		guard, err := access.New(access.Config{Load: load})
		if err != nil {
			t.Fatal(err)
		}
		return access.NewLines(l, guard)
	}
	p.before = func() {
		var err error
		if load, err = access.NewLoad(access.LoadConfig{CPU: func() time.Duration { return 0 }}); err != nil {
			t.Fatal(err)
		}
	}
	inBubble(t, p, func(w *world) {
		looking, stop := context.WithCancel(context.Background())
		var looks sync.WaitGroup
		looks.Go(func() { load.Run(looking) })
		defer looks.Wait()
		defer stop()
		first := w.call(hello(), manner{})
		first.turn(transport.StateStart)
		on.Store(true)
		time.Sleep(2 * time.Second)
		if status, _, h := w.get("/v1/voice", upgrade()...); status != http.StatusServiceUnavailable ||
			h.Get("Retry-After") != "2" {
			t.Errorf("beside late nets a call is answered %d, Retry-After %q", status, h.Get("Retry-After"))
		}
		if n := w.gw.Calls(); n != 1 {
			t.Errorf("%d calls run", n)
		}
		on.Store(false)
		time.Sleep(3 * time.Second)
		second := w.call(hello(), manner{})
		first.ended(transport.TurnComplete)
		second.ended(transport.TurnComplete)
	})
}

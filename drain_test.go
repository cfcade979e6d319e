package voicegw_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/voicenets"
)

// withGoodbye is a gateway that greets and has last words.
func withGoodbye() voicegw.Config {
	cfg := greets()
	cfg.Prompts = map[voicenets.Prompt]voicegw.Prompt{
		voicenets.Goodbye: {PCM: speech("over", 24000), RateHz: 24000},
	}
	return cfg
}

// drained begins a drain.
func (w *world) drained(ctx context.Context) <-chan error {
	ended := make(chan error, 1)
	go func() { ended <- w.gw.Drain(ctx) }()
	return ended
}

// TestDrain lets a reply come to its end, and takes leave then; meanwhile nobody is let in.
func TestDrain(t *testing.T) {
	t.Parallel()
	inBubble(t, plan{gw: withGoodbye(), model: long()}, func(w *world) {
		p := w.call(hello(), manner{})
		p.played(p.turn(transport.StateStart).Generation, time.Second)
		line, err := w.gw.Lines().Take(transport.Handshake{}) // of a handshake
		if err != nil {
			w.t.Fatal(err)
		}
		ended := w.drained(context.Background())
		time.Sleep(time.Second)
		if status, _, h := w.get("/v1/voice", upgrade()...); status != http.StatusServiceUnavailable ||
			h.Get("Retry-After") == "" {
			t.Errorf("a call in the drain: %d, Retry-After %q", status, h.Get("Retry-After"))
		}
		if status, _, _ := w.get("/readyz"); status != http.StatusServiceUnavailable {
			t.Errorf("/readyz %d", status)
		}
		h := hello()
		h.Version = transport.Version
		var refused *transport.Refused
		if err := line.Check(context.Background(), &h); !errors.As(err, &refused) || refused.RetryAfter == 0 ||
			refused.Reason != transport.ReasonGoingAway {
			t.Errorf("a handshake in the drain: %v", err)
		}
		line.Release()
		p.ended(transport.TurnComplete)
		p.hears(1, speech("long", 24000))
		gen := p.turn(transport.StateStart).Generation
		p.ended(transport.TurnComplete)
		p.hears(gen, speech("over", 24000))
		p.over(transport.ReasonGoingAway, "")
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// TestDrainLetsCallsGoOn as if nothing were, while there is time; then it takes as long as is
// proved.
func TestDrainLetsCallsGoOn(t *testing.T) {
	t.Parallel()
	inBubble(t, plan{gw: withGoodbye(), model: long()}, func(w *world) {
		p := w.call(hello(), manner{})
		p.ended(transport.TurnComplete)
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
		defer cancel()
		began := time.Now()
		ended := w.drained(ctx)
		time.Sleep(8 * time.Minute)
		if status, _, h := w.get("/v1/voice", upgrade()...); status != http.StatusServiceUnavailable ||
			h.Get("Retry-After") == "" {
			t.Errorf("another call meanwhile: %d, Retry-After %q", status, h.Get("Retry-After"))
		}
		p.say(speech("hello", 16000))
		p.turn(transport.StateStart)
		p.ended(transport.TurnComplete)
		p.over(transport.ReasonGoingAway, "")
		if err := <-ended; err != nil {
			t.Error(err)
		}
		const asked = 10*time.Minute - 70*time.Second
		if took := time.Since(began); took < asked || took > asked+20*time.Second {
			t.Errorf("the quiet call ended after %v", took)
		}
	})
}

// TestDrainIsLimited by its context; Close ends what is left.
func TestDrainIsLimited(t *testing.T) {
	t.Parallel()
	inBubble(t, plan{gw: greets(), model: long()}, func(w *world) {
		p := w.call(hello(), manner{})
		p.played(p.turn(transport.StateStart).Generation, time.Second)
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if err := w.gw.Drain(ctx); !errors.Is(err, context.DeadlineExceeded) || w.gw.Calls() != 1 {
			t.Errorf("%v, %d calls run", err, w.gw.Calls())
		}
		began := time.Now()
		_ = w.gw.Close()
		if took := time.Since(began); took > 3*time.Second {
			t.Errorf("Close took %v", took)
		}
		p.over(transport.ReasonGoingAway, "")
		if err := w.gw.Drain(context.Background()); err != nil {
			t.Errorf("when closed: %v", err)
		}
	})
}

// TestDrainOnHold ends a call in which there is no quiet moment: on hold a reply waits.
func TestDrainOnHold(t *testing.T) {
	t.Parallel()
	cfg := greets()
	cfg.Net.DrainWithin = 5 * time.Second
	inBubble(t, plan{gw: cfg, model: long()}, func(w *world) {
		p := w.call(hello(), manner{})
		p.turn(transport.StateStart)
		p.send(transport.Event{Kind: transport.EventHold, On: true})
		began := time.Now()
		if err := w.gw.Drain(context.Background()); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took < 5*time.Second || took > 8*time.Second {
			t.Errorf("the drain took %v", took)
		}
		p.over(transport.ReasonGoingAway, "")
	})
}

// TestDrainWhileDialling reaches a call whose model is not there yet.
func TestDrainWhileDialling(t *testing.T) {
	t.Parallel()
	p, model := slowly()
	p.gw = withGoodbye()
	inBubble(t, p, func(w *world) {
		peer, over := newPeer(hello()), make(chan error, 1)
		go func() { over <- w.gw.Call(context.Background(), peer) }()
		<-model.begun
		if err := w.gw.Drain(context.Background()); err != nil {
			t.Error(err)
		}
		if err := <-over; err != nil || peer.closed() != transport.ReasonGoingAway {
			t.Errorf("%v, closed by %s", err, peer.closed())
		}
	})
}

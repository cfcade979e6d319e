package mediastream

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/voicegw/voicegw/transport/phone"
)

const (
	transfersMax = 1000        // calls whose transfer was not asked for yet; the oldest is forgotten
	transferKept = time.Minute // after the end of the stream
)

// transfers remembers who takes over the calls whose streams are ending, until Twilio asks. It is safe for concurrent
// use.
type transfers struct {
	mu   sync.Mutex
	open map[string]transfer // by call
}

type transfer struct {
	target string
	at     time.Time
}

// put remembers a target.
func (t *transfers) put(call, target string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.open == nil {
		t.open = map[string]transfer{}
	}
	if len(t.open) >= transfersMax {
		delete(t.open, t.oldest())
	}
	t.open[call] = transfer{target, time.Now()}
}

// oldest is the call whose transfer has waited longest; mu is held.
func (t *transfers) oldest() (call string) {
	var at time.Time
	for c, o := range t.open {
		if call == "" || o.at.Before(at) {
			call, at = c, o.at
		}
	}
	return call
}

// take returns the target of a call and forgets it.
func (t *transfers) take(call string) (target string, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	o, ok := t.open[call]
	delete(t.open, call)
	if !ok || time.Since(o.at) > transferKept {
		return "", false
	}
	return o.target, true
}

// transfer is told by a stream's peer who takes the call over. The stream is closed next, and Twilio asks /after.
func (d *Door) transfer(call string) func(ctx context.Context, to string) error {
	return func(_ context.Context, to string) error {
		target := to
		if named, ok := d.cfg.Targets[to]; ok {
			target = named
		}
		if _, ok := dialVerb(target); !ok {
			return fmt.Errorf("mediastream: transfer: %q is neither a telephone number, a sip: address nor one of Targets",
				phone.Cut(to, 40))
		}
		d.transfers.put(call, target)
		return nil
	}
}

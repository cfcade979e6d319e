package mediastream

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/voicegw/voicegw/transport"
)

const (
	transfersMax = 1000        // calls whose transfer Twilio has not asked for yet; at this limit the oldest is forgotten
	transferKept = time.Minute // after the end of the stream
)

// transfers remembers the targets of calls whose streams are ending, until Twilio asks. It is safe
// for concurrent use.
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

// oldest returns the call whose transfer has waited longest; the caller holds mu.
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

// PrepareTargets checks other Config.Targets and changes nothing; commit then replaces them for transfers from now on,
// those of running calls too. Whom Twilio has not asked for yet stays as it was.
func (e *Endpoint) PrepareTargets(targets map[string]string) (commit func(), err error) {
	if err := checkTargets(targets); err != nil {
		return nil, fmt.Errorf("mediastream: prepare targets: %w", err)
	}
	next := maps.Clone(targets)
	return func() { e.targets.Store(&next) }, nil
}

func checkTargets(targets map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(targets)) {
		if _, ok := dialVerb(targets[name]); !ok {
			return fmt.Errorf("the target %q is neither a telephone number nor a sip: address", name)
		}
	}
	return nil
}

// transfer remembers the target of a stream's transfer. Its peer calls it before the stream closes;
// Twilio then asks /after.
func (e *Endpoint) transfer(call string) func(ctx context.Context, to string) error {
	return func(_ context.Context, to string) error {
		target := to
		if named, ok := (*e.targets.Load())[to]; ok {
			target = named
		}
		if _, ok := dialVerb(target); !ok {
			return fmt.Errorf("mediastream: transfer: %q is neither a telephone number, a sip: address nor one of Targets",
				transport.Cut(to, 40))
		}
		e.transfers.put(call, target)
		return nil
	}
}

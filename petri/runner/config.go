package runner

import (
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/petri/event"
)

// Limits of a Config.
const (
	MaxInbox   = 1 << 16
	MaxPending = 1 << 16
)

// Config says how a run meets the world. The zero value works for nets without
// tasks.
type Config struct {
	// Name of the run, for logs and errors. Default: the name of the net.
	Name string
	// Out takes every output token, in order, from the loop. It must not block
	// and must not wait for the run (InjectWait, Close); Inject is fine. It must
	// not be nil if anybody should hear the net.
	Out func(petri.Token)
	// Store takes the events of each step before its outputs are handed over.
	// nil keeps none.
	Store event.Store
	// Tasks do the slow work. Every task of the net needs one.
	Tasks []Handler
	// Inbox is the most injections that may be queued, 1 to MaxInbox. Default
	// 1024. Memory grows with use only.
	Inbox int
	// StoreWait is how long a durable output waits to be stored before the Store
	// counts as failed. Default 5 s.
	StoreWait time.Duration
	// StoreFailed is called once, by the loop, when the Store has failed: by its
	// own word (see event.Failer), or because an output waited for StoreWait. err
	// says why. From then on a durable output whose events are not stored is never
	// handed over. Like Out, StoreFailed must not block or wait for the run; it may
	// inject. If it is nil, a net with durable outputs ends with ErrStore.
	StoreFailed func(err error)
	// Pending is the most outputs that may wait for a durable one to be stored,
	// 1 to MaxPending; more is a fault. Default 4096.
	Pending int
	// Destinations names where an output place leads, by qualified place name.
	// Outputs to one destination keep their order. Outputs to different
	// destinations do not wait for each other. Default: one destination for all.
	Destinations map[string]string
	// Lateness is the declared bound: how much later than its logical time an
	// output may be handed over before timed claims are void for that stretch,
	// which is then noted and logged. Default 50 ms.
	Lateness time.Duration
	// Measure, if not nil, is told of each step with outputs how late they were
	// handed over. The loop calls it: it must not block.
	Measure func(lateness time.Duration)
	// Grace bounds how long the end of a run waits for goroutines of tasks that
	// were cancelled and for outputs that wait to be stored. Default 5 s.
	Grace time.Duration
	// Logger takes what people should know about a run; nothing per token. nil
	// means none.
	Logger *zap.Logger
}

// filled returns the configuration with its defaults, or what is wrong.
func (c Config) filled(prog *petri.Program) (Config, error) {
	if c.Name == "" {
		c.Name = prog.Name()
	}
	if c.Out == nil {
		c.Out = func(petri.Token) {}
	}
	if c.Logger == nil {
		c.Logger = zap.NewNop()
	}
	c.Inbox = fallback(c.Inbox, 1024)
	c.Pending = fallback(c.Pending, 4096)
	c.StoreWait = fallback(c.StoreWait, 5*time.Second)
	c.Lateness = fallback(c.Lateness, 50*time.Millisecond)
	c.Grace = fallback(c.Grace, 5*time.Second)
	switch {
	case c.Inbox < 1 || c.Inbox > MaxInbox:
		return c, fmt.Errorf("runner: start %s: Inbox is %d; 1 to %d is possible", c.Name, c.Inbox, MaxInbox)
	case c.Pending < 1 || c.Pending > MaxPending:
		return c, fmt.Errorf("runner: start %s: Pending is %d; 1 to %d is possible", c.Name, c.Pending, MaxPending)
	case c.StoreWait < 0:
		return c, fmt.Errorf("runner: start %s: StoreWait is %v; it cannot be negative", c.Name, c.StoreWait)
	case c.Lateness < 0:
		return c, fmt.Errorf("runner: start %s: Lateness is %v; it cannot be negative", c.Name, c.Lateness)
	case c.Grace < 0:
		return c, fmt.Errorf("runner: start %s: Grace is %v; it cannot be negative", c.Name, c.Grace)
	}
	return c, c.checkDestinations(prog)
}

func (c Config) checkDestinations(prog *petri.Program) error {
	for name := range c.Destinations {
		if i := prog.Place(name); i < 0 || !prog.Places()[i].Out {
			return fmt.Errorf("runner: start %s: Destinations names %q, which is not an output place of net %q",
				c.Name, name, prog.Name())
		}
	}
	return nil
}

func fallback[T comparable](v, def T) T {
	var zero T
	if v == zero {
		return def
	}
	return v
}

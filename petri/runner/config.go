package runner

import (
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/petri/event"
)

// Limits of Config.Inbox and Config.Pending.
const (
	maxInbox   = 1 << 16
	maxPending = 1 << 16
)

// Config configures a run. The zero value works for nets without tasks.
type Config struct {
	// Name is the name of the run in logs and errors. Default: the name of the net.
	Name string
	// Out receives every output token, in order. The loop calls it, one call at a time and not always in
	// the same goroutine: Out must not block and must not wait for the run (InjectWait, Close). It may call
	// Inject and Stop. nil discards the outputs.
	Out func(petri.Token)
	// Handed, if not nil, is called behind every row of calls of Out: after the outputs of one step
	// that need not wait, and after those that had to. What the net puts out within one instant to one
	// destination is in one row, unless a durable output in the middle waits to be stored. Like Out,
	// Handed must not block or wait for the run.
	Handed func()
	// Store receives the events of each step before the outputs of the step are handed over. nil
	// keeps no events.
	Store event.Store
	// Tasks do the slow work. Every task of the net needs a Handler.
	Tasks []Handler
	// Owner is what handlers made by HandleFor and HandleAsync get.
	Owner any
	// Spares, if not nil, has the machines of runs that have ended, and this run uses one of them. Its
	// own machine goes there when it has ended without an error. All runs that share one must have the
	// same program, Tasks and Destinations.
	Spares *Spares
	// Inbox is the largest number of injections that may be queued, 1 to 65,536. The queue uses
	// memory only for injections that wait. Default 1024.
	Inbox int
	// StoreWait is how long a durable output waits to be stored before the Store counts as failed.
	// Default 5 s.
	StoreWait time.Duration
	// StoreFailed is called once, by the loop, when the Store has failed: it reports an error (see
	// event.Failer), or an output has waited for StoreWait. err wraps ErrStore. From then on, a
	// durable output whose events are not stored is discarded. Like Out, StoreFailed must not block
	// or wait for the run; it may inject. If it is nil, a net with durable outputs ends with
	// ErrStore.
	StoreFailed func(err error)
	// Pending is the largest number of outputs that may wait for the Store, 1 to 65,536. More end
	// the run with ErrPending. Default 4096.
	Pending int
	// Destinations maps the qualified names of output places to destinations. Outputs to one
	// destination keep their order; outputs to different destinations do not wait for each other.
	// Output places that it does not name share one destination.
	Destinations map[string]string
	// Lateness is how much later than its logical time an output may be handed over. Timed
	// properties do not hold while outputs are later than that: the runner logs the beginning and
	// the end of such a stretch and sends the Store a Note. Default 50 ms.
	Lateness time.Duration
	// Measure, if not nil, receives the lateness of every step that had outputs. The loop calls it,
	// so it must not block.
	Measure func(lateness time.Duration)
	// Grace limits how long the end of a run waits for the goroutines of cancelled tasks, and for
	// outputs that wait to be stored. Default 5 s.
	Grace time.Duration
	// Logger receives warnings and errors of the run, nothing for each token. nil logs nothing.
	Logger *zap.Logger
}

// filled returns the configuration with its defaults, or an error that names the invalid field.
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
	case c.Inbox < 1 || c.Inbox > maxInbox:
		return c, fmt.Errorf("runner: start %s: Inbox is %d; it must be 1 to %d", c.Name, c.Inbox, maxInbox)
	case c.Pending < 1 || c.Pending > maxPending:
		return c, fmt.Errorf("runner: start %s: Pending is %d; it must be 1 to %d", c.Name, c.Pending, maxPending)
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

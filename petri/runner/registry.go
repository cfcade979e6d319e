package runner

import (
	"errors"
	"fmt"
	"runtime"
	"sync"

	"github.com/voicegw/voicegw/petri"
)

// Errors of a Registry that a caller branches on.
var (
	// ErrRegistryFull says that as many runs live as the registry allows.
	ErrRegistryFull = errors.New("runner: the registry is full")
	// ErrRegistryClosed says that the registry starts no more runs.
	ErrRegistryClosed = errors.New("runner: the registry is closed")
)

// Registry knows every run started through it, so that none is without a way
// to end: each ends by itself, by Close, with its owner (Own), or with the
// registry. It is safe for concurrent use.
type Registry struct {
	mu     sync.Mutex
	max    int
	live   map[*Runner]struct{}
	begun  int // runs that are being started
	closed bool
}

// NewRegistry makes a registry of at most limit live runs; 0 means 100,000.
func NewRegistry(limit int) *Registry {
	return &Registry{max: fallback(limit, 100_000), live: map[*Runner]struct{}{}}
}

// Start begins a run that somebody must close, unless its net ends it.
func (g *Registry) Start(prog *petri.Program, cfg Config) (*Runner, error) {
	if err := g.reserve(); err != nil {
		return nil, err
	}
	ended := make(chan struct{})
	r, err := start(prog, cfg, func(r *Runner) {
		<-ended // it is in live by then
		g.forget(r)
	})
	g.mu.Lock()
	defer g.mu.Unlock()
	defer close(ended)
	g.begun--
	if err != nil {
		return nil, err
	}
	g.live[r] = struct{}{}
	if g.closed {
		r.Stop()
	}
	return r, nil
}

// Own begins a run that also stops by itself once owner, which must not be nil,
// is unreachable. Nothing that cfg refers to may refer to owner: the run would
// keep its own owner alive.
func Own[T any](g *Registry, owner *T, prog *petri.Program, cfg Config) (*Runner, error) {
	if owner == nil {
		return nil, errors.New("runner: own: the owner is nil")
	}
	r, err := g.Start(prog, cfg)
	if err != nil {
		return nil, err
	}
	runtime.AddCleanup(owner, (*Runner).Stop, r)
	return r, nil
}

func (g *Registry) reserve() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return ErrRegistryClosed
	}
	if len(g.live)+g.begun >= g.max {
		return fmt.Errorf("%w: %d runs", ErrRegistryFull, g.max)
	}
	g.begun++
	return nil
}

func (g *Registry) forget(r *Runner) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.live, r)
}

// Len is how many runs live.
func (g *Registry) Len() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.live)
}

// Runs returns the live runs in no order.
func (g *Registry) Runs() []*Runner {
	g.mu.Lock()
	defer g.mu.Unlock()
	out := make([]*Runner, 0, len(g.live))
	for r := range g.live {
		out = append(out, r)
	}
	return out
}

// Close starts no more runs, closes all there are and returns their errors,
// joined.
func (g *Registry) Close() error {
	g.mu.Lock()
	g.closed = true
	g.mu.Unlock()
	runs := g.Runs()
	for _, r := range runs {
		r.Stop()
	}
	var errs []error
	for _, r := range runs {
		errs = append(errs, r.Close())
	}
	return errors.Join(errs...)
}

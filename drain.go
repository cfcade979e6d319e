package voicegw

import (
	"context"
	"fmt"
	"time"
)

// stage is how far a gateway is shut down.
type stage uint8

const (
	stageOpen     stage = iota
	stageDraining       // it takes no new calls
	stageLeaving        // and has asked running calls to end at a quiet moment
	stageClosed         // and ends them
)

// Drain shuts the gateway down without cutting calls off. The gateway takes no more calls:
// endpoints answer 503 with Retry-After. Each running call ends at a quiet moment, with the prompt
// voicenets.Goodbye, or at the latest after Config.Net.DrainWithin. With the defaults this takes at
// most 70 s, farewell included. If ctx has a later deadline, calls go on undisturbed until that
// much time is left.
//
// Drain returns nil when no call is left. It returns an error that wraps the cause of ctx if ctx is
// done first; Close then ends the remaining calls. A drained gateway cannot take calls again.
func (g *Gateway) Drain(ctx context.Context) error {
	g.advance(stageDraining)
	ask := time.NewTimer(g.untilAsked(ctx))
	defer ask.Stop()
	for {
		left, freed := g.left()
		if left == 0 {
			return nil
		}
		select {
		case <-freed:
		case <-ask.C:
			g.askToLeave()
		case <-ctx.Done():
			return fmt.Errorf("voicegw: drain: %d calls have not ended: %w", left, context.Cause(ctx))
		}
	}
}

// untilAsked is how long calls go on undisturbed.
func (g *Gateway) untilAsked(ctx context.Context) time.Duration {
	deadline, ok := ctx.Deadline()
	if !ok {
		return 0
	}
	t := g.programs[variant{}].timings
	return max(0, time.Until(deadline)-t.DrainWithin-t.Farewell)
}

// advance moves to a stage, unless the gateway has passed it.
func (g *Gateway) advance(s stage) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.stage = max(g.stage, s)
}

// left returns how many lines are taken, and a channel that is closed when one is returned.
func (g *Gateway) left() (n int, freed <-chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.freed == nil {
		g.freed = make(chan struct{})
	}
	return len(g.lines), g.freed
}

// askToLeave asks all calls to end, also those that begin from now on.
func (g *Gateway) askToLeave() {
	g.mu.Lock()
	g.stage = max(g.stage, stageLeaving)
	running := g.running()
	g.mu.Unlock()
	for _, c := range running {
		c.end.drain()
	}
}

// running returns the calls of all lines; mu is held.
func (g *Gateway) running() []*call {
	var list []*call
	for l := range g.lines {
		if l.call != nil {
			list = append(list, l.call)
		}
	}
	return list
}

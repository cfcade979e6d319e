package voicegw

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/voicegw/voicegw/petri/runner"
	"github.com/voicegw/voicegw/voicenets"
)

// stage is how far the end of a gateway has come.
type stage uint8

const (
	stageOpen     stage = iota
	stageDraining       // no new lines
	stageLeaving        // and running calls are asked to end
	stageClosed         // and are ended
)

// Drain takes no more calls, which doors answer with 503 and Retry-After, and
// waits for those that run. The net of each is asked to end it: it takes leave
// at a quiet moment, with the prompt voicenets.Goodbye, or at the latest after
// Config.Net.DrainWithin, and the peer is told that the gateway goes away. That
// is over within DrainWithin and Farewell, 70 s, so a deadline of ctx that is
// further away lets the calls go on as if nothing were until so much is left.
//
// It returns nil when no call is left, and an error with the cause of ctx when
// that is done first: then Close ends the rest. Taking calls again is not
// possible.
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
			if !g.askToLeave() {
				ask.Reset(fullPause)
			}
		case <-ctx.Done():
			return fmt.Errorf("voicegw: drain: %d calls have not ended: %w", left, context.Cause(ctx))
		}
	}
}

// untilAsked is how long calls may go on as if nothing were.
func (g *Gateway) untilAsked(ctx context.Context) time.Duration {
	deadline, ok := ctx.Deadline()
	if !ok {
		return 0
	}
	t := g.programs[variant{}].timings
	return max(0, time.Until(deadline)-t.DrainWithin-t.Farewell)
}

// advance notes a stage, unless a later one was reached.
func (g *Gateway) advance(s stage) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.stage = max(g.stage, s)
}

// left is how many lines are taken, and a channel that is closed when one is
// given back.
func (g *Gateway) left() (n int, freed <-chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.freed == nil {
		g.freed = make(chan struct{})
	}
	return len(g.lines), g.freed
}

// askToLeave asks all calls to end, also those that begin now. It reports false
// when a net was full, and it must be asked again.
func (g *Gateway) askToLeave() bool {
	g.mu.Lock()
	g.stage = max(g.stage, stageLeaving)
	running := g.running()
	g.mu.Unlock()
	all := true
	for _, c := range running {
		all = c.drain() && all
	}
	return all
}

// running are the calls of all lines; mu is held.
func (g *Gateway) running() []*call {
	var list []*call
	for l := range g.lines {
		if l.call != nil {
			list = append(list, l.call)
		}
	}
	return list
}

// drain asks the net to end the call at a quiet moment, once it runs. It
// reports false when the net has no room for that now.
func (c *call) drain() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.draining = true
	return c.net == nil || !errors.Is(c.net.Inject(voicenets.Drain.Token(struct{}{})), runner.ErrInboxFull)
}

package voicegw

import (
	"context"
	"time"

	"github.com/voicegw/voicegw/audio"
)

// A peer is read four times as fast as people speak, after a backlog of 10 s. Only a peer that
// sends faster waits.
const (
	paceRate  = 4
	paceBurst = 10 * time.Second
	paceEvent = audio.FrameDuration / 20 // the least that an event counts for
	paceText  = 10 * audio.FrameDuration // what a text counts for
)

// pace bounds how fast a peer is read.
type pace struct {
	credit time.Duration
	last   time.Time
}

func newPace(now time.Time) *pace { return &pace{credit: paceBurst, last: now} }

// spend returns how long to wait for what was just read.
func (p *pace) spend(now time.Time, cost time.Duration) time.Duration {
	p.credit = min(paceBurst, p.credit+paceRate*now.Sub(p.last)) - cost
	p.last = now
	return max(0, -p.credit/paceRate)
}

// turnPermits limits turns that cost the caller nothing and the model much: a burst of most, then
// one in each gap.
type turnPermits struct {
	gap  time.Duration
	most int
	full time.Time // when all permits are available again; zero: now
}

// take takes n permits and returns 0, or how long to wait for them.
func (p *turnPermits) take(now time.Time, n int) (wait time.Duration) {
	if p.full.Before(now) {
		p.full = now
	}
	full := p.full.Add(time.Duration(min(n, p.most)) * p.gap)
	if wait := full.Sub(now) - time.Duration(p.most)*p.gap; wait > 0 {
		return wait
	}
	p.full = full
	return 0
}

// sleep waits for d, and reports false if ctx was done first.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

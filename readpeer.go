package voicegw

import (
	"context"
	"time"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/voicenets"
)

// readPeer carries what the peer sends into the net until it is gone.
func (c *call) readPeer(ctx context.Context) {
	var ev transport.Event
	p := newPace(time.Now())
	for {
		if err := c.peer.Recv(ctx, &ev); err != nil {
			c.peerGone(ctx, err)
			return
		}
		if wait := p.spend(time.Now(), c.cost(&ev)); wait > 0 && !pause(ctx, wait) {
			return
		}
		c.peerEvent(ctx, &ev)
	}
}

// peerEvent acts on one event.
func (c *call) peerEvent(ctx context.Context, ev *transport.Event) {
	switch ev.Kind {
	case transport.EventAudio:
		if c.running() != nil {
			c.mic.push(ev.PCM)
		}
	case transport.EventAck:
		c.acknowledged(ctx, ev)
	case transport.EventMute:
		c.mute(ctx, ev.On)
	case transport.EventBye:
		c.end(voicenets.HungUp, "")
	case transport.EventText, transport.EventDTMF, transport.EventToolResult:
		c.answer(ctx, transport.NotYet(ev.Kind))
	}
}

// answer queues a message that the peer asked for. One that asks faster than
// it reads waits.
func (c *call) answer(ctx context.Context, m *transport.Message) {
	for c.down.crowded() && pause(ctx, fullPause) {
	}
	c.down.put(downItem{msg: m})
}

// acknowledged gives the net a token for each frame that was newly heard.
func (c *call) acknowledged(ctx context.Context, ev *transport.Event) {
	if c.running() == nil {
		return // nothing was handed over
	}
	gen := petri.Gen(ev.Generation - 1) // generation 0 was never handed over
	for range c.acks.acked(ev) {
		c.inject(ctx, voicenets.PeerAck.Token(voicenets.Ack{Gen: gen}))
	}
}

// mute tells the net of the microphone's switch. The detector begins anew: a
// peer may go on sending while it is muted, and the net does not listen then.
func (c *call) mute(ctx context.Context, on bool) {
	if c.mutedEarly(on) {
		return
	}
	c.mic.abort.Store(true)
	position := voicenets.Off
	if on {
		position = voicenets.On
	}
	c.inject(ctx, voicenets.PeerMute.Token(position))
}

// mutedEarly keeps the switch for a net that does not run yet.
func (c *call) mutedEarly(on bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.muted = on
	return c.net == nil
}

// cost is how much of a peer's time an event takes.
func (c *call) cost(ev *transport.Event) time.Duration {
	if ev.Kind != transport.EventAudio {
		return paceEvent
	}
	return max(paceEvent, time.Duration(len(ev.PCM))*time.Second/time.Duration(c.hello.InputRateHz))
}

// How fast a peer is read: four times as fast as people speak, after a backlog
// of 10 s. One that sends faster waits; others do not.
const (
	paceRate  = 4
	paceBurst = 10 * time.Second
	paceEvent = audio.FrameDuration / 20 // what an event counts for at least
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

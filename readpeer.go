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
		c.mic.push(ev.PCM)
	case transport.EventAck:
		c.acknowledged(ctx, ev)
	case transport.EventMute:
		c.mic.abort.Store(true) // the detector begins anew
		c.inject(ctx, voicenets.PeerMute.Token(position(ev.On)))
	case transport.EventTalk:
		if c.mic.button != nil {
			c.mic.button.press(ev.On, c.mic.edge)
		}
	case transport.EventHold:
		c.inject(ctx, voicenets.Hold.Token(position(ev.On)))
	case transport.EventConsent:
		c.inject(ctx, voicenets.Consent.Token(position(ev.On)))
	case transport.EventBye:
		c.end(voicenets.HungUp, "")
	case transport.EventText:
		c.injectPatiently(ctx, voicenets.CallerText.Token(&voicenets.Typed{Text: ev.Text}))
	case transport.EventDTMF:
		c.pressed(ctx, ev.Text)
	case transport.EventToolResult:
		if !c.tools.answered(ev) {
			c.answer(ctx, &transport.Message{Kind: transport.MessageError, Code: codeNoTool,
				Text: "No tool call with this id waits for a result."})
		}
	}
}

// codeNoTool is the code of the error that answers a tool result nobody waits
// for.
const codeNoTool = "no_tool_call"

// pressed takes keys of a phone; # ends an entry.
func (c *call) pressed(ctx context.Context, digits string) {
	for i := range len(digits) {
		c.injectPatiently(ctx, voicenets.CallerDigit.Token(&voicenets.Digits{Text: digits[i : i+1], Last: digits[i] == '#'}))
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
	gen := petri.Gen(ev.Generation - 1) // generation 0 was never handed over
	heard := c.acks.acked(ev)
	c.tally.heard(heard)
	for range heard {
		c.inject(ctx, voicenets.PeerAck.Token(voicenets.Ack{Gen: gen}))
	}
}

// cost is how much of a peer's time an event takes.
func (c *call) cost(ev *transport.Event) time.Duration {
	switch ev.Kind {
	case transport.EventAudio:
	case transport.EventText:
		return paceText
	default:
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

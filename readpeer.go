package voicegw

import (
	"context"
	"fmt"
	"strings"
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
	typed := turnPermits{gap: time.Minute / time.Duration(c.cfg.TypedPerMinute), most: c.cfg.TypedPerMinute}
	for {
		if err := c.peer.Recv(ctx, &ev); err != nil {
			c.peerGone(ctx, err)
			return
		}
		if wait := p.spend(time.Now(), c.cost(&ev)); wait > 0 && !pause(ctx, wait) {
			return
		}
		if n := typedTurns(&ev); n > 0 {
			if wait := typed.take(time.Now(), n); wait > 0 {
				c.answer(ctx, tooFast(wait))
				continue
			}
		}
		c.peerEvent(ctx, &ev)
	}
}

// typedTurns is how many turns of the model an event asks for that nobody had
// to speak: a text is one, and so is each entry of digits.
func typedTurns(ev *transport.Event) int {
	switch ev.Kind {
	case transport.EventText:
		return 1
	case transport.EventDTMF:
		return strings.Count(ev.Text, "#")
	}
	return 0
}

// codeTooFast is the code of the error that answers a text, or keys, which were
// not taken because the caller typed too much in too short a time.
const codeTooFast = "too_fast"

func tooFast(wait time.Duration) *transport.Message {
	return &transport.Message{Kind: transport.MessageError, Code: codeTooFast, Text: fmt.Sprintf(
		"This was not taken: you type too fast. Send it again in %d s.", int((wait+time.Second-1)/time.Second))}
}

// turnPermits limit turns that cost the caller nothing and the model much: most
// at once, then one each gap. The zero time is long ago, so all are there at
// the beginning.
type turnPermits struct {
	gap  time.Duration
	most int
	full time.Time // when all permits will be there again
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

// peerEvent acts on one event.
func (c *call) peerEvent(ctx context.Context, ev *transport.Event) {
	switch ev.Kind {
	case transport.EventAudio:
		c.mic.push(ev.PCM)
	case transport.EventAck:
		c.acknowledged(ctx, ev)
	case transport.EventMute:
		c.mic.restart()
		c.inject(ctx, voicenets.PeerMute.Token(position(ev.On)))
	case transport.EventTalk:
		if c.mic.button != nil {
			c.mic.button.press(ev.On, c.mic.edge)
		}
	case transport.EventHold:
		c.mic.restart()
		c.inject(ctx, voicenets.Hold.Token(position(ev.On)))
	case transport.EventConsent:
		c.mic.restart()
		c.inject(ctx, voicenets.Consent.Token(position(ev.On)))
	case transport.EventBye:
		c.end(voicenets.HungUp)
	case transport.EventText:
		c.inject(ctx, voicenets.CallerText.Token(&voicenets.Typed{Text: ev.Text}))
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
		c.inject(ctx, voicenets.CallerDigit.Token(&voicenets.Digits{Text: digits[i : i+1], Last: digits[i] == '#'}))
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

package voicegw

import (
	"context"
	"sync"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/voicenets"
)

// readPeer carries what the peer sends into the net until it is gone.
func (c *call) readPeer(ctx context.Context) {
	defer c.carriers.Done()
	var ev transport.Event
	for {
		if err := c.peer.Recv(ctx, &ev); err != nil {
			c.peerGone(ctx, err)
			return
		}
		if ev.Kind == transport.EventBye {
			c.end(voicenets.HungUp, "")
			continue
		}
		select {
		case <-c.started:
			c.peerEvent(&ev)
		default: // acknowledgements of nothing, before the call stands
		}
	}
}

// peerGone ends the call for the reason its connection ended.
func (c *call) peerGone(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	switch transport.ReasonOf(err) {
	case transport.ReasonCallerHungUp:
		c.end(voicenets.HungUp, "")
	case transport.ReasonPeerStalled:
		c.end(voicenets.PeerStalled, "")
	default:
		c.end(voicenets.PeerLost, err.Error())
	}
}

func (c *call) peerEvent(ev *transport.Event) {
	switch ev.Kind {
	case transport.EventAudio:
		c.mic.push(ev.PCM, c.injectFrame, c.injectEdge)
	case transport.EventAck:
		gen := petri.Gen(ev.Generation - 1)
		for range c.acks.acked(ev) {
			c.inject(voicenets.PeerAck.Token(voicenets.Ack{Gen: gen}))
		}
	case transport.EventMute:
		pos := voicenets.Off
		if ev.On {
			pos = voicenets.On
		}
		c.inject(voicenets.PeerMute.Token(pos))
	case transport.EventText, transport.EventDTMF, transport.EventToolResult:
		c.down.message(transport.NotYet(ev.Kind))
	}
}

func (c *call) injectFrame(f *voicenets.CallerFrame) { c.inject(voicenets.CallerAudio.Token(f)) }

func (c *call) injectEdge(e voicenets.Edge) { c.inject(voicenets.SpeechEdge.Token(e)) }

// inject queues a token. That the run has ended is no error: its end is being
// told elsewhere. A full inbox means that the net cannot follow, which ends
// the call rather than losing a token that decides.
func (c *call) inject(t petri.Token) {
	if err := c.net.Inject(t); err != nil && !isClosed(err) {
		c.log.Error("the net cannot follow")
		c.net.Stop()
	}
}

// ackBook counts acknowledgements in frames. The loop notes what is handed
// over, the peer's reader what is acknowledged. On the wire generations start
// at 1.
type ackBook struct {
	mu      sync.Mutex
	counter transport.AckCounter
	latest  uint64
}

func (b *ackBook) sent(g petri.Gen) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.latest = uint64(g) + 1
	b.counter.Sent(b.latest, 1)
}

func (b *ackBook) acked(ev *transport.Event) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.counter.Ack(ev.Generation, ev.PlayedMS, ev.Cleared).Played
}

func (b *ackBook) giveUp() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.counter.GiveUp(b.latest)
}

package voicegw_test

import (
	"context"
	"sync"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/voicenets"
)

// peer is a transport.Peer in memory.
type peer struct {
	hello  transport.Hello
	events chan transport.Event

	once   sync.Once
	done   chan struct{}
	reason transport.Reason
}

func newPeer(h transport.Hello) *peer {
	return &peer{hello: h, events: make(chan transport.Event), done: make(chan struct{})}
}

func (p *peer) Hello() transport.Hello { return p.hello }

func (p *peer) Ready(context.Context, transport.Ready) error { return nil }

func (p *peer) Recv(ctx context.Context, ev *transport.Event) error {
	select {
	case *ev = <-p.events:
		return nil
	case <-p.done:
		return &transport.Ended{Reason: p.reason, Message: p.reason.Message()}
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (p *peer) SendAudio(context.Context, uint64, []int16) error { return nil }

func (p *peer) Send(context.Context, *transport.Message) error { return nil }

func (p *peer) Close(r transport.Reason, _ string) error {
	p.once.Do(func() { p.reason = r; close(p.done) })
	return nil
}

// closed is why the call ended; it has.
func (p *peer) closed() transport.Reason {
	<-p.done
	return p.reason
}

func activity(threshold float64) audio.ActivityConfig {
	return audio.ActivityConfig{Threshold: threshold}
}

func budget(frames int) voicenets.Config { return voicenets.Config{BudgetFrames: frames} }

package phone

import (
	"context"
	"fmt"
	"net/http"
	"sync"

	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/httpdoor"
)

// Calls are a door's calls, from their requests to their ends. The zero value is ready. It is safe for concurrent use
// and must be closed.
type Calls struct {
	mu     sync.Mutex
	closed bool
	open   map[*call]struct{}
	over   sync.WaitGroup
}

// call is a stream from its request to its end.
type call struct {
	cancel context.CancelCauseFunc // gives up the handshake
	peer   *Peer                   // nil in the handshake
}

// Serve begins a handshake, has accept make a peer of the request, runs the call and returns when it
// is over. A request for which there is no line is answered with the status that says so. proven says
// that the request showed who sends it: see transport.Handshake. The error of accept means that it has
// answered. The peer is nil when no call came about; the error says why, or why the call ended.
func (c *Calls) Serve(w http.ResponseWriter, r *http.Request, lines transport.Lines, proven bool,
	accept func(ctx context.Context) (*Peer, error)) (*Peer, error) {
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	own, ok := c.begin(cancel)
	if !ok {
		refused := &transport.Refused{Reason: transport.ReasonGoingAway}
		httpdoor.RefuseLine(w, refused)
		return nil, refused
	}
	defer c.end(own)
	line, err := lines.Take(transport.Handshake{Remote: httpdoor.Remote(r), Proven: proven, GiveUp: cancel})
	if err != nil {
		httpdoor.RefuseLine(w, err)
		return nil, fmt.Errorf("phone: serve: %w", err)
	}
	defer line.Release()
	peer, err := accept(ctx)
	if err != nil {
		return nil, err
	}
	if !c.connected(own, peer) {
		_ = peer.Close(transport.ReasonGoingAway, "")
	}
	return peer, line.Call(context.WithoutCancel(ctx), peer)
}

// begin notes a call; ok is false when the door is closed.
func (c *Calls) begin(cancel context.CancelCauseFunc) (own *call, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, false
	}
	if c.open == nil {
		c.open = map[*call]struct{}{}
	}
	own = &call{cancel: cancel}
	c.open[own] = struct{}{}
	c.over.Add(1)
	return own, true
}

// connected notes that the handshake of a call is over; ok is false when the door was closed meanwhile.
func (c *Calls) connected(own *call, p *Peer) (ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	own.peer = p
	return !c.closed
}

func (c *Calls) end(own *call) {
	c.mu.Lock()
	delete(c.open, own)
	c.mu.Unlock()
	c.over.Done()
}

// Close takes no more calls, ends those that run as going away, and returns when they have ended.
func (c *Calls) Close() {
	c.mu.Lock()
	c.closed = true
	var peers []*Peer
	for own := range c.open {
		own.cancel(nil)
		if own.peer != nil {
			peers = append(peers, own.peer)
		}
	}
	c.mu.Unlock()
	var closing sync.WaitGroup
	for _, p := range peers {
		closing.Go(func() { _ = p.Close(transport.ReasonGoingAway, "") })
	}
	closing.Wait()
	c.over.Wait()
}

package voicegw

import (
	"context"
	"time"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw/petri/netview"
	"github.com/voicegw/voicegw/transport"
)

// netViewEvery is how often at most a peer is sent what its net did.
const netViewEvery = 100 * time.Millisecond

// show sends a peer the drawing of its net, and then what happens in it. The goroutine that writes
// to the peer owns it. Without a view it sends nothing.
type show struct {
	view    *netview.View
	peer    transport.Peer
	svg     string          // the drawing
	changed <-chan struct{} // the view's; nil while the show rests
	rest    *time.Timer     // nil before begin
	update  netview.Update
	msg     transport.Message
}

// showNet lets the peer see the net of its call.
func (w *peerWriter) showNet(p *program, log *zap.Logger) {
	svg, err := p.svg()
	if err != nil {
		log.Warn("the net of the call is not shown", zap.Error(err))
		return
	}
	w.view, w.drawing = netview.New(p.Program), svg
}

// begin sends the drawing.
func (s *show) begin(ctx context.Context) error {
	if s.view == nil {
		return nil
	}
	s.rest = time.NewTimer(netViewEvery)
	return s.peer.Send(ctx, &transport.Message{Kind: transport.MessageNetGraph, Text: s.svg})
}

// rested returns a channel that fires when the rest is over.
func (s *show) rested() <-chan time.Time {
	if s.rest == nil {
		return nil
	}
	return s.rest.C
}

// resume ends a rest: what happened meanwhile is sent next.
func (s *show) resume() { s.changed = s.view.Changed() }

// next sends what happened since the last message, and rests.
func (s *show) next(ctx context.Context) error {
	s.changed = nil
	s.rest.Reset(netViewEvery)
	s.msg.Reset()
	s.msg.Kind = transport.MessageNet
	s.view.Read(&s.update)
	s.msg.At, s.msg.Fired = s.update.At, append(s.msg.Fired, s.update.Fired...)
	for _, c := range s.update.Marking {
		s.msg.Marking = append(s.msg.Marking, transport.PlaceCount(c))
	}
	return s.peer.Send(ctx, &s.msg)
}

func (s *show) stop() {
	if s.rest != nil {
		s.rest.Stop()
	}
}

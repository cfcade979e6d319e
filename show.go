package voicegw

import (
	"context"
	"time"

	"github.com/voicegw/voicegw/transport"
)

// showEvery is how often at most a page is shown its net.
const showEvery = 100 * time.Millisecond

// show sends a page the drawing of its net and then what moves on it. It
// belongs to the goroutine that writes to the peer. Without a feed it shows
// nothing.
type show struct {
	feed    *netFeed
	changed <-chan struct{} // the feed's, nil while the show rests
	rest    *time.Timer
	msg     transport.Message
}

func newShow(f *netFeed) *show { return &show{feed: f} }

// begin sends the drawing.
func (s *show) begin(ctx context.Context, c *call) error {
	if s.feed == nil {
		return nil
	}
	s.rest = time.NewTimer(showEvery)
	return c.peer.Send(ctx, &transport.Message{Kind: transport.MessageNetGraph, Text: c.prog.svg})
}

// rested says when something may be shown again.
func (s *show) rested() <-chan time.Time {
	if s.rest == nil { // nobody watches, or not yet
		return nil
	}
	return s.rest.C
}

// resume ends a rest: what changed meanwhile is shown next.
func (s *show) resume() { s.changed = s.feed.changed }

// next sends what moved, and rests.
func (s *show) next(ctx context.Context, c *call) error {
	s.changed = nil
	s.rest.Reset(showEvery)
	s.msg.Reset()
	s.msg.Kind = transport.MessageNet
	s.msg.Fired, s.msg.At = s.feed.take(s.msg.Fired)
	marking := c.net.Marking()
	for _, p := range c.prog.Places() {
		n := 0
		for _, count := range marking[p.Slot : p.Slot+p.Slots] {
			n += int(count)
		}
		if n > 0 {
			s.msg.Marking = append(s.msg.Marking, transport.PlaceCount{Place: p.Name, Count: n})
		}
	}
	return c.peer.Send(ctx, &s.msg)
}

func (s *show) stop() {
	if s.rest != nil {
		s.rest.Stop()
	}
}

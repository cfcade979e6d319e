package voicegw

import (
	"context"
	"math"
	"sync"
	"time"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/transport"
)

// netViewEvery is how often at most a peer is sent what its net did.
const netViewEvery = 100 * time.Millisecond

// netView collects what happens in the net of a call, for a peer that asked to see it. It is an
// event.Store.
type netView struct {
	prog    *program
	marking func() []int32 // of the net; set before write begins
	changed chan struct{}  // a signal, 1 deep

	mu    sync.Mutex
	fired []int32 // since the last take, each once
	seen  []bool  // by transition
	at    time.Duration
}

func newNetView(p *program) *netView {
	return &netView{prog: p, changed: make(chan struct{}, 1), seen: make([]bool, len(p.Transitions()))}
}

// Append notes which transitions fired.
func (v *netView) Append(events []petri.Event) {
	if v.note(events) {
		select {
		case v.changed <- struct{}{}:
		default:
		}
	}
}

// Stored reports everything as stored: no output waits for a view.
func (v *netView) Stored() uint64 { return math.MaxUint64 }

// note reports whether anything fired.
func (v *netView) note(events []petri.Event) (any bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, e := range events {
		v.at = e.At
		if e.Kind != petri.Fired {
			continue
		}
		any = true
		if !v.seen[e.Index] {
			v.seen[e.Index] = true
			v.fired = append(v.fired, e.Index)
		}
	}
	return any
}

// take appends the names of the transitions that fired since the last take, and returns the time of
// the last event.
func (v *netView) take(names []string) ([]string, time.Duration) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, i := range v.fired {
		names = append(names, v.prog.Transitions()[i].Name)
		v.seen[i] = false
	}
	v.fired = v.fired[:0]
	return names, v.at
}

// show sends a peer the drawing of its net, and then what happens in it. The goroutine that writes
// to the peer owns it. Without a view it sends nothing.
type show struct {
	view    *netView
	peer    transport.Peer
	changed <-chan struct{} // the view's; nil while the show rests
	rest    *time.Timer     // nil before begin
	msg     transport.Message
}

func newShow(v *netView, p transport.Peer) *show { return &show{view: v, peer: p} }

// begin sends the drawing.
func (s *show) begin(ctx context.Context) error {
	if s.view == nil {
		return nil
	}
	s.rest = time.NewTimer(netViewEvery)
	return s.peer.Send(ctx, &transport.Message{Kind: transport.MessageNetGraph, Text: s.view.prog.svg})
}

// rested returns a channel that fires when the rest is over.
func (s *show) rested() <-chan time.Time {
	if s.rest == nil {
		return nil
	}
	return s.rest.C
}

// resume ends a rest: what happened meanwhile is sent next.
func (s *show) resume() { s.changed = s.view.changed }

// next sends what happened since the last message, and rests.
func (s *show) next(ctx context.Context) error {
	s.changed = nil
	s.rest.Reset(netViewEvery)
	s.msg.Reset()
	s.msg.Kind = transport.MessageNet
	s.msg.Fired, s.msg.At = s.view.take(s.msg.Fired)
	marking := s.view.marking()
	for _, p := range s.view.prog.Places() {
		n := 0
		for _, count := range marking[p.Slot : p.Slot+p.Slots] {
			n += int(count)
		}
		if n > 0 {
			s.msg.Marking = append(s.msg.Marking, transport.PlaceCount{Place: p.Name, Count: n})
		}
	}
	return s.peer.Send(ctx, &s.msg)
}

func (s *show) stop() {
	if s.rest != nil {
		s.rest.Stop()
	}
}

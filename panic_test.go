package voicegw_test

import (
	"context"
	"testing"
	"time"

	"github.com/voicegw/voicegw/audio/audiotest"
	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/live/sim"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/ws/wsclient"
)

// clumsy is a dialer whose first connection panics when the model speaks.
type clumsy struct {
	live.Dialer
	dials int
}

func (d *clumsy) Dial(ctx context.Context, s live.Setup) (live.Conn, error) {
	c, err := d.Dialer.Dial(ctx, s)
	if d.dials++; err != nil || d.dials > 1 {
		return c, err
	}
	return clumsyConn{c}, nil
}

type clumsyConn struct{ live.Conn }

func (c clumsyConn) Recv(ctx context.Context, m *live.ServerMessage) error {
	if err := c.Conn.Recv(ctx, m); err != nil || m.Kind != live.ServerAudio {
		return err
	}
	panic("out of luck")
}

// TestPanicEndsOneCall: what breaks in a call ends that call, in words, and the one beside it goes
// on.
func TestPanicEndsOneCall(t *testing.T) {
	p := plan{between: func(d live.Dialer) live.Dialer { return &clumsy{Dialer: d} }}
	inBubble(t, p, func(w *world) {
		said := wsclient.Config{In: audiotest.Speech("hello"), Max: 20 * time.Second}
		if r := w.converse(said); r.Reason != transport.ReasonInternal {
			t.Errorf("the call that broke was closed by %s", r.Reason)
		}
		if r := w.converse(said); r.Reason != transport.ReasonCallerHungUp || r.Turns != 1 {
			t.Errorf("the call after it: %d turns, closed by %s", r.Turns, r.Reason)
		}
	})
}

// TestReplyEndsWithTheCall: a reply that the end of the call cuts short is ended on the wire, with
// the reason.
func TestReplyEndsWithTheCall(t *testing.T) {
	for want, faults := range map[transport.TurnEnd]sim.Faults{
		transport.TurnCallOver: {},
	} {
		r, _ := hear(t, sim.Config{Faults: faults}, wsclient.Config{In: audiotest.Speech("long"), Max: 11 * time.Second})
		var ends []transport.TurnEnd
		for _, e := range r.Events {
			if e.Kind == transport.MessageTurn && e.State == transport.StateEnd {
				ends = append(ends, e.TurnEnd)
			}
		}
		if len(ends) != 1 || ends[0] != want {
			t.Errorf("the reply ended as %v, want %s", ends, want)
		}
	}
}

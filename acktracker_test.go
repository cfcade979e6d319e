package voicegw

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/transport"
)

// TestAckTracker follows clears whose answers come at once, late, or never.
func TestAckTracker(t *testing.T) {
	type step struct {
		sent, clears int
		ms           int64 // acknowledged, if not 0
		cleared      bool
		want         int // frames newly heard
	}
	for name, steps := range map[string][]step{
		"plain":   {{sent: 10}, {ms: 100, want: 5}, {ms: 400, want: 5}},
		"cleared": {{sent: 10}, {clears: 1}, {ms: 80, cleared: true, want: 4}, {sent: 6}, {ms: 400, want: 6}},
		"answered late": {{sent: 10}, {clears: 1}, {sent: 10}, {ms: 60, cleared: true}, {ms: 160, want: 5},
			{ms: 400, want: 5}},
		"two open": {{sent: 10}, {clears: 1}, {sent: 10}, {clears: 1}, {sent: 10}, {ms: 40, cleared: true},
			{ms: 80, cleared: true}, {ms: 140, want: 3}, {ms: 400, want: 7}},
		"answer to no clear": {{sent: 10}, {ms: 60, cleared: true, want: 3}, {ms: 400, want: 7}},
		"never answered":     {{sent: 10}, {clears: 3 * clearsMax}, {sent: 5}, {ms: 400, want: 15}},
		"nothing was sent":   {{ms: 400}, {ms: 400, cleared: true}},
		"answered twice": {{sent: 10}, {clears: 1}, {ms: 60, cleared: true, want: 3}, {sent: 2},
			{ms: 60, cleared: true}, {ms: 400, want: 2}},
		"cleared when done": {{sent: 2}, {ms: 40, want: 2}, {clears: 1}, {ms: 40, cleared: true}},
	} {
		t.Run(name, func(t *testing.T) {
			var a ackTracker
			for i, s := range steps {
				for range s.sent {
					a.sent(0)
				}
				for range s.clears {
					a.cleared(0)
				}
				if s.ms == 0 {
					continue
				}
				ev := transport.Event{Kind: transport.EventAck, Generation: 1, PlayedMS: s.ms, Cleared: s.cleared}
				if got := a.acked(&ev); got != s.want {
					t.Errorf("step %d: %d frames newly heard, want %d", i, got, s.want)
				}
			}
			if len(a.clears) > clearsMax {
				t.Errorf("%d clears are open", len(a.clears))
			}
		})
	}
}

// ackPeer is a reference model of a peer: it plays frames of one generation in order, drops what it
// has not played when a clear comes, and answers that. Both directions keep their order and take
// their time.
type ackPeer struct {
	down    []bool            // under way to the peer: a frame, or (true) a clear
	up      []transport.Event // under way to the gateway
	waiting int               // frames that came and are not played
	played  int               // frames, in all
}

// step lets one thing happen.
func (p *ackPeer) step(what int) {
	switch {
	case what == 0 && len(p.down) > 0:
		if p.down[0] {
			p.waiting = 0
			p.report(true)
		} else {
			p.waiting++
		}
		p.down = p.down[1:]
	case what == 1 && p.waiting > 0:
		p.waiting--
		p.played++
	case what == 2:
		p.report(false)
	}
}

func (p *ackPeer) report(cleared bool) {
	p.up = append(p.up, transport.Event{Kind: transport.EventAck, Generation: 1,
		PlayedMS: int64(p.played) * int64(audio.FrameDuration/time.Millisecond), Cleared: cleared})
}

// TestAckTrackerFollowsPeer holds the tracker to a peer that keeps the protocol, at random: it
// never counts more than the peer has played, and in the end it knows how much that is. Where every
// clear was answered before the reply went on, it has reported each frame.
func TestAckTrackerFollowsPeer(t *testing.T) {
	for seed := range uint64(3000) {
		c := rand.New(rand.NewPCG(seed, 0))
		var (
			a        ackTracker
			p        ackPeer
			reported int
			late     bool // a frame was sent while a clear was open
		)
		receive := func() {
			if len(p.up) > 0 {
				reported += a.acked(&p.up[0])
				p.up = p.up[1:]
			}
			if heard := a.heardMS(1) / 20; reported > p.played || heard > int64(p.played) {
				t.Fatalf("seed %d: %d frames are reported and %d counted of %d played", seed, reported, heard, p.played)
			}
		}
		for range 200 {
			switch what := c.IntN(12); {
			case what < 4:
				late = late || len(a.clears) > 0
				a.sent(petri.Gen(0))
				p.down = append(p.down, false)
			case what == 4 && len(a.clears) < clearsMax:
				a.cleared(petri.Gen(0))
				p.down = append(p.down, true)
			case what < 7:
				receive()
			default:
				p.step(what % 3)
			}
		}
		for len(p.down) > 0 || p.waiting > 0 {
			p.step(0)
			p.step(1)
		}
		p.report(false)
		for len(p.up) > 0 {
			receive()
		}
		if heard := a.heardMS(1) / 20; heard != int64(p.played) || len(a.clears) > 0 || !late && reported != p.played {
			t.Fatalf("seed %d: in the end %d frames are reported and %d counted of %d played, %d clears are open", seed,
				reported, heard, p.played, len(a.clears))
		}
	}
}

// FuzzAckTracker lets a peer acknowledge anything, and answer clears falsely. It never makes more
// frames heard than were sent.
func FuzzAckTracker(f *testing.F) {
	f.Add([]byte("82090"))
	f.Add([]byte("0012345678901234567890"))
	f.Fuzz(func(t *testing.T, steps []byte) {
		var a ackTracker
		sent, reported := 0, 0
		for i, b := range steps {
			ev := transport.Event{Kind: transport.EventAck, Generation: 1, PlayedMS: int64(b>>2) * int64(i%7) * 10,
				Cleared: b&4 > 0}
			switch b % 4 {
			case 0:
				a.sent(petri.Gen(0))
				sent++
			case 1:
				a.cleared(petri.Gen(0))
			default:
				reported += a.acked(&ev)
			}
			if heard := a.heardMS(1) / 20; reported > sent || heard > int64(sent) {
				t.Fatalf("step %d: %d frames are reported and %d counted of %d sent", i, reported, heard, sent)
			}
		}
	})
}

// TestAckTrackerAllHeard: everything was heard when the latest generation was, or what is left of
// it after a clear.
func TestAckTrackerAllHeard(t *testing.T) {
	var a ackTracker
	want := func(all bool, when string) {
		t.Helper()
		if a.allHeard() != all {
			t.Errorf("%s: all heard is %v", when, !all)
		}
	}
	want(true, "nothing sent")
	a.sent(0)
	a.sent(0)
	want(false, "sent")
	a.acked(&transport.Event{Kind: transport.EventAck, Generation: 1, PlayedMS: 20})
	want(false, "half heard")
	a.cleared(0)
	want(false, "cleared")
	a.acked(&transport.Event{Kind: transport.EventAck, Generation: 1, PlayedMS: 20, Cleared: true})
	want(true, "the clear was answered")
	a.sent(1)
	want(false, "another generation")
	a.acked(&transport.Event{Kind: transport.EventAck, Generation: 2, PlayedMS: 20})
	want(true, "it was heard")
}

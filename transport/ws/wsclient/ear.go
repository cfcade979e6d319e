package wsclient

import (
	"time"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/transport"
)

// generationsKept is of how many replies playout is acknowledged: the current one and those that may still be
// playing.
const generationsKept = 4

// ear listens: it plays what comes on a playout clock and says what is to be acknowledged.
type ear struct {
	rateHz  int
	player  *audio.Player
	replies []reply // oldest first
	lastAck time.Duration
	wasOn   bool // something was playing at the last tick
	cleared int  // frames dropped by clears
	acks    []transport.Event
}

// reply is a generation of which something came.
type reply struct {
	generation uint64
	ackedMS    int64
}

func newEar(rateHz int) *ear { return &ear{rateHz: rateHz, player: audio.NewPlayer(rateHz)} }

// hear takes a frame.
func (e *ear) hear(at time.Duration, generation uint64, pcm []int16) {
	e.player.Push(at, generation, pcm)
	if n := len(e.replies); n > 0 && e.replies[n-1].generation == generation {
		return
	}
	if len(e.replies) == generationsKept {
		e.replies = append(e.replies[:0], e.replies[1:]...)
	}
	e.replies = append(e.replies, reply{generation: generation})
}

// mark takes a mark.
func (e *ear) mark(at time.Duration, generation uint64, id string) {
	e.player.PushMark(at, generation, id)
}

// clear stops playing and returns the answer.
func (e *ear) clear(at time.Duration, generation uint64) transport.Event {
	e.player.Advance(at)
	before := e.player.Played(generation) + e.player.Queued()
	played := e.player.Clear(at, generation)
	e.cleared += (before - played) / audio.FrameSamples(e.rateHz)
	e.lastAck = at
	ms := e.player.PlayedMS(generation) / transport.FrameMS * transport.FrameMS
	e.acked(generation, ms)
	return transport.Event{Kind: transport.EventAck, Generation: generation, PlayedMS: ms, Cleared: true}
}

// tick moves the clock on and returns what is to be acknowledged now: marks that were reached, and every 100 ms, or
// when the queue ran dry, how much was played. The slice is valid until the next call.
func (e *ear) tick(at time.Duration) []transport.Event {
	e.player.Advance(at)
	e.acks = e.acks[:0]
	for _, m := range e.player.Reached() {
		ms := e.player.PlayedMS(m.Generation)
		e.acks = append(e.acks,
			transport.Event{Kind: transport.EventAck, Generation: m.Generation, PlayedMS: ms, Mark: m.ID})
		e.acked(m.Generation, ms)
	}
	on := e.player.Playing()
	if ranDry := e.wasOn && !on; ranDry || at-e.lastAck >= transport.AckMS*time.Millisecond {
		e.ackPlayed(at)
	}
	e.wasOn = on
	return e.acks
}

// ackPlayed acknowledges each reply of which more was played.
func (e *ear) ackPlayed(at time.Duration) {
	for i := range e.replies {
		r := &e.replies[i]
		if ms := e.player.PlayedMS(r.generation); ms > r.ackedMS {
			r.ackedMS, e.lastAck = ms, at
			e.acks = append(e.acks, transport.Event{Kind: transport.EventAck, Generation: r.generation, PlayedMS: ms})
		}
	}
}

func (e *ear) acked(generation uint64, ms int64) {
	for i := range e.replies {
		if e.replies[i].generation == generation {
			e.replies[i].ackedMS = ms
		}
	}
}

// idle reports whether nothing is playing nor waits to be played.
func (e *ear) idle() bool { return e.player.Queued() == 0 }

package wsclient

import (
	"time"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/transport"
)

// generationsKept is how many replies can be acknowledged: the current one and those that may still
// be playing.
const generationsKept = 4

// playout plays received audio on a playout clock and returns the due acknowledgements.
type playout struct {
	rateHz  int
	player  *audio.Player
	replies []reply // oldest first
	lastAck time.Duration
	wasOn   bool // something was playing at the last tick
	cleared int  // frames dropped by clears
	acks    []transport.Event
}

// reply is a generation with received frames or marks.
type reply struct {
	generation uint64
	ackedMS    int64
}

func newPlayout(rateHz int) *playout {
	return &playout{rateHz: rateHz, player: audio.NewPlayer(rateHz)}
}

// push takes a frame.
func (p *playout) push(at time.Duration, generation uint64, pcm []int16) {
	p.player.Push(at, generation, pcm)
	if n := len(p.replies); n > 0 && p.replies[n-1].generation == generation {
		return
	}
	if len(p.replies) == generationsKept {
		p.replies = append(p.replies[:0], p.replies[1:]...)
	}
	p.replies = append(p.replies, reply{generation: generation})
}

// mark takes a mark.
func (p *playout) mark(at time.Duration, generation uint64, id string) {
	p.player.PushMark(at, generation, id)
}

// clear stops playing and returns the answer.
func (p *playout) clear(at time.Duration, generation uint64) transport.Event {
	p.player.Advance(at)
	before := p.player.Played(generation) + p.player.Queued()
	played := p.player.Clear(at, generation)
	p.cleared += (before - played) / audio.FrameSamples(p.rateHz)
	p.lastAck = at
	ms := p.player.PlayedMS(generation) / transport.FrameMS * transport.FrameMS
	p.acked(generation, ms)
	return transport.Event{Kind: transport.EventAck, Generation: generation, PlayedMS: ms, Cleared: true}
}

// tick advances the clock and returns the acknowledgements due now: marks that were reached, and
// every 100 ms, or when the queue ran dry, how much was played. The slice is valid until the next
// call.
func (p *playout) tick(at time.Duration) []transport.Event {
	p.player.Advance(at)
	p.acks = p.acks[:0]
	for _, m := range p.player.Reached() {
		ms := p.player.PlayedMS(m.Generation)
		p.acks = append(p.acks,
			transport.Event{Kind: transport.EventAck, Generation: m.Generation, PlayedMS: ms, Mark: m.ID})
		p.acked(m.Generation, ms)
	}
	on := p.player.Playing()
	if ranDry := p.wasOn && !on; ranDry || at-p.lastAck >= transport.AckMS*time.Millisecond {
		p.ackPlayed(at)
	}
	p.wasOn = on
	return p.acks
}

// ackPlayed acknowledges each reply that played on since its last acknowledgement.
func (p *playout) ackPlayed(at time.Duration) {
	for i := range p.replies {
		r := &p.replies[i]
		if ms := p.player.PlayedMS(r.generation); ms > r.ackedMS {
			r.ackedMS, p.lastAck = ms, at
			p.acks = append(p.acks, transport.Event{Kind: transport.EventAck, Generation: r.generation, PlayedMS: ms})
		}
	}
}

func (p *playout) acked(generation uint64, ms int64) {
	for i := range p.replies {
		if p.replies[i].generation == generation {
			p.replies[i].ackedMS = ms
		}
	}
}

// idle reports whether nothing plays and nothing waits to be played.
func (p *playout) idle() bool { return p.player.Queued() == 0 }

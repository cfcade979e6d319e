package simulate

import (
	"slices"
	"time"

	"github.com/voicegw/voicegw/transport"
)

// player is the far end's player. It plays what comes, and knows how much of it was played.
type player struct {
	rate     float64       // how fast its clock runs
	until    time.Duration // when all that came is played
	current  uint64        // the generation of what came last
	received map[uint64]time.Duration
	heard    map[uint64]time.Duration
}

// prebuffer is what a player waits for before it begins.
const prebuffer = 40 * time.Millisecond

// push adds a frame.
func (p *player) push(now time.Duration, generation uint64) {
	if p.until < now {
		p.until = now + prebuffer
	}
	p.until += time.Duration(float64(20*time.Millisecond) / p.rate)
	p.received[generation] += 20 * time.Millisecond
	p.current = generation
}

// played is how much of the current generation was heard, in ms.
func (p *player) played(now time.Duration) int64 {
	waits := time.Duration(float64(max(0, p.until-now)) * p.rate)
	p.heard[p.current] = max(p.heard[p.current], p.received[p.current]-waits) // a prebuffer is no sound
	return p.heard[p.current].Milliseconds()
}

// clear drops what was not played. It returns how many ms were played, and how much was not.
func (p *player) clear(now time.Duration, generation uint64) (ms int64, dropped time.Duration) {
	if generation != p.current {
		return 0, 0
	}
	ms = p.played(now)
	dropped = p.received[p.current] - time.Duration(ms)*time.Millisecond
	p.received[p.current] = time.Duration(ms) * time.Millisecond
	p.until = now
	return ms, dropped
}

// acks are the acknowledgements that the far end sends now.
func (l *line) acks(c chance) []*transport.Event {
	l.mu.Lock()
	defer l.mu.Unlock()
	ack := transport.Event{Kind: transport.EventAck, Generation: l.player.current, PlayedMS: l.player.played(l.now())}
	switch {
	case l.plan.peer.acks == acksNothing || ack.Generation == 0:
		return nil
	case l.plan.peer.acks == acksFalsely && c.oneIn(3):
		ack.Generation = max(0, ack.Generation+uint64(c.IntN(4))-1)
		ack.PlayedMS += int64(c.IntN(5000))
		ack.Cleared = c.oneIn(4)
	}
	out := []*transport.Event{&ack}
	marks := l.marks
	l.marks = nil
	for _, m := range slices.Backward(marks) {
		reached := ack
		reached.Cleared, reached.Mark = false, m
		out = append(out, &reached)
	}
	return out
}

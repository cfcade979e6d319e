package bench

import (
	"time"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/transport"
)

const (
	prebuffer = 40 * time.Millisecond
	// replyGap is the silence that ends a reply. Audio that comes after less of it is late.
	replyGap = 300 * time.Millisecond
)

// playout is the clock of a listener, without sound: frames that came are played one after another.
type playout struct {
	queue   []uint64  // the generations of the frames to be played
	due     time.Time // when the first of them has been played
	ended   time.Time // when the queue last ran empty
	in, out int       // frames that came, and that left the queue
	played  [2]generation
	marks   []mark
	reached []mark
	returns bool // marks that a clear drops count as reached
	late    int  // frames that came after their time
	lastAck time.Time
}

// generation is how much of a reply was played, and acknowledged.
type generation struct {
	id            uint64
	played, acked int // frames
}

// mark is a position: reached when after frames have left the queue.
type mark struct {
	id         string
	generation uint64
	after      int
}

// push takes a frame.
func (p *playout) push(now time.Time, id uint64) {
	p.advance(now)
	if len(p.queue) == 0 {
		if !p.ended.IsZero() && now.Sub(p.ended) < replyGap {
			p.late++
		}
		p.due = now.Add(prebuffer + audio.FrameDuration)
	}
	p.queue = append(p.queue, id)
	p.in++
}

// mark takes a mark.
func (p *playout) mark(now time.Time, id uint64, name string) {
	p.advance(now)
	p.marks = append(p.marks, mark{name, id, p.in})
	p.reach()
}

// advance plays until now.
func (p *playout) advance(now time.Time) {
	n := 0
	for ; n < len(p.queue) && !p.due.After(now); n++ {
		p.of(p.queue[n]).played++
		p.ended = p.due
		p.due = p.due.Add(audio.FrameDuration)
	}
	p.queue = p.queue[:copy(p.queue, p.queue[n:])]
	p.out += n
	p.reach()
}

func (p *playout) reach() {
	n := 0
	for ; n < len(p.marks) && p.marks[n].after <= p.out; n++ {
		p.reached = append(p.reached, p.marks[n])
	}
	p.marks = p.marks[:copy(p.marks, p.marks[n:])]
}

// of returns the count of a generation. The oldest of two is forgotten for a new one.
func (p *playout) of(id uint64) *generation {
	for i := range p.played {
		if p.played[i].id == id {
			return &p.played[i]
		}
	}
	p.played[0] = p.played[1]
	p.played[1] = generation{id: id}
	return &p.played[1]
}

// clear drops what was not played, and returns how much of a generation was.
func (p *playout) clear(now time.Time, id uint64) (playedMS int64) {
	p.advance(now)
	p.out, p.queue = p.in, p.queue[:0]
	if p.returns {
		p.reached = append(p.reached, p.marks...)
	}
	p.marks = p.marks[:0]
	p.ended = time.Time{}
	g := p.of(id)
	g.acked = g.played
	return int64(g.played) * transport.FrameMS
}

// acks calls ack for each mark that was reached, and, every 100 ms and when the queue has run empty,
// for each generation that was played further.
func (p *playout) acks(now time.Time, ack func(id uint64, playedMS int64, mark string)) {
	p.advance(now)
	for _, m := range p.reached {
		g := p.of(m.generation)
		g.acked = g.played
		ack(m.generation, int64(g.played)*transport.FrameMS, m.id)
	}
	p.reached = p.reached[:0]
	if len(p.queue) > 0 && now.Sub(p.lastAck) < transport.AckMS*time.Millisecond {
		return
	}
	for i := range p.played {
		if g := &p.played[i]; g.played > g.acked {
			g.acked, p.lastAck = g.played, now
			ack(g.id, int64(g.played)*transport.FrameMS, "")
		}
	}
}

// over reports whether the reply has been played.
func (p *playout) over(now time.Time) bool {
	return len(p.queue) == 0 && now.Sub(p.ended) > replyGap
}

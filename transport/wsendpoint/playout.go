package wsendpoint

import (
	"time"

	"github.com/voicegw/voicegw/transport"
)

const (
	frame         = transport.FrameMS * time.Millisecond
	framesPerAck  = transport.AckMS / transport.FrameMS
	playoutRuns   = 4  // generations remembered: the current one and those whose last frames may still be playing
	playoutMarks  = 16 // open marks; at this limit the oldest is forgotten
	playoutClears = 8  // unanswered clears; at this limit the oldest is forgotten
)

// ack says how much was played, as transport.EventAck does.
type ack struct {
	Generation uint64
	PlayedMS   int64
	Mark       string
	Cleared    bool
}

// playout is the playout clock of a far end that does not report its playout. It assumes that sent
// frames play in real time, one after the other, and that a reply begins to play Delay after its
// first frame was sent. Time enters by parameter. The zero value is ready; it is not safe for
// concurrent use. It allocates nothing.
type playout struct {
	// Delay is the time from sending the first frame of a reply, or of its rest after a clear, to
	// its playout.
	Delay time.Duration
	// Keeps says that the far end ignores clears and plays everything it received.
	Keeps bool

	runs   [playoutRuns]playoutRun // oldest first
	nRuns  int
	queued int       // frames sent and not yet played
	ends   time.Time // when the first of them will have been played

	marks   [playoutMarks]playoutMark
	nMarks  int
	clears  [playoutClears]playoutClear
	nClears int
}

// playoutRun is a generation in frames; acked <= played <= sent.
type playoutRun struct {
	generation          uint64
	sent, played, acked int
	fresh               bool // nothing was sent since the start or a clear
}

type playoutMark struct {
	generation uint64
	after      int // frames of the generation
	id         string
}

// playoutClear is the answer to a clear.
type playoutClear struct {
	generation uint64
	most       int // maximum number of frames that may have been played
	due        time.Time
}

// Sent notes a frame that was sent.
func (p *playout) Sent(now time.Time, generation uint64) {
	p.advance(now)
	for i := range p.nClears {
		p.clears[i].due = now // the reply goes on, so its position is settled
	}
	r := p.run(generation)
	if r == nil {
		r = p.begin(generation)
	}
	if p.queued == 0 {
		p.ends = now.Add(frame)
		if r.fresh {
			p.ends = p.ends.Add(p.Delay)
		}
	}
	r.fresh = false
	r.sent++
	p.queued++
}

// begin starts another generation, and forgets the oldest when there are too many.
func (p *playout) begin(generation uint64) *playoutRun {
	if p.nRuns == playoutRuns {
		p.queued -= p.runs[0].sent - p.runs[0].played
		copy(p.runs[:], p.runs[1:])
		p.nRuns--
	}
	p.runs[p.nRuns] = playoutRun{generation: generation, fresh: true}
	p.nRuns++
	return &p.runs[p.nRuns-1]
}

// Resume begins a generation of which so many frames were played, and acknowledged by another clock.
func (p *playout) Resume(generation uint64, frames int) {
	r := p.begin(generation)
	r.sent, r.played, r.acked = frames, frames, frames
}

// Played returns how much of a generation was played, in milliseconds.
func (p *playout) Played(now time.Time, generation uint64) int64 {
	p.advance(now)
	if r := p.run(generation); r != nil {
		return int64(r.played) * transport.FrameMS
	}
	return 0
}

func (p *playout) run(generation uint64) *playoutRun {
	for i := p.nRuns - 1; i >= 0; i-- {
		if p.runs[i].generation == generation {
			return &p.runs[i]
		}
	}
	return nil
}

// Ahead returns how much was sent and not yet played.
func (p *playout) Ahead(now time.Time) time.Duration {
	p.advance(now)
	if p.queued == 0 {
		return 0
	}
	return p.ends.Sub(now) + time.Duration(p.queued-1)*frame
}

// Mark notes a mark behind the sent frames, and behind so many that must still be sent.
func (p *playout) Mark(now time.Time, generation uint64, id string, frames int) {
	p.advance(now)
	if p.nMarks == playoutMarks {
		copy(p.marks[:], p.marks[1:])
		p.nMarks--
	}
	after := frames
	if r := p.run(generation); r != nil {
		after += r.sent
	}
	p.marks[p.nMarks] = playoutMark{generation: generation, after: after, id: id}
	p.nMarks++
}

// Clear drops the frames that were not played, unless the far end keeps them, and all marks. The
// answer to the clear is due after wait; until then Heard may correct how much was played.
func (p *playout) Clear(now time.Time, generation uint64, wait time.Duration) {
	p.advance(now)
	p.nMarks = 0
	most := 0
	for i := range p.nRuns {
		r := &p.runs[i]
		if r.generation == generation {
			most = r.sent
		}
		if p.Keeps {
			r.played = r.sent
		}
		r.sent, r.fresh = r.played, true
	}
	p.queued = 0
	if p.nClears == playoutClears {
		copy(p.clears[:], p.clears[1:])
		p.nClears--
	}
	p.clears[p.nClears] = playoutClear{generation: generation, most: most, due: now.Add(wait)}
	p.nClears++
}

// Heard sets how much of a generation was played in all before its last clear, as the far end
// reports it. It reports whether there was a clear to answer. Earlier acknowledgements stay valid.
func (p *playout) Heard(now time.Time, generation uint64, playedMS int64) bool {
	for i := range p.nClears {
		c := &p.clears[i]
		r := p.run(generation)
		if c.generation != generation || r == nil || !r.fresh {
			continue
		}
		r.played = max(r.acked, int(min(max(0, playedMS)/transport.FrameMS, int64(c.most))))
		r.sent, c.due = r.played, now
		return true
	}
	return false
}

// advance counts the frames played by now.
func (p *playout) advance(now time.Time) {
	for i := 0; p.queued > 0 && !p.ends.After(now); {
		r := &p.runs[i]
		if r.played == r.sent {
			i++
			continue
		}
		r.played++
		p.queued--
		p.ends = p.ends.Add(frame)
	}
}

// Next takes the next acknowledgement that is due. Until it reports false there may be more.
func (p *playout) Next(now time.Time) (ack, bool) {
	p.advance(now)
	if a, ok := p.nextClear(now); ok {
		return a, true
	}
	if p.nClears > 0 {
		return ack{}, false // the amount that was played is not settled
	}
	if a, ok := p.nextMark(); ok {
		return a, true
	}
	for i := range p.nRuns {
		if r := &p.runs[i]; r.due() {
			return r.ack(), true
		}
	}
	return ack{}, false
}

func (p *playout) nextClear(now time.Time) (ack, bool) {
	if p.nClears == 0 || p.clears[0].due.After(now) {
		return ack{}, false
	}
	a := ack{Generation: p.clears[0].generation}
	if r := p.run(a.Generation); r != nil {
		a = r.ack()
	}
	a.Cleared = true
	copy(p.clears[:], p.clears[1:])
	p.nClears--
	return a, true
}

func (p *playout) nextMark() (ack, bool) {
	for i := range p.nMarks {
		m := p.marks[i]
		r := p.run(m.generation)
		if r == nil && m.after > 0 || r != nil && r.played < m.after {
			continue
		}
		a := ack{Generation: m.generation}
		if r != nil {
			a = r.ack()
		}
		a.Mark = m.id
		copy(p.marks[i:], p.marks[i+1:])
		p.nMarks--
		return a, true
	}
	return ack{}, false
}

// due reports whether enough was played for an acknowledgement, or everything.
func (r *playoutRun) due() bool {
	news := r.played - r.acked
	return news >= framesPerAck || news > 0 && r.played == r.sent
}

func (r *playoutRun) ack() ack {
	r.acked = r.played
	return ack{Generation: r.generation, PlayedMS: int64(r.played) * transport.FrameMS}
}

// Wait returns how long to wait before Next may have something, if nothing else happens; ok is
// false when Next will have nothing.
func (p *playout) Wait(now time.Time) (d time.Duration, ok bool) {
	p.advance(now)
	if p.nClears > 0 {
		d, ok = p.clears[0].due.Sub(now), true
	}
	if p.queued > 0 {
		if next := p.ends.Sub(now) + time.Duration(p.framesToAck()-1)*frame; !ok || next < d {
			d, ok = next, true
		}
	}
	return max(0, d), ok
}

// framesToAck returns how many frames must be played before there is something to acknowledge, if
// no more are sent; 1 or more.
func (p *playout) framesToAck() int {
	for i := range p.nRuns {
		r := &p.runs[i]
		if r.played == r.sent {
			continue
		}
		n := min(framesPerAck-(r.played-r.acked), r.sent-r.played)
		for _, m := range p.marks[:p.nMarks] {
			if m.generation == r.generation && m.after > r.played {
				n = min(n, m.after-r.played)
			}
		}
		return max(1, n)
	}
	return 1
}

package wsdoor

import (
	"time"

	"github.com/voicegw/voicegw/transport"
)

const (
	frame         = transport.FrameMS * time.Millisecond
	framesPerAck  = transport.AckMS / transport.FrameMS
	playoutRuns   = 4  // generations remembered: the current one and those whose last frames may still be playing
	playoutMarks  = 16 // marks not reached; of more the oldest are forgotten
	playoutClears = 8  // clears not answered; of more the oldest are forgotten
)

// Ack says what was heard, as transport.EventAck does.
type Ack struct {
	Generation uint64
	PlayedMS   int64
	Mark       string
	Cleared    bool
}

// Playout is the playout clock of a far end that does not say what it has played: what was sent is heard in real time,
// frame behind frame, and a reply begins Delay after its first frame was sent. Time enters by parameter. The zero value
// is ready; it is not safe for concurrent use. It allocates nothing.
type Playout struct {
	// Delay is between the first frame of a reply, or of its rest after a clear, and its being heard.
	Delay time.Duration
	// Keeps says that the far end plays on to the end of what it got, whatever it is told.
	Keeps bool

	runs   [playoutRuns]playoutRun // oldest first
	nRuns  int
	queued int       // frames sent and not heard
	ends   time.Time // when the first of them will have been heard

	marks   [playoutMarks]playoutMark
	nMarks  int
	clears  [playoutClears]playoutClear
	nClears int
}

// playoutRun is a generation in frames; acked <= played <= sent.
type playoutRun struct {
	generation          uint64
	sent, played, acked int
	fresh               bool // nothing was sent since the beginning or a clear
}

type playoutMark struct {
	generation uint64
	after      int // frames of the generation
	id         string
}

// playoutClear is the answer to a clear.
type playoutClear struct {
	generation uint64
	most       int // frames that may have been heard
	due        time.Time
}

// Sent notes a frame that was sent.
func (p *Playout) Sent(now time.Time, generation uint64) {
	p.advance(now)
	for i := range p.nClears {
		p.clears[i].due = now // the reply goes on: from where is settled
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

// begin remembers another generation, and forgets the oldest when there are too many.
func (p *Playout) begin(generation uint64) *playoutRun {
	if p.nRuns == playoutRuns {
		p.queued -= p.runs[0].sent - p.runs[0].played
		copy(p.runs[:], p.runs[1:])
		p.nRuns--
	}
	p.runs[p.nRuns] = playoutRun{generation: generation, fresh: true}
	p.nRuns++
	return &p.runs[p.nRuns-1]
}

func (p *Playout) run(generation uint64) *playoutRun {
	for i := p.nRuns - 1; i >= 0; i-- {
		if p.runs[i].generation == generation {
			return &p.runs[i]
		}
	}
	return nil
}

// Ahead is how much was sent and not heard yet.
func (p *Playout) Ahead(now time.Time) time.Duration {
	p.advance(now)
	if p.queued == 0 {
		return 0
	}
	return p.ends.Sub(now) + time.Duration(p.queued-1)*frame
}

// Mark notes a mark behind what was sent so far.
func (p *Playout) Mark(now time.Time, generation uint64, id string) {
	p.MarkAfter(now, generation, id, 0)
}

// MarkAfter is Mark for frames that are still to be sent before it.
func (p *Playout) MarkAfter(now time.Time, generation uint64, id string, frames int) {
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

// Clear drops what was not heard, unless the far end keeps it, and all marks. Its answer is due after wait: until then
// Heard may say better what was heard.
func (p *Playout) Clear(now time.Time, generation uint64, wait time.Duration) {
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

// Heard says how much of a generation was heard in all before its last clear, by the far end's own account. It reports
// whether there was a clear to answer; what was acknowledged stays so.
func (p *Playout) Heard(now time.Time, generation uint64, playedMS int64) bool {
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

// advance lets time pass.
func (p *Playout) advance(now time.Time) {
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
func (p *Playout) Next(now time.Time) (Ack, bool) {
	p.advance(now)
	if a, ok := p.nextClear(now); ok {
		return a, true
	}
	if p.nClears > 0 {
		return Ack{}, false // what was heard is not settled
	}
	if a, ok := p.nextMark(); ok {
		return a, true
	}
	for i := range p.nRuns {
		if r := &p.runs[i]; r.due() {
			return r.ack(), true
		}
	}
	return Ack{}, false
}

func (p *Playout) nextClear(now time.Time) (Ack, bool) {
	if p.nClears == 0 || p.clears[0].due.After(now) {
		return Ack{}, false
	}
	a := Ack{Generation: p.clears[0].generation}
	if r := p.run(a.Generation); r != nil {
		a = r.ack()
	}
	a.Cleared = true
	copy(p.clears[:], p.clears[1:])
	p.nClears--
	return a, true
}

func (p *Playout) nextMark() (Ack, bool) {
	for i := range p.nMarks {
		m := p.marks[i]
		r := p.run(m.generation)
		if r == nil && m.after > 0 || r != nil && r.played < m.after {
			continue
		}
		a := Ack{Generation: m.generation}
		if r != nil {
			a = r.ack()
		}
		a.Mark = m.id
		copy(p.marks[i:], p.marks[i+1:])
		p.nMarks--
		return a, true
	}
	return Ack{}, false
}

// due reports that enough was heard to say so, or everything.
func (r *playoutRun) due() bool {
	news := r.played - r.acked
	return news >= framesPerAck || news > 0 && r.played == r.sent
}

func (r *playoutRun) ack() Ack {
	r.acked = r.played
	return Ack{Generation: r.generation, PlayedMS: int64(r.played) * transport.FrameMS}
}

// Wait is how long to wait before Next may have something, when nothing else happens; ok is false for ever.
func (p *Playout) Wait(now time.Time) (d time.Duration, ok bool) {
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

// framesToAck is how many frames must be heard before there is something to acknowledge, when no more are sent; 1 or
// more.
func (p *Playout) framesToAck() int {
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

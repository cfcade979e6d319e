package audio

import (
	"fmt"
	"slices"
	"time"
)

const (
	playerPrebuffer      = 40 * time.Millisecond
	playerQueueMax       = 10 * time.Minute
	playerMarksMax       = int(playerQueueMax / FrameDuration)
	playerHeardMax       = time.Hour
	playerGenerationsMax = 64
	playerSpansMax       = 1 << 16
)

// Mark is a position in the sound. [Player.Reached] reports that playout has reached it.
type Mark struct {
	ID         string
	Generation uint64

	at time.Duration // when playout reached it
}

// Span is a stretch of one generation that played without a gap: the samples From to To (excluded)
// of [Player.Heard].
type Span struct {
	Generation uint64
	From, To   int
}

// Player is the playout clock of a listener. It models a queue and a loudspeaker: sound that is
// pushed becomes audible in real time, one piece after another. It plays nothing itself.
//
// The time of a call must not be before that of the last one; if it is, the time of the last one
// counts. Each sound has a generation, the number of its reply, which acknowledgements name. At the
// start and after each underrun, playout begins when 40 ms are queued, or 40 ms after the first of
// them.
//
// A Player queues at most 10 minutes of sound and 30,000 marks, and drops the rest. It counts the
// last 64 generations, and keeps the first hour of [Player.Heard].
type Player struct {
	rateHz    int
	prebuffer int // samples that must be queued before playout begins

	now     int64 // samples since time 0
	playing bool
	startAt int64 // latest start of playout, if not playing and the queue is not empty

	queue []int16
	head  int // samples of queue that are played
	runs  []playerRun
	marks []playerMark
	in    int64 // samples queued so far

	reached   []Mark
	played    []playerCount // oldest first
	spans     []Span
	heard     []int16
	underruns int // how often the queue ran empty, also at the end of a reply
	dropped   int // samples and marks that found the queue full
}

// playerRun is the generation of the next n samples of the queue.
type playerRun struct {
	generation uint64
	n          int
}

// playerMark is a mark that is reached when after samples have left the queue.
type playerMark struct {
	Mark
	after int64
}

type playerCount struct {
	generation uint64
	samples    int
}

// NewPlayer returns a Player at time 0. It panics if [CheckRate] refuses rateHz.
func NewPlayer(rateHz int) *Player {
	if err := CheckRate(rateHz); err != nil {
		panic(fmt.Sprintf("audio: new player: %v", err))
	}
	p := &Player{rateHz: rateHz}
	p.prebuffer = int(p.samples(playerPrebuffer))
	return p
}

// Push queues a copy of pcm as the next sound of a generation, at the time at.
func (p *Player) Push(at time.Duration, generation uint64, pcm []int16) {
	p.Advance(at)
	room := int(p.samples(playerQueueMax)) - p.Queued()
	if len(pcm) > room {
		p.dropped += len(pcm) - room
		pcm = pcm[:room]
	}
	if len(pcm) == 0 {
		return
	}
	if p.Queued() == 0 && !p.playing {
		p.startAt = p.now + int64(p.prebuffer)
	}
	if p.head > 0 && len(p.queue)+len(pcm) > cap(p.queue) {
		p.queue = append(p.queue[:0], p.queue[p.head:]...)
		p.head = 0
	}
	p.queue = append(p.queue, pcm...)
	p.in += int64(len(pcm))
	if last := len(p.runs) - 1; last >= 0 && p.runs[last].generation == generation {
		p.runs[last].n += len(pcm)
	} else {
		p.runs = append(p.runs, playerRun{generation, len(pcm)})
	}
	if p.Queued() >= p.prebuffer {
		p.playing = true
	}
}

// PushMark queues a mark after the sound queued so far. If nothing is queued, playout has reached
// it at once.
func (p *Player) PushMark(at time.Duration, generation uint64, id string) {
	p.Advance(at)
	if len(p.marks)+len(p.reached) >= playerMarksMax {
		p.dropped++
		return
	}
	p.marks = append(p.marks, playerMark{Mark{ID: id, Generation: generation}, p.in})
	p.reach()
}

// Clear drops the sound and the marks that playout has not reached at the time at. It returns the
// number of samples of generation that were played, rounded down to whole frames, and counts on
// from that number: it is the answer to a clear, after which the rest of the reply may be sent
// again. Heard keeps its samples.
func (p *Player) Clear(at time.Duration, generation uint64) (played int) {
	p.Advance(at)
	p.queue, p.head = p.queue[:0], 0
	p.runs, p.marks = p.runs[:0], p.marks[:0]
	p.playing = false
	c := p.count(generation)
	if c == nil {
		return 0
	}
	frames := c.samples * framesPerSecond / p.rateHz
	c.samples = (frames*p.rateHz + framesPerSecond - 1) / framesPerSecond
	return c.samples
}

// Advance moves the clock to the time to.
func (p *Player) Advance(to time.Duration) {
	for end := p.samples(to); p.now < end; {
		switch left := end - p.now; {
		case p.playing && p.Queued() > 0:
			p.play(int(min(left, int64(p.Queued()))))
		case p.playing:
			p.playing = false
			p.underruns++
		case p.Queued() == 0:
			p.silence(left)
		case p.now < p.startAt:
			p.silence(min(left, p.startAt-p.now))
		default:
			p.playing = true
		}
	}
}

// Queued returns the number of samples that are not played yet.
func (p *Player) Queued() int { return len(p.queue) - p.head }

// Playing reports whether the next sample is audible.
func (p *Player) Playing() bool { return p.playing && p.Queued() > 0 }

// Played returns the number of samples of generation that were played, as an acknowledgement counts
// them (see [Player.Clear]). It is 0 for a generation that is not among the last 64.
func (p *Player) Played(generation uint64) int {
	if c := p.count(generation); c != nil {
		return c.samples
	}
	return 0
}

// PlayedMS returns Played in milliseconds, rounded down.
func (p *Player) PlayedMS(generation uint64) int64 {
	return int64(p.Played(generation)) * 1000 / int64(p.rateHz)
}

// Reached returns the marks that playout has reached since the last call of Reached, in order. The
// slice is valid until the next call of a method.
func (p *Player) Reached() []Mark {
	marks := p.reached
	p.reached = p.reached[:0]
	return marks
}

// Heard returns the sound since time 0 as the listener heard it, with silence where nothing played,
// up to one hour. The slice belongs to p and is valid until the next call of a method.
func (p *Player) Heard() []int16 { return p.heard }

// Spans returns the generations of the stretches of Heard, in order, at most 65,536. The slice
// belongs to p and is valid until the next call of a method.
func (p *Player) Spans() []Span { return p.spans }

// play makes the next n samples of the queue audible.
func (p *Player) play(n int) {
	for n > 0 {
		run := &p.runs[0]
		k := min(n, run.n)
		p.span(run.generation, k)
		p.add(run.generation, k)
		p.hear(p.queue[p.head : p.head+k])
		p.head, p.now, n = p.head+k, p.now+int64(k), n-k
		if run.n -= k; run.n == 0 {
			p.runs = append(p.runs[:0], p.runs[1:]...)
		}
		p.reach()
	}
}

// silence advances the clock by n silent samples.
func (p *Player) silence(n int64) {
	k, from := int(min(n, p.room())), len(p.heard)
	p.heard = slices.Grow(p.heard, k)[:from+k]
	clear(p.heard[from:])
	p.now += n
}

func (p *Player) hear(pcm []int16) {
	p.heard = append(p.heard, pcm[:min(int64(len(pcm)), p.room())]...)
}

// room returns how many more samples Heard can keep.
func (p *Player) room() int64 { return max(0, p.samples(playerHeardMax)-int64(len(p.heard))) }

// reach moves the marks that are due to reached, each with the time of its exact sample.
func (p *Player) reach() {
	out := p.in - int64(p.Queued()) // samples that have left the queue
	n := 0
	for ; n < len(p.marks) && p.marks[n].after <= out; n++ {
		m := p.marks[n]
		m.at = p.duration(p.now - (out - m.after))
		p.reached = append(p.reached, m.Mark)
	}
	if n > 0 {
		p.marks = append(p.marks[:0], p.marks[n:]...)
	}
}

// span adds the next n audible samples, which are of generation, to the spans.
func (p *Player) span(generation uint64, n int) {
	from, last := int(p.now), len(p.spans)-1
	switch {
	case last >= 0 && p.spans[last].To == from && p.spans[last].Generation == generation:
		p.spans[last].To += n
	case len(p.spans) < playerSpansMax:
		p.spans = append(p.spans, Span{generation, from, from + n})
	}
}

// add counts n samples of generation as played.
func (p *Player) add(generation uint64, n int) {
	if c := p.count(generation); c != nil {
		c.samples += n
		return
	}
	if len(p.played) == playerGenerationsMax {
		p.played = append(p.played[:0], p.played[1:]...)
	}
	p.played = append(p.played, playerCount{generation, n})
}

// count returns the count of generation, nil if nothing of it was played.
func (p *Player) count(generation uint64) *playerCount {
	for i := len(p.played) - 1; i >= 0; i-- {
		if p.played[i].generation == generation {
			return &p.played[i]
		}
	}
	return nil
}

// samples returns the number of whole samples in d.
func (p *Player) samples(d time.Duration) int64 {
	rate := int64(p.rateHz)
	return int64(d/time.Second)*rate + int64(d%time.Second)*rate/int64(time.Second)
}

// duration returns the time of sample n, rounded up so that samples(duration(n)) is n.
func (p *Player) duration(n int64) time.Duration {
	rate := int64(p.rateHz)
	return time.Duration(n/rate)*time.Second + time.Duration((n%rate*int64(time.Second)+rate-1)/rate)
}

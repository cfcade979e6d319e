package audio

import (
	"fmt"
	"slices"
	"time"
)

const (
	// PlayerPrebuffer is the prebuffer of a new Player.
	PlayerPrebuffer = 40 * time.Millisecond
	// PlayerQueueMax is the most a Player holds that was not played yet, in sound or in marks one a frame.
	PlayerQueueMax = 10 * time.Minute
	// PlayerHeardMax is the most a Player records. The clock goes on behind it.
	PlayerHeardMax = time.Hour

	playerGenerationsMax = 64
	playerSpansMax       = 1 << 16
)

// Mark is a place in the sound at which somebody wants to know that it was reached.
type Mark struct {
	ID         string
	Generation uint64
	At         time.Duration // on the playout clock; set when the mark is reached
}

// Span is a stretch of one generation played without a gap: the samples From to To (excluded) of [Player.Heard].
type Span struct {
	Generation uint64
	From, To   int
}

// Player is the playout clock of a listener: sound that is pushed at some time is audible from then on in real
// time, one piece behind the other. It models a loudspeaker with a queue and plays nothing. Time enters by
// parameter and never goes back: a call with a time before the last one counts as of the last one.
//
// Sound has a generation, the number of the reply it belongs to, by which playout is acknowledged. Playout
// begins when the prebuffer is full or has waited for its own length, at first and after each underrun.
type Player struct {
	rateHz    int
	prebuffer int // samples

	now     int64 // samples since time 0
	playing bool
	startAt int64 // when not playing with a queue: playout begins then at the latest

	queue []int16
	head  int // samples of queue already played
	runs  []playerRun
	marks []playerMark
	in    int64 // samples ever queued

	reached   []Mark
	played    []playerCount // oldest first
	spans     []Span
	heard     []int16
	underruns int
	dropped   int
}

// playerRun says whose the next samples of the queue are.
type playerRun struct {
	generation uint64
	n          int
}

// playerMark is a mark that is reached when after of all samples ever queued left the queue.
type playerMark struct {
	Mark
	after int64
}

type playerCount struct {
	generation uint64
	samples    int
}

// NewPlayer returns a Player at time 0. It panics unless rateHz passes [CheckRate].
func NewPlayer(rateHz int) *Player {
	if err := CheckRate(rateHz); err != nil {
		panic(fmt.Sprintf("audio: new player: %v", err))
	}
	p := &Player{rateHz: rateHz}
	p.SetPrebuffer(PlayerPrebuffer)
	return p
}

// SetPrebuffer sets the sound that has to be queued before playout begins; under 0 means 0. It takes effect
// with the next beginning.
func (p *Player) SetPrebuffer(d time.Duration) { p.prebuffer = int(max(0, p.samples(d))) }

// Push queues pcm, which it copies, as the next sound of generation at the time at. What would make the queue
// longer than [PlayerQueueMax] is dropped and counted in [Player.Dropped].
func (p *Player) Push(at time.Duration, generation uint64, pcm []int16) {
	p.Advance(at)
	room := int(p.samples(PlayerQueueMax)) - p.Queued()
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

// PushMark queues a mark behind the sound queued so far. [Player.Reached] returns it once that is played, at
// once if nothing is queued. More marks than frames in [PlayerQueueMax] are dropped and counted like a sample.
func (p *Player) PushMark(at time.Duration, generation uint64, id string) {
	p.Advance(at)
	if len(p.marks)+len(p.reached) >= int(PlayerQueueMax/FrameDuration) {
		p.dropped++
		return
	}
	p.marks = append(p.marks, playerMark{Mark{ID: id, Generation: generation}, p.in})
	p.reach()
}

// Clear drops all sound and marks that were not reached at the time at. It returns how many samples of
// generation were played, rounded down to whole frames, and counts on from there: the answer to a clear, behind
// which the rest of the reply may come again. The record of what was heard stays.
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

// Advance moves the clock on to the time to.
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

// Queued is the number of samples that wait to be played.
func (p *Player) Queued() int { return len(p.queue) - p.head }

// Playing says whether sound is audible now or will be with the next sample.
func (p *Player) Playing() bool { return p.playing && p.Queued() > 0 }

// Played is how many samples of generation were played in all, as an acknowledgement counts them (see
// [Player.Clear]). It is 0 for a generation that is not among the last 64.
func (p *Player) Played(generation uint64) int {
	if c := p.count(generation); c != nil {
		return c.samples
	}
	return 0
}

// PlayedMS is Played in milliseconds, rounded down.
func (p *Player) PlayedMS(generation uint64) int64 {
	return int64(p.Played(generation)) * 1000 / int64(p.rateHz)
}

// Reached returns the marks reached since the last call, in order. The slice is valid until the next call to p.
func (p *Player) Reached() []Mark {
	marks := p.reached
	p.reached = p.reached[:0]
	return marks
}

// Heard is everything that was audible from time 0 until now, silence where nothing played, up to
// [PlayerHeardMax]. The slice is p's own and valid until the next call to p.
func (p *Player) Heard() []int16 { return p.heard }

// Spans says which stretches of Heard are whose, in order. Stretches behind the first 65,536 are not recorded.
// The slice is p's own and valid until the next call to p.
func (p *Player) Spans() []Span { return p.spans }

// Underruns is how often playout stopped because the queue was empty; the end of a reply counts too.
func (p *Player) Underruns() int { return p.underruns }

// Dropped is the number of samples and marks that found the queue full.
func (p *Player) Dropped() int { return p.dropped }

// play makes the next n samples of the queue audible.
func (p *Player) play(n int) {
	for n > 0 {
		run := &p.runs[0]
		k := min(n, run.n)
		p.span(run.generation, k)
		p.add(run.generation, k)
		p.record(p.queue[p.head : p.head+k])
		p.head, p.now, n = p.head+k, p.now+int64(k), n-k
		if run.n -= k; run.n == 0 {
			p.runs = append(p.runs[:0], p.runs[1:]...)
		}
		p.reach()
	}
}

// silence lets n samples pass in which nothing is audible.
func (p *Player) silence(n int64) {
	k, from := int(min(n, p.room())), len(p.heard)
	p.heard = slices.Grow(p.heard, k)[:from+k]
	clear(p.heard[from:])
	p.now += n
}

func (p *Player) record(pcm []int16) {
	p.heard = append(p.heard, pcm[:min(int64(len(pcm)), p.room())]...)
}

// room is how many more samples the record of what was heard takes.
func (p *Player) room() int64 { return max(0, p.samples(PlayerHeardMax)-int64(len(p.heard))) }

// reach moves the marks that are due to the reached ones. Each lies at its exact sample.
func (p *Player) reach() {
	out := p.in - int64(p.Queued()) // of them, those that left the queue
	n := 0
	for ; n < len(p.marks) && p.marks[n].after <= out; n++ {
		m := p.marks[n]
		m.At = p.duration(p.now - (out - m.after))
		p.reached = append(p.reached, m.Mark)
	}
	if n > 0 {
		p.marks = append(p.marks[:0], p.marks[n:]...)
	}
}

// span notes that the next n audible samples are generation's.
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

// count finds the count of generation, nil if nothing of it was played.
func (p *Player) count(generation uint64) *playerCount {
	for i := len(p.played) - 1; i >= 0; i-- {
		if p.played[i].generation == generation {
			return &p.played[i]
		}
	}
	return nil
}

// samples is the number of whole samples in d.
func (p *Player) samples(d time.Duration) int64 {
	rate := int64(p.rateHz)
	return int64(d/time.Second)*rate + int64(d%time.Second)*rate/int64(time.Second)
}

// duration is the time of sample n, rounded up so that samples(duration(n)) is n.
func (p *Player) duration(n int64) time.Duration {
	rate := int64(p.rateHz)
	return time.Duration(n/rate)*time.Second + time.Duration((n%rate*int64(time.Second)+rate-1)/rate)
}

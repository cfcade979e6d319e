package transport

// generationsKept is how many generations an AckCounter remembers: the current one and those whose last frames may
// still be playing.
const generationsKept = 4

// AckCounter turns acknowledgements, which say how much of a generation was heard in all, into frames newly heard. It
// never counts a frame twice and never more than were handed over. The zero value is ready. It is not safe for
// concurrent use.
type AckCounter struct {
	counts [generationsKept]generationCount // oldest first
	n      int
}

type generationCount struct {
	generation   uint64
	sent, played int // frames; played <= sent
}

// Acked is what one acknowledgement means.
type Acked struct {
	Played  int  // frames newly heard, 0 or more
	Dropped int  // frames that the far end threw away for a clear: they may be handed over again
	Stale   bool // of a generation before the current one
	Unknown bool // of a generation of which nothing was handed over, or too long ago
	Excess  bool // claims more than was handed over; the rest was not counted
}

// Sent counts frames handed over. A generation higher than all before becomes the current one and the fifth oldest is
// forgotten. Frames of a forgotten generation, and fewer than one frame, are not counted.
func (c *AckCounter) Sent(generation uint64, frames int) {
	if frames <= 0 {
		return
	}
	if g := c.find(generation); g != nil {
		g.sent += frames
		return
	}
	if c.n > 0 && generation < c.counts[c.n-1].generation {
		return
	}
	if c.n == generationsKept {
		copy(c.counts[:], c.counts[1:])
		c.n--
	}
	c.counts[c.n] = generationCount{generation: generation, sent: frames}
	c.n++
}

// Ack counts an acknowledgement: playedMS of generation were heard in all. With cleared the far end also dropped what
// it had not played, and counts on from here.
func (c *AckCounter) Ack(generation uint64, playedMS int64, cleared bool) Acked {
	g := c.find(generation)
	if g == nil {
		return Acked{Stale: c.n > 0 && generation < c.counts[c.n-1].generation, Unknown: true}
	}
	a := Acked{Stale: generation < c.counts[c.n-1].generation}
	frames := playedMS / FrameMS
	a.Excess = frames > int64(g.sent)
	heard := int(max(int64(g.played), min(frames, int64(g.sent))))
	a.Played, g.played = heard-g.played, heard
	if cleared {
		a.Dropped, g.sent = g.sent-g.played, g.played
	}
	return a
}

// GiveUp counts everything handed over of generation as heard, because no acknowledgement came when it was due, and
// returns the number of frames that were open.
func (c *AckCounter) GiveUp(generation uint64) int {
	g := c.find(generation)
	if g == nil {
		return 0
	}
	open := g.sent - g.played
	g.played = g.sent
	return open
}

// Open is the number of frames of generation that were handed over and not heard yet.
func (c *AckCounter) Open(generation uint64) int {
	if g := c.find(generation); g != nil {
		return g.sent - g.played
	}
	return 0
}

// PlayedMS is how much of generation counts as heard; 0 if it is forgotten.
func (c *AckCounter) PlayedMS(generation uint64) int64 {
	if g := c.find(generation); g != nil {
		return int64(g.played) * FrameMS
	}
	return 0
}

func (c *AckCounter) find(generation uint64) *generationCount {
	for i := c.n - 1; i >= 0; i-- {
		if c.counts[i].generation == generation {
			return &c.counts[i]
		}
	}
	return nil
}

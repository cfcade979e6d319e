package transport

// generationsKept is how many generations an AckCounter remembers: the current one and those whose
// last frames may still be playing.
const generationsKept = 4

// AckCounter turns acknowledgements into frames newly played. An acknowledgement says how much of a
// generation was played in all. AckCounter never counts a frame twice and never counts more frames
// than were sent. The zero value is ready. It is not safe for concurrent use.
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
	Played  int  // frames newly played, 0 or more
	Dropped int  // frames that the far end dropped for a clear: they may be sent again
	Stale   bool // of a generation before the current one
	Unknown bool // of a generation without sent frames, or of a forgotten one
	Excess  bool // claims more than was sent; the rest was not counted
}

// Sent counts frames sent to the far end. A generation higher than all before becomes the current
// one and the fifth oldest is forgotten. Sent ignores frames of a forgotten generation, and counts
// below one.
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

// Ack counts an acknowledgement: the far end has played playedMS of generation in all. With
// cleared, the far end also dropped what it had not played, and counts on from here.
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

// GiveUp counts all sent frames of generation as played, because no acknowledgement came in time.
// It returns the number of frames that were open.
func (c *AckCounter) GiveUp(generation uint64) int {
	g := c.find(generation)
	if g == nil {
		return 0
	}
	open := g.sent - g.played
	g.played = g.sent
	return open
}

// Open returns the number of frames of generation that were sent and not yet played.
func (c *AckCounter) Open(generation uint64) int {
	if g := c.find(generation); g != nil {
		return g.sent - g.played
	}
	return 0
}

// PlayedMS returns how much of generation counts as played; 0 if it is forgotten.
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

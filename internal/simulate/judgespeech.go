package simulate

import (
	"slices"
	"time"
)

// speechJudge holds the audio of replies to what the model said: no hole, nothing twice, and heard
// from its beginning to its end. The samples of a model go through 1 to rampMax, so that each tells
// its position; what comes next after the last sample of something is called its end here.
type speechJudge struct {
	*story
	frameSamples int
	budgetFrames int  // how many frames a clear may take back
	strict       bool // the model is sound: a reply begins and ends where a generation does
	positioned   bool // samples tell their position: nothing was resampled

	// The reply.
	next      int16 // the sample that comes next; 0: any
	frames    int   // that came
	cleared   bool  // a clear came, so an earlier sample may come next
	dropped   int   // samples that a clear dropped and that must come again
	padding   []int // by frame that no clear dropped: samples that the model did not say
	reconnect bool  // it goes over from one connection to another
	overTurn  bool  // audio came while the caller spoke: the next reply may begin anywhere
	waiting   int16 // the first sample of what waits behind a reply that is over; 0: none

	// The model.
	begins      []int16 // first samples of generations
	ends        []int16 // ends of generations
	interrupted []int16 // ends of generations that were interrupted
	toolPauses  []int16 // those of ends at which a function was called: what filled no frame waits
	connections []int16 // first samples of connections: what waited for room when one ended is not said
	cuts        []cut   // ends of connections that the gateway closed in the middle of a generation

	completeCuts []time.Duration // cuts at which a reply was complete
}

// cut is the end of a connection that the gateway closed in the middle of a generation.
type cut struct {
	at  time.Duration
	end int16
}

// gapMax is how many samples of the model's speech may be missing: less than the frame that an
// interruption tears.
const gapMax = 479

// begin takes the start of a reply.
func (j *speechJudge) begin() {
	j.next, j.frames, j.cleared, j.dropped, j.reconnect = 0, 0, false, 0, false
	j.padding = j.padding[:0]
}

// audio takes a frame. It begins where the one before it ended, or, after a clear, earlier.
func (j *speechJudge) audio(at time.Duration, pcm []int16) {
	n := 0
	for n < len(pcm) && pcm[n] > 0 {
		n++
	}
	j.whole(at, pcm, n)
	j.padding = append(j.padding, len(pcm)-n)
	if !j.positioned || n == 0 {
		return
	}
	first := pcm[0]
	if slices.Contains(j.connections, first) {
		j.reconnect = true
	} else if j.next == 0 {
		j.first(at, first)
	} else {
		after, before := ahead(j.next, first), ahead(first, j.next)
		again := j.cleared && (j.reconnect || before <= j.budgetFrames*480) && before+480 >= j.dropped
		if after > gapMax && !again || before+480 < j.dropped {
			j.violation(at, "a reply goes on %d samples after, or %d before the end of what was sent, of which %d were dropped",
				after, before, j.dropped)
		}
	}
	j.cleared, j.dropped = false, 0
	j.next = nextRamp(pcm[n-1])
}

// first wants a reply to begin where a generation does, or with what waited behind the reply
// before.
func (j *speechJudge) first(at time.Duration, first int16) {
	switch {
	case !j.strict || j.overTurn || j.waiting != 0 && first == j.waiting:
	case !slices.Contains(j.begins, first):
		j.violation(at, "a reply begins in the middle of what the model said")
	case j.waiting != 0 && first != j.waiting && ahead(j.waiting, first) <= gapMax && !near(j.interrupted, j.waiting):
		j.violation(at, "the last %d samples before a function was called are lost", ahead(j.waiting, first))
	}
	j.overTurn, j.waiting = false, 0
}

// whole wants a frame to be one, of which the first n samples are the model's, one after another.
func (j *speechJudge) whole(at time.Duration, pcm []int16, n int) {
	j.frames++
	if len(pcm) != j.frameSamples {
		j.violation(at, "a frame has %d samples", len(pcm))
	}
	for i := 1; j.positioned && i < n; i++ {
		if pcm[i] != nextRamp(pcm[i-1]) {
			j.violation(at, "sample %d of a frame does not follow the one before it", i)
			return
		}
	}
}

// drop takes how many samples of the reply a clear dropped. They must come again.
func (j *speechJudge) drop(samples int) {
	kept := max(0, len(j.padding)-(samples+479)/480)
	for _, pad := range j.padding[kept:] {
		samples -= pad
	}
	j.padding = j.padding[:kept]
	j.dropped += max(0, samples)
}

// complete wants a reply that is complete to have been heard to the end of what the model said.
func (j *speechJudge) complete(at time.Duration) {
	switch {
	case j.frames == 0:
		j.violation(at, "a reply is complete of which nothing was heard")
	case j.strict && j.positioned && j.next != 0 && !j.mayEnd():
		j.violation(at, "a reply is complete, and the model said more")
	case j.positioned && j.dropped > 480:
		j.violation(at, "a reply is complete of which %d samples were dropped", j.dropped)
	}
}

// mayEnd reports whether the reply may end where it did: where a generation did, or less than a
// frame before that if it was interrupted, waits for a function, or was cut by the gateway.
func (j *speechJudge) mayEnd() bool {
	switch {
	case slices.Contains(j.ends, j.next) || near(j.interrupted, j.next):
		return true
	case near(j.toolPauses, j.next):
		j.waiting = j.next
		return true
	}
	i := slices.IndexFunc(j.cuts, func(c cut) bool { return ahead(j.next, c.end) <= gapMax })
	if i < 0 {
		return false
	}
	j.completeCuts = append(j.completeCuts, j.cuts[i].at)
	return true
}

// ahead is how many samples one that comes later is ahead of another.
func ahead(from, to int16) int { return (int(to) - int(from) + rampMax) % rampMax }

// near reports whether a sample is less than a frame before one of some ends.
func near(ends []int16, sample int16) bool {
	return slices.ContainsFunc(ends, func(end int16) bool { return ahead(sample, end) <= gapMax })
}

// judgeCuts wants a reply that was complete when the gateway closed its connection to have been cut
// off because the caller withdrew consent at that moment.
func (w *world) judgeCuts(s *caller) {
	for _, at := range s.line.speech.completeCuts {
		if !s.trace.privacy.began("unconsented", s.line.began.Add(at)) {
			w.violationOf(s, "a reply is complete, and the model said more: the gateway closed its connection at %v", at)
		}
	}
}

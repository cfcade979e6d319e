package sim

import (
	"strings"
	"time"
)

// reply is what the model is saying.
type reply struct {
	pcm    []int16
	words  []string // of the transcript
	said   int      // words sent
	sent   int      // samples
	chunks int
	began  time.Duration
	due    time.Duration // when the next message is due
	played time.Duration // when the client will have played all of it, if it plays at once
	done   bool          // generation complete was sent
}

func newReply(now time.Duration, pcm []int16, transcript string) *reply {
	return &reply{pcm: pcm, words: strings.SplitAfter(transcript, " "), began: now, due: now,
		played: now + playtime(len(pcm))}
}

// postpone lets what is still to be sent begin no sooner than at.
func (r *reply) postpone(at time.Duration) {
	wait := max(0, at-r.due)
	r.due += wait
	r.played += wait
}

// chunk takes the next n samples, or what is left.
func (r *reply) chunk(n int) []int16 {
	pcm := r.pcm[r.sent:min(r.sent+n, len(r.pcm))]
	r.sent += len(pcm)
	r.chunks++
	return pcm
}

// fragment takes the words that belong to what was sent so far.
func (r *reply) fragment() string {
	due := len(r.words)
	if len(r.pcm) > 0 {
		due = max(r.said, len(r.words)*r.sent/len(r.pcm)) // audio may have come to it since
	}
	text := strings.Join(r.words[r.said:due], "")
	r.said = due
	return text
}

// late takes 100 ms that should not be sent any more.
func (r *reply) late() []int16 {
	if r.sent < len(r.pcm) {
		return r.chunk(outputRateHz / 10)
	}
	return r.pcm[max(0, len(r.pcm)-outputRateHz/10):]
}

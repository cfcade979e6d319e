package sim

import (
	"strings"
	"time"
)

// reply is the reply that the model is sending.
type reply struct {
	pcm    []int16
	words  []string // of the transcript
	said   int      // words that were sent
	sent   int      // samples that were sent
	chunks int
	began  time.Duration
	due    time.Duration // when the next message is due
	played time.Duration // when a client that plays at once has played all of it
	done   bool          // generation complete was sent
}

func newReply(now time.Duration, pcm []int16, transcript string) *reply {
	return &reply{pcm: pcm, words: strings.SplitAfter(transcript, " "), began: now, due: now,
		played: now + playtime(len(pcm))}
}

// postpone delays the rest of the reply until at.
func (r *reply) postpone(at time.Duration) {
	wait := max(0, at-r.due)
	r.due += wait
	r.played += wait
}

// chunk returns the next n samples, or the rest.
func (r *reply) chunk(n int) []int16 {
	pcm := r.pcm[r.sent:min(r.sent+n, len(r.pcm))]
	r.sent += len(pcm)
	r.chunks++
	return pcm
}

// fragment returns the next words that belong to the samples sent so far.
func (r *reply) fragment() string {
	due := len(r.words)
	if len(r.pcm) > 0 {
		due = max(r.said, len(r.words)*r.sent/len(r.pcm)) // say may have added audio since
	}
	text := strings.Join(r.words[r.said:due], "")
	r.said = due
	return text
}

// late returns 100 ms of audio to send after an interruption.
func (r *reply) late() []int16 {
	if r.sent < len(r.pcm) {
		return r.chunk(outputRateHz / 10)
	}
	return r.pcm[max(0, len(r.pcm)-outputRateHz/10):]
}

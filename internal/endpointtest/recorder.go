package endpointtest

import (
	"time"

	"github.com/voicegw/voicegw/audio"
)

// Recorder is what a caller hears: what comes is played at once, and dropped when the client would drop
// it. Its Player is the playout clock.
type Recorder struct {
	Player *audio.Player
	rateHz int
	joined []int16
}

// NewRecorder makes a recorder for sound of a rate.
func NewRecorder(rateHz int) *Recorder {
	return &Recorder{Player: audio.NewPlayer(rateHz), rateHz: rateHz}
}

// Hear plays 16-bit little-endian PCM behind what is playing.
func (e *Recorder) Hear(at time.Duration, pcm []byte) {
	samples := audio.AppendSamples(nil, pcm)
	e.Player.Push(at, 1, samples)
	e.joined = append(e.joined, samples...)
}

// Clear drops what was not heard yet.
func (e *Recorder) Clear(at time.Duration) { e.Player.Clear(at, 1) }

// Drop forgets all that came until now: what follows is judged alone.
func (e *Recorder) Drop() { e.joined = nil }

// Joined is everything that came since the last Drop, without the gaps a busy machine makes.
func (e *Recorder) Joined() audio.PCM { return audio.PCM{RateHz: e.rateHz, Samples: e.joined} }

// Heard is everything that was audible, and will be when nothing more happens.
func (e *Recorder) Heard(at time.Duration) audio.PCM {
	e.Player.Advance(at)
	return audio.PCM{RateHz: e.rateHz, Samples: e.Player.Heard()}
}

package bench

import (
	"math/rand/v2"
	"time"

	"github.com/voicegw/voicegw/audio"
)

// What callers do, in frames of 20 ms.
const (
	pauseMin, pauseMax   = 25, 75  // before they speak
	speechMin, speechMax = 60, 120 // an utterance
	overMin, overMax     = 40, 90  // of a reply, before they speak over it
	firstMin, firstMax   = 25, 125 // before the first utterance, so that calls do not speak in step
	overOneIn            = 3       // replies that are spoken over
)

// ReplyLength is how long each reply of the Model is.
const ReplyLength = 3 * time.Second

// turn is what a caller does next: wait, speak, and listen to the reply.
type turn struct {
	pause, speech int
	over          int // how much of the reply to hear before the next turn begins; 0: all of it
}

// schedule makes the turns of one call. Equal seeds and numbers make equal turns.
type schedule struct {
	rng   *rand.Rand
	begun bool
}

func newSchedule(seed uint64, call int) *schedule {
	return &schedule{rng: rand.New(rand.NewPCG(seed, uint64(call)))}
}

// next returns the next turn. One that begins over a reply has no pause.
func (s *schedule) next(over bool) turn {
	t := turn{pause: s.between(pauseMin, pauseMax), speech: s.between(speechMin, speechMax)}
	if !s.begun {
		t.pause = s.between(firstMin, firstMax)
		s.begun = true
	}
	if s.rng.IntN(overOneIn) == 0 {
		t.over = s.between(overMin, overMax)
	}
	if over {
		t.pause = 0
	}
	return t
}

func (s *schedule) between(low, high int) int { return low + s.rng.IntN(high-low+1) }

// frames is a number of frames as time.
func frames(n int) time.Duration { return time.Duration(n) * audio.FrameDuration }

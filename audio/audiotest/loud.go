package audiotest

import (
	"time"

	"github.com/voicegw/voicegw/audio"
)

// Loud is the RMS, as a fraction of full scale, from which sound counts as loud: -40 dBFS.
const Loud = 0.01

// FirstLoud is the sample at which the first loud 5 ms of pcm begin, -1 if nothing is loud.
func FirstLoud(pcm []int16, rateHz int) int {
	if s := Utterances(pcm, rateHz, time.Hour); len(s) > 0 {
		return s[0][0]
	}
	return -1
}

// LastLoud is the sample behind the last loud 5 ms of pcm, -1 if nothing is loud.
func LastLoud(pcm []int16, rateHz int) int {
	if s := Utterances(pcm, rateHz, time.Hour); len(s) > 0 {
		return s[len(s)-1][1]
	}
	return -1
}

// Utterances cuts pcm at each silence of gap or more and returns the stretches between, each from its first
// loud sample to behind its last, exact to 5 ms.
func Utterances(pcm []int16, rateHz int, gap time.Duration) [][2]int {
	var out [][2]int
	step := rateHz / 200
	silence := int(gap.Seconds() * float64(rateHz))
	for from := 0; from < len(pcm); from += step {
		to := min(from+step, len(pcm))
		if audio.RMS(pcm[from:to]) < Loud {
			continue
		}
		if last := len(out) - 1; last >= 0 && from-out[last][1] < silence {
			out[last][1] = to
		} else {
			out = append(out, [2]int{from, to})
		}
	}
	return out
}

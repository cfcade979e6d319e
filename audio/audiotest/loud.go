package audiotest

import (
	"time"

	"github.com/voicegw/voicegw/audio"
)

// Loud is the least RMS of loud sound, as a fraction of full scale: -40 dBFS.
const Loud = 0.01

// FirstLoud returns the index of the first sample of the first loud 5 ms of pcm, -1 if nothing is
// loud.
func FirstLoud(pcm []int16, rateHz int) int {
	if s := Utterances(pcm, rateHz, time.Hour); len(s) > 0 {
		return s[0][0]
	}
	return -1
}

// LastLoud returns the index after the last sample of the last loud 5 ms of pcm, -1 if nothing is
// loud.
func LastLoud(pcm []int16, rateHz int) int {
	if s := Utterances(pcm, rateHz, time.Hour); len(s) > 0 {
		return s[len(s)-1][1]
	}
	return -1
}

// Utterances cuts pcm at each silence of at least gap. It returns the stretches between, as the
// index of the first loud sample and the index after the last, exact to 5 ms.
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

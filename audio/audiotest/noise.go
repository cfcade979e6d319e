package audiotest

import (
	"math"
	"math/rand/v2"

	"github.com/voicegw/voicegw/audio"
)

// noiseRMS is the level of White and Pink in steps of a sample: -20 dBFS.
const noiseRMS = 3277

// White returns n samples of white noise at -20 dBFS.
func White(rnd *rand.Rand, n int) []int16 {
	x := make([]float64, n)
	for i := range x {
		x[i] = rnd.NormFloat64()
	}
	return scaled(x)
}

// Pink returns n samples of pink noise (-3 dB an octave) at -20 dBFS.
func Pink(rnd *rand.Rand, n int) []int16 {
	// Paul Kellet's filter: a sum of one-pole low-passes.
	poles := [...]struct{ pole, gain float64 }{
		{0.99886, 0.0555179}, {0.99332, 0.0750759}, {0.96900, 0.1538520}, {0.86650, 0.3104856},
		{0.55000, 0.5329522}, {-0.7616, -0.0168980},
	}
	var state [len(poles)]float64
	x, last := make([]float64, n), 0.0
	for i := range x {
		w := rnd.NormFloat64()
		x[i] = last + 0.5362*w
		for j, p := range poles {
			state[j] = p.pole*state[j] + p.gain*w
			x[i] += state[j]
		}
		last = 0.115926 * w
	}
	return scaled(x)
}

// Mix adds noise to speech at a signal-to-noise ratio of snrDB. The level of speech is the RMS of
// its loud frames of 320 samples. If noise is shorter than speech it repeats.
func Mix(speech, noise []int16, snrDB float64) []int16 {
	out := make([]int16, len(speech))
	gain := 0.0
	if n := audio.RMS(noise); n > 0 {
		gain = activeRMS(speech) / n * math.Pow(10, -snrDB/20)
	}
	for i, s := range speech {
		out[i] = s
		if gain > 0 {
			out[i] = clip(float64(s) + gain*float64(noise[i%len(noise)]))
		}
	}
	return out
}

// activeRMS returns the RMS of the loud frames.
func activeRMS(pcm []int16) float64 {
	const frame = 320
	sum, n := 0.0, 0
	for ; len(pcm) >= frame; pcm = pcm[frame:] {
		if r := audio.RMS(pcm[:frame]); r >= Loud {
			sum, n = sum+r*r, n+1
		}
	}
	return math.Sqrt(sum / float64(max(n, 1)))
}

// scaled returns x at the level noiseRMS.
func scaled(x []float64) []int16 {
	sum := 0.0
	for _, v := range x {
		sum += v * v
	}
	gain := noiseRMS / math.Sqrt(sum/float64(max(len(x), 1))+1e-30)
	out := make([]int16, len(x))
	for i, v := range x {
		out[i] = clip(gain * v)
	}
	return out
}

func clip(v float64) int16 {
	return int16(max(math.MinInt16, min(math.MaxInt16, math.RoundToEven(v))))
}

package audiotest

import (
	"math"
	"time"

	"github.com/voicegw/voicegw/audio"
)

// Align finds ref in heard. It returns the lag at which heard[lag+i] matches ref[i] best, and their
// normalised cross-correlation, 1 for a perfect copy at any volume. lag may be negative; outside
// heard there is silence. Align tries all lags and takes about a second for a minute at 24 kHz. If
// ref or heard is silent it returns 0, 0.
func Align(ref, heard []int16) (lag int, corr float64) {
	refEnergy := energy(ref)
	if refEnergy == 0 || energy(heard) == 0 {
		return 0, 0
	}
	c := crossCorrelation(ref, heard)
	floor := float64(len(ref)) // one step of a sample: less is not sound
	window := 0.0              // energy of heard under ref
	for l := 1 - len(ref); l < len(heard); l++ {
		if in := l + len(ref) - 1; in < len(heard) {
			window += square(heard[in])
		}
		if l > 0 {
			window -= square(heard[l-1])
		}
		v := c[(l+len(c))%len(c)] / math.Sqrt(refEnergy*max(window, floor))
		if v > corr {
			lag, corr = l, v
		}
	}
	return lag, corr
}

// Shift returns the n samples of heard that start at lag, with silence outside heard. With the lag
// of [Align] the result is aligned with ref.
func Shift(heard []int16, lag, n int) []int16 {
	out := make([]int16, n)
	if from := max(lag, 0); from < len(heard) && from-lag < n {
		copy(out[from-lag:], heard[from:])
	}
	return out
}

// Holes counts the holes of 20 ms in heard, which must be aligned with ref. A hole is a stretch
// where ref is loud and heard is at least 20 dB quieter. A longer hole counts once for each 20 ms
// begun, and a missing end counts too.
func Holes(ref, heard []int16, rateHz int) int {
	heard = Shift(heard, 0, len(ref))
	hop, holes, run := rateHz/200, 0, 0
	for from := 0; from+3*hop <= len(ref); from += hop {
		r := audio.RMS(ref[from : from+3*hop]) // 15 ms: every hole of 20 ms contains such a stretch
		if r >= Loud && audio.RMS(heard[from:from+3*hop]) < r/10 {
			if run%4 == 0 {
				holes++
			}
			run++
			continue
		}
		run = 0
	}
	return holes
}

// Pieces counts the loud pieces of ref, half a second each, and those of them that are somewhere in heard, with a
// correlation above 0.7. Use it for what a browser played: its jitter buffer stretches and shortens time, so the whole
// of ref cannot be laid over it.
func Pieces(ref, heard []int16, rateHz int) (found, loud int) {
	for n := rateHz / 2; len(ref) >= n; ref = ref[n:] {
		if audio.RMS(ref[:n]) < Loud {
			continue
		}
		loud++
		if _, corr := Align(ref[:n], heard); corr > 0.7 {
			found++
		}
	}
	return found, loud
}

// EnvelopeCorrelation compares the loudness of a and b over time, as the RMS of 20 ms frames. Use
// it where samples cannot be compared, such as after another clock, codec or room. It returns the
// best correlation, and the lag of b behind a, which is -2 s to 4 s. At that lag, at least 200
// frames or three quarters of the shorter signal overlap.
func EnvelopeCorrelation(a, b audio.PCM) (corr float64, lag time.Duration) {
	x, y := envelope(a), envelope(b)
	overlap := max(2, min(200, 3*min(len(x), len(y))/4))
	for l := -100; l <= 200; l++ {
		xs, ys := x[min(max(0, -l), len(x)):], y[min(max(0, l), len(y)):]
		n := min(len(xs), len(ys))
		if n < overlap {
			continue
		}
		if c := pearson(xs[:n], ys[:n]); c > corr {
			corr, lag = c, time.Duration(l)*audio.FrameDuration
		}
	}
	return corr, lag
}

// envelope returns the RMS of each frame.
func envelope(pcm audio.PCM) []float64 {
	var out []float64
	n := audio.FrameSamples(pcm.RateHz)
	for s := pcm.Samples; len(s) >= n; s = s[n:] {
		out = append(out, audio.RMS(s[:n]))
	}
	return out
}

// pearson returns the correlation coefficient, 0 if x or y is constant.
func pearson(x, y []float64) float64 {
	var sx, sy, sxx, syy, sxy float64
	for i := range x {
		sx, sy = sx+x[i], sy+y[i]
		sxx, syy, sxy = sxx+x[i]*x[i], syy+y[i]*y[i], sxy+x[i]*y[i]
	}
	n := float64(len(x))
	d := (sxx - sx*sx/n) * (syy - sy*sy/n)
	if !(d > 0) {
		return 0
	}
	return (sxy - sx*sy/n) / math.Sqrt(d)
}

func energy(pcm []int16) float64 {
	sum := 0.0
	for _, s := range pcm {
		sum += square(s)
	}
	return sum
}

func square(s int16) float64 { return float64(s) * float64(s) }

package webtest_test

import (
	"math"
	"math/rand/v2"
	"testing"
)

// syllables is noise shaped like speech: syllables of about 200 ms between pauses under 100 ms, no
// two alike.
func syllables(rateHz, ms int, seed uint64) []int16 {
	random := rand.New(rand.NewPCG(seed, 1))
	pcm := make([]int16, rateHz*ms/1000)
	for at := 0; at < len(pcm); {
		length := rateHz * (120 + random.IntN(160)) / 1000
		pitch := 110 + 120*random.Float64()
		loud := 0.15 + 0.35*random.Float64()
		for i := 0; i < length && at+i < len(pcm); i++ {
			envelope := math.Sin(math.Pi * float64(i) / float64(length))
			pcm[at+i] = int16(32767 * loud * envelope * voice(pitch, float64(i)/float64(rateHz)))
		}
		at += length + rateHz*(20+random.IntN(70))/1000
	}
	return pcm
}

// voice is a buzz of five harmonics within -1..1.
func voice(pitchHz, t float64) float64 {
	sum := 0.0
	for k := 1.0; k <= 5; k++ {
		sum += math.Sin(2*math.Pi*pitchHz*k*t) / k
	}
	return sum / 2.3
}

func silence(rateHz, ms int) []int16 { return make([]int16, rateHz*ms/1000) }

// rms is the loudness 0..1.
func rms(pcm []int16) float64 {
	if len(pcm) == 0 {
		return 0
	}
	sum := 0.0
	for _, s := range pcm {
		sum += float64(s) * float64(s)
	}
	return math.Sqrt(sum/float64(len(pcm))) / 32768
}

// envelope is the loudness of each 20 ms.
func envelope(pcm []int16, rateHz int) []float64 {
	n := rateHz / 50
	out := make([]float64, 0, len(pcm)/n)
	for i := 0; i+n <= len(pcm); i += n {
		out = append(out, rms(pcm[i:i+n]))
	}
	return out
}

// likeness is the best correlation of the envelope of part with that of any stretch of whole, to 5
// ms.
func likeness(part []int16, partHz int, whole []int16, wholeHz int) float64 {
	a, best := envelope(part, partHz), -1.0
	for shift := range 4 {
		b := envelope(whole[shift*wholeHz/200:], wholeHz)
		for at := 0; at+len(a) <= len(b); at++ {
			best = max(best, correlation(a, b[at:at+len(a)]))
		}
	}
	return best
}

func correlation(a, b []float64) float64 {
	meanA, meanB := mean(a), mean(b)
	var ab, aa, bb float64
	for i := range a {
		ab += (a[i] - meanA) * (b[i] - meanB)
		aa += (a[i] - meanA) * (a[i] - meanA)
		bb += (b[i] - meanB) * (b[i] - meanB)
	}
	if aa == 0 || bb == 0 {
		return 0
	}
	return ab / math.Sqrt(aa*bb)
}

func mean(list []float64) float64 {
	sum := 0.0
	for _, v := range list {
		sum += v
	}
	return sum / float64(len(list))
}

// firstLoud is the index of the first sample over -40 dBFS, or -1.
func firstLoud(pcm []int16) int {
	for i, s := range pcm {
		if s > 328 || s < -328 {
			return i
		}
	}
	return -1
}

// lastLoud is the index after the last sample over -40 dBFS, or 0.
func lastLoud(pcm []int16) int {
	for i := len(pcm) - 1; i >= 0; i-- {
		if pcm[i] > 328 || pcm[i] < -328 {
			return i + 1
		}
	}
	return 0
}

// matched is how much of part, from its first loud sample to its last, is in whole sample for
// sample, and how many gaps of nothing but silence are in between.
func matched(whole, part []int16) (samples, gaps int) {
	part = part[firstLoud(part):lastLoud(part)]
	for at := range whole {
		n, g := matchedAt(whole[at:], part)
		if n > samples {
			samples, gaps = n, g
		}
	}
	return samples, gaps
}

func matchedAt(whole, part []int16) (samples, gaps int) {
	inGap := false
	for i := 0; i < len(whole) && samples < len(part); i++ {
		switch {
		case whole[i] == part[samples]:
			if samples++; inGap {
				gaps++
			}
			inGap = false
		case whole[i] != 0 || samples == 0:
			return samples, gaps
		default:
			inGap = true
			for i+1 < len(whole) && whole[i+1] == 0 {
				i++
			}
		}
	}
	return samples, gaps
}

// TestMatched: what is missing, changed or out of order is no match, and a gap is silence alone.
func TestMatched(t *testing.T) {
	t.Parallel()
	part := []int16{0, 500, 600, 0, 700, 800, 0}
	for _, c := range []struct {
		whole         []int16
		samples, gaps int
	}{
		{[]int16{0, 0, 500, 600, 0, 700, 800}, 5, 0},
		{[]int16{500, 600, 0, 700, 0, 0, 800, 0}, 5, 1},
		{[]int16{500, 0, 600, 0, 0, 0, 700, 800, 0, 0}, 5, 2},
		{[]int16{500, 600, 0, 800}, 3, 0},
		{[]int16{500, 600, 0, 701, 800}, 3, 0},
		{[]int16{500, 600, 0, 700, 0, 0}, 4, 0},
		{[]int16{500, 600, 0, 700, 0, 9, 800}, 4, 0},
		{[]int16{800, 700, 600, 500}, 1, 0},
		{nil, 0, 0},
	} {
		if samples, gaps := matched(c.whole, part); samples != c.samples || gaps != c.gaps {
			t.Errorf("%v: %d samples and %d gaps, want %d and %d", c.whole, samples, gaps, c.samples, c.gaps)
		}
	}
}

// endsLoud reports whether the last n samples are speech. It is false while there are fewer.
func endsLoud(pcm []int16, n int) bool { return len(pcm) >= n && rms(pcm[len(pcm)-n:]) > 0.02 }

// endsQuiet reports whether the last n samples are silence. It is false while there are fewer.
func endsQuiet(pcm []int16, n int) bool { return len(pcm) >= n && rms(pcm[len(pcm)-n:]) < 0.001 }

package audio

import "math"

// silenceDBFS is the least result of DBFS.
const silenceDBFS = -120.0

// RMS returns the root mean square of pcm as a fraction of full scale, 0 to 1. It is 0 if pcm is
// empty.
func RMS(pcm []int16) float64 {
	if len(pcm) == 0 {
		return 0
	}
	sum := 0.0
	for _, s := range pcm {
		sum += float64(s) * float64(s)
	}
	return math.Sqrt(sum/float64(len(pcm))) / 32768
}

// Peak returns the largest magnitude in pcm as a fraction of full scale, 0 to 1.
func Peak(pcm []int16) float64 {
	peak := 0
	for _, s := range pcm {
		peak = max(peak, int(s), -int(s))
	}
	return float64(peak) / 32768
}

// DBFS returns a fraction of full scale in decibels: 0 for 1, -40 for 0.01. It returns at least
// -120, also for 0 and NaN.
func DBFS(fraction float64) float64 {
	if !(fraction > 0) {
		return silenceDBFS
	}
	return max(silenceDBFS, 20*math.Log10(fraction))
}

package audio

import "math"

// SilenceDBFS is the level of digital silence as [DBFS] reports it.
const SilenceDBFS = -120.0

// RMS is the root mean square of pcm as a fraction of full scale, 0 to 1; 0 if pcm is empty.
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

// Peak is the largest magnitude in pcm as a fraction of full scale, 0 to 1.
func Peak(pcm []int16) float64 {
	peak := 0
	for _, s := range pcm {
		peak = max(peak, int(s), -int(s))
	}
	return float64(peak) / 32768
}

// DBFS is a fraction of full scale in decibels: 1 is 0 dBFS, 0.01 is -40. It is never under [SilenceDBFS], so
// it can always be shown and encoded.
func DBFS(fraction float64) float64 {
	if !(fraction > 0) {
		return SilenceDBFS
	}
	return max(SilenceDBFS, 20*math.Log10(fraction))
}

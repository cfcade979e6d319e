package audio

import (
	"fmt"
	"time"
)

// FrameDuration is the length of one frame, the unit in which a call handles sound.
const FrameDuration = 20 * time.Millisecond

// Limits of the rates this package handles, in Hz.
const (
	RateMinHz = 8000
	RateMaxHz = 48000
)

// framesPerSecond is the number of frames in a second.
const framesPerSecond = int(time.Second / FrameDuration)

// FrameSamples is the number of samples in one frame at rateHz: 160 at 8 kHz, 320 at 16 kHz, 882 at 44.1 kHz,
// 960 at 48 kHz. Where 20 ms is not a whole number of samples (11,025 Hz) it is rounded down; a [Framer] then
// makes some frames one sample longer, so that no time is lost.
func FrameSamples(rateHz int) int { return rateHz / framesPerSecond }

// CheckRate returns an error unless hz lies between [RateMinHz] and [RateMaxHz]. Every whole number of Hz
// between them is supported, 44,100, 22,050 and 11,025 too.
func CheckRate(hz int) error {
	if hz < RateMinHz || hz > RateMaxHz {
		return fmt.Errorf("audio: check rate: %d Hz is outside %d-%d Hz", hz, RateMinHz, RateMaxHz)
	}
	return nil
}

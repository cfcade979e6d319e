package audio

import (
	"fmt"
	"time"
)

// FrameDuration is the length of one frame.
const FrameDuration = 20 * time.Millisecond

// The lowest and the highest sample rate.
const (
	rateMinHz = 8000
	rateMaxHz = 48000
)

const framesPerSecond = int(time.Second / FrameDuration)

// FrameSamples returns the number of samples of a frame at rateHz: 160 at 8 kHz, 320 at 16 kHz, 882
// at 44.1 kHz, 960 at 48 kHz. It rounds down if 20 ms is not a whole number of samples, as at
// 11,025 Hz; a [Framer] then makes some frames one sample longer, so that no time is lost.
func FrameSamples(rateHz int) int { return rateHz / framesPerSecond }

// CheckRate returns an error unless hz is 8,000 to 48,000. Every whole number between them is
// supported, such as 11,025.
func CheckRate(hz int) error {
	if hz < rateMinHz || hz > rateMaxHz {
		return fmt.Errorf("audio: check rate: %d Hz, want %d to %d", hz, rateMinHz, rateMaxHz)
	}
	return nil
}

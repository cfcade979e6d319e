package bench

import (
	"math"

	"github.com/voicegw/voicegw/audio"
)

// A frame of voice has one of toneCount tones at a distance of 50 Hz, which is the resolution of 20
// ms. Frames are numbered modulo toneCount, so the way of a frame can take up to 640 ms.
const (
	toneCount  = 32
	toneLowHz  = 1000
	toneStepHz = 50
	tonePeak   = 3000
	// Harmonics of 150 Hz up to a telephone's 3,300 Hz make the detector hear a voice.
	voiceHz       = 150
	voiceHighHz   = 3300
	harmonicPeak  = 600
	syllable      = 8   // frames; the last two are quiet, or the detector would take the voice for noise
	syllableQuiet = 0.1 // of the peak
	// loudRMS is the least level of a frame that carries a number, -50 dBFS.
	loudRMS = 0.003
)

// silence is the number of a frame without voice.
const silence = -1

// voice holds the frames of a voice at one rate, made once.
type voice struct {
	frames [2][toneCount][]int16 // loud and quiet
	quiet  []int16               // silence
}

func newVoice(rateHz int) *voice {
	v := &voice{quiet: make([]int16, audio.FrameSamples(rateHz))}
	for tone := range toneCount {
		v.frames[0][tone] = voiceFrame(rateHz, tone, 1)
		v.frames[1][tone] = voiceFrame(rateHz, tone, syllableQuiet)
	}
	return v
}

// frame returns the nth frame of an utterance, which has the number tone, or silence. It must not be
// changed.
func (v *voice) frame(n, tone int) []int16 {
	if tone == silence {
		return v.quiet
	}
	return v.frames[quietFrame(n)][tone]
}

// quietFrame returns 1 for a frame between two syllables.
func quietFrame(n int) int {
	if n%syllable >= syllable-2 {
		return 1
	}
	return 0
}

// fades reports whether the nth frame follows a louder one. A codec that delays the sound puts the end
// of the louder one into it, with the number of that one.
func fades(n int) bool { return n > 0 && quietFrame(n) > quietFrame(n-1) }

// voiceFrame makes 20 ms of harmonics and a tone. All have whole periods, so frames join smoothly.
func voiceFrame(rateHz, tone int, gain float64) []int16 {
	pcm := make([]int16, audio.FrameSamples(rateHz))
	for i := range pcm {
		at := 2 * math.Pi * float64(i) / float64(rateHz)
		sum := tonePeak * math.Sin(at*float64(toneLowHz+tone*toneStepHz))
		for hz := voiceHz; hz <= voiceHighHz; hz += voiceHz {
			sum += harmonicPeak * math.Sin(at*float64(hz)+float64(hz*hz)) // phases that do not add up to a click
		}
		pcm[i] = int16(math.Round(gain * sum))
	}
	return pcm
}

// numberReader reads the numbers of frames.
type numberReader struct {
	coefficients [toneCount]float64
}

func newNumberReader() *numberReader {
	r := &numberReader{}
	for tone := range toneCount {
		r.coefficients[tone] = 2 * math.Cos(2*math.Pi*float64(toneLowHz+tone*toneStepHz)/audio.DetectorRateHz)
	}
	return r
}

// number returns the number of a frame at 16 kHz, silence if it has none.
func (r *numberReader) number(pcm []int16) int {
	if len(pcm) == 0 || audio.RMS(pcm) < loudRMS {
		return silence
	}
	best, power := silence, 0.0
	for tone, c := range r.coefficients { // Goertzel 1958
		var s1, s2 float64
		for _, v := range pcm {
			s1, s2 = float64(v)+c*s1-s2, s1
		}
		if p := s1*s1 + s2*s2 - c*s1*s2; p > power {
			best, power = tone, p
		}
	}
	return best
}

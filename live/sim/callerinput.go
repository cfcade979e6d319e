package sim

import (
	"time"

	"github.com/voicegw/voicegw/audio"
)

const (
	// loudRMS is the level above which a 20 ms frame of a finished turn counts as speech: -45 dBFS.
	loudRMS = 0.0056
	// loudMin is how much speech a turn needs for a reply.
	loudMin = 100 * time.Millisecond
	// preRoll is how much audio before the start of speech automatic detection adds to a turn.
	preRoll = 300 * time.Millisecond
	// silenceFrames is the silence that ends speech under automatic detection: 500 ms.
	silenceFrames = 25
)

// callerInput holds the open turn of the caller at 16 kHz. Under automatic detection it finds the
// start and the end of the turn.
type callerInput struct {
	limit  int // most samples of a turn
	rateHz int // of the client
	to16   *audio.Resampler

	open  bool
	pcm   []int16
	block []int16

	framer   *audio.Framer // this and the following only under automatic detection
	detector *audio.Detector
	activity *audio.Activity
	recent   []int16 // pre-roll
}

func newCallerInput(automatic bool, echoMax time.Duration) (*callerInput, error) {
	in := &callerInput{limit: int(echoMax * inputRateHz / time.Second)}
	if !automatic {
		return in, nil
	}
	var err error
	if in.framer, err = audio.NewFramer(inputRateHz); err != nil {
		return nil, err
	}
	in.detector = audio.NewDetector()
	in.activity, err = audio.NewActivity(audio.ActivityConfig{StopFrames: silenceFrames})
	return in, err
}

// samples converts the audio of a message to 16 kHz. The result is valid until the next call.
func (in *callerInput) samples(le []byte, rateHz int) ([]int16, error) {
	if rateHz != in.rateHz {
		r, err := audio.NewResampler(rateHz, inputRateHz)
		if err != nil {
			return nil, err
		}
		in.rateHz, in.to16 = rateHz, r
	}
	src := audio.AppendSamples(nil, le)
	in.block = in.to16.Resample(in.block[:0], src)
	return in.block, nil
}

// start opens a turn with the pre-roll.
func (in *callerInput) start() {
	in.open = true
	in.pcm = append(in.pcm[:0], in.recent...)
	in.recent = in.recent[:0]
}

// add appends pcm to the open turn, up to the limit.
func (in *callerInput) add(pcm []int16) {
	in.pcm = append(in.pcm, pcm[:min(len(pcm), in.limit-min(len(in.pcm), in.limit))]...)
}

// end closes the turn and returns its samples, which are valid until the next start.
func (in *callerInput) end() []int16 {
	in.open = false
	if in.activity != nil {
		in.activity.Abort()
	}
	return in.pcm
}

// detect passes one 20 ms frame to automatic detection and returns its edge.
func (in *callerInput) detect(frame []int16) audio.Edge {
	edge := in.activity.Frame(in.detector.Score(frame), false)
	if in.open {
		in.add(frame)
		return edge
	}
	in.recent = append(in.recent, frame...)
	if keep := int(preRoll * inputRateHz / time.Second); len(in.recent) > keep {
		in.recent = in.recent[:copy(in.recent, in.recent[len(in.recent)-keep:])]
	}
	return edge
}

// loud returns the duration of the loud frames of a turn.
func loud(pcm []int16) time.Duration {
	n := inputRateHz / 50
	frames := 0
	for ; len(pcm) >= n; pcm = pcm[n:] {
		if audio.RMS(pcm[:n]) > loudRMS {
			frames++
		}
	}
	return time.Duration(frames) * audio.FrameDuration
}

package sim

import (
	"time"

	"github.com/voicegw/voicegw/audio"
)

const (
	// loudRMS is the level, of full scale, over which a 20 ms frame counts as speech in a finished turn: -45 dBFS.
	loudRMS = 0.0056
	// loudMin is how much of it a turn needs to be answered.
	loudMin = 100 * time.Millisecond
	// preRoll is what automatic detection keeps of the time before a start of speech.
	preRoll = 300 * time.Millisecond
	// silenceFrames end speech under automatic detection: 500 ms.
	silenceFrames = 25
)

// ear listens to the caller: it holds the turn that is going on, at 16 kHz, and under automatic detection finds its
// start and end.
type ear struct {
	limit  int // samples of a turn that are kept
	rateHz int // of the client
	to16   *audio.Resampler

	open  bool
	pcm   []int16
	block []int16

	framer   *audio.Framer // automatic detection only, as all below
	detector *audio.Detector
	activity *audio.Activity
	recent   []int16 // the last of what was said before
}

func newEar(automatic bool, echoMax time.Duration) (*ear, error) {
	e := &ear{limit: int(echoMax * inputRateHz / time.Second)}
	if !automatic {
		return e, nil
	}
	var err error
	if e.framer, err = audio.NewFramer(inputRateHz); err != nil {
		return nil, err
	}
	e.detector = audio.NewDetector()
	e.activity, err = audio.NewActivity(audio.ActivityConfig{StopFrames: silenceFrames})
	return e, err
}

// samples brings a message to 16 kHz. The result is valid until the next call.
func (e *ear) samples(le []byte, rateHz int) ([]int16, error) {
	if rateHz != e.rateHz {
		r, err := audio.NewResampler(rateHz, inputRateHz)
		if err != nil {
			return nil, err
		}
		e.rateHz, e.to16 = rateHz, r
	}
	src := audio.AppendSamples(nil, le)
	e.block = e.to16.Resample(e.block[:0], src)
	return e.block, nil
}

// start opens a turn with what was heard just before.
func (e *ear) start() {
	e.open = true
	e.pcm = append(e.pcm[:0], e.recent...)
	e.recent = e.recent[:0]
}

// add appends to the open turn, up to the limit.
func (e *ear) add(pcm []int16) {
	e.pcm = append(e.pcm, pcm[:min(len(pcm), e.limit-min(len(e.pcm), e.limit))]...)
}

// end closes the turn and returns it, valid until the next start.
func (e *ear) end() []int16 {
	e.open = false
	if e.activity != nil {
		e.activity.Abort()
	}
	return e.pcm
}

// detect feeds automatic detection with one 20 ms frame and reports an edge.
func (e *ear) detect(frame []int16) audio.Edge {
	edge := e.activity.Frame(e.detector.Score(frame), false)
	if e.open {
		e.add(frame)
		return edge
	}
	e.recent = append(e.recent, frame...)
	if keep := int(preRoll * inputRateHz / time.Second); len(e.recent) > keep {
		e.recent = e.recent[:copy(e.recent, e.recent[len(e.recent)-keep:])]
	}
	return edge
}

// loud measures how much of a turn is loud.
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

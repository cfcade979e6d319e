package voicegw

import (
	"sync/atomic"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/voicenets"
)

// microphone turns what a peer sends into frames of 16 kHz and edges of
// speech. It belongs to the goroutine that reads the peer; the switches may be
// set by others.
type microphone struct {
	resampler *audio.Resampler
	framer    *audio.Framer
	detector  *audio.Detector
	activity  *audio.Activity
	pcm       []int16

	raised atomic.Bool // the model speaks: be harder to convince
	abort  atomic.Bool // the frames had stopped: begin anew
}

func newMicrophone(rateHz int, cfg audio.ActivityConfig) (*microphone, error) {
	r, err := audio.NewResampler(rateHz, audio.DetectorRateHz)
	if err != nil {
		return nil, err
	}
	f, err := audio.NewFramer(audio.DetectorRateHz)
	if err != nil {
		return nil, err
	}
	a, err := audio.NewActivity(cfg)
	if err != nil {
		return nil, err
	}
	return &microphone{resampler: r, framer: f, detector: audio.NewDetector(), activity: a}, nil
}

// push takes PCM at the peer's rate and hands on each frame, then the edge of
// speech it caused, if any.
func (m *microphone) push(pcm []int16, frame func(*voicenets.CallerFrame), edge func(voicenets.Edge)) {
	m.pcm = m.resampler.Resample(m.pcm[:0], pcm)
	m.framer.Push(m.pcm, func(f []int16) {
		if m.abort.CompareAndSwap(true, false) {
			m.activity.Abort()
		}
		frame(&voicenets.CallerFrame{PCM: append([]int16(nil), f...)})
		if e, ok := edgeOf(m.activity.Frame(m.detector.Score(f), m.raised.Load())); ok {
			edge(e)
		}
	})
}

// edgeOf is the net's word for a detector's edge.
func edgeOf(e audio.Edge) (voicenets.Edge, bool) {
	switch e {
	case audio.Start:
		return voicenets.SpeechStart, true
	case audio.More:
		return voicenets.SpeechMore, true
	case audio.Confirm:
		return voicenets.SpeechConfirm, true
	case audio.Stop:
		return voicenets.SpeechStop, true
	default:
		return 0, false
	}
}

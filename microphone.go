package voicegw

import (
	"sync"
	"sync/atomic"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/voicenets"
)

// microphone turns what a peer sends into frames of 16 kHz and edges of
// speech. It belongs to the goroutine that reads the peer; the switches may be
// set, and frames given back, by others.
type microphone struct {
	frame func(*voicenets.CallerFrame) // takes each frame,
	edge  func(voicenets.Edge)         // then the edge of speech it caused, if any

	resampler *audio.Resampler
	framer    *audio.Framer
	detector  *audio.Detector
	activity  *audio.Activity
	pcm       []int16
	cut       func([]int16)
	spare     sync.Pool // of *voicenets.CallerFrame

	raised atomic.Bool // the model speaks: be harder to convince
	abort  atomic.Bool // the frames had stopped: begin anew

	mu    sync.Mutex // of guard: the net's loop says what is being played
	guard *audio.EchoGuard
}

// callerFrame is a frame and its memory.
type callerFrame struct {
	voicenets.CallerFrame
	samples [audio.DetectorRateHz / 50]int16
}

func newMicrophone(rateHz int, cfg audio.ActivityConfig, frame func(*voicenets.CallerFrame),
	edge func(voicenets.Edge)) (*microphone, error) {
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
	m := &microphone{frame: frame, edge: edge, resampler: r, framer: f, detector: audio.NewDetector(), activity: a,
		guard: audio.NewEchoGuard()}
	m.spare.New = func() any {
		f := new(callerFrame)
		f.PCM = f.samples[:0]
		return &f.CallerFrame
	}
	m.cut = m.hear
	return m, nil
}

// push takes PCM at the peer's rate.
func (m *microphone) push(pcm []int16) {
	m.pcm = m.resampler.Resample(m.pcm[:0], pcm)
	m.framer.Push(m.pcm, m.cut)
}

// hear takes one frame.
func (m *microphone) hear(pcm []int16) {
	if m.abort.CompareAndSwap(true, false) {
		m.activity.Abort()
	}
	f := m.spare.Get().(*voicenets.CallerFrame)
	f.PCM = append(f.PCM[:0], pcm...)
	m.frame(f)
	if e, ok := edgeOf(m.activity.Frame(m.score(pcm), m.raised.Load())); ok {
		m.edge(e)
	}
}

// score is the detector's, or 0 for what may be the reply's own echo.
func (m *microphone) score(pcm []int16) float64 {
	score := m.detector.Score(pcm)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.guard.Explains(pcm) {
		return 0
	}
	return score
}

// playing notes a frame of the reply that is handed to the peer.
func (m *microphone) playing(pcm []int16) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.guard.Playing(pcm)
}

// cleared notes that the peer drops what it has not played.
func (m *microphone) cleared() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.guard.Clear()
}

// reuse takes back a frame that nobody holds any more.
func (m *microphone) reuse(f *voicenets.CallerFrame) { m.spare.Put(f) }

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

package voicegw

import (
	"sync"
	"sync/atomic"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/voicenets"
)

// microphone turns what a peer sends into frames of 16 kHz and edges of
// speech. It belongs to the goroutine that reads the peer; the switches may be
// set by others.
type microphone struct {
	frame func(*voicenets.CallerFrame) // takes each frame,
	edge  func(voicenets.Edge)         // then the edge of speech it caused, if any

	resampler *audio.Resampler
	framer    *audio.Framer
	detector  *audio.Detector
	activity  *audio.Activity
	pcm       []int16
	cut       func([]int16)
	slab      []callerFrame // frames not given out yet

	button *button // decides in place of the detector; nil: push to talk is off

	raised atomic.Bool // the model speaks: be harder to convince
	abort  atomic.Bool // the frames had stopped: begin anew
	reopen atomic.Bool // what does not fill a frame yet was captured with a closed ear: drop it

	mu    sync.Mutex // of guard: the net's loop says what is being played
	guard *audio.EchoGuard
}

// callerFrame is a frame and its memory.
type callerFrame struct {
	voicenets.CallerFrame
	samples [audio.DetectorRateHz / 50]int16
}

// slabFrames is how many frames are allocated at once: a second. The net and
// the caller's turn keep frames as long as they need them.
const slabFrames = 50

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
	m.cut = m.hear
	return m, nil
}

// restart drops what does not fill a frame yet and lets the detector begin anew:
// what is captured from now on shares no frame with what was captured before.
func (m *microphone) restart() {
	m.resampler.Reset()
	m.framer.Reset()
	m.abort.Store(true)
}

// push takes PCM at the peer's rate.
func (m *microphone) push(pcm []int16) {
	if m.reopen.CompareAndSwap(true, false) {
		m.restart()
	}
	m.pcm = m.resampler.Resample(m.pcm[:0], pcm)
	m.framer.Push(m.pcm, m.cut)
}

// hear takes one frame.
func (m *microphone) hear(pcm []int16) {
	if m.abort.CompareAndSwap(true, false) {
		m.activity.Abort()
		if m.button != nil && m.button.pressed {
			m.button.pressed = false
			m.button.press(true, m.edge)
		}
	}
	m.frame(m.newFrame(pcm))
	if m.button != nil {
		m.button.hear(m.edge)
		return
	}
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

// newFrame copies a frame.
func (m *microphone) newFrame(pcm []int16) *voicenets.CallerFrame {
	if len(m.slab) == 0 {
		m.slab = make([]callerFrame, slabFrames)
	}
	f := &m.slab[0]
	m.slab = m.slab[1:]
	f.PCM = append(f.samples[:0], pcm...)
	return &f.CallerFrame
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

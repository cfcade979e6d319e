package voicegw

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/voicenets"
)

// callerInput turns the audio of a peer into frames of 16 kHz and edges of speech. The goroutine
// that reads the peer owns it; others may set the switches.
type callerInput struct {
	now   func() time.Duration         // since the beginning of the call
	frame func(*voicenets.CallerFrame) // gets each frame,
	edge  func(voicenets.Edge)         // and then the edge that it caused, if any

	resampler *audio.Resampler
	framer    *audio.Framer
	detector  *audio.Detector
	activity  *audio.Activity
	pcm       []int16
	cut       func([]int16)
	after     int           // samples that came with the frame and follow it
	slab      []callerFrame // frames not used yet
	unseen    int           // frames in a row that the net need not look at

	button *pushToTalk // detects speech instead of the detector; nil: push to talk is off

	raised atomic.Bool // a reply is played: detect speech by the higher threshold
	abort  atomic.Bool // the frames had stopped: the detector starts over
	reopen atomic.Bool // the input gate was closed: drop samples that do not fill a frame

	mu    sync.Mutex // guards guard: the net's loop reports what is played
	guard *audio.EchoGuard
}

// callerFrame is a frame with its memory.
type callerFrame struct {
	voicenets.CallerFrame
	samples [audio.DetectorRateHz / 50]int16
}

// slabFrames is how many frames are allocated at once. The net and the caller's turn keep frames for
// as long as they need them, and one frame keeps its slab.
const slabFrames = 12

// unseenMax is how many frames the net need not look at while no turn is open. The next frame, or an
// edge, makes it look at all of them.
const unseenMax = 4

// newCallerInput makes the input of a peer that sends rateHz.
func newCallerInput(rateHz int, cfg audio.ActivityConfig, now func() time.Duration,
	frame func(*voicenets.CallerFrame), edge func(voicenets.Edge)) (*callerInput, error) {
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
	in := &callerInput{now: now, frame: frame, edge: edge, resampler: r, framer: f, detector: audio.NewDetector(),
		activity: a, guard: audio.NewEchoGuard()}
	in.cut = in.hear
	return in, nil
}

// restart drops samples that do not fill a frame and resets the detector. Audio captured from now
// on shares no frame with audio captured before.
func (in *callerInput) restart() {
	in.resampler.Reset()
	in.framer.Reset()
	in.abort.Store(true)
}

// talk takes a press or release of the push-to-talk button.
func (in *callerInput) talk(pressed bool) {
	if in.button != nil {
		in.button.press(pressed, in.edge)
	}
}

// push adds PCM at the peer's rate. It does not keep pcm.
func (in *callerInput) push(pcm []int16) {
	if in.reopen.CompareAndSwap(true, false) {
		in.restart()
	}
	in.pcm = in.resampler.Resample(in.pcm[:0], pcm)
	in.after = in.framer.Pending() + len(in.pcm)
	in.framer.Push(in.pcm, in.cut)
}

// hear processes one frame.
func (in *callerInput) hear(pcm []int16) {
	in.after -= len(pcm)
	if in.abort.CompareAndSwap(true, false) {
		in.activity.Abort()
		in.detector.Gap()
		if in.button != nil {
			in.button.repeat(in.edge)
		}
	}
	in.frame(in.newFrame(pcm))
	if in.button != nil {
		in.button.hear(in.edge)
		return
	}
	if e, ok := edgeOf(in.activity.Frame(in.score(pcm), in.raised.Load())); ok {
		in.edge(e)
	}
}

// mayWait reports whether the net need not look at the next frame before a later one. While idle,
// it only keeps the newest frames.
func (in *callerInput) mayWait(idle bool) bool {
	if !idle || in.unseen == unseenMax {
		in.unseen = 0
		return false
	}
	in.unseen++
	return true
}

// score is the detector's score, or 0 for a frame that may be the reply's echo.
func (in *callerInput) score(pcm []int16) float64 {
	score := in.detector.Score(pcm)
	captured := in.now() - time.Duration(in.after)*time.Second/audio.DetectorRateHz
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.guard.Explains(captured, pcm) {
		return 0
	}
	return score
}

// playing notes a frame of the reply that is sent to the peer.
func (in *callerInput) playing(pcm []int16) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.guard.Playing(in.now(), pcm)
}

// cleared notes that the peer drops the frames it has not played.
func (in *callerInput) cleared() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.guard.Clear(in.now())
}

// alive notes that the peer sent something other than audio.
func (in *callerInput) alive() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.guard.Alive(in.now())
}

// played notes that the peer has played everything that was sent to it.
func (in *callerInput) played() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.guard.Played()
}

// newFrame copies a frame.
func (in *callerInput) newFrame(pcm []int16) *voicenets.CallerFrame {
	if len(in.slab) == 0 {
		in.slab = make([]callerFrame, slabFrames)
	}
	f := &in.slab[0]
	in.slab = in.slab[1:]
	f.PCM = append(f.samples[:0], pcm...)
	return &f.CallerFrame
}

// edgeOf is the net's value for an edge of the detector.
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

package voicegw

import (
	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/voicenets"
)

// replyFramer cuts the model's audio into frames at the peer's rate. The goroutine that reads the
// model owns it.
type replyFramer struct {
	emit      func([]voicenets.ReplyFrame) // gets the frames of a message, and owns them
	outHz     int
	inHz      int
	resampler *audio.Resampler
	framer    *audio.Framer
	pcm       []int16
	silence   []int16

	// frames and samples hold the frames of one message.
	frames  []voicenets.ReplyFrame
	samples []int16
	cut     func([]int16)
}

func newReplyFramer(outHz int, emit func([]voicenets.ReplyFrame)) (*replyFramer, error) {
	f, err := audio.NewFramer(outHz)
	if err != nil {
		return nil, err
	}
	r := &replyFramer{emit: emit, outHz: outHz, framer: f, silence: make([]int16, audio.FrameSamples(outHz)+1)}
	r.cut = r.frame
	return r, nil
}

// push adds audio and emits the frames that are complete. It returns an error, and adds nothing, if
// it cannot convert rateHz.
func (r *replyFramer) push(pcm []int16, rateHz int) error {
	if rateHz != r.inHz {
		resampler, err := audio.NewResampler(rateHz, r.outHz)
		if err != nil {
			return err
		}
		r.inHz, r.resampler = rateHz, resampler
	}
	r.pcm = r.resampler.Resample(r.pcm[:0], pcm)
	r.cutFrames(r.pcm)
	return nil
}

// cutFrames frames samples of the peer's rate. The frames of one message share their memory, which
// lives as long as the last of them.
func (r *replyFramer) cutFrames(pcm []int16) {
	n := r.framer.Pending() + len(pcm)
	r.frames = make([]voicenets.ReplyFrame, 0, n/audio.FrameSamples(r.outHz))
	r.samples = make([]int16, 0, n)
	r.framer.Push(pcm, r.cut)
	frames := r.frames
	r.frames, r.samples = nil, nil
	if len(frames) > 0 {
		r.emit(frames)
	}
}

// frame takes one frame.
func (r *replyFramer) frame(pcm []int16) {
	from := len(r.samples)
	r.samples = append(r.samples, pcm...)
	to := len(r.samples)
	r.frames = append(r.frames, voicenets.ReplyFrame{PCM: r.samples[from:to:to]})
}

// flush fills the last frame with silence and emits it, so that the end of a word is not kept back.
func (r *replyFramer) flush() {
	if n := r.framer.Pending(); n > 0 {
		r.cutFrames(r.silence[:max(0, len(r.silence)-n)])
	}
	r.reset()
}

// reset drops the samples that do not fill a frame.
func (r *replyFramer) reset() {
	r.framer.Reset()
	if r.resampler != nil {
		r.resampler.Reset()
	}
}

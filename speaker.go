package voicegw

import (
	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/voicenets"
)

// speaker cuts the model's audio into frames at the peer's rate. It belongs to
// the goroutine that reads the model.
type speaker struct {
	emit      func(*voicenets.ReplyFrame) // takes each frame, and owns it
	outHz     int
	inHz      int
	resampler *audio.Resampler
	framer    *audio.Framer
	pcm       []int16
	silence   []int16

	// frames and samples are the memory of the frames of one message.
	frames  []voicenets.ReplyFrame
	samples []int16
	cut     func([]int16)
}

func newSpeaker(outHz int, emit func(*voicenets.ReplyFrame)) (*speaker, error) {
	f, err := audio.NewFramer(outHz)
	if err != nil {
		return nil, err
	}
	s := &speaker{emit: emit, outHz: outHz, framer: f, silence: make([]int16, audio.FrameSamples(outHz)+1)}
	s.cut = s.frame
	return s, nil
}

// push hands on each frame that is complete. The error is about rateHz, and
// nothing was said then.
func (s *speaker) push(pcm []int16, rateHz int) error {
	if rateHz != s.inHz {
		r, err := audio.NewResampler(rateHz, s.outHz)
		if err != nil {
			return err
		}
		s.inHz, s.resampler = rateHz, r
	}
	s.pcm = s.resampler.Resample(s.pcm[:0], pcm)
	s.say(s.pcm)
	return nil
}

// say frames samples of the peer's rate. The frames of one message share their
// memory, which lives as long as the last of them.
func (s *speaker) say(pcm []int16) {
	n := s.framer.Pending() + len(pcm)
	s.frames = make([]voicenets.ReplyFrame, 0, n/audio.FrameSamples(s.outHz))
	s.samples = make([]int16, 0, n)
	s.framer.Push(pcm, s.cut)
	s.frames, s.samples = nil, nil
}

// frame hands on one frame.
func (s *speaker) frame(pcm []int16) {
	from := len(s.samples)
	s.samples = append(s.samples, pcm...)
	to := len(s.samples)
	s.frames = append(s.frames, voicenets.ReplyFrame{PCM: s.samples[from:to:to]})
	s.emit(&s.frames[len(s.frames)-1])
}

// flush fills the last frame with silence, so that no end of a word is kept.
func (s *speaker) flush() {
	if n := s.framer.Pending(); n > 0 {
		s.say(s.silence[:max(0, len(s.silence)-n)])
	}
	s.reset()
}

// reset forgets what a reply left behind.
func (s *speaker) reset() {
	s.framer.Reset()
	if s.resampler != nil {
		s.resampler.Reset()
	}
}

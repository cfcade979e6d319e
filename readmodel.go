package voicegw

import (
	"context"
	"errors"
	"time"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/petri/runner"
	"github.com/voicegw/voicegw/voicenets"
)

// speaker cuts the model's audio into frames at the peer's rate. It belongs to
// the goroutine that reads the model.
type speaker struct {
	outHz     int
	inHz      int
	resampler *audio.Resampler
	framer    *audio.Framer
	pcm       []int16
}

// push hands on each frame that is complete, as memory of its own.
func (s *speaker) push(pcm []int16, rateHz int, emit func([]int16)) error {
	if rateHz != s.inHz {
		r, err := audio.NewResampler(rateHz, s.outHz)
		if err != nil {
			return err
		}
		s.inHz, s.resampler = rateHz, r
	}
	s.pcm = s.resampler.Resample(s.pcm[:0], pcm)
	s.framer.Push(s.pcm, func(f []int16) { emit(append([]int16(nil), f...)) })
	return nil
}

// flush fills the last frame with silence, so that no end of a word is kept.
func (s *speaker) flush(emit func([]int16)) {
	if n := s.framer.Pending(); n > 0 {
		s.framer.Push(make([]int16, audio.FrameSamples(s.outHz)+1-n), func(f []int16) {
			emit(append([]int16(nil), f...))
		})
	}
	s.reset()
}

// reset forgets what a reply left behind.
func (s *speaker) reset() {
	s.framer.Reset()
	s.inHz = 0
}

// readModel carries what the model says into the net until it is gone.
func (c *call) readModel(ctx context.Context, outHz int) {
	defer c.carriers.Done()
	framer, err := audio.NewFramer(outHz)
	if err != nil {
		c.end(voicenets.ModelLost, err.Error())
		return
	}
	s := &speaker{outHz: outHz, framer: framer}
	var m live.ServerMessage
	for {
		if err := c.conn.Recv(ctx, &m); err != nil {
			c.modelGone(ctx, err)
			return
		}
		c.modelMessage(ctx, s, &m)
	}
}

// modelGone ends the call, unless it is over anyway.
func (c *call) modelGone(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	message := err.Error()
	var ce *live.CloseError
	if errors.As(err, &ce) {
		message = ce.Message()
	}
	c.end(voicenets.ModelLost, message)
}

func (c *call) modelMessage(ctx context.Context, s *speaker, m *live.ServerMessage) {
	emit := func(pcm []int16) { c.injectReply(ctx, pcm) }
	switch m.Kind {
	case live.ServerAudio:
		if err := s.push(m.PCM, m.RateHz, emit); err != nil {
			c.log.Warn("audio of the model dropped", zap.Int("rate_hz", m.RateHz))
		}
	case live.ServerInterrupted:
		s.reset()
		c.inject(voicenets.ModelSignal.Token(voicenets.Interrupted))
	case live.ServerGenerationComplete:
		s.flush(emit)
		c.inject(voicenets.ModelSignal.Token(voicenets.GenerationComplete))
	case live.ServerTurnComplete:
		s.flush(emit)
		c.inject(voicenets.ModelSignal.Token(voicenets.TurnComplete))
	case live.ServerCallerTranscript, live.ServerModelTranscript:
		who := voicenets.Caller
		if m.Kind == live.ServerModelTranscript {
			who = voicenets.Model
		}
		c.inject(voicenets.Transcript.Token(&voicenets.Words{Who: who, Text: m.Text, Final: m.Final}))
	case live.ServerGoAway:
		c.log.Info("the model will end the connection", zap.Duration("in", m.TimeLeft))
	case live.ServerMalformed, live.ServerUnknown:
		c.log.Warn("a message of the model was not understood", zap.String("what", m.Text))
	}
}

// fullPause is how long the model is left unread when its reply has filled the
// net: its frames are played one every 20 ms.
const fullPause = 20 * time.Millisecond

// injectReply puts one frame into the net; while the net is full it waits, so
// that the model's connection fills up instead of our memory.
func (c *call) injectReply(ctx context.Context, pcm []int16) {
	t := voicenets.ModelAudio.Token(&voicenets.ReplyFrame{PCM: pcm})
	for {
		err := c.net.InjectWait(ctx, t)
		if !errors.Is(err, petri.ErrFull) && !errors.Is(err, runner.ErrInboxFull) {
			return // in, or the run or the context is over
		}
		select {
		case <-time.After(fullPause):
		case <-ctx.Done():
			return
		}
	}
}

// isClosed reports that a run takes no more tokens because it is over.
func isClosed(err error) bool {
	return errors.Is(err, runner.ErrClosed) || errors.Is(err, petri.ErrEnded)
}

package voicegw

import (
	"context"
	"errors"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/petri/runner"
	"github.com/voicegw/voicegw/voicenets"
)

// readModel carries what the model says into the net until it is gone.
func (c *call) readModel(ctx context.Context, outHz int) {
	s, err := newSpeaker(outHz, func(f *voicenets.ReplyFrame) { c.injectReply(ctx, f) })
	if err != nil {
		c.broke(err)
		return
	}
	var m live.ServerMessage
	for {
		if err := c.conn.Recv(ctx, &m); err != nil {
			c.modelGone(ctx, err)
			return
		}
		c.modelMessage(ctx, s, &m)
	}
}

func (c *call) modelMessage(ctx context.Context, s *speaker, m *live.ServerMessage) {
	switch m.Kind {
	case live.ServerAudio:
		if err := s.push(m.PCM, m.RateHz); err != nil {
			c.log.Warn("audio of the model dropped", zap.Int("rate_hz", m.RateHz))
		}
	case live.ServerInterrupted:
		s.reset()
		c.inject(ctx, voicenets.ModelSignal.Token(voicenets.Interrupted))
	case live.ServerGenerationComplete:
		s.flush()
		c.inject(ctx, voicenets.ModelSignal.Token(voicenets.GenerationComplete))
	case live.ServerTurnComplete:
		s.flush()
		c.inject(ctx, voicenets.ModelSignal.Token(voicenets.TurnComplete))
	case live.ServerCallerTranscript:
		c.injectWords(ctx, voicenets.Caller, m)
	case live.ServerModelTranscript:
		c.injectWords(ctx, voicenets.Model, m)
	case live.ServerGoAway:
		c.log.Info("the model will end the connection", zap.Duration("in", m.TimeLeft))
	case live.ServerMalformed, live.ServerUnknown:
		c.log.Warn("a message of the model was not understood", zap.String("what", m.Text))
	}
}

func (c *call) injectWords(ctx context.Context, who voicenets.Speaker, m *live.ServerMessage) {
	c.inject(ctx, voicenets.Transcript.Token(&voicenets.Words{Who: who, Text: m.Text, Final: m.Final}))
}

// injectReply puts one frame into the net; while the net is full it waits, so
// that the model's connection fills up instead of our memory.
func (c *call) injectReply(ctx context.Context, f *voicenets.ReplyFrame) {
	t := voicenets.ModelAudio.Token(f)
	for {
		err := c.net.InjectWait(ctx, t)
		if !errors.Is(err, petri.ErrFull) && !errors.Is(err, runner.ErrInboxFull) {
			return // in, or the run or the context is over
		}
		if !pause(ctx, fullPause) {
			return
		}
	}
}

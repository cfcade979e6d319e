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

// read carries what the model says into the net until the connection is gone.
// It then drops what still waits for room there.
func (l *link) read(ctx context.Context) {
	use := l.inUse(ctx)
	s, err := newSpeaker(l.c.hello.OutputRateHz,
		func(f *voicenets.ReplyFrame) {
			l.c.injectFrame(use, voicenets.ModelAudio.Token((*voicenets.ModelFrame)(f)))
		})
	if err != nil {
		l.c.broke(err)
		return
	}
	var m live.ServerMessage
	for {
		if err := l.conn.Recv(ctx, &m); err != nil {
			l.down(ctx, err)
			return
		}
		switch {
		case use.Err() != nil: // it only has to close
		case m.Kind == live.ServerGoAway:
			l.c.log.Info("the model will end the connection", zap.Duration("in", m.TimeLeft))
			l.announced(use, m.TimeLeft)
		default:
			l.message(use, s, &m)
		}
	}
}

func (l *link) message(ctx context.Context, s *speaker, m *live.ServerMessage) {
	c := l.c
	switch m.Kind {
	case live.ServerAudio:
		if err := s.push(m.PCM, m.RateHz); err != nil {
			c.log.Warn("audio of the model dropped", zap.Int("rate_hz", m.RateHz))
		}
	case live.ServerInterrupted:
		if c.detection() == voicenets.Server || c.up.cutting.Load() { // else nobody interrupted, and the reply goes on
			s.reset()
		}
		c.up.cutting.Store(false)
		c.inject(ctx, voicenets.ModelSignal.Token(voicenets.Interrupted))
	case live.ServerGenerationComplete:
		s.flush()
		c.up.cutting.Store(false)
		c.inject(ctx, voicenets.ModelSignal.Token(voicenets.GenerationComplete))
	case live.ServerTurnComplete:
		s.flush()
		c.up.cutting.Store(false)
		c.inject(ctx, voicenets.ModelSignal.Token(voicenets.TurnComplete))
	case live.ServerCallerTranscript:
		l.injectWords(ctx, voicenets.Caller, m)
	case live.ServerModelTranscript:
		l.injectWords(ctx, voicenets.Model, m)
	default:
		c.modelControl(ctx, m)
	}
}

// modelControl takes what is no part of the conversation.
func (c *call) modelControl(ctx context.Context, m *live.ServerMessage) {
	switch m.Kind {
	case live.ServerToolCall:
		c.tools.called(ctx, m.Call)
	case live.ServerToolCancel:
		c.tools.cancelled(ctx, m.IDs)
	case live.ServerResumption:
		if m.Resumable && m.Handle != "" {
			c.inject(ctx, voicenets.Handle.Token(&voicenets.Resumption{Handle: m.Handle}))
		}
	case live.ServerMalformed, live.ServerUnknown:
		c.log.Warn("a message of the model was not understood", zap.String("what", m.Text))
	}
}

func (l *link) injectWords(ctx context.Context, who voicenets.Speaker, m *live.ServerMessage) {
	l.c.inject(ctx, voicenets.Transcript.Token(&voicenets.Words{Who: who, Text: m.Text, Final: m.Final, Link: l}))
}

// injectFrame puts one frame into the net; while the net is full it waits, so
// that the model's connection fills up instead of our memory. It reports
// whether there is any use in going on.
func (c *call) injectFrame(ctx context.Context, t petri.Token) bool {
	for ctx.Err() == nil { // or a later frame would enter after one that did not
		err := c.net.InjectWait(ctx, t)
		if !errors.Is(err, petri.ErrFull) && !errors.Is(err, runner.ErrInboxFull) {
			return err == nil // or the run or the context is over
		}
		pause(ctx, fullPause)
	}
	return false
}

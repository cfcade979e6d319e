package voicegw

import (
	"context"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/voicenets"
)

// modelReader reads one connection to the model and injects what the model says. One goroutine uses
// it.
type modelReader struct {
	link     *link
	in       *injector
	writer   *modelWriter
	tools    *toolCalls
	turns    *turnLog
	modelVAD bool // the model detects turns
	framer   *replyFramer
	log      *zap.Logger
}

// newModelReader makes the reader of a connection. outputRateHz is the rate of the peer's audio;
// use ends with the connection.
func newModelReader(use context.Context, l *link, w *modelWriter, tools *toolCalls, turns *turnLog, outputRateHz int,
) (*modelReader, error) {
	r := &modelReader{link: l, in: l.in, writer: w, tools: tools, turns: turns, modelVAD: w.modelVAD, log: l.log}
	var err error
	r.framer, err = newReplyFramer(outputRateHz, func(frames []voicenets.ReplyFrame) {
		r.in.injectFrames(use, frames, modelAudio)
	})
	return r, err
}

func modelAudio(f *voicenets.ReplyFrame) petri.Token {
	return voicenets.ModelAudio.Token((*voicenets.ModelFrame)(f))
}

// read injects what the model says until the connection is gone. From the end of use on it drops
// what it reads, also what waits for room in the net.
func (r *modelReader) read(ctx, use context.Context) {
	var m live.ServerMessage
	for {
		if err := r.link.conn.Recv(ctx, &m); err != nil {
			r.link.down(ctx, err)
			return
		}
		if use.Err() == nil {
			r.message(use, &m)
		}
	}
}

func (r *modelReader) message(ctx context.Context, m *live.ServerMessage) {
	switch m.Kind {
	case live.ServerAudio:
		r.turns.audio()
		if err := r.framer.push(m.PCM, m.RateHz); err != nil {
			r.log.Warn("dropped audio of the model", zap.Int("rate_hz", m.RateHz))
		}
	case live.ServerInterrupted:
		if r.modelVAD || r.writer.cutting.Load() { // otherwise nobody interrupted, and the reply goes on
			r.framer.reset()
		}
		r.signal(ctx, voicenets.Interrupted)
	case live.ServerGenerationComplete:
		r.framer.flush()
		r.signal(ctx, voicenets.GenerationComplete)
	case live.ServerTurnComplete:
		r.framer.flush()
		r.signal(ctx, voicenets.TurnComplete)
	case live.ServerCallerTranscript:
		r.transcript(ctx, voicenets.Caller, m)
	case live.ServerModelTranscript:
		r.transcript(ctx, voicenets.Model, m)
	default:
		r.control(ctx, m)
	}
}

// signal injects a signal about the reply that the model speaks.
func (r *modelReader) signal(ctx context.Context, s voicenets.Signal) {
	r.writer.cutting.Store(false)
	r.in.inject(ctx, voicenets.ModelSignal.Token(s))
}

func (r *modelReader) transcript(ctx context.Context, who voicenets.Speaker, m *live.ServerMessage) {
	r.in.inject(ctx, voicenets.Transcript.Token(
		&voicenets.TranscriptFragment{Who: who, Text: m.Text, Final: m.Final, Link: r.link}))
}

// control handles messages that are not part of the conversation.
func (r *modelReader) control(ctx context.Context, m *live.ServerMessage) {
	switch m.Kind {
	case live.ServerGoAway:
		r.log.Info("the model announced the end", zap.Duration("in", m.TimeLeft))
		r.link.announced(ctx, m.TimeLeft)
	case live.ServerUsage:
		r.turns.report(m.Usage)
	case live.ServerToolCall:
		r.tools.called(ctx, m.Call)
	case live.ServerToolCancel:
		r.tools.cancelled(ctx, m.IDs)
	case live.ServerResumption:
		if m.Resumable && m.Handle != "" {
			r.writer.saved()
			r.in.inject(ctx, voicenets.Handle.Token(&voicenets.Resumption{Handle: m.Handle}))
		}
	case live.ServerMalformed, live.ServerUnknown:
		r.log.Warn("unknown message of the model", zap.String("what", m.Text))
	}
}

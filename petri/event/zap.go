package event

import (
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/voicegw/voicegw/petri"
)

// Zap logs events: the start and the end of a run at Info, tokens turned away
// and lateness at Warn, faults at Error, all that decides something at Debug,
// and nothing of frames.
type Zap struct {
	log  *zap.Logger
	prog *petri.Program
	seq  uint64
}

// NewZap makes a log of events of prog. It returns nil, which Tee leaves out, if
// log is nil.
func NewZap(log *zap.Logger, prog *petri.Program) Store {
	if log == nil {
		return nil
	}
	return &Zap{log: log, prog: prog}
}

// Append logs events.
func (z *Zap) Append(events []petri.Event) {
	for i := range events {
		z.event(&events[i])
		z.seq = events[i].Seq
	}
}

// Stored is the last event. It must be called by the goroutine that appends.
func (z *Zap) Stored() uint64 { return z.seq }

// Note logs a note.
func (z *Zap) Note(n Note) {
	z.log.Warn("net note", zap.Stringer("note", n.Kind), zap.Duration("at", n.At), zap.Duration("lateness", n.Value))
}

func (z *Zap) event(e *petri.Event) {
	level := z.level(e)
	if level < zapcore.DebugLevel {
		return
	}
	entry := z.log.Check(level, "net event")
	if entry == nil {
		return
	}
	fields := []zap.Field{zap.Uint64("seq", e.Seq), zap.Duration("at", e.At), zap.Stringer("kind", e.Kind)}
	switch e.Kind {
	case petri.Started, petri.Ended, petri.Faulted:
	case petri.Fired:
		fields = append(fields, zap.String("transition", z.prog.FiringName(*e)))
	default:
		p := &z.prog.Places()[e.Index]
		fields = append(fields, zap.String("place", p.SlotName(int(e.Slot))))
	}
	entry.Write(fields...)
}

// nothing is below every level.
const nothing = zapcore.DebugLevel - 1

func (z *Zap) level(e *petri.Event) zapcore.Level {
	switch e.Kind {
	case petri.Started, petri.Ended:
		return zapcore.InfoLevel
	case petri.Faulted:
		return zapcore.ErrorLevel
	case petri.Fired:
		if z.prog.Transitions()[e.Index].Frame {
			return nothing
		}
	case petri.Refused:
		return zapcore.WarnLevel
	default:
		if z.prog.Places()[e.Index].Payload {
			return nothing
		}
	}
	return zapcore.DebugLevel
}

package managed

import (
	"context"
	"sync/atomic"
)

// Replay tells whether work repeats what the journal has of it already, as it does when a turn runs again after a crash
// or an answer of the client. It is safe for concurrent use.
type Replay struct{ known, began atomic.Bool }

type replayKey struct{}

// WithReplay returns a context that notes in a Replay which effects are begun with it.
func WithReplay(ctx context.Context) (context.Context, *Replay) {
	r := &Replay{}
	return context.WithValue(ctx, replayKey{}, r), r
}

// Known reports whether the work has asked for effects, and the journal had the results of all of them.
func (r *Replay) Known() bool { return r.known.Load() && !r.began.Load() }

// noteKnown notes an effect whose result the journal has, and noteBegan one that begins.
func noteKnown(ctx context.Context) {
	if r, ok := ctx.Value(replayKey{}).(*Replay); ok {
		r.known.Store(true)
	}
}

func noteBegan(ctx context.Context) {
	if r, ok := ctx.Value(replayKey{}).(*Replay); ok {
		r.began.Store(true)
	}
}

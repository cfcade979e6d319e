package voicegw

import (
	"context"
	"errors"
	"sync"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/petri/runner"
	"github.com/voicegw/voicegw/voicenets"
)

// injector is the only way into the net of a call: for everything that its peer, its model and its
// tools do, for the host and for the end of the call. Its methods are safe for concurrent use. Only
// try may be called in the net's loop.
type injector struct {
	net  *runner.Runner // set before the first use
	fail func(error)    // ends the call
	log  *zap.Logger

	unused sync.Map // of string: the places of tokens that the net has no use for
}

// try puts a token into the net, or returns why it cannot enter. It does not block.
func (in *injector) try(t petri.Token) error { return in.net.Inject(t) }

// tryWait is try, and waits until the net has acted on the token or ctx is done.
func (in *injector) tryWait(ctx context.Context, t petri.Token) error {
	return in.net.InjectWait(ctx, t)
}

// inject puts a row of tokens into the net. It waits while the inbox is full, so that a connection
// fills up instead of the gateway's memory. It gives up when ctx is done or the net has ended.
func (in *injector) inject(ctx context.Context, row ...petri.Token) {
	if ctx.Err() != nil { // the connection that the tokens come from is gone
		return
	}
	in.check(ctx, in.net.InjectBlocking(ctx, row...))
}

// injectQuietly is inject for a token that the net need not look at before another one comes.
func (in *injector) injectQuietly(ctx context.Context, t petri.Token) {
	if ctx.Err() != nil {
		return
	}
	err := in.net.InjectQuietly(t)
	if errors.Is(err, runner.ErrInboxFull) {
		err = in.net.InjectBlocking(ctx, t)
	}
	in.check(ctx, err)
}

// rowMax is how many tokens enter the net together, so that it, and what writes its outputs, wakes up
// once for them.
const rowMax = 16

// injectFrames puts frames into the net, each as a token, and waits, as inject does, and also while
// the place of a frame is full. It reports whether the net accepted all; if not, it accepts no later
// one either.
func (in *injector) injectFrames(ctx context.Context, frames []voicenets.ReplyFrame,
	token func(*voicenets.ReplyFrame) petri.Token) (accepted bool) {
	var row [rowMax]petri.Token
	for len(frames) > 0 {
		if ctx.Err() != nil { // a later frame must not enter after one that did not
			return false
		}
		n := min(len(frames), rowMax)
		for i := range n {
			row[i] = token(&frames[i])
		}
		err := in.net.InjectAccepted(ctx, row[:n]...)
		if in.check(ctx, err); err != nil {
			return false
		}
		frames = frames[n:]
	}
	return true
}

// check ends the call for an error that no input can cause.
func (in *injector) check(ctx context.Context, err error) {
	switch {
	case err == nil, ctx.Err() != nil, isOver(err):
	case errors.Is(err, petri.ErrPlace):
		in.noUse(err)
	default:
		in.fail(err)
	}
}

// noUse logs that a net without a part has no use for the tokens of a place, once for each place.
func (in *injector) noUse(err error) {
	var at *petri.InjectError
	if !errors.As(err, &at) {
		in.fail(err)
		return
	}
	if _, again := in.unused.LoadOrStore(at.Place, true); !again {
		in.log.Info("the net of the call has no part for this input", zap.String("place", at.Place))
	}
}

// isOver reports whether a net took no token because it has ended.
func isOver(err error) bool {
	return errors.Is(err, runner.ErrClosed) || errors.Is(err, petri.ErrEnded)
}

package voicegw

import (
	"context"
	"errors"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/petri/runner"
	"github.com/voicegw/voicegw/voicenets"
)

// injector is the way into the net of a call for everything that its peer, its model and its tools
// do. Its methods are safe for concurrent use, except in the net's loop.
type injector struct {
	net  *runner.Runner // set before the first use
	fail func(error)    // ends the call
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
	case errors.Is(err, petri.ErrPlace): // a net without this part ignores its tokens
	default:
		in.fail(err)
	}
}

// isOver reports whether a net took no token because it has ended.
func isOver(err error) bool {
	return errors.Is(err, runner.ErrClosed) || errors.Is(err, petri.ErrEnded)
}

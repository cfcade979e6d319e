package voicegw

import (
	"context"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/voicenets"
)

// endMargin is how long before its announced end the gateway closes a connection at the latest.
const endMargin = time.Second

// link is one connection to the model. The net decides when there is one.
type link struct {
	conn     live.Conn
	number   int           // from 1, in the order of dials
	resumed  bool          // the model remembers the conversation
	announce time.Duration // how long before its announced end the net learns that it ends soon

	in      *injector
	workers *workers
	end     *ender
	log     *zap.Logger

	injectors sync.WaitGroup // the workers that inject for this connection

	mu   sync.Mutex
	gone bool
	stop context.CancelFunc // of the context of inUse; nil before

	// Owned by the goroutine that reads:
	ending *time.Timer // runs until the announced end is near; nil before
	endsAt time.Time
}

// inUse returns a context that ends when the connection is down.
func (l *link) inUse(ctx context.Context) context.Context {
	use, stop := context.WithCancel(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stop = stop; l.gone {
		stop()
	}
	return use
}

// work starts a worker that injects for this connection. LinkDown waits for it. Call it before the
// connection can end, or in such a worker.
func (l *link) work(task string, fn func()) {
	l.injectors.Add(1)
	l.workers.start(task, func() {
		defer l.injectors.Done()
		fn()
	})
}

func (l *link) isDown() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.gone
}

// down takes the connection out of use, closes it, and then injects LinkDown; err says why it
// failed, nil that the net closes it. Only the first call counts. LinkDown is the last token
// injected for this connection. The net dials and uses the next one only after it, so nothing of
// the old connection is taken for the new one's. down does not block.
func (l *link) down(ctx context.Context, err error) {
	l.mu.Lock()
	first := !l.gone
	l.gone = true
	if l.stop != nil {
		l.stop()
	}
	l.mu.Unlock()
	if !first {
		return
	}
	if ctx.Err() == nil && err != nil {
		level := zap.InfoLevel
		if !l.end.modelLost(modelLost(err)) { // the call is to end and needs no model
			level = zap.DebugLevel
		}
		l.log.Log(level, "connection to the model lost", zap.Error(err))
	}
	l.workers.start("closing the connection to the model", func() {
		_ = l.conn.Close(1000, "")
		l.injectors.Wait() // Close has unblocked the reader, and inUse has ended
		l.in.inject(ctx, voicenets.LinkDown.Token(struct{}{}))
	})
}

// announced takes the model's announcement that it will end the connection. The net learns of it at
// once, and again when that end is near.
func (l *link) announced(use context.Context, left time.Duration) {
	left -= l.announce + endMargin
	if left <= 0 {
		l.in.inject(use, voicenets.GoAway.Token(voicenets.Soon))
		return
	}
	l.in.inject(use, voicenets.GoAway.Token(voicenets.Later))
	due := time.Now().Add(left)
	if l.ending == nil {
		l.ending, l.endsAt = time.NewTimer(left), due
		l.work("waiting for the announced end of a connection", func() { l.hurry(use, l.ending) })
	} else if due.Before(l.endsAt) { // a repeated announcement does not defer it
		l.ending.Reset(left)
		l.endsAt = due
	}
}

// hurry injects that the announced end is near, when it is.
func (l *link) hurry(use context.Context, at *time.Timer) {
	defer at.Stop()
	select {
	case <-at.C:
		l.in.inject(use, voicenets.GoAway.Token(voicenets.Soon))
	case <-use.Done():
	}
}

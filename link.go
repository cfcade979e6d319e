package voicegw

import (
	"context"
	"errors"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/voicenets"
)

// link is one connection to the model. The net decides when there is one.
type link struct {
	c    *call
	conn live.Conn

	mu   sync.Mutex
	gone bool
	stop context.CancelFunc // of inUse; nil before

	// Of the goroutine that reads:
	ending *time.Timer // runs until the announced end is at hand; nil before
	endsAt time.Time
}

// endMargin is how long before its announced end a connection is closed at the
// latest.
const endMargin = time.Second

// inUse is a context that ends with the use of the connection.
func (l *link) inUse(ctx context.Context) context.Context {
	use, stop := context.WithCancel(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stop = stop; l.gone {
		stop()
	}
	return use
}

// dial opens a connection, as the net asked, and tells it what became of that.
func (c *call) dial(work context.Context, from *voicenets.Resumption) {
	ctx, cancel := context.WithCancel(work)
	defer cancel()
	if !c.dialling(cancel) || !c.paced(ctx) {
		return // nobody waits for it
	}
	ctx, expire := context.WithTimeout(ctx, c.cfg.DialTimeout)
	defer expire()
	setup := c.setup()
	how := voicenets.Fresh
	if from != nil { // the model remembers the conversation itself
		setup.Handle, how = from.Handle, voicenets.Resumed
	} else {
		setup.History = c.talk.turns()
	}
	conn, err := c.plan.Dialer.Dial(ctx, setup)
	on := c.dialling(nil)
	switch {
	case err != nil:
		c.failed(c.dialFailure(ctx, err))
		c.inject(work, voicenets.Dialled.Token(&voicenets.Dialling{Result: dialResult(err)}))
	case !on:
		_ = conn.Close(1000, "the call is over")
	default:
		l := &link{c: c, conn: conn}
		c.keep(l)
		c.inject(work, voicenets.Dialled.Token(&voicenets.Dialling{Result: how, Link: l}))
	}
}

// A model that announces the end of each connection as it begins would be
// dialled without a pause: no more than dialsMax dials begin within dialsWithin,
// and the next one waits.
const (
	dialsMax    = 4
	dialsWithin = 4 * time.Second
)

// paced waits until another dial may begin, and reports false when ctx ended
// before. Only one dial is under way at a time.
func (c *call) paced(ctx context.Context) bool {
	if len(c.dials) == dialsMax {
		if wait := dialsWithin - time.Since(c.dials[0]); wait > 0 && !pause(ctx, wait) {
			return false
		}
		c.dials = append(c.dials[:0], c.dials[1:]...)
	}
	c.dials = append(c.dials, time.Now())
	return true
}

// dialResult is the net's word for a dial that failed.
func dialResult(err error) voicenets.DialResult {
	var se *live.SetupError
	var ce *live.CloseError
	switch {
	case errors.As(err, &se):
		return voicenets.Turned
	case errors.As(err, &ce):
		switch ce.Class {
		case live.ClassKey, live.ClassModel, live.ClassPayload, live.ClassHandle:
			return voicenets.Turned
		}
	}
	return voicenets.Unreachable
}

// keep remembers the newest connection, so that the end of the call can close
// it.
func (c *call) keep(l *link) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.link = l
}

// newest is the newest connection, or nil.
func (c *call) newest() *link {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.link
}

func (l *link) isDown() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.gone
}

// down notes, once, that the connection is over for the reason given, closes it
// and then tells the net. It does not block.
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
		if !l.c.failed(l.c.modelLost(err)) { // we closed it, or do not need it any more
			level = zap.DebugLevel
		}
		l.c.log.Log(level, "the connection to the model is gone", zap.Error(err))
	}
	l.c.carry("closing the model's connection", func() {
		_ = l.conn.Close(1000, "")
		l.c.inject(ctx, voicenets.LinkDown.Token(struct{}{}))
	})
}

// announced takes the model's announcement that it will end the connection. The
// net is told at once, and again when that end is at hand.
func (l *link) announced(use context.Context, left time.Duration) {
	left -= l.c.prog.timings.RotateSoon + endMargin
	if left <= 0 {
		l.c.inject(use, voicenets.GoAway.Token(voicenets.Soon))
		return
	}
	l.c.inject(use, voicenets.GoAway.Token(voicenets.Later))
	due := time.Now().Add(left)
	if l.ending == nil {
		l.ending, l.endsAt = time.NewTimer(left), due
		l.c.carry("awaiting the end of a connection", func() { l.hurry(use, l.ending) })
	} else if due.Before(l.endsAt) { // a repetition does not put it off
		l.ending.Reset(left)
		l.endsAt = due
	}
}

// hurry tells the net when the announced end is at hand.
func (l *link) hurry(use context.Context, at *time.Timer) {
	defer at.Stop()
	select {
	case <-at.C:
		l.c.inject(use, voicenets.GoAway.Token(voicenets.Soon))
	case <-use.Done():
	}
}

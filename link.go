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
	c      *call
	conn   live.Conn
	number int // from 1, in the order of dials; set by keep

	injectors sync.WaitGroup // the carriers that inject on its behalf

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

// carry runs a carrier that injects on behalf of the connection: LinkDown waits
// for it. It is called before the connection can end, or by such a carrier.
func (l *link) carry(what string, fn func()) {
	l.injectors.Add(1)
	l.c.carry(what, func() {
		defer l.injectors.Done()
		fn()
	})
}

// dial opens a connection, as the net asked, and tells it what became of that.
func (c *call) dial(work, ctx context.Context, from *voicenets.Resumption) {
	ctx, expire := context.WithTimeout(ctx, c.cfg.DialTimeout)
	defer expire()
	setup := c.setup()
	how := voicenets.Fresh
	if from != nil { // the model remembers the conversation itself
		setup.Handle, how = from.Handle, voicenets.Resumed
	} else {
		setup.History = c.recalled()
	}
	conn, err := c.plan.Dialer.Dial(ctx, setup)
	withheld := c.isWithheld()
	on := c.dialling(nil, false)
	switch {
	case withheld && on:
		if err == nil {
			_ = conn.Close(1000, "")
		}
		c.inject(work, voicenets.Dialled.Token(&voicenets.Dialling{Result: voicenets.Withheld}))
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

// dialed is what a dial tells the model, and whether it may.
type dialed struct {
	recalls  bool // the conversation so far
	held     bool // a hold goes on, or has begun since the net asked for it
	withheld bool // it was given up, because that must not leave now
}

// recalled is the conversation that the dial under way tells.
func (c *call) recalled() []live.Turn {
	c.mu.Lock()
	defer c.mu.Unlock()
	turns := c.talk.turns()
	c.dialed.recalls = len(turns) > 0
	if c.dialed.recalls && c.dialed.held && c.giveUp != nil {
		c.dialed.withheld = true
		c.giveUp()
	}
	if c.dialed.withheld {
		return nil
	}
	return turns
}

// withhold gives up the dial under way if it tells the conversation, or any: the
// net's loop calls it where that must not leave.
func (c *call) withhold(anyDial bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dialed.held = true
	if c.giveUp != nil && (anyDial || c.dialed.recalls) {
		c.dialed.withheld = true
		c.giveUp()
	}
}

func (c *call) isWithheld() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.dialed.withheld
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
	c.links++
	c.link, l.number = l, c.links
}

// dialedSoFar is how many connections there were.
func (c *call) dialedSoFar() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.links
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
// and then tells the net. LinkDown is the last token injected on its behalf: the
// net dials and uses the next connection only after it, so nothing the old one
// said is taken for words of the new one. It does not block.
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
		l.injectors.Wait() // Close has unblocked the reader, and inUse is over
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
		l.carry("awaiting the end of a connection", func() { l.hurry(use, l.ending) })
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

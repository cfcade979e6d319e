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

// modelDialer opens the connections to the model that the net asks for, one at a time, and knows
// the newest.
type modelDialer struct {
	dialer  live.Dialer
	setup   live.Setup // without a handle and a history
	timeout time.Duration
	// ownLanguage says that the caller's hello chose the language of setup.
	ownLanguage bool
	// announce is how long before its announced end a connection is reported as ending soon.
	announce time.Duration

	dialled func(voicenets.DialResult, time.Duration) // counts a dial

	in      *injector
	workers *workers
	end     *ender
	talk    *conversation
	log     *zap.Logger

	mu      sync.Mutex
	cancel  context.CancelFunc // of the dial under way; nil: none
	stopped bool               // the call is to end: no dial begins
	dial    dialState          // of the dial under way
	link    *link              // the newest; nil: none yet
	links   int                // how many there were
}

// dialState is what a dial may send.
type dialState struct {
	recalls  bool // it sends the conversation so far
	held     bool // a hold goes on, or has begun since the net asked for the dial
	withheld bool // the dial was cancelled, because it must send nothing now
}

// start dials, as the net asked. held says that the uplink was held since. It is called by the
// net's loop.
func (d *modelDialer) start(work context.Context, from *voicenets.Resumption, held bool) {
	ctx, cancel := context.WithCancel(work)
	if !d.begin(cancel, held) {
		cancel()
		return
	}
	d.workers.start("dialling the model", func() {
		defer cancel()
		d.open(work, ctx, from)
	})
}

// begin notes a dial and how to cancel it. It reports false when the call is to end.
func (d *modelDialer) begin(cancel context.CancelFunc, held bool) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.cancel, d.dial = cancel, dialState{held: held}
	return !d.stopped
}

// finish notes that the dial under way is over, and makes its connection, if it opened one that the
// call may use, the newest.
func (d *modelDialer) finish(conn live.Conn, resumed bool) (l *link, withheld, stopped bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.cancel = nil
	if conn != nil && !d.dial.withheld && !d.stopped {
		d.links++
		d.link = &link{conn: conn, number: d.links, resumed: resumed, announce: d.announce, in: d.in,
			workers: d.workers, end: d.end, log: d.log}
		return d.link, false, false
	}
	return nil, d.dial.withheld, d.stopped
}

// stop cancels the dial under way. None begins after it.
func (d *modelDialer) stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stopped = true
	if d.cancel != nil {
		d.cancel()
	}
}

// open opens a connection and injects the result.
func (d *modelDialer) open(work, ctx context.Context, from *voicenets.Resumption) {
	ctx, expire := context.WithTimeout(ctx, d.timeout)
	defer expire()
	setup, how := d.setup, voicenets.Fresh
	if from != nil { // the model remembers the conversation itself
		setup.Handle, how = from.Handle, voicenets.Resumed
	} else {
		setup.History = d.history()
	}
	began := time.Now()
	conn, err := d.dialer.Dial(ctx, setup)
	if err != nil {
		conn = nil
	}
	took := time.Since(began)
	l, withheld, stopped := d.finish(conn, from != nil)
	switch {
	case withheld && !stopped:
		if conn != nil {
			_ = conn.Close(1000, "")
		}
		d.dialled(voicenets.Withheld, took)
		d.in.inject(work, voicenets.Dialled.Token(&voicenets.Dialling{Result: voicenets.Withheld}))
	case err != nil:
		d.end.modelLost(dialFailed(ctx, err, d.ownLanguage))
		d.dialled(dialResult(err), took)
		d.in.inject(work, voicenets.Dialled.Token(&voicenets.Dialling{Result: dialResult(err)}))
	case stopped:
		_ = conn.Close(1000, "the call is over")
	default:
		d.dialled(how, took)
		d.in.inject(work, voicenets.Dialled.Token(&voicenets.Dialling{Result: how, Link: l}))
	}
}

// history is the conversation that the dial under way sends. During a hold there is none, and the
// dial is cancelled.
func (d *modelDialer) history() []live.Turn {
	d.mu.Lock()
	defer d.mu.Unlock()
	turns := d.talk.turns()
	d.dial.recalls = len(turns) > 0
	if d.dial.recalls && d.dial.held && d.cancel != nil {
		d.dial.withheld = true
		d.cancel()
	}
	if d.dial.withheld {
		return nil
	}
	return turns
}

// withhold cancels the dial under way if it sends the conversation, or any dial. The net's loop
// calls it when nothing of that may leave.
func (d *modelDialer) withhold(anyDial bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.dial.held = true
	if d.cancel != nil && (anyDial || d.dial.recalls) {
		d.dial.withheld = true
		d.cancel()
	}
}

// newest returns the newest connection, or nil.
func (d *modelDialer) newest() *link {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.link
}

// opened is how many connections there were.
func (d *modelDialer) opened() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.links
}

// dialResult is what the net is to know of a dial that failed.
func dialResult(err error) voicenets.DialResult {
	var se *live.SetupError
	var ce *live.CloseError
	switch {
	case errors.As(err, &se):
		return voicenets.Refused
	case errors.As(err, &ce):
		switch ce.Class {
		case live.ClassKey, live.ClassModel, live.ClassPayload, live.ClassHandle:
			return voicenets.Refused
		}
	}
	return voicenets.Unreachable
}

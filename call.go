package voicegw

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/petri/event"
	"github.com/voicegw/voicegw/petri/runner"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/voicenets"
)

const (
	// ringEvents is how many of a call's last events are kept for the log.
	ringEvents = 512
	// closeWait is how long the end of a call waits until the peer has received
	// what is queued for it. Closing the peer comes after that.
	closeWait = 2 * time.Second
)

// call is one call. It builds the parts, starts them, and waits for their end.
//
//	peer -> peerReader -> injector -> net -> outputs -> peerWriter -> peer
//	model -> modelReader -> injector          outputs -> modelWriter -> model
//	                                          outputs -> modelDialer, toolCalls, promptPlayer
//
// Each part knows the parts that it uses; none knows the call.
type call struct {
	id      string
	cfg     *Config
	peer    transport.Peer
	hello   transport.Hello
	plan    *Plan
	prog    *program
	log     *zap.Logger
	metrics *metrics
	session *Session
	began   time.Time

	end      *ender
	workers  *workers
	net      *runner.Runner // nil until it runs
	in       *injector
	out      *outputs
	reader   *peerReader
	messages *pageMessages
	events   *eventRing
	archive  *archiver // nil: the call has no archive
	down     func()    // called when the net has ended
}

// archiveLost counts a lost archive, and ends the call if it must not go on without.
func (c *call) archiveLost(err error) {
	c.metrics.archivesLost.Inc()
	if c.archive.ends {
		c.end.ask(archiveLost(err))
	}
}

// run runs the call to its end. The workers' context ends last: a connection whose
// write is cancelled can send nothing more.
func (c *call) run(ctx context.Context) error {
	c.began = time.Now()
	c.log.Info("call began", zap.String("endpoint", c.hello.Endpoint), c.carrierCall())
	work, cancel := context.WithCancel(context.WithoutCancel(ctx))
	if err := c.start(work); err != nil {
		c.end.fail(err)
	} else {
		c.wait(ctx)
	}
	c.down()
	c.metrics.watchersCut.Add(float64(c.session.feed.Cut()))
	c.session.feed.End()
	err := c.close()
	cancel()
	c.workers.wait()
	c.plan.release()
	c.report(err)
	return err
}

// start starts the net and the workers.
func (c *call) start(work context.Context) (err error) {
	c.out.input, err = newCallerInput(c.hello.InputRateHz, c.plan.activity,
		c.sinceBegan,
		func(f *voicenets.CallerFrame) {
			if t := voicenets.CallerAudio.Token(f); c.out.input.mayWait(c.out.idle.Load()) {
				c.in.injectQuietly(work, t)
			} else {
				c.in.inject(work, t)
			}
		},
		func(e voicenets.Edge) { c.in.inject(work, voicenets.SpeechEdge.Token(e)) })
	if err != nil {
		return err
	}
	if c.hello.Detection == transport.DetectionPush {
		c.out.input.button = &pushToTalk{}
	}
	store := c.store(work)
	ready := make(chan struct{}) // the net's first outputs wait until it is in place
	c.net, err = runner.Start(c.prog.Program, runner.Config{Name: c.id, Store: store, Logger: c.log,
		Measure: c.cfg.Lateness, Destinations: destinations(c.prog.Program),
		StoreFailed: func(err error) { c.end.ask(archiveLost(err)) },
		Out:         func(t petri.Token) { <-ready; c.out.handle(work, t) },
		Handed:      func() { <-ready; c.out.model.handed() }})
	if err != nil {
		return err
	}
	c.in.net, c.session.net, c.session.began = c.net, c.net, c.began
	c.metrics.running.begin(c)
	if view := c.out.peer.view; view != nil {
		view.Attach(c.net.Marking)
	}
	c.end.attach(c.in)
	close(ready)
	c.reader = &peerReader{peer: c.peer, inputRateHz: c.hello.InputRateHz, in: c.in, input: c.out.input, acks: c.out.acks,
		tally: c.out.tally, silence: c.out.silence, turns: c.out.turns, tools: c.out.tools, writer: c.out.peer, end: c.end,
		model: c.out.model, messages: c.messages, hold: c.session.hold,
		keys:  decidingKeys{Keys: c.cfg.Keys, unconsented: c.session.unconsented, protection: &c.session.protection},
		typed: turnPermits{gap: time.Minute / time.Duration(c.cfg.TypedPerMinute), most: c.cfg.TypedPerMinute}}
	if c.messages.hook != nil {
		c.workers.start("Hooks.Message", func() { c.messages.deliver(c.session) })
	}
	c.workers.start("writing to the peer", func() { c.out.peer.write(work) })
	c.workers.start("writing to the model", func() { c.out.model.write(work) })
	c.workers.start("reading the peer", func() { c.reader.read(work) })
	return nil
}

// sinceBegan is the clock of the call.
func (c *call) sinceBegan() time.Duration { return time.Since(c.began) }

// store returns the store for the net's events.
func (c *call) store(work context.Context) event.Store {
	store := event.Tee(c.events, &c.session.feed)
	if view := c.out.peer.view; view != nil {
		store = event.Tee(store, view)
	}
	if c.cfg.Watch != nil {
		if watch := c.cfg.Watch(c.id, c.prog.Program); watch != nil {
			store = event.Tee(store, watch)
		}
	}
	if c.archive != nil {
		c.archive.begin(c.id, c.prog.Program)
		store = event.Tee(store, c.archive.store())
		c.workers.start("writing the archive", func() { c.archive.run(work) })
	}
	return store
}

// wait waits until the net has ended the call.
func (c *call) wait(ctx context.Context) {
	draining, done := c.end.draining, ctx.Done()
	for running := true; running; {
		select {
		case <-c.net.Done():
			running = false
		case <-draining:
			c.in.inject(ctx, voicenets.Drain.Token(struct{}{}))
			draining = nil
		case <-done:
			c.end.askFor(voicenets.GoingAway)
			done = nil
		}
	}
	if err := c.net.Err(); err != nil {
		c.log.Error("the net of the call failed", zap.Error(err), zap.Strings("last events", c.lastEvents()))
		c.end.fail(err)
	}
	c.out.tools.stopAll()
	c.out.peer.close()
	c.out.model.close()
}

// close sends the peer what is still queued for it, and closes both sides.
func (c *call) close() error {
	w := c.end.ending()
	if c.net != nil && w.reason != transport.ReasonPeerStalled && w.reason != transport.ReasonPeerLost {
		c.out.peer.wait(closeWait)
	}
	err := c.peer.Close(w.reason, w.message)
	if l := c.out.dialer.newest(); l != nil {
		_ = l.conn.Close(1000, "the call is over")
	}
	switch {
	case w.err != nil:
		return fmt.Errorf("voicegw: call %s: %w", c.id, w.err)
	case errors.Is(err, transport.ErrStalled):
		return fmt.Errorf("voicegw: call %s: %w", c.id, err)
	}
	return nil
}

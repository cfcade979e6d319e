package voicegw

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/petri/event"
	"github.com/voicegw/voicegw/petri/runner"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/voicenets"
)

// call is one call: a peer, a running net, and the connections to the model
// that the net asks for. Its goroutines only carry. run starts them and waits
// for all of them.
type call struct {
	cfg     *Config
	id      string
	log     *zap.Logger
	peer    transport.Peer
	hello   transport.Hello
	plan    *Plan
	prog    *program
	session *Session
	metrics *metrics
	net     *runner.Runner
	began   time.Time

	acks   ackBook
	down   *downlink
	up     *uplink
	tools  *toolBook
	talk   conversation
	tally  tally
	events *event.Ring
	mic    *microphone
	feed   *netFeed // nil: nobody watches

	recorder *recorder // nil: the call is not recorded
	writers  *atomic.Int64

	// Of the net's loop:
	reply    uint64 // the generation of the reply that is being played, as on the wire; 0: none
	dropped  uint64 // the event that withdrew consent last
	forgot   int    // the number of the newest connection then
	answered bool   // the peer was told that the call stands

	carriers sync.WaitGroup // besides run

	mu     sync.Mutex
	wish   *ending            // the end that the net was asked for first, nil if it was not
	last   *ending            // how the model was lost last, nil if it was not
	why    *ending            // what the net said, or what broke; nil while the call goes on
	giveUp context.CancelFunc // of the dial; nil when none is under way
	dialed dialed             // what the dial under way tells the model
	link   *link              // the newest; nil before
	links  int                // how many there were

	draining bool // the net is to be asked to end the call, guarded by mu
}

const (
	// ringEvents is how many of a call's last events are kept for its log.
	ringEvents = 512
	// lastWords is how long the end of a call waits for what the peer shall
	// still hear of it. Closing it comes after that, and is bounded too.
	lastWords = 2 * time.Second
)

// newCall makes a call that has not begun; run must follow.
func newCall(g *Gateway, peer transport.Peer, hello transport.Hello, plan *Plan) *call {
	id := newID()
	c := &call{cfg: &g.cfg, id: id, peer: peer, hello: hello, plan: plan, events: event.NewRing(ringEvents),
		log: g.cfg.Log.With(zap.String("call", id), zap.String("client", hello.Client))}
	c.session, c.metrics, c.writers = &Session{c}, g.metrics, &g.writers
	c.prog = g.programs[variant{c.detection(), hello.HalfDuplex}]
	c.down, c.up, c.tools = newDownlink(c), newUplink(c), newToolBook(c, plan.Tools)
	return c
}

// newID names a call: unguessable, because logs and people quote it.
func newID() string {
	var b [6]byte
	_, _ = rand.Read(b[:]) // never fails
	return "c-" + hex.EncodeToString(b[:])
}

func (c *call) detection() voicenets.Detection {
	switch c.hello.Detection {
	case transport.DetectionManual, transport.DetectionPush:
		return voicenets.Manual
	case transport.DetectionServer:
		return voicenets.Server
	default:
		return c.cfg.Detection
	}
}

// run carries the call to its end. The carriers have a context of their own,
// which ends last: a connection whose write is cancelled can say no more.
func (c *call) run(ctx context.Context) error {
	c.began = time.Now()
	work, cancel := context.WithCancel(context.WithoutCancel(ctx))
	if err := c.start(work); err != nil {
		c.broke(err)
	} else {
		c.carryOn(ctx)
	}
	err := c.part()
	cancel()
	c.carriers.Wait()
	c.plan.release()
	c.log.Info("call ended", zap.String("door", c.hello.Door), zap.Stringer("reason", c.ended().reason),
		zap.Duration("after", time.Since(c.began)), zap.Object("net", c.stats()), zap.Error(err))
	rec := c.record()
	c.metrics.record(rec, c.latest())
	if told := c.cfg.Hooks.Ended; told != nil {
		told(rec)
	}
	return err
}

// stats is what became of the tokens of the call's net.
func (c *call) stats() zapcore.ObjectMarshaler {
	return zapcore.ObjectMarshalerFunc(func(e zapcore.ObjectEncoder) error {
		if c.net != nil {
			s := c.net.Stats()
			e.AddUint64("fired", s.Fired)
			e.AddUint64("refused", s.Refused)
			e.AddUint64("dropped", s.Dropped)
			e.AddUint64("late", s.Late)
			e.AddDuration("lateness_max", s.LatenessMax)
		}
		return nil
	})
}

// latest is the most that an output was late.
func (c *call) latest() time.Duration {
	if c.net == nil {
		return 0
	}
	return c.net.Stats().LatenessMax
}

// carry runs a carrier. One that panics ends this call and no other.
func (c *call) carry(what string, fn func()) {
	c.carriers.Go(func() {
		defer func() {
			if v := recover(); v != nil {
				c.log.Error("a carrier broke", zap.String("at", what), zap.Any("panic", v), zap.Stack("stack"))
				c.broke(fmt.Errorf("voicegw: call %s: %s: panic: %v", c.id, what, v))
			}
		}()
		fn()
	})
}

// dialling says how the dial is given up, and whether the call was put on hold
// before it begins, and reports whether the call still goes on.
func (c *call) dialling(cancel context.CancelFunc, held bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.giveUp, c.dialed = cancel, dialed{held: held}
	return c.goesOn()
}

// setup is what the model is asked to be in this call.
func (c *call) setup() live.Setup {
	s := *c.plan.Setup
	if c.hello.Language != "" {
		s.Language = c.hello.Language
	}
	if text, ok := c.cfg.Instructions[c.hello.Instructions]; ok {
		s.SystemInstruction = text
	}
	s.Automatic = c.detection() == voicenets.Server
	s.Tools = nil
	for i := range c.plan.Tools {
		s.Tools = append(s.Tools, c.plan.Tools[i].declaration())
	}
	return s
}

// carryOn waits until the net says that the call is over. When ctx is done it
// is told so.
func (c *call) carryOn(ctx context.Context) {
	select {
	case <-c.net.Done():
	case <-ctx.Done():
		c.end(voicenets.GoingAway)
		<-c.net.Done()
	}
	if err := c.net.Err(); err != nil {
		c.log.Error("the net of the call broke", zap.Error(err), zap.Strings("last events", c.lastEvents()))
		c.broke(err)
	}
	c.tools.over()
	c.down.close()
	c.up.close()
}

// start starts the net and the carriers.
func (c *call) start(work context.Context) error {
	mic, err := newMicrophone(c.hello.InputRateHz, c.cfg.Activity,
		func(f *voicenets.CallerFrame) { c.inject(work, voicenets.CallerAudio.Token(f)) },
		func(e voicenets.Edge) { c.inject(work, voicenets.SpeechEdge.Token(e)) })
	if err != nil {
		return err
	}
	if c.mic = mic; c.hello.Detection == transport.DetectionPush {
		mic.button = new(button)
	}
	var store event.Store = c.events
	if c.hello.ShowNet && c.cfg.ShowNet {
		c.feed = newNetFeed(c.prog)
		store = event.Tee(store, c.feed)
	}
	if c.cfg.Watch != nil {
		if watcher := c.cfg.Watch(c.id, c.prog.Program); watcher != nil {
			store = event.Tee(store, watcher)
		}
	}
	if c.recorder = c.recording(); c.recorder != nil {
		store = event.Tee(store, c.recorder.store())
		c.carry("recording", func() { c.recorder.run(work) })
	}
	ready := make(chan struct{}) // the net's first outputs wait for c.net
	net, err := runner.Start(c.prog.Program, runner.Config{Name: c.id, Store: store, Logger: c.log,
		Measure: c.cfg.Lateness, Destinations: destinations(c.prog.Program), StoreFailed: c.storeFailed,
		Out: func(t petri.Token) { <-ready; c.out(work, t) }})
	if err != nil {
		return err
	}
	c.stands(net)
	close(ready)
	c.carry("writing to the peer", func() { c.down.write(work) })
	c.carry("writing to the model", func() { c.up.write(work) })
	c.carry("reading the peer", func() { c.readPeer(work) })
	return nil
}

// stands lets tokens in, and first what happened before the net ran.
func (c *call) stands(net *runner.Runner) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.net = net
	if c.draining {
		_ = net.Inject(voicenets.Drain.Token(struct{}{})) // the first of all: there is room
	}
	if w := cmp.Or(c.why, c.wish); w != nil {
		c.over(w.end)
	}
}

func (c *call) readiness() transport.Ready {
	det := c.hello.Detection
	if det == transport.DetectionDefault {
		det = transport.DetectionManual
		if c.cfg.Detection == voicenets.Server {
			det = transport.DetectionServer
		}
	}
	model := c.cfg.Model
	if own := c.plan.Setup.Model; own != c.cfg.Setup.Model && own != "" {
		model.Name = own
	}
	return transport.Ready{
		Call: c.id, InputRateHz: c.hello.InputRateHz, OutputRateHz: c.hello.OutputRateHz,
		Budget:    time.Duration(c.cfg.Net.Budget()) * audio.FrameDuration,
		Detection: det, Model: model, Greeting: c.cfg.Greeting != "", CallMax: c.cfg.Net.Longest(),
	}
}

// out takes what the net puts out. It is called by the net's loop and never
// blocks; work is the carriers' context.
func (c *call) out(work context.Context, t petri.Token) {
	if t.Seq() < c.dropped && toQueue(t) {
		return // it waited behind the record, and consent was withdrawn since
	}
	switch v := t.Value().(type) {
	case *voicenets.CallerFrame:
		c.up.put(upItem{frame: v})
	case voicenets.Command:
		if v == voicenets.ActivityStart {
			c.talk.turn("")
		}
		c.up.put(upItem{cmd: v})
	case *voicenets.Typed:
		if t.Place() == string(voicenets.TextLost) {
			if !v.FromHost {
				c.down.put(downItem{msg: textLost(v.Lost)})
			}
			return
		}
		c.talk.turn(v.Text)
		c.up.put(upItem{text: v})
	case *voicenets.CallerTurn:
		c.up.again(v)
	case *voicenets.ToolEnd:
		c.up.put(upItem{tool: v})
	case *voicenets.ReplyFrame:
		c.acks.sent(v.Gen)
		c.mic.playing(v.PCM)
		c.down.put(downItem{frame: v})
	case voicenets.Notice:
		c.down.put(downItem{notice: v, heard: c.noticed(v)})
	case *voicenets.Words:
		if l, _ := v.Link.(*link); l != nil && l.number > c.forgot {
			c.talk.add(v.Who, v.Text)
		}
		c.down.put(downItem{words: v})
	default:
		c.asked(work, t)
	}
}

// asked does what the net asks for beside the conversation.
func (c *call) asked(work context.Context, t petri.Token) {
	switch t.Place() {
	case string(voicenets.FramesEnded):
		c.mic.abort.Store(true)
	case string(voicenets.Presumed):
		c.log.Info("playout was not acknowledged in time")
		c.acks.giveUp()
	case string(voicenets.PlayPrompt):
		p, _ := voicenets.PlayPrompt.From(t)
		c.carry("giving a prompt", func() { c.play(work, p) })
	case string(voicenets.StartTool):
		run, _ := voicenets.StartTool.From(t)
		c.tools.start(work, run)
	case string(voicenets.StopTool):
		run, _ := voicenets.StopTool.From(t)
		c.tools.stop(run)
	case string(voicenets.Dial):
		from, _ := voicenets.Dial.From(t)
		ctx, cancel := context.WithCancel(work)
		if !c.dialling(cancel, c.up.heldSince(t.Seq())) {
			cancel()
			return // nobody waits for it
		}
		c.carry("dialling the model", func() {
			defer cancel()
			c.dial(work, ctx, from)
		})
	case string(voicenets.UseLink):
		d, _ := voicenets.UseLink.From(t)
		c.use(work, d.Link.(*link))
	case string(voicenets.HoldUplink):
		c.up.hold(t.Seq())
		c.withhold(false)
	case string(voicenets.ReleaseUplink):
		c.up.release(t.Seq())
	case string(voicenets.DropUplink):
		c.forget(t.Seq())
	case string(voicenets.CloseLink):
		c.newest().down(work, nil)
	case string(voicenets.Collected):
		d, _ := voicenets.Collected.From(t)
		c.entered(d)
	case string(voicenets.Transfer):
		to, _ := voicenets.Transfer.From(t)
		c.down.put(downItem{msg: &transport.Message{Kind: transport.MessageTransfer, Text: to.Address}})
	case string(voicenets.Hangup):
		e, _ := voicenets.Hangup.From(t)
		c.hungUp(e)
		c.endReply(e)
	}
}

// forget drops what is kept of what the caller said, and keeps nothing that the
// connections up to now say of it.
func (c *call) forget(at uint64) {
	c.dropped = at
	c.up.drop(at)
	c.talk.forget()
	c.forgot = c.dialedSoFar()
	c.withhold(true)
}

// use makes a connection the model; the first one makes the call stand.
func (c *call) use(work context.Context, l *link) {
	l.carry("reading the model", func() { l.read(work) })
	c.up.use(l) // from here on writing may find that it is down
	if c.answered {
		return
	}
	c.answered = true
	c.down.put(downItem{ready: true})
	if told := c.cfg.Hooks.Running; told != nil {
		c.carry("telling of the call", func() { told(c.session) })
	}
}

// entered gives the host what the caller entered during protected input.
func (c *call) entered(d *voicenets.Digits) {
	if told := c.cfg.Hooks.Digits; told != nil {
		c.carry("giving digits", func() { told(c.session, d.Text) })
	}
}

// noticed keeps what the detector must know of a reply, because one that is
// heard may echo, and the book of what was handed over. At the end of a reply it
// returns how many ms of it were heard.
func (c *call) noticed(n voicenets.Notice) (heardMS int64) {
	c.tally.notice(n.Kind)
	switch n.Kind {
	case voicenets.ReplyStarted:
		c.mic.raised.Store(true)
		c.reply = wire(n.Gen)
	case voicenets.ReplyCut, voicenets.ReplyComplete, voicenets.ReplyLost:
		c.mic.raised.Store(false)
		c.reply = 0
		return c.acks.heardMS(wire(n.Gen))
	case voicenets.ClearPlayout:
		c.acks.cleared(n.Gen)
		c.mic.cleared()
	case voicenets.HoldEnded, voicenets.ProtectEnded, voicenets.ConsentGiven:
		c.mic.reopen.Store(true) // a caller in mid-speech is heard from now on
	}
	return 0
}

// endReply tells the peer of a reply that the end of the call cuts short.
func (c *call) endReply(e voicenets.End) {
	if c.reply == 0 {
		return
	}
	why := transport.TurnCallOver
	if e == voicenets.ModelLost {
		why = transport.TurnModelLost
	}
	c.down.put(downItem{msg: &transport.Message{Kind: transport.MessageTurn, State: transport.StateEnd, TurnEnd: why,
		Generation: c.reply, HeardMS: c.acks.heardMS(c.reply)}})
}

// inject puts a token into the net, unless ctx is done. While the net cannot
// follow it waits, so that a connection fills up instead of our memory. It must
// not be called by the net's loop.
func (c *call) inject(ctx context.Context, t petri.Token) {
	for ctx.Err() == nil {
		err := c.net.Inject(t)
		if err == nil || isClosed(err) || errors.Is(err, petri.ErrPlace) {
			return // what this call's net does not know of changes nothing
		}
		if !errors.Is(err, runner.ErrInboxFull) {
			c.broke(fmt.Errorf("voicegw: call %s: %w", c.id, err))
			return
		}
		if !pause(ctx, fullPause) {
			return
		}
	}
}

// fullPause is how long a carrier waits for a net that is full.
const fullPause = audio.FrameDuration

// pause waits, and reports false when ctx was done first.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// isClosed reports that a run takes no more tokens because it is over.
func isClosed(err error) bool {
	return errors.Is(err, runner.ErrClosed) || errors.Is(err, petri.ErrEnded)
}

func (c *call) lastEvents() []string {
	const most = 20
	var list []string
	for _, e := range c.events.Events(nil) {
		list = append(list, c.prog.Describe(e))
	}
	return list[max(0, len(list)-most):]
}

package voicegw

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
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

// call is one call: a peer, a model connection and a running net. Its
// goroutines only carry. run starts them and waits for all of them.
type call struct {
	cfg   *Config
	id    string
	log   *zap.Logger
	peer  transport.Peer
	hello transport.Hello
	prog  *program

	acks   ackBook
	down   *downlink
	up     *uplink
	events *event.Ring
	// Set before the net runs:
	conn live.Conn
	mic  *microphone
	feed *netFeed // nil: nobody watches

	// reply is the generation of the reply that is being played, as on the wire; 0: none. The net's loop owns it.
	reply uint64

	carriers sync.WaitGroup // besides run

	mu     sync.Mutex
	why    *ending            // nil while the call goes on
	giveUp context.CancelFunc // of the dial; nil when none is under way
	muted  bool               // before the net ran
	net    *runner.Runner     // nil until it runs
}

const (
	// ringEvents is how many of a call's last events are kept for its log.
	ringEvents = 512
	// lastWords is how long the end of a call waits for what the peer shall
	// still hear of it. Closing it comes after that, and is bounded too.
	lastWords = 2 * time.Second
)

// newCall makes a call that has not begun; run must follow.
func newCall(g *Gateway, peer transport.Peer, hello transport.Hello) *call {
	id := newID()
	c := &call{cfg: &g.cfg, id: id, peer: peer, hello: hello, events: event.NewRing(ringEvents),
		log: g.cfg.Log.With(zap.String("call", id), zap.String("client", hello.Client))}
	c.prog = g.programs[variant{c.detection(), hello.HalfDuplex}]
	c.down, c.up = newDownlink(c), newUplink(c)
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
	case transport.DetectionManual:
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
	began := time.Now()
	work, cancel := context.WithCancel(context.WithoutCancel(ctx))
	c.carry("reading the peer", func() { c.readPeer(work) })
	if c.connect(ctx) {
		c.talk(ctx, work)
	}
	err := c.part()
	cancel()
	c.carriers.Wait()
	c.log.Info("call ended", zap.Stringer("reason", c.ended().reason), zap.Duration("after", time.Since(began)),
		zap.Object("net", c.tally()), zap.Error(err))
	return err
}

// tally is what became of the tokens of the call's net.
func (c *call) tally() zapcore.ObjectMarshaler {
	return zapcore.ObjectMarshalerFunc(func(e zapcore.ObjectEncoder) error {
		if net := c.running(); net != nil {
			s := net.Stats()
			e.AddUint64("fired", s.Fired)
			e.AddUint64("refused", s.Refused)
			e.AddUint64("dropped", s.Dropped)
			e.AddUint64("late", s.Late)
			e.AddDuration("lateness_max", s.LatenessMax)
		}
		return nil
	})
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

// connect dials the model, while the peer may still leave. It reports whether
// the call goes on.
func (c *call) connect(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.DialTimeout)
	defer cancel()
	if !c.dialling(cancel) {
		return false
	}
	conn, err := c.cfg.Dialer.Dial(ctx, c.setup())
	if err == nil {
		c.conn = conn
	}
	if !c.dialling(nil) {
		return false // whatever the dial brought, nobody waits for it
	}
	if err != nil {
		c.endWith(c.dialFailure(ctx, err))
		return false
	}
	return true
}

// dialling says how the dial is given up, and reports whether the call still
// goes on.
func (c *call) dialling(cancel context.CancelFunc) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.giveUp = cancel
	return c.why == nil
}

// setup is what the model is asked to be in this call.
func (c *call) setup() live.Setup {
	s := c.cfg.Setup
	if c.hello.Language != "" {
		s.Language = c.hello.Language
	}
	if text, ok := c.cfg.Instructions[c.hello.Instructions]; ok {
		s.SystemInstruction = text
	}
	s.Automatic = c.detection() == voicenets.Server
	return s
}

// talk runs the net until it says that the call is over. When ctx is done it
// is told so; work is the carriers' context.
func (c *call) talk(ctx, work context.Context) {
	if err := c.begin(work); err != nil {
		c.endWith(&ending{reason: transport.ReasonInternal, err: err})
		return
	}
	select {
	case <-c.net.Done():
	case <-ctx.Done():
		c.end(voicenets.GoingAway, "")
		<-c.net.Done()
	}
	if err := c.net.Err(); err != nil {
		c.log.Error("the net of the call broke", zap.Error(err), zap.Strings("last events", c.lastEvents()))
		c.broke(err)
	}
	c.down.close()
	c.up.close()
}

// begin starts the net and the carriers. The peer may send audio, and the
// model may be spoken to, as soon as the net runs.
func (c *call) begin(work context.Context) error {
	ready := c.readiness()
	mic, err := newMicrophone(ready.InputRateHz, c.cfg.Activity,
		func(f *voicenets.CallerFrame) { c.inject(work, voicenets.CallerAudio.Token(f)) },
		func(e voicenets.Edge) { c.inject(work, voicenets.SpeechEdge.Token(e)) })
	if err != nil {
		return err
	}
	c.mic = mic
	var store event.Store = c.events
	if c.hello.ShowNet && c.cfg.ShowNet {
		c.feed = newNetFeed(c.prog)
		store = event.Tee(store, c.feed)
	}
	if r := c.record(); r != nil {
		store = event.Tee(store, r.queue)
		c.carry("recording", func() { r.run(work) })
	}
	net, err := runner.Start(c.prog.Program, runner.Config{Name: c.id, Out: c.out, Store: store, Logger: c.log})
	if err != nil {
		return err
	}
	c.stands(net)
	if err := c.peer.Ready(work, ready); err != nil {
		c.peerGone(work, err)
	}
	c.carry("writing to the peer", func() { c.down.write(work) })
	c.carry("writing to the model", func() { c.up.write(work) })
	c.carry("reading the model", func() { c.readModel(work, ready.OutputRateHz) })
	return nil
}

// stands lets tokens in, and first what happened before the net ran.
func (c *call) stands(net *runner.Runner) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.net = net
	if c.muted {
		_ = net.Inject(voicenets.PeerMute.Token(voicenets.On))
	}
	if c.why != nil {
		c.over(c.why.end)
	}
}

// running returns the net, nil before it runs.
func (c *call) running() *runner.Runner {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.net
}

func (c *call) readiness() transport.Ready {
	det := transport.DetectionManual
	if c.detection() == voicenets.Server {
		det = transport.DetectionServer
	}
	return transport.Ready{
		Call: c.id, InputRateHz: c.hello.InputRateHz, OutputRateHz: c.hello.OutputRateHz,
		Budget:    time.Duration(c.cfg.Net.Budget()) * audio.FrameDuration,
		Detection: det, Model: c.cfg.Model, Greeting: c.cfg.Greeting != "", CallMax: c.cfg.Net.Longest(),
	}
}

// out takes what the net puts out. It is called by the net's loop and never
// blocks.
func (c *call) out(t petri.Token) {
	switch t.Place() {
	case string(voicenets.AudioUp):
		f, _ := voicenets.AudioUp.From(t)
		c.up.put(upItem{frame: f})
	case string(voicenets.ToModel):
		cmd, _ := voicenets.ToModel.From(t)
		c.up.put(upItem{cmd: cmd})
	case string(voicenets.AudioDown):
		f, _ := voicenets.AudioDown.From(t)
		c.acks.sent(f.Gen)
		c.mic.playing(f.PCM)
		c.down.put(downItem{frame: f})
	case string(voicenets.TellSpeech), string(voicenets.TellReply), string(voicenets.Clear), string(voicenets.Mark):
		n, _ := t.Value().(voicenets.Notice)
		c.noticed(n)
		c.down.put(downItem{notice: n})
	case string(voicenets.Show):
		w, _ := voicenets.Show.From(t)
		c.down.put(downItem{words: w})
	case string(voicenets.FramesEnded):
		c.mic.abort.Store(true)
	case string(voicenets.Presumed):
		c.log.Info("playout was not acknowledged in time")
		c.acks.giveUp()
	case string(voicenets.Hangup):
		e, _ := voicenets.Hangup.From(t)
		c.end(e, "")
		c.endReply(e)
	}
}

// noticed keeps what the detector must know of a reply, because one that is
// heard may echo, and the book of what was handed over.
func (c *call) noticed(n voicenets.Notice) {
	switch n.Kind {
	case voicenets.ReplyStarted:
		c.mic.raised.Store(true)
		c.reply = wire(n.Gen)
	case voicenets.ReplyCut, voicenets.ReplyComplete:
		c.mic.raised.Store(false)
		c.reply = 0
	case voicenets.ClearPlayout:
		c.acks.cleared(n.Gen)
		c.mic.cleared()
	}
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
		Generation: c.reply}})
}

// inject puts a token into the net. While the net cannot follow it waits, so
// that a connection fills up instead of our memory. It must not be called by
// the net's loop.
func (c *call) inject(ctx context.Context, t petri.Token) {
	for {
		err := c.net.Inject(t)
		if err == nil || isClosed(err) {
			return
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

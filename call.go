package voicegw

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

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
	g     *Gateway
	id    string
	log   *zap.Logger
	peer  transport.Peer
	hello transport.Hello
	prog  *program

	conn    live.Conn
	net     *runner.Runner
	started chan struct{} // closed when conn, net and mic stand
	mic     *microphone
	acks    ackBook
	down    *downlink
	up      *uplink
	feed    *netFeed
	events  *event.Ring

	cancel   context.CancelFunc // gives up the dial
	early    chan struct{}      // closed when the call is over before it stood
	once     sync.Once
	why      atomic.Pointer[ending]
	carriers sync.WaitGroup
}

// ending is why a call is over; message may be empty.
type ending struct {
	end     voicenets.End
	message string
}

// ringEvents is how many of a call's last events are kept for its log.
const ringEvents = 512

func newCall(g *Gateway, peer transport.Peer, id string) *call {
	h := peer.Hello()
	c := &call{g: g, id: id, peer: peer, hello: h, started: make(chan struct{}), early: make(chan struct{}),
		log: g.cfg.Log.With(zap.String("call", id)), cancel: func() {}}
	c.prog = g.programs[variant{c.detection(), h.HalfDuplex}]
	return c
}

func (c *call) detection() voicenets.Detection {
	switch c.hello.Detection {
	case transport.DetectionManual:
		return voicenets.Manual
	case transport.DetectionServer:
		return voicenets.Server
	default:
		return c.g.cfg.Detection
	}
}

// run carries the call to its end.
func (c *call) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c.carriers.Add(1)
	go c.readPeer(ctx)
	began := time.Now()
	err := c.connect(ctx)
	if err == nil {
		err = c.talk(ctx)
	}
	cancel()
	c.carriers.Wait()
	c.log.Info("call ended", zap.Duration("after", time.Since(began)), zap.Error(err))
	return err
}

// connect dials the model while the peer may still leave.
func (c *call) connect(ctx context.Context) error {
	dial, cancel := context.WithTimeout(ctx, c.g.cfg.DialTimeout)
	defer cancel()
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		select {
		case <-c.early:
			cancel()
		case <-stop:
		}
	}()
	conn, err := c.g.cfg.Dialer.Dial(dial, c.setup())
	if w := c.why.Load(); w != nil {
		if err == nil {
			_ = conn.Close(1000, "the caller left")
		}
		_ = c.peer.Close(reasonOf(w.end), w.message)
		return nil
	}
	if err != nil {
		reason, message := dialFailure(err)
		_ = c.peer.Close(reason, message)
		return fmt.Errorf("voicegw: call %s: dial the model: %w", c.id, err)
	}
	c.conn = conn
	return nil
}

// setup is what the model is asked to be in this call.
func (c *call) setup() live.Setup {
	s := c.g.cfg.Setup
	if c.hello.Language != "" {
		s.Language = c.hello.Language
	}
	if text, ok := c.g.cfg.Instructions[c.hello.Instructions]; ok {
		s.SystemInstruction = text
	}
	s.Automatic = c.detection() == voicenets.Server
	return s
}

// dialFailure puts a failed dial into a reason and words for people.
func dialFailure(err error) (transport.Reason, string) {
	var ce *live.CloseError
	switch {
	case !errors.As(err, &ce):
		return transport.ReasonModelRefused, "The gateway's model settings are wrong: " + err.Error()
	case ce.Class == live.ClassTimeout:
		return transport.ReasonModelTimeout, ce.Message()
	case ce.Class == live.ClassKey, ce.Class == live.ClassModel, ce.Class == live.ClassPayload:
		return transport.ReasonModelRefused, ce.Message()
	default:
		return transport.ReasonModelLost, ce.Message()
	}
}

// talk runs the net until it says that the call is over.
func (c *call) talk(ctx context.Context) error {
	if c.conn == nil {
		return nil
	}
	defer func() { _ = c.conn.Close(1000, "the call is over") }()
	if err := c.begin(ctx); err != nil {
		_ = c.peer.Close(transport.ReasonInternal, "")
		return fmt.Errorf("voicegw: call %s: %w", c.id, err)
	}
	select {
	case <-c.net.Done():
	case <-ctx.Done():
		c.end(voicenets.GoingAway, "")
		<-c.net.Done()
	}
	return c.finish()
}

// begin starts the net and the carriers; the peer may send audio from here on.
func (c *call) begin(ctx context.Context) (err error) {
	ready := c.readiness()
	if c.mic, err = newMicrophone(ready.InputRateHz, c.g.cfg.Activity); err != nil {
		return err
	}
	c.down = newDownlink(c, ready.OutputRateHz)
	c.up = newUplink(c)
	c.events = event.NewRing(ringEvents)
	stores := []event.Store{c.events}
	if c.hello.ShowNet && c.g.cfg.ShowNet {
		c.feed = newNetFeed(c.prog.Program)
		stores = append(stores, c.feed)
	}
	c.net, err = runner.Start(c.prog.Program, runner.Config{Name: c.id, Out: c.out, Store: tee(stores), Logger: c.log})
	if err != nil {
		return err
	}
	if err := c.peer.Ready(ctx, ready); err != nil {
		c.end(voicenets.PeerLost, "")
	}
	close(c.started)
	if w := c.why.Load(); w != nil {
		_ = c.net.Inject(voicenets.Over.Token(w.end))
	}
	c.carriers.Add(3)
	go c.down.write(ctx)
	go c.up.write(ctx)
	go c.readModel(ctx, ready.OutputRateHz)
	return nil
}

func (c *call) readiness() transport.Ready {
	cfg := &c.g.cfg
	det := transport.DetectionManual
	if c.detection() == voicenets.Server {
		det = transport.DetectionServer
	}
	return transport.Ready{
		Call: c.id, InputRateHz: c.hello.InputRateHz, OutputRateHz: c.hello.OutputRateHz,
		Budget:    time.Duration(cfg.Net.Budget()) * audio.FrameDuration,
		Detection: det, Model: cfg.Model, Greeting: cfg.Greeting != "", CallMax: cfg.Net.Longest(),
	}
}

// out takes what the net puts out; it never blocks.
func (c *call) out(t petri.Token) {
	switch t.Place() {
	case string(voicenets.AudioUp):
		f, _ := voicenets.AudioUp.From(t)
		c.up.audio(f)
	case string(voicenets.ToModel):
		cmd, _ := voicenets.ToModel.From(t)
		c.up.command(cmd)
	case string(voicenets.AudioDown):
		f, _ := voicenets.AudioDown.From(t)
		c.acks.sent(f.Gen)
		c.down.audio(f)
	case string(voicenets.Tell):
		n, _ := voicenets.Tell.From(t)
		c.noticed(n)
		c.down.notice(n)
	case string(voicenets.Show):
		w, _ := voicenets.Show.From(t)
		c.down.words(w)
	case string(voicenets.FramesEnded):
		c.mic.abort.Store(true)
	case string(voicenets.Presumed):
		c.log.Info("playout was not acknowledged in time")
		c.acks.giveUp()
	case string(voicenets.Hangup):
		e, _ := voicenets.Hangup.From(t)
		c.why.CompareAndSwap(nil, &ending{end: e})
	}
}

// noticed keeps the detector's threshold: a reply that is heard may echo.
func (c *call) noticed(n voicenets.Notice) {
	switch n.Kind {
	case voicenets.ReplyStarted:
		c.mic.raised.Store(true)
	case voicenets.ReplyCut, voicenets.ReplyComplete:
		c.mic.raised.Store(false)
	}
}

// end says that the call is over. The first one decides; message, for people,
// may be empty.
func (c *call) end(e voicenets.End, message string) {
	c.why.CompareAndSwap(nil, &ending{end: e, message: message})
	c.once.Do(func() { close(c.early) })
	select {
	case <-c.started:
		_ = c.net.Inject(voicenets.Over.Token(e))
	default:
	}
}

// finish hands over what the net said last and closes the peer.
func (c *call) finish() error {
	c.down.close()
	c.up.close()
	if err := c.net.Err(); err != nil {
		c.log.Error("the net of the call broke", zap.Error(err), zap.Strings("last events", c.lastEvents()))
		_ = c.peer.Close(transport.ReasonInternal, "")
		return fmt.Errorf("voicegw: call %s: %w", c.id, err)
	}
	w := c.why.Load()
	if w == nil {
		w = &ending{end: voicenets.GoingAway}
	}
	err := c.peer.Close(reasonOf(w.end), w.message)
	if w.end == voicenets.ModelLost {
		return fmt.Errorf("voicegw: call %s: the model was lost: %s", c.id, w.message)
	}
	if errors.Is(err, transport.ErrStalled) {
		return fmt.Errorf("voicegw: call %s: %w", c.id, err)
	}
	return nil
}

func (c *call) lastEvents() []string {
	var list []string
	for _, e := range c.events.Events(nil) {
		list = append(list, c.prog.Describe(e))
	}
	return list[max(0, len(list)-20):]
}

// reasonOf is the word of the protocol for an end of the net.
func reasonOf(e voicenets.End) transport.Reason {
	switch e {
	case voicenets.HungUp:
		return transport.ReasonCallerHungUp
	case voicenets.PeerLost:
		return transport.ReasonPeerLost
	case voicenets.PeerStalled:
		return transport.ReasonPeerStalled
	case voicenets.ModelLost:
		return transport.ReasonModelLost
	case voicenets.MaxDuration:
		return transport.ReasonMaxDuration
	default:
		return transport.ReasonGoingAway
	}
}

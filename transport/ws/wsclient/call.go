package wsclient

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/ws"
)

const (
	longPause     = time.Second            // in a recording; people would expect an answer in it
	afterGreeting = 300 * time.Millisecond // the breath before the caller speaks
	byeTimeout    = 2 * time.Second        // for the gateway's answer to bye
	inboxMax      = 8                      // messages between the reader and the loop
)

// Call makes one call and returns when it is over: the caller has spoken, the reply has ended and nothing was to be
// heard for Quiet, or Max was reached, or the gateway ended it, which is no error but Report.Reason. When the gateway
// cannot be reached or refuses the call there is no report; when ctx is done the call is hung up, and the report
// comes with the context's error.
func Call(ctx context.Context, cfg Config) (Report, error) {
	if err := cfg.check(); err != nil {
		return Report{}, err
	}
	c, err := newCall(cfg)
	if err != nil {
		return Report{}, err
	}
	begin := time.Now()
	c.client, err = ws.Dial(ctx, cfg.URL, cfg.Hello, cfg.Dial)
	if err != nil {
		return Report{}, err
	}
	c.start = time.Now()
	c.report.ConnectedMS = c.start.Sub(begin).Milliseconds()
	if err := c.open(); err != nil {
		_ = c.client.Close()
		return Report{}, err
	}
	err = c.run(ctx)
	return c.finish(), err
}

// call is a call in progress. Its loop owns everything; the reader only owns the messages that are not in the inbox.
type call struct {
	cfg    Config
	client *ws.Client
	start  time.Time // time 0 of the microphone and of playout
	mic    *microphone
	ear    *ear
	rec    record
	report Report
	kept   kept

	in, over  []int16       // what is said, at the rate of the microphone
	phase     phase         // of the caller
	since     time.Duration // since when
	spokeAt   time.Duration // the caller began to say In
	silentAt  time.Duration // the caller finished what there was to say
	activeAt  time.Duration // something was to be heard, or a turn changed
	replyOpen bool          // a turn was begun and has not ended
	consent   consent
	broken    error // nothing can be sent any more; the reader may still hear why
	ended     *transport.Ended
}

// phase is what the caller is about.
type phase uint8

const (
	phaseListen    phase = iota // to the greeting
	phaseSpeak                  // what there is to say
	phaseAwait                  // the end of the reply, perhaps to speak over it
	phaseInterrupt              // speaking over the reply
	phaseHangUp                 // said bye
)

func newCall(cfg Config) (*call, error) {
	c := &call{cfg: cfg, mic: &microphone{rateHz: cfg.Hello.InputRateHz}}
	var err error
	if c.in, err = spoken(cfg.In, cfg.Hello.InputRateHz); err != nil {
		return nil, err
	}
	if c.over, err = spoken(cfg.BargeIn.PCM, cfg.Hello.InputRateHz); err != nil {
		return nil, err
	}
	for _, p := range longPauses(c.in, c.mic.rateHz, longPause) {
		c.note("the recording has a pause of %v at %v; it is spoken on without waiting for a reply",
			(p.to - p.from).Round(100*time.Millisecond), p.from.Round(100*time.Millisecond))
	}
	return c, nil
}

func (c *call) note(format string, args ...any) {
	c.report.Notes = append(c.report.Notes, transport.OneLine(fmt.Sprintf(format, args...), WordsLenMax))
}

// open gets ready to hear what the gateway will send.
func (c *call) open() error {
	r := c.client.Ready()
	c.report.Ready = r
	if r.InputRateHz != c.cfg.Hello.InputRateHz {
		return fmt.Errorf("wsclient: the gateway wants %d Hz and not the %d Hz of the hello", r.InputRateHz,
			c.cfg.Hello.InputRateHz)
	}
	if err := audio.CheckRate(r.OutputRateHz); err != nil {
		return fmt.Errorf("wsclient: ready: %w", err)
	}
	c.report.Ready.Model.Name = transport.OneLine(r.Model.Name, WordsLenMax)
	c.kept.samplesMax = c.cfg.soundMax(r.OutputRateHz)
	c.ear = newEar(r.OutputRateHz)
	var err error
	c.mic.echo, err = newEcho(c.cfg.Echo, r.OutputRateHz, r.InputRateHz)
	if !r.Greeting || c.cfg.SpeakAtOnce {
		c.speak(0)
	}
	return err
}

// inbound is a message that came, or why none will.
type inbound struct {
	m   *transport.Message
	err error
}

// run is the loop. It starts the reader and ends it by closing the connection.
func (c *call) run(ctx context.Context) error {
	inbox := make(chan inbound, inboxMax+1)
	free := make(chan *transport.Message, inboxMax)
	for range inboxMax {
		free <- new(transport.Message)
	}
	done := make(chan struct{})
	var reader sync.WaitGroup
	reader.Go(func() { c.read(inbox, free, done) })
	defer reader.Wait()
	defer func() { _ = c.client.Close() }()
	defer close(done)

	timer := time.NewTimer(c.mic.due())
	defer timer.Stop()
	for c.ended == nil {
		select {
		case <-ctx.Done():
			c.hangUp(c.now())
			c.ended = &transport.Ended{Reason: transport.ReasonCallerHungUp, Message: "The call was cancelled."}
			return ctx.Err()
		case in := <-inbox:
			if in.err != nil {
				c.lost(in.err)
				break
			}
			c.take(c.now(), in.m)
			free <- in.m
		case <-timer.C:
			c.tick(ctx, c.now())
			timer.Reset(c.mic.due() - c.now())
		}
	}
	return nil
}

// read passes on what comes until the connection is over.
func (c *call) read(inbox chan<- inbound, free <-chan *transport.Message, done <-chan struct{}) {
	for {
		var m *transport.Message
		select {
		case m = <-free:
		case <-done:
			return
		}
		if err := c.client.Recv(context.Background(), m); err != nil {
			inbox <- inbound{err: err}
			return
		}
		inbox <- inbound{m: m} // there are fewer messages than places
	}
}

func (c *call) now() time.Duration { return time.Since(c.start) }

// lost ends the call because nothing more can be sent or received.
func (c *call) lost(err error) {
	if !errors.As(err, &c.ended) {
		r := transport.ReasonOf(err)
		c.ended = &transport.Ended{Reason: r, Message: r.Message(), Err: err}
	}
}

// send sends an event.
func (c *call) send(ev transport.Event) {
	if c.broken == nil {
		c.unsent(c.client.SendEvent(context.Background(), &ev))
	}
}

// unsent notes that something could not be sent, and gives the reader time to hear why.
func (c *call) unsent(err error) {
	if err != nil && c.broken == nil {
		c.broken, c.phase, c.since = err, phaseHangUp, c.now()
	}
}

// take hears a message.
func (c *call) take(at time.Duration, m *transport.Message) {
	if m.Kind == transport.MessageAudio {
		c.report.FramesReceived++
		if !c.kept.sound(len(m.PCM)) {
			c.overrun()
			return
		}
		c.ear.hear(at, m.Generation, m.PCM)
		c.report.Came.Samples = append(c.report.Came.Samples, m.PCM...)
		return
	}
	if !c.kept.message(m) {
		c.overrun()
		return
	}
	c.keep(at, m)
	switch m.Kind {
	case transport.MessageTurn:
		c.takeTurn(at, m)
	case transport.MessageClear:
		c.send(c.ear.clear(at, m.Generation))
	case transport.MessageMark:
		c.ear.mark(at, m.Generation, m.ID)
	case transport.MessageConsent:
		c.takeConsent(at, m)
	case transport.MessageError:
		if !m.Fatal {
			c.note("the gateway says: %s (%s)", m.Text, m.Code)
		}
	case transport.MessageBye:
		c.report.Closed, c.report.Reason = transport.OneLine(m.Code, WordsLenMax), m.Reason
		c.report.Message = transport.OneLine(m.Text, WordsLenMax)
	}
}

// keep records a message.
func (c *call) keep(at time.Duration, m *transport.Message) {
	if c.cfg.OnMessage != nil {
		c.cfg.OnMessage(at, m)
	}
	if m.Kind == transport.MessageNet || m.Kind == transport.MessageNetGraph || len(c.report.Events) == EventsMax {
		return
	}
	e := Event{At: at, Message: *m}
	e.PCM, e.Fired, e.Marking = nil, nil, nil
	c.report.Events = append(c.report.Events, e)
}

func (c *call) takeTurn(at time.Duration, m *transport.Message) {
	c.activeAt = at
	if m.State == transport.StateStart {
		c.report.Turns++
		c.replyOpen = true
		c.rec.turns = append(c.rec.turns, turn{generation: m.Generation, started: at})
		return
	}
	t := c.rec.turn(m.Generation)
	if t == nil {
		return // of a reply that never began
	}
	switch m.State {
	case transport.StatePause:
		c.report.Pauses++
	case transport.StateResume:
		t.resumed = at
	case transport.StateEnd:
		t.over, t.end = at, m.TurnEnd
		c.replyOpen = c.replyOpen && t != &c.rec.turns[len(c.rec.turns)-1]
		if m.TurnEnd == transport.TurnInterrupted {
			c.report.Interruptions++
		}
	}
}

// tick sends the frames that are due and what is to be acknowledged, and decides what the caller does next.
func (c *call) tick(ctx context.Context, at time.Duration) {
	for _, ack := range c.ear.tick(at) {
		c.send(ack)
	}
	if !c.ear.idle() {
		c.activeAt = at
	}
	if c.mic.echo != nil {
		c.mic.echo.hear(c.ear.player.Heard())
	}
	for c.mic.due() <= at && c.ended == nil && c.phase != phaseHangUp {
		c.sendFrame(ctx)
	}
	if c.phase == phaseHangUp {
		c.mic.frames++ // the clock goes on without sound
	}
	c.decide(at)
}

func (c *call) sendFrame(ctx context.Context) {
	due := c.mic.due()
	frame, loud := c.mic.next()
	if loud {
		c.rec.voice = append(c.rec.voice, stretch{due - audio.FrameDuration, due})
	}
	err := c.client.SendAudio(ctx, frame)
	switch {
	case err == nil:
		c.report.FramesSent++
	case ctx.Err() == nil: // else the loop sees that it is cancelled
		c.unsent(err)
	}
}

// decide moves from phase to phase.
func (c *call) decide(at time.Duration) {
	switch {
	case c.phase == phaseHangUp:
		c.leave(at)
	case at >= c.cfg.Max:
		c.note("the call was hung up after %v", c.cfg.Max)
		c.hangUp(at)
	case c.phase == phaseListen && c.greeted(at):
		c.speak(at)
	case (c.phase == phaseSpeak || c.phase == phaseInterrupt) && c.mic.quiet():
		c.phase, c.since, c.silentAt = phaseAwait, at, at
	case c.phase == phaseAwait && c.interrupts():
		c.phase, c.since = phaseInterrupt, at
		c.mic.speak(c.over)
		c.over = nil
	case c.phase == phaseAwait && c.done(at):
		c.hangUp(at)
	}
}

func (c *call) speak(at time.Duration) {
	c.phase, c.since, c.spokeAt = phaseSpeak, at, at
	c.mic.speak(c.in)
}

// greeted reports whether the greeting is over, or does not come.
func (c *call) greeted(at time.Duration) bool {
	switch {
	case !c.mayBegin(at):
		return false
	case len(c.rec.turns) == 0:
		return !c.report.Ready.Greeting || at >= c.cfg.Patience
	}
	return !c.replyOpen && c.ear.idle() && at-c.activeAt >= afterGreeting
}

// interrupts reports whether it is time to speak over the reply.
func (c *call) interrupts() bool {
	if len(c.over) == 0 || !c.replyOpen {
		return false
	}
	t := c.rec.turns[len(c.rec.turns)-1]
	heard := time.Duration(c.ear.player.PlayedMS(t.generation)) * time.Millisecond
	return t.started > c.spokeAt && heard > 0 && heard >= c.cfg.BargeIn.After
}

// done reports whether the conversation is over: what was said was answered, or will not be, and it is quiet.
func (c *call) done(at time.Duration) bool {
	said := c.silentAt
	if n := len(c.rec.voice); n > 0 {
		said = c.rec.voice[n-1].to
	}
	n := len(c.rec.turns)
	answered := n > 0 && max(c.rec.turns[n-1].started, c.rec.turns[n-1].resumed) >= said
	quiet := at-max(c.activeAt, c.silentAt) >= c.cfg.Quiet
	return !c.replyOpen && quiet && (answered || len(c.in) == 0 || at-said >= c.cfg.Patience)
}

// hangUp says bye; the gateway's bye ends the call.
func (c *call) hangUp(at time.Duration) {
	c.phase, c.since = phaseHangUp, at
	c.send(transport.Event{Kind: transport.EventBye})
}

// leave ends the call when the gateway does not.
func (c *call) leave(at time.Duration) {
	switch {
	case at-c.since <= byeTimeout:
	case c.broken != nil:
		c.lost(c.broken)
	default:
		c.ended = &transport.Ended{Reason: transport.ReasonCallerHungUp, Message: "The gateway did not answer the bye."}
	}
}

// finish measures what was recorded.
func (c *call) finish() Report {
	c.ear.player.Advance(c.now())
	r := &c.report
	if r.Closed == "" { // no bye came
		r.Closed, r.Reason = c.ended.Reason.String(), c.ended.Reason
		r.Message = transport.OneLine(c.ended.Message, WordsLenMax)
	}
	c.rec.rateHz, c.rec.heard, c.rec.spans = c.ear.rateHz, c.ear.player.Heard(), c.ear.player.Spans()
	r.FirstAudioMS, r.BargeInSilenceMS = c.rec.firstAudio(), c.rec.bargeInSilence()
	r.FramesCleared, r.Consent = c.ear.cleared, c.consent.String()
	r.Heard = audio.PCM{RateHz: c.ear.rateHz, Samples: slices.Clone(c.rec.heard)}
	r.Spans = slices.Clone(c.rec.spans)
	r.Came.RateHz = c.ear.rateHz
	return *r
}

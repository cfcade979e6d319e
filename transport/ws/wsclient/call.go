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
	afterGreeting = 300 * time.Millisecond // the pause before the caller speaks
	byeTimeout    = 2 * time.Second        // for the gateway's answer to bye
	inboxMax      = 8                      // messages between the reader and the loop
)

// Call makes one call and returns when it has ended: the caller has spoken, the reply has ended and
// nothing was audible for Quiet, or Max was reached, or the gateway ended the call. An end by the
// gateway is not an error; Report.Reason names it. When the gateway cannot be reached or refuses
// the call there is no report. When ctx is done Call hangs up and returns the report with the
// context's error.
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

// call is a call in progress. Its loop owns everything; the reader owns only the messages outside
// the inbox.
type call struct {
	cfg     Config
	client  *ws.Client
	start   time.Time // time 0 of caller input and of playout
	mic     *microphone
	playout *playout
	rec     record
	report  Report
	kept    kept

	in, over  []int16       // the caller's speech, at the input rate
	phase     phase         // of the caller
	since     time.Duration // when the phase began
	spokeAt   time.Duration // when the caller began to say In
	silentAt  time.Duration // when the caller finished speaking
	activeAt  time.Duration // when something was last audible, or a turn last changed
	replyOpen bool          // a turn has begun and not ended
	consent   consent
	broken    error // nothing more can be sent; the reader may still learn the reason
	ended     *transport.Ended
}

// phase is the phase of the simulated caller.
type phase uint8

const (
	phaseListen    phase = iota // to the greeting
	phaseSpeak                  // say In
	phaseAwait                  // the end of the reply, perhaps to speak over it
	phaseInterrupt              // speaking over the reply
	phaseHangUp                 // bye was sent
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

// open prepares playout and recording for the gateway's audio.
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
	c.playout = newPlayout(r.OutputRateHz)
	var err error
	c.mic.echo, err = newEcho(c.cfg.Echo, r.OutputRateHz, r.InputRateHz)
	if !r.Greeting || c.cfg.SpeakAtOnce {
		c.speak(0)
	}
	return err
}

// inbound is a received message, or the error after the last one.
type inbound struct {
	m   *transport.Message
	err error
}

// run is the loop. It starts the reader, and ends it by closing the connection.
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

// read passes on messages until the connection ends.
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
		inbox <- inbound{m: m} // there are fewer messages than places, so this never blocks
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

// unsent notes a failed send, and gives the reader time to learn the reason.
func (c *call) unsent(err error) {
	if err != nil && c.broken == nil {
		c.broken, c.phase, c.since = err, phaseHangUp, c.now()
	}
}

// take handles a message.
func (c *call) take(at time.Duration, m *transport.Message) {
	if m.Kind == transport.MessageAudio {
		c.report.FramesReceived++
		if !c.kept.sound(len(m.PCM)) {
			c.overrun()
			return
		}
		c.playout.push(at, m.Generation, m.PCM)
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
		c.send(c.playout.clear(at, m.Generation))
	case transport.MessageMark:
		c.playout.mark(at, m.Generation, m.ID)
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

// tick sends the due frames and acknowledgements, and decides what the caller does next.
func (c *call) tick(ctx context.Context, at time.Duration) {
	for _, ack := range c.playout.tick(at) {
		c.send(ack)
	}
	if !c.playout.idle() {
		c.activeAt = at
	}
	if c.mic.echo != nil {
		c.mic.echo.hear(c.playout.player.Heard())
	}
	for c.mic.due() <= at && c.ended == nil && c.phase != phaseHangUp {
		c.sendFrame(ctx)
	}
	if c.phase == phaseHangUp {
		c.mic.frames++ // the clock goes on without audio
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
	case ctx.Err() == nil: // else the loop sees the cancellation
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
		c.talk(false)
	case c.phase == phaseAwait && c.interrupts():
		c.phase, c.since = phaseInterrupt, at
		c.talk(true)
		c.mic.speak(c.over)
		c.over = nil
	case c.phase == phaseAwait && c.done(at):
		c.hangUp(at)
	}
}

func (c *call) speak(at time.Duration) {
	c.phase, c.since, c.spokeAt = phaseSpeak, at, at
	c.talk(true)
	c.mic.speak(c.in)
}

// talk presses or releases the talk button, if the caller has one.
func (c *call) talk(on bool) {
	if c.report.Ready.Detection == transport.DetectionPush {
		c.send(transport.Event{Kind: transport.EventTalk, On: on})
	}
}

// greeted reports whether the greeting has ended, or does not come.
func (c *call) greeted(at time.Duration) bool {
	switch {
	case !c.mayBegin(at):
		return false
	case len(c.rec.turns) == 0:
		return !c.report.Ready.Greeting || at >= c.cfg.Patience
	}
	return !c.replyOpen && c.playout.idle() && at-c.activeAt >= afterGreeting
}

// interrupts reports whether it is time to speak over the reply.
func (c *call) interrupts() bool {
	if len(c.over) == 0 || !c.replyOpen {
		return false
	}
	t := c.rec.turns[len(c.rec.turns)-1]
	heard := time.Duration(c.playout.player.PlayedMS(t.generation)) * time.Millisecond
	return t.started > c.spokeAt && heard > 0 && heard >= c.cfg.BargeIn.After
}

// done reports whether the conversation has ended: the speech was answered, or will not be, and it
// is quiet.
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

// hangUp sends bye; the gateway's bye ends the call.
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

// finish measures the recording.
func (c *call) finish() Report {
	c.playout.player.Advance(c.now())
	r := &c.report
	if r.Closed == "" { // no bye came
		r.Closed, r.Reason = c.ended.Reason.String(), c.ended.Reason
		r.Message = transport.OneLine(c.ended.Message, WordsLenMax)
	}
	c.rec.rateHz, c.rec.heard, c.rec.spans = c.playout.rateHz, c.playout.player.Heard(), c.playout.player.Spans()
	r.FirstAudioMS, r.BargeInSilenceMS = c.rec.firstAudio(), c.rec.bargeInSilence()
	r.FramesCleared, r.Consent = c.playout.cleared, c.consent.String()
	r.Heard = audio.PCM{RateHz: c.playout.rateHz, Samples: slices.Clone(c.rec.heard)}
	r.Spans = slices.Clone(c.rec.spans)
	r.Came.RateHz = c.playout.rateHz
	return *r
}

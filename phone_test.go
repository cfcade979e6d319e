package voicegw_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/audio/audiotest"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/ws"
)

// phone is one end of a call in a story: it plays what it hears, acknowledges that, and sends a
// frame every 20 ms, of what there is to say or of silence.
type phone struct {
	t      *testing.T
	manner manner
	client *ws.Client
	tap    *tap
	began  time.Time
	tasks  sync.WaitGroup

	mu     sync.Mutex
	news   chan struct{} // closed with the next message
	log    []heard
	next   int // of log, for wait
	player *audio.Player
	gen    uint64 // of the reply that plays
	acked  int64  // ms of it
	voice  []int16
	stuck  bool          // the microphone sends nothing for now
	err    error         // the end
	done   chan struct{} // closed then
	late   chan lateEvent
}

// manner is how a phone differs from a good one.
type manner struct {
	noAcks bool // nothing is acknowledged
	noMic  bool // the microphone sends nothing
	noRead bool // after ready nothing is read
	blind  bool // acknowledges what it may or may not have got

	lag time.Duration // how late acknowledgements arrive, at most a minute's worth
}

// heard is a message and when it came. Its PCM is kept by the player.
type heard struct {
	transport.Message
	at time.Duration
	n  int // samples
}

// try dials.
func (w *world) try(h transport.Hello) (*ws.Client, *tap, error) {
	t := &tap{dial: w.dial}
	c, err := ws.Dial(context.Background(), w.url, h, ws.DialConfig{DialContext: t.connect, ReadyTimeout: patience})
	return c, t, err
}

func asRefused(err error) (*ws.Refused, bool) {
	var r *ws.Refused
	return r, errors.As(err, &r)
}

// call makes a call that lasts until it is hung up, or the test is over.
func (w *world) call(h transport.Hello, m manner) *phone {
	w.t.Helper()
	c, tap, err := w.try(h)
	if err != nil {
		w.t.Fatal(err)
	}
	return w.phone(c, tap, h, m)
}

// phone is the end of a call that stands.
func (w *world) phone(c *ws.Client, tap *tap, h transport.Hello, m manner) *phone {
	p := &phone{t: w.t, manner: m, client: c, tap: tap, began: time.Now(), news: make(chan struct{}),
		done: make(chan struct{}), late: make(chan lateEvent, 1000), player: audio.NewPlayer(h.OutputRateHz)}
	if !m.noRead {
		p.tasks.Go(p.listen)
	}
	p.tasks.Go(func() { p.speak(h.InputRateHz) })
	p.tasks.Go(p.post)
	w.t.Cleanup(p.hangUp)
	return p
}

// hangUp ends the call from this side, if it goes on.
func (p *phone) hangUp() {
	_ = p.client.Close()
	if p.manner.noRead {
		p.lost(errors.New("nobody listened"))
	}
	p.tasks.Wait()
}

func (p *phone) now() time.Duration { return time.Since(p.began) }

// listen receives until the call is over.
func (p *phone) listen() {
	var m transport.Message
	for {
		if err := p.client.Recv(context.Background(), &m); err != nil {
			p.lost(err)
			return
		}
		if ack := p.take(&m); ack != nil {
			p.acknowledge(*ack)
		}
	}
}

// acknowledge sends an acknowledgement, in its time.
func (p *phone) acknowledge(ev transport.Event) {
	if p.manner.lag == 0 {
		_ = p.client.SendEvent(context.Background(), &ev)
		return
	}
	p.late <- lateEvent{ev, p.now() + p.manner.lag}
}

// lateEvent is an event and when it is sent.
type lateEvent struct {
	transport.Event
	at time.Duration
}

// post sends late events until the call is over.
func (p *phone) post() {
	for {
		select {
		case ev := <-p.late:
			time.Sleep(ev.at - p.now())
			_ = p.client.SendEvent(context.Background(), &ev.Event)
		case <-p.done:
			return
		}
	}
}

func (p *phone) lost(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err == nil {
		p.err = err
		close(p.news)
		close(p.done)
	}
}

// take notes a message and returns the answer it wants.
func (p *phone) take(m *transport.Message) (answer *transport.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := p.now()
	switch m.Kind {
	case transport.MessageAudio:
		p.gen = m.Generation
		p.player.Push(at, m.Generation, m.PCM)
	case transport.MessageMark:
		p.player.PushMark(at, m.Generation, m.ID)
	case transport.MessageClear:
		p.player.Clear(at, m.Generation)
		p.acked = p.player.PlayedMS(m.Generation)
		answer = &transport.Event{Kind: transport.EventAck, Generation: m.Generation, PlayedMS: p.acked, Cleared: true}
	}
	h := heard{Message: *m, at: at, n: len(m.PCM)}
	h.PCM, h.Fired, h.Marking = nil, slices.Clone(m.Fired), slices.Clone(m.Marking)
	p.log = append(p.log, h)
	close(p.news)
	p.news = make(chan struct{})
	if p.manner.noAcks {
		return nil
	}
	return answer
}

// speak sends frames in real time until nothing can be sent.
func (p *phone) speak(rateHz int) {
	ticker := time.NewTicker(audio.FrameDuration)
	defer ticker.Stop()
	frame := make([]int16, audio.FrameSamples(rateHz))
	for n := 0; ; n++ {
		<-ticker.C
		p.mu.Lock()
		over := p.err != nil
		clear(frame)
		silent := p.manner.noMic || p.stuck
		if !silent {
			p.voice = p.voice[copy(frame, p.voice):]
		}
		var acks []transport.Event
		if n%5 == 0 && !p.manner.noAcks {
			acks = p.due()
		}
		p.mu.Unlock()
		if over {
			return
		}
		for i := range acks {
			p.acknowledge(acks[i])
		}
		if !silent && p.client.SendAudio(context.Background(), frame) != nil {
			return
		}
	}
}

// due is what is to be acknowledged; mu is held.
func (p *phone) due() (acks []transport.Event) {
	if p.manner.blind {
		return []transport.Event{{Kind: transport.EventAck, Generation: 1, PlayedMS: p.now().Milliseconds() * 10}}
	}
	p.player.Advance(p.now())
	for _, m := range p.player.Reached() {
		acks = append(acks, transport.Event{Kind: transport.EventAck, Generation: m.Generation,
			PlayedMS: p.player.PlayedMS(m.Generation), Mark: m.ID})
	}
	if ms := p.player.PlayedMS(p.gen); ms > 0 {
		acks = append(acks, transport.Event{Kind: transport.EventAck, Generation: p.gen, PlayedMS: ms})
	}
	return acks
}

// say speaks from now on.
func (p *phone) say(pcm []int16) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.voice = slices.Clone(pcm)
}

// stick stops and starts the frames of the microphone.
func (p *phone) stick(on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stuck = on
}

// send sends an event.
func (p *phone) send(ev transport.Event) {
	p.t.Helper()
	if err := p.client.SendEvent(context.Background(), &ev); err != nil {
		p.t.Fatal(err)
	}
}

// wait returns the next message that fits, after those of earlier waits.
func (p *phone) wait(what string, fits func(heard) bool) heard {
	p.t.Helper()
	limit := time.NewTimer(patience)
	defer limit.Stop()
	for {
		h, news, found := p.look(fits)
		switch {
		case found:
			return h
		case news == nil:
			p.t.Fatalf("the call ended before %s: %v\n%s", what, p.err, p.story())
		}
		select {
		case <-news:
		case <-limit.C:
			p.t.Fatalf("never came: %s\n%s", what, p.story())
		}
	}
}

// look searches the log from next on; news is nil when there will be no more.
func (p *phone) look(fits func(heard) bool) (h heard, news chan struct{}, found bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for ; p.next < len(p.log); p.next++ {
		if fits(p.log[p.next]) {
			p.next++
			return p.log[p.next-1], nil, true
		}
	}
	if p.err != nil {
		return heard{}, nil, false
	}
	return heard{}, p.news, false
}

// all is the log so far.
func (p *phone) all() []heard {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.log)
}

// turn waits for a turn to come into a state.
func (p *phone) turn(s transport.State) heard {
	p.t.Helper()
	return p.wait("turn "+string(s), func(h heard) bool { return h.Kind == transport.MessageTurn && h.State == s })
}

// ended waits for the end of a reply, for this reason.
func (p *phone) ended(why transport.TurnEnd) heard {
	p.t.Helper()
	h := p.turn(transport.StateEnd)
	if h.TurnEnd != why {
		p.t.Fatalf("the reply ended by %s, want %s\n%s", h.TurnEnd, why, p.story())
	}
	return h
}

// state waits for a message of a mode.
func (p *phone) state(k transport.MessageKind, s transport.State) heard {
	return p.wait(k.String()+" "+string(s), func(h heard) bool { return h.Kind == k && h.State == s })
}

// kind waits for a message of a kind.
func (p *phone) kind(k transport.MessageKind) heard {
	p.t.Helper()
	return p.wait(k.String(), func(h heard) bool { return h.Kind == k })
}

// played waits until so much of a generation was played.
func (p *phone) played(generation uint64, d time.Duration) {
	p.t.Helper()
	for deadline := time.Now().Add(patience); p.playedMS(generation) < d.Milliseconds(); {
		if time.Now().After(deadline) {
			p.t.Fatalf("never heard %v of generation %d\n%s", d, generation, p.story())
		}
		time.Sleep(audio.FrameDuration)
	}
}

func (p *phone) playedMS(generation uint64) int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.player.Advance(p.now())
	return p.player.PlayedMS(generation)
}

// over waits for the end of the call and wants it to be for this reason, in these words, announced
// as the protocol says, and with its close code.
func (p *phone) over(reason transport.Reason, words string) {
	p.t.Helper()
	select {
	case <-p.done:
	case <-time.After(patience):
		p.t.Fatalf("the call never ended\n%s", p.story())
	}
	p.mu.Lock()
	last := slices.Clone(p.log[max(0, len(p.log)-2):])
	p.mu.Unlock()
	n := len(last)
	if n == 0 || last[n-1].Kind != transport.MessageBye {
		p.t.Fatalf("the call ended without a bye: %v\n%s", p.err, p.story())
	}
	bye := last[n-1]
	if bye.Reason != reason || !strings.Contains(bye.Text, words) {
		p.t.Errorf("the call ended by %s (%s), want %s in the words %q", bye.Code, bye.Text, reason, words)
	}
	if failed := n == 2 && last[0].Kind == transport.MessageError && last[0].Fatal && last[0].Code == bye.Code &&
		last[0].Text == bye.Text; failed != reason.Failure() {
		p.t.Errorf("a fatal error before the bye: %v, want %v\n%s", failed, reason.Failure(), p.story())
	}
	if code := p.tap.closeCode(); code != reason.Code() {
		p.t.Errorf("close code %d, want %d", code, reason.Code())
	}
}

// sound is what was audible of a generation.
func (p *phone) sound(generation uint64) (pcm []int16) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.player.Advance(p.now())
	for _, s := range p.player.Spans() {
		if s.Generation == generation {
			pcm = append(pcm, p.player.Heard()[s.From:s.To]...)
		}
	}
	return pcm
}

// hears wants a generation to have sounded like ref, whole and without a hole.
func (p *phone) hears(generation uint64, ref []int16) {
	p.t.Helper()
	got := p.sound(generation)
	lag, corr := audiotest.Align(ref, got)
	holes := audiotest.Holes(ref, audiotest.Shift(got, lag, len(ref)), 24000)
	if corr < 0.98 || holes > 0 {
		p.t.Errorf("generation %d sounded like it should by %.3f, with %d holes; %d samples for %d\n%s", generation, corr,
			holes, len(got), len(ref), p.story())
	}
}

// story is the log without audio, for failures.
func (p *phone) story() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var b strings.Builder
	frames := 0
	for _, h := range p.log {
		switch h.Kind {
		case transport.MessageAudio:
			frames++
			continue
		case transport.MessageNet, transport.MessageNetGraph:
			continue
		}
		if frames > 0 {
			b.WriteString(line("   ", frames, "frames"))
			frames = 0
		}
		b.WriteString(line(h.at.Round(time.Millisecond), h.Kind, h.State, h.TurnEnd, h.Generation, h.Code, h.Text))
	}
	b.WriteString(line("   ", frames, "frames"))
	return b.String()
}

// utters says something to its end.
func (p *phone) utters(name string) {
	said := speech(name, 16000)
	p.say(said)
	time.Sleep(time.Duration(len(said)) * time.Second / 16000)
}

// answered says something and wants a reply that is heard within the time, counted from the end of
// what was said.
func (p *phone) answered(name string, within time.Duration) heard {
	p.t.Helper()
	p.utters(name)
	spoken := p.now()
	h := p.turn(transport.StateStart)
	if h.at-spoken > within {
		p.t.Errorf("%q was answered after %v, want %v\n%s", name, h.at-spoken, within, p.story())
	}
	return h
}

//go:build !race

package voicegw_test

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/voicegw/voicegw/transport"
)

// simLine is the peer of a simulated call: the gateway's end of a line without a wire. It is a transport.Peer.
type simLine struct {
	plan   *simCallPlan
	began  time.Time
	events chan *transport.Event // what was sent and not read
	broken chan struct{}         // closed when the far end is gone
	closed chan struct{}         // closed when the gateway closed

	taken int // frames that were read, of who reads

	mu      sync.Mutex
	ear     simEar
	player  simPlayer
	stalled bool
	gone    error // of broken
	reason  transport.Reason
	over    time.Duration // when it was closed
}

// simLineMax is the most that a far end may be ahead of who reads it.
const simLineMax = 4096

// simWriteTimeout is how long a line waits for a far end that takes nothing.
const simWriteTimeout = 5 * time.Second

func newSimLine(p *simCallPlan) *simLine {
	l := &simLine{plan: p, began: time.Now(), events: make(chan *transport.Event, simLineMax), broken: make(chan struct{}),
		closed: make(chan struct{})}
	l.ear.budget, l.ear.strict, l.ear.samples = p.budget, p.sound, p.hello.OutputRateHz/50
	l.ear.tagged = p.hello.OutputRateHz == 24000
	l.player = simPlayer{rate: p.manner.drift, received: map[uint64]time.Duration{},
		heard: map[uint64]time.Duration{}}
	return l
}

func (l *simLine) now() time.Duration { return time.Since(l.began) }

func (l *simLine) Hello() transport.Hello { return l.plan.hello }

func (l *simLine) Ready(context.Context, transport.Ready) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ear.ready(l.now())
	return nil
}

func (l *simLine) Recv(ctx context.Context, ev *transport.Event) error {
	ev.Reset()
	select {
	case <-l.closed:
		return &transport.Ended{Reason: l.reason, Message: "closed by the gateway"}
	case <-ctx.Done():
		return ctx.Err()
	case <-l.broken:
		return l.gone
	case got := <-l.events:
		l.taken += len(got.PCM) * 50 / l.plan.hello.InputRateHz
		pcm := append(ev.PCM, got.PCM...)
		*ev = *got
		ev.PCM = pcm
		return nil
	}
}

// isClosed is an error once the gateway closed: then nothing is heard any more. l.mu is held.
func (l *simLine) isClosed() error {
	if l.reason == transport.ReasonNone {
		return nil
	}
	return &transport.Ended{Reason: l.reason, Message: "closed by the gateway"}
}

// late wants nothing to be said behind the close, unless the far end was too slow, or gone. l.mu is held.
func (l *simLine) late(what string) {
	if !l.stalled && l.reason != transport.ReasonPeerStalled && l.reason != transport.ReasonPeerLost {
		l.ear.wrong(l.now(), "%s came after the close", what)
	}
}

// takes waits as long as the far end takes nothing.
func (l *simLine) takes(ctx context.Context) error {
	l.mu.Lock()
	stalled := l.stalled
	l.mu.Unlock()
	if !stalled {
		return nil
	}
	select {
	case <-time.After(simWriteTimeout):
		return transport.ErrStalled
	case <-l.closed:
		return &transport.Ended{Reason: l.reason, Message: "closed by the gateway"}
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (l *simLine) SendAudio(ctx context.Context, generation uint64, pcm []int16) error {
	if err := l.takes(ctx); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.isClosed(); err != nil {
		l.late("audio")
		return err
	}
	l.ear.audio(l.now(), generation, pcm)
	l.player.push(l.now(), generation)
	return nil
}

func (l *simLine) Send(ctx context.Context, m *transport.Message) error {
	if err := l.takes(ctx); err != nil {
		return err
	}
	l.mu.Lock()
	if err := l.isClosed(); err != nil {
		l.late(m.Kind.String())
		l.mu.Unlock()
		return err
	}
	l.ear.message(l.now(), m)
	var answer *transport.Event
	switch {
	case m.Kind == transport.MessageClear:
		ms, dropped := l.player.clear(l.now(), m.Generation)
		answer = &transport.Event{Kind: transport.EventAck, Generation: m.Generation, Cleared: true, PlayedMS: ms}
		if l.plan.manner.acks == acksWell {
			l.ear.drops(int(dropped * 24 / time.Millisecond))
		}
	case m.Kind == transport.MessageToolCall && l.plan.manner.answers:
		answer = &transport.Event{Kind: transport.EventToolResult, ID: m.ID, Text: `"noon"`}
	}
	l.mu.Unlock()
	if answer != nil && (answer.Kind != transport.EventAck || l.plan.manner.acks == acksWell) {
		l.send(answer)
	}
	if m.Kind == transport.MessageToolCall && !json.Valid([]byte(m.Text)) {
		l.wrong("the arguments of a tool are no JSON: %q", m.Text)
	}
	return nil
}

func (l *simLine) Close(reason transport.Reason, _ string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.reason == transport.ReasonNone {
		l.reason, l.over = reason, l.now()
		close(l.closed)
	}
	return nil
}

// send sends an event of the far end. What does not fit any more is lost, as on a broken line.
func (l *simLine) send(ev *transport.Event) {
	select {
	case l.events <- ev:
	default:
	}
}

// breaks ends the line from the far end.
func (l *simLine) breaks(reason transport.Reason) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.gone == nil {
		l.gone = &transport.Ended{Reason: reason, Message: "so it was"}
		close(l.broken)
	}
}

// isOver reports whether the gateway closed the line.
func (l *simLine) isOver() bool {
	select {
	case <-l.closed:
		return true
	default:
		return false
	}
}

// wrong notes something that must not happen.
func (l *simLine) wrong(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ear.wrong(l.now(), format, args...)
}

// simPlayer plays what comes, and knows how much of it was played.
type simPlayer struct {
	rate     float64 // how fast its clock runs
	until    time.Duration
	current  uint64 // the generation of what came last
	received map[uint64]time.Duration
	heard    map[uint64]time.Duration
}

// simPrebuffer is what a player waits for before it begins.
const simPrebuffer = 40 * time.Millisecond

func (p *simPlayer) push(now time.Duration, generation uint64) {
	if p.until < now {
		p.until = now + simPrebuffer
	}
	p.until += time.Duration(float64(20*time.Millisecond) / p.rate)
	p.received[generation] += 20 * time.Millisecond
	p.current = generation
}

// played is how much of the current generation was heard, in ms.
func (p *simPlayer) played(now time.Duration) int64 {
	waits := time.Duration(float64(max(0, p.until-now)) * p.rate)
	p.heard[p.current] = max(p.heard[p.current], p.received[p.current]-waits) // a prebuffer is no sound
	return p.heard[p.current].Milliseconds()
}

// clear drops what was not played and tells how much was, and was not.
func (p *simPlayer) clear(now time.Duration, generation uint64) (ms int64, dropped time.Duration) {
	if generation != p.current {
		return 0, 0
	}
	ms = p.played(now)
	dropped = p.received[p.current] - time.Duration(ms)*time.Millisecond
	p.received[p.current] = time.Duration(ms) * time.Millisecond
	p.until = now
	return ms, dropped
}

// acks are the acknowledgements of a moment, as the manner has them.
func (l *simLine) acks(c chance) []*transport.Event {
	l.mu.Lock()
	defer l.mu.Unlock()
	ack := transport.Event{Kind: transport.EventAck, Generation: l.player.current, PlayedMS: l.player.played(l.now())}
	switch {
	case l.plan.manner.acks == acksNothing || ack.Generation == 0:
		return nil
	case l.plan.manner.acks == acksLies && c.oneIn(3):
		ack.Generation = max(0, ack.Generation+uint64(c.IntN(4))-1)
		ack.PlayedMS += int64(c.IntN(5000))
		ack.Cleared = c.oneIn(4)
	}
	out := []*transport.Event{&ack}
	marks := l.ear.marks
	l.ear.marks = nil
	for _, m := range slices.Backward(marks) {
		reached := ack
		reached.Cleared, reached.Mark = false, m
		out = append(out, &reached)
	}
	return out
}

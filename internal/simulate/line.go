package simulate

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/voicegw/voicegw/transport"
)

// line is the peer of a call: the gateway's end of a line without a wire, and the far end's judges.
// It is a transport.Peer.
type line struct {
	plan   *callPlan
	began  time.Time
	events chan *transport.Event // sent and not read
	broken chan struct{}         // closed when the far end is gone
	closed chan struct{}         // closed when the gateway closed

	framesRead int // of the caller's; the goroutine that reads owns it

	mu      sync.Mutex
	story   story
	replies replyJudge
	speech  speechJudge
	modes   modeJudge
	player  player
	arrived arrivals
	marks   []string           // not acknowledged
	answers []time.Duration    // when a reply started, or the peer heard that there is none
	readyAt time.Duration      // when the call was up
	sounded time.Duration      // when audio came last
	came    time.Duration      // when anything but a transcript came last
	noticed time.Duration      // when a notice of the caller's speech came last
	stalled bool               // the far end takes nothing
	away    bool               // the far end has no connection
	later   []*transport.Event // what it sends when it has one again
	gone    error              // why the far end is gone
	reason  transport.Reason
	over    time.Duration // when the gateway closed
}

// lineEventsMax is the most that a far end may send and the gateway has not read.
const lineEventsMax = 4096

// writeTimeout is how long a line waits for a far end that takes nothing.
const writeTimeout = 5 * time.Second

func newLine(p *callPlan) *line {
	l := &line{plan: p, began: time.Now(), events: make(chan *transport.Event, lineEventsMax),
		broken: make(chan struct{}), closed: make(chan struct{})}
	l.replies.story = &l.story
	l.modes = modeJudge{story: &l.story, last: map[transport.MessageKind]transport.State{}}
	l.speech = speechJudge{story: &l.story, frameSamples: p.hello.OutputRateHz / 50, budgetFrames: p.budget,
		strict: p.sound, positioned: p.hello.OutputRateHz == modelRateHz}
	l.player = player{rate: p.peer.drift, received: map[uint64]time.Duration{}, heard: map[uint64]time.Duration{}}
	return l
}

func (l *line) now() time.Duration { return time.Since(l.began) }

// Hello implements transport.Peer.
func (l *line) Hello() transport.Hello { return l.plan.hello }

// Ready implements transport.Peer.
func (l *line) Ready(context.Context, transport.Ready) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.readyAt = l.now()
	l.replies.begin(l.readyAt)
	return nil
}

// Recv implements transport.Peer.
func (l *line) Recv(ctx context.Context, ev *transport.Event) error {
	ev.Reset()
	select {
	case <-l.closed:
		return &transport.Ended{Reason: l.reason, Message: "closed by the gateway"}
	case <-ctx.Done():
		return ctx.Err()
	case <-l.broken:
		return l.gone
	case got := <-l.events:
		l.framesRead += len(got.PCM) * 50 / l.plan.hello.InputRateHz
		pcm := append(ev.PCM, got.PCM...)
		*ev = *got
		ev.PCM = pcm
		return nil
	}
}

// SendAudio implements transport.Peer.
func (l *line) SendAudio(ctx context.Context, generation uint64, pcm []int16) error {
	if err := l.wait(ctx); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.checkOpen("audio"); err != nil {
		return err
	}
	l.arrived.frames++
	if l.away { // as transport/resume does
		return nil
	}
	now := l.now()
	l.replies.audio(now, generation)
	l.speech.audio(now, pcm)
	l.story.frame(now)
	l.came, l.sounded = now, now
	l.player.push(now, generation)
	return nil
}

// Send implements transport.Peer.
func (l *line) Send(ctx context.Context, m *transport.Message) error {
	if err := l.wait(ctx); err != nil {
		return err
	}
	answer, err := l.take(m)
	if err != nil {
		return err
	}
	if answer != nil {
		l.send(answer)
	}
	if m.Kind == transport.MessageToolCall && !json.Valid([]byte(m.Text)) {
		l.violation("the arguments of a tool are no JSON: %q", m.Text)
	}
	return nil
}

// take gives a message to the judges and returns the far end's answer, if any.
func (l *line) take(m *transport.Message) (answer *transport.Event, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.checkOpen(m.Kind.String()); err != nil {
		return nil, err
	}
	l.judge(l.now(), m)
	switch m.Kind {
	case transport.MessageClear:
		ms, dropped := l.player.clear(l.now(), m.Generation)
		if l.plan.peer.acks == acksWell {
			l.speech.drop(int(dropped * modelRateHz / time.Second))
			answer = &transport.Event{Kind: transport.EventAck, Generation: m.Generation, Cleared: true, PlayedMS: ms}
		}
	case transport.MessageToolCall:
		if l.plan.peer.answers {
			answer = &transport.Event{Kind: transport.EventToolResult, ID: m.ID, Text: `"noon"`}
		}
	}
	return answer, nil
}

// judge gives a message to the judges; l.mu is held.
func (l *line) judge(at time.Duration, m *transport.Message) {
	l.story.note(at, "<- %s", strings.Join(strings.Fields(fmt.Sprint(m.Kind, " ", m.State, " ", m.TurnEnd, " ",
		m.Generation, " ", m.ID, " ", m.Code, " ", m.Name)), " "))
	if !l.replies.ready && m.Kind != transport.MessageTranscript {
		l.story.violation(at, "%s before ready", m.Kind)
	}
	l.arrived.note(m)
	switch m.Kind {
	case transport.MessageTurn:
		l.judgeTurn(at, m)
	case transport.MessageClear:
		l.replies.uncleared, l.speech.cleared = false, true
	case transport.MessageMark:
		l.replies.mark(at, m)
		l.marks = append(l.marks, m.ID)
	case transport.MessageError:
		if m.Code == "no_reply" {
			l.answers = append(l.answers, at)
		}
	case transport.MessageSpeech:
		l.noticed = at
		l.modes.mode(at, m)
	case transport.MessageHold, transport.MessageProtected, transport.MessageModel:
		l.modes.mode(at, m)
	}
	if m.Kind != transport.MessageTranscript {
		l.came = at
	}
}

func (l *line) judgeTurn(at time.Duration, m *transport.Message) {
	complete := l.replies.turn(at, m)
	if m.State == transport.StateStart {
		l.speech.begin()
		l.answers = append(l.answers, at)
	}
	if complete {
		l.speech.complete(at)
	}
}

// Close implements transport.Peer.
func (l *line) Close(reason transport.Reason, _ string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.reason == transport.ReasonNone {
		l.reason, l.over = reason, l.now()
		close(l.closed)
	}
	return nil
}

// checkOpen is an error once the gateway closed. Then it sends nothing more, unless the far end was
// too slow, or gone. l.mu is held.
func (l *line) checkOpen(what string) error {
	if l.reason == transport.ReasonNone {
		return nil
	}
	if !l.stalled && l.reason != transport.ReasonPeerStalled && l.reason != transport.ReasonPeerLost {
		l.story.violation(l.now(), "%s came after the close", what)
	}
	return &transport.Ended{Reason: l.reason, Message: "closed by the gateway"}
}

// wait waits while the far end takes nothing.
func (l *line) wait(ctx context.Context) error {
	l.mu.Lock()
	stalled := l.stalled
	l.mu.Unlock()
	if !stalled {
		return nil
	}
	select {
	case <-time.After(writeTimeout):
		return transport.ErrStalled
	case <-l.closed:
		return &transport.Ended{Reason: l.reason, Message: "closed by the gateway"}
	case <-ctx.Done():
		return ctx.Err()
	}
}

// isAway reports whether the far end has no connection.
func (l *line) isAway() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.away
}

// leave breaks the connection, and drops what was not played. Before ready it does nothing, because
// such a call cannot go on; it reports whether it broke the connection.
func (l *line) leave() bool {
	l.mu.Lock()
	if !l.replies.ready {
		l.mu.Unlock()
		return false
	}
	l.away = true
	l.story.note(l.now(), "the connection breaks")
	_, dropped := l.player.clear(l.now(), l.player.current)
	if l.speech.cleared = true; l.plan.peer.acks == acksWell {
		l.speech.drop(int(dropped * modelRateHz / time.Second))
	}
	l.mu.Unlock()
	l.put(&transport.Event{Kind: transport.EventAway})
	return true
}

// comeBack goes on over another connection.
func (l *line) comeBack() {
	l.mu.Lock()
	l.story.note(l.now(), "another connection goes on")
	back := &transport.Event{Kind: transport.EventBack, Generation: l.player.current,
		PlayedMS: l.player.played(l.now())}
	later := l.later
	l.away, l.later = false, nil
	l.mu.Unlock()
	l.put(back)
	for _, ev := range later {
		l.put(ev)
	}
}

// send sends an event of the far end. While it has no connection, its sound and what it has played
// are lost, and the rest waits.
func (l *line) send(ev *transport.Event) {
	l.mu.Lock()
	away := l.away
	if away && ev.Kind != transport.EventAudio && ev.Kind != transport.EventAck {
		l.later = append(l.later, ev)
	}
	l.mu.Unlock()
	if !away {
		l.put(ev)
	}
}

// put sends an event. What does not fit is lost, as on a broken line.
func (l *line) put(ev *transport.Event) {
	select {
	case l.events <- ev:
	default:
	}
}

// stall makes the far end take nothing any more.
func (l *line) stall() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stalled = true
}

// fail ends the line from the far end.
func (l *line) fail(reason transport.Reason) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.gone == nil {
		l.gone = &transport.Ended{Reason: reason, Message: "so it was"}
		close(l.broken)
	}
}

// isOver reports whether the gateway closed the line.
func (l *line) isOver() bool {
	select {
	case <-l.closed:
		return true
	default:
		return false
	}
}

// quietFor is for how long the far end has heard nothing.
func (l *line) quietFor() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.now() - max(l.came, l.player.until)
}

// note adds a line to the story of the call.
func (l *line) note(format string, args ...any) { l.require(true, format, args...) }

// violation adds something that must not happen to the story of the call.
func (l *line) violation(format string, args ...any) { l.require(false, format, args...) }

// require notes something that happened, which is a violation unless ok.
func (l *line) require(ok bool, format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if ok {
		l.story.note(l.now(), format, args...)
		return
	}
	l.story.violation(l.now(), format, args...)
}

// withSpeech lets f tell the judge of the model's speech what the model did.
func (l *line) withSpeech(f func(*speechJudge)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f(&l.speech)
}

package voicegw

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/voicenets"
)

// farEnd is a transport.Peer in memory, whose sends a test may hold up.
type farEnd struct {
	hello  transport.Hello
	events chan transport.Event
	onSend func(p *farEnd, m *transport.Message) error           // may be nil
	onPlay func(p *farEnd, generation uint64, pcm []int16) error // may be nil

	ready  chan struct{} // closed when the call stands
	once   sync.Once
	ended  chan struct{}
	reason transport.Reason
	said   string
}

func newFarEnd() *farEnd {
	return &farEnd{hello: transport.Hello{InputRateHz: 16000, OutputRateHz: 24000},
		events: make(chan transport.Event), ready: make(chan struct{}), ended: make(chan struct{})}
}

func (p *farEnd) Hello() transport.Hello { return p.hello }

func (p *farEnd) Ready(context.Context, transport.Ready) error { close(p.ready); return nil }

func (p *farEnd) Recv(ctx context.Context, ev *transport.Event) error {
	select {
	case *ev = <-p.events:
		return nil
	case <-p.ended:
		return p.err()
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (p *farEnd) err() error { return &transport.Ended{Reason: p.reason, Message: p.reason.Message()} }

func (p *farEnd) Send(_ context.Context, m *transport.Message) error {
	if p.onSend == nil {
		return nil
	}
	return p.onSend(p, m)
}

func (p *farEnd) SendAudio(_ context.Context, generation uint64, pcm []int16) error {
	if p.onPlay == nil {
		return nil
	}
	return p.onPlay(p, generation, pcm)
}

func (p *farEnd) Close(r transport.Reason, message string) error {
	p.once.Do(func() { p.reason, p.said = r, message; close(p.ended) })
	return nil
}

// bye is the event with which the far end hangs up.
func bye() transport.Event { return transport.Event{Kind: transport.EventBye} }

// mind is a live.Conn in memory, and its own dialer.
type mind struct {
	down   chan live.ServerMessage
	onHear func(pcm []int16) // may be nil
	sent   atomic.Int64      // messages besides audio

	once   sync.Once
	closed chan struct{}
}

func newMind() *mind { return &mind{down: make(chan live.ServerMessage), closed: make(chan struct{})} }

func (m *mind) Dial(context.Context, live.Setup) (live.Conn, error) { return m, nil }

func (m *mind) Send(context.Context, live.ClientMessage) error { m.sent.Add(1); return nil }

func (m *mind) SendAudio(_ context.Context, pcm []int16) error {
	if m.onHear != nil {
		m.onHear(pcm)
	}
	return nil
}

func (m *mind) Recv(ctx context.Context, to *live.ServerMessage) error {
	select {
	case *to = <-m.down:
		return nil
	case <-m.closed:
		return &live.CloseError{Code: 1000, Class: live.ClassEnded}
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (m *mind) Close(int, string) error {
	m.once.Do(func() { close(m.closed) })
	return nil
}

// run runs a call of p with m in a gateway of its own; the function it returns waits for its end.
func run(t testing.TB, cfg Config, p *farEnd, m *mind) (wait func() error) {
	t.Helper()
	cfg.Dialer = m
	g, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return runOn(g, p)
}

func runOn(g *Gateway, p *farEnd) (wait func() error) {
	ended := make(chan error, 1)
	go func() { ended <- g.Call(context.Background(), p) }()
	return func() error { return <-ended }
}

// TestLastWords writes everything that is queued before the peer is closed.
func TestLastWords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, m := newFarEnd(), newMind()
		var got []string
		p.onSend = func(p *farEnd, m *transport.Message) error {
			time.Sleep(50 * time.Millisecond)
			select {
			case <-p.ended:
				t.Errorf("%q was written behind the end", m.Text)
			default:
			}
			got = append(got, m.Text)
			return nil
		}
		wait := run(t, Config{}, p, m)
		want := []string{"a", "b", "c", "d", "e", "f", "g", "h"}
		for _, text := range want {
			m.down <- live.ServerMessage{Kind: live.ServerModelTranscript, Text: text}
		}
		synctest.Wait() // all are in the queue
		p.events <- bye()
		if err := wait(); err != nil || p.reason != transport.ReasonCallerHungUp {
			t.Errorf("the call ended by %v, %s", err, p.reason)
		}
		if !slices.Equal(got, want) {
			t.Errorf("written were %q, want %q", got, want)
		}
	})
}

// TestLastWordsAreBounded: the end of a call waits two seconds for a peer that takes nothing. The
// context of a running function ends at once.
func TestLastWordsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, m := newFarEnd(), newMind()
		p.onSend = func(p *farEnd, _ *transport.Message) error { <-p.ended; return p.err() }
		var told time.Time
		waits := func(ctx context.Context, _ json.RawMessage) (json.RawMessage, error) {
			<-ctx.Done()
			told = time.Now()
			return nil, ctx.Err()
		}
		tool := Tool{Name: "wait", Description: "waits", Call: waits}
		wait := run(t, Config{Tools: []Tool{tool}}, p, m)
		m.down <- live.ServerMessage{Kind: live.ServerModelTranscript, Text: "a"}
		m.down <- live.ServerMessage{Kind: live.ServerToolCall, Call: live.ToolCall{ID: "1", Name: tool.Name}}
		synctest.Wait()
		began := time.Now()
		p.events <- bye()
		if err := wait(); err != nil || p.reason != transport.ReasonCallerHungUp {
			t.Errorf("the call ended by %v, %s", err, p.reason)
		}
		if took := time.Since(began); took != closeWait {
			t.Errorf("after %v", took)
		}
		if !told.Equal(began) {
			t.Errorf("the function heard of the end after %v", told.Sub(began))
		}
	})
}

// TestDownlinkIsBounded ends the call when too much waits to be written.
func TestDownlinkIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, m := newFarEnd(), newMind()
		p.onSend = func(p *farEnd, _ *transport.Message) error { <-p.ended; return p.err() }
		wait := run(t, Config{}, p, m)
		for n := 0; ; n++ {
			if n > 10*peerQueueMax {
				t.Fatal("there is no limit")
			}
			select {
			case m.down <- live.ServerMessage{Kind: live.ServerModelTranscript, Text: "a"}:
				synctest.Wait() // so that the call can end as soon as it would
				continue
			case <-p.ended:
			}
			break
		}
		if err := wait(); !errors.Is(err, transport.ErrStalled) || p.reason != transport.ReasonPeerStalled {
			t.Errorf("the call ended by %v, %s", err, p.reason)
		}
	})
}

// TestAsksFasterThanItReads holds up a peer that asks for more answers than it takes; it is not
// stalled.
func TestAsksFasterThanItReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, m := newFarEnd(), newMind()
		answers := 0
		p.onSend = func(*farEnd, *transport.Message) error {
			time.Sleep(time.Millisecond)
			answers++
			return nil
		}
		wait := run(t, Config{}, p, m)
		for range 4 * peerQueueMax {
			p.events <- transport.Event{Kind: transport.EventToolResult, ID: "t-1", Text: "1"}
		}
		time.Sleep(closeWait)
		p.events <- bye()
		if err := wait(); err != nil || p.reason != transport.ReasonCallerHungUp || answers != 4*peerQueueMax {
			t.Errorf("the call ended by %v, %s, after %d answers", err, p.reason, answers)
		}
	})
}

// TestModelIsHeldUp leaves the model unread while the net is full of its reply.
func TestModelIsHeldUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, m := newFarEnd(), newMind()
		cfg := Config{}
		cfg.Net.ReplyFramesMax = 100
		wait := run(t, cfg, p, m)
		taken := 0
		for held := false; !held; {
			select { // a quarter of a second of sound
			case m.down <- live.ServerMessage{Kind: live.ServerAudio, RateHz: 24000, PCM: make([]int16, 6000)}:
				taken++
			case <-time.After(time.Second):
				held = true
			}
		}
		if frames := taken * 25 / 2; frames < 100 || frames > 160 {
			t.Errorf("%d frames were taken, want the 100 of the net, the 20 of the budget, and a message", frames)
		}
		p.events <- bye()
		if err := wait(); err != nil {
			t.Error(err)
		}
	})
}

// TestFaultOfOurs ends the call in which an action panicked, and no other.
func TestFaultOfOurs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, err := New(Config{Dialer: newMind()})
		if err != nil {
			t.Fatal(err)
		}
		other := newFarEnd()
		waitOther := runOn(g, other)
		synctest.Wait()
		prog := broken(t)
		g.programs[variant{}] = &program{Program: prog, drops: findDrops(prog)}
		g.cfg.Dialer = newMind()
		p := newFarEnd()
		wait := runOn(g, p)
		synctest.Wait()
		p.events <- transport.Event{Kind: transport.EventMute, On: true}
		if err := wait(); err == nil || !strings.Contains(err.Error(), "boom") || p.reason != transport.ReasonInternal {
			t.Errorf("the call ended by %v, %s", err, p.reason)
		}
		if p.said != "" {
			t.Errorf("the caller was told %q of our fault", p.said)
		}
		other.events <- transport.Event{Kind: transport.EventMute, On: true}
		other.events <- bye()
		if err := waitOther(); err != nil || other.reason != transport.ReasonCallerHungUp {
			t.Errorf("the other call ended by %v, %s", err, other.reason)
		}
	})
}

// broken is a session whose mute panics.
func broken(t *testing.T) *petri.Program {
	t.Helper()
	n, err := voicenets.Session(voicenets.Config{})
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range n.Nets {
		for i := range part.Transitions {
			if part.Transitions[i].Name == "mute" {
				part.Transitions[i].Action = func(*petri.Firing) { panic("boom") }
			}
		}
	}
	p, err := petri.Compile(n)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestEndsWhileItBegins hangs up before the first step of the net.
func TestEndsWhileItBegins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, m := newFarEnd(), newMind()
		wait := run(t, Config{Archive: func(string) (io.WriteCloser, error) {
			go func() { p.events <- bye() }()
			time.Sleep(time.Second)
			return nil, errors.New("no record")
		}}, p, m)
		began := time.Now()
		if err := wait(); err != nil || p.reason != transport.ReasonCallerHungUp || time.Since(began) > time.Minute {
			t.Errorf("the call ended by %v, %s, after %v", err, p.reason, time.Since(began))
		}
	})
}

// patient is a model that notes whether it was given up before it was closed.
type patient struct {
	*mind
	givenUp bool
}

func (m *patient) Dial(context.Context, live.Setup) (live.Conn, error) { return m, nil }

func (m *patient) Recv(ctx context.Context, _ *live.ServerMessage) error {
	select {
	case <-m.closed:
	case <-ctx.Done():
		m.givenUp = true
	}
	return errors.New("over")
}

// TestContextEndsLast closes the model in good order although the caller's context is done: a
// connection that is given up can say no more.
func TestContextEndsLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &patient{mind: newMind()}
		g, err := New(Config{Dialer: m})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if err := g.Call(ctx, newFarEnd()); err != nil || m.givenUp {
			t.Errorf("the call ended by %v; given up: %v", err, m.givenUp)
		}
	})
}

// firstFrame is the first frame the peer hears of what the model says.
func firstFrame(t *testing.T, says ...live.ServerMessage) (first []int16) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p, m := newFarEnd(), newMind()
		p.onPlay = func(_ *farEnd, _ uint64, pcm []int16) error {
			if first == nil {
				first = slices.Clone(pcm)
			}
			return nil
		}
		wait := run(t, Config{Detection: voicenets.ModelVAD}, p, m)
		for _, message := range says {
			m.down <- message
		}
		time.Sleep(time.Second)
		p.events <- bye()
		_ = wait()
	})
	return first
}

// TestPartsOfFrames: what is left of an interrupted reply is forgotten, and the end of a turn hands
// over what is left of its last frame.
func TestPartsOfFrames(t *testing.T) {
	part := live.ServerMessage{Kind: live.ServerAudio, RateHz: 24000, PCM: slices.Repeat([]int16{1}, 100)}
	whole := live.ServerMessage{Kind: live.ServerAudio, RateHz: 24000, PCM: slices.Repeat([]int16{2}, 480)}
	if f := firstFrame(t, part, live.ServerMessage{Kind: live.ServerInterrupted}, whole); !slices.Equal(f, whole.PCM) {
		t.Errorf("behind an interruption came %v", f)
	}
	f := firstFrame(t, part, live.ServerMessage{Kind: live.ServerTurnComplete})
	if len(f) != 480 || f[99] != 1 || f[100] != 0 {
		t.Errorf("at the end of a turn came %v", f)
	}
}

// TestTypedOverReply: what is left of a reply that typed text interrupts is neither a reply of its
// own nor the beginning of the next one.
func TestTypedOverReply(t *testing.T) {
	torn := live.ServerMessage{Kind: live.ServerAudio, RateHz: 24000, PCM: slices.Repeat([]int16{1}, 480*10+100)}
	next := live.ServerMessage{Kind: live.ServerAudio, RateHz: 24000, PCM: slices.Repeat([]int16{2}, 480)}
	for name, end := range map[string][]live.ServerMessage{
		"complete":     {{Kind: live.ServerInterrupted}, {Kind: live.ServerTurnComplete}},
		"not complete": {{Kind: live.ServerInterrupted}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, m := newFarEnd(), newMind()
				var after [][]int16
				p.onPlay = func(_ *farEnd, generation uint64, pcm []int16) error {
					if generation > 1 {
						after = append(after, slices.Clone(pcm))
					}
					return nil
				}
				wait := run(t, Config{}, p, m)
				m.down <- torn
				time.Sleep(100 * time.Millisecond)
				p.events <- transport.Event{Kind: transport.EventText, Text: "and then?"}
				time.Sleep(100 * time.Millisecond)
				for _, message := range append(end, next) {
					m.down <- message
				}
				time.Sleep(time.Second)
				p.events <- bye()
				_ = wait()
				if len(after) != 1 || !slices.Equal(after[0], next.PCM) {
					t.Errorf("after the text %d frames were heard, which begin with %v", len(after), after)
				}
			})
		})
	}
}

// TestPresumedOnce: what counts as played without an acknowledgement returns no budget when the
// acknowledgement comes after all.
func TestPresumedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, m := newFarEnd(), newMind()
		var frames atomic.Int64
		p.onPlay = func(*farEnd, uint64, []int16) error { frames.Add(1); return nil }
		wait := run(t, Config{}, p, m)
		m.down <- live.ServerMessage{Kind: live.ServerAudio, RateHz: 24000, PCM: make([]int16, 480*100)}
		want := func(n int64) {
			t.Helper()
			if synctest.Wait(); frames.Load() != n {
				t.Errorf("%d frames were handed over, want %d", frames.Load(), n)
			}
		}
		want(20)
		time.Sleep(2500 * time.Millisecond)
		want(40)
		p.events <- transport.Event{Kind: transport.EventAck, Generation: 1, PlayedMS: 400}
		want(40)
		p.events <- transport.Event{Kind: transport.EventAck, Generation: 1, PlayedMS: 500}
		want(45)
		p.events <- bye()
		_ = wait()
	})
}

// mumbling is a model to which nothing can be sent.
type mumbling struct{ *mind }

func (m mumbling) Dial(context.Context, live.Setup) (live.Conn, error) { return m, nil }

func (m mumbling) SendAudio(context.Context, []int16) error {
	return &live.CloseError{Code: 1006, Class: live.ClassNetwork}
}

// TestNothingCanBeSent ends the call, although the model is still heard.
func TestNothingCanBeSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, err := New(Config{Dialer: mumbling{newMind()}, Detection: voicenets.ModelVAD})
		if err != nil {
			t.Fatal(err)
		}
		p := newFarEnd()
		wait := runOn(g, p)
		synctest.Wait()
		p.events <- transport.Event{Kind: transport.EventAudio, PCM: make([]int16, 320)}
		if err := wait(); err == nil || p.reason != transport.ReasonModelLost {
			t.Errorf("the call ended by %v, %s in the words %q", err, p.reason, p.said)
		}
	})
}

// TestClearIsNoted: the ack tracker learns of a clear, by the generation on the wire.
func TestClearIsNoted(t *testing.T) {
	g, err := New(Config{Dialer: newMind()})
	if err != nil {
		t.Fatal(err)
	}
	p := newFarEnd()
	c := newCall(g, p, p.hello, &Plan{})
	if c.out.input, err = newCallerInput(16000, audio.ActivityConfig{}, c.sinceBegan, nil, nil); err != nil {
		t.Fatal(err)
	}
	c.out.notice(voicenets.Notice{Kind: voicenets.ClearPlayout, Gen: 4})
	if len(c.out.acks.clears) != 1 || c.out.acks.clears[0].generation != 5 {
		t.Errorf("open clears %+v", c.out.acks.clears)
	}
}

// TestPlaces: every variant of the session takes what a call gives it.
func TestPlaces(t *testing.T) {
	g, err := New(Config{Dialer: newMind()})
	if err != nil {
		t.Fatal(err)
	}
	for v, p := range g.programs {
		for _, place := range []petri.AnyPlace{voicenets.SpeechEdge, voicenets.CallerAudio, voicenets.ModelAudio,
			voicenets.ModelSignal, voicenets.Transcript, voicenets.PeerAck, voicenets.PeerMute, voicenets.Over} {
			if i := p.Place(place.String()); i < 0 || !p.Places()[i].Env {
				t.Errorf("%+v: no token can enter at %s", v, place)
			}
		}
	}
}

// TestWords makes sentences.
func TestWords(t *testing.T) {
	for want, err := range map[string]error{
		"The moon is full.": errors.New("the moon is full"),
		"Über.":             errors.New("über."),
		"The model's service failed; try again in a moment.": &live.CloseError{Class: live.ClassBackend},
	} {
		if got := sentence(err); got != want {
			t.Errorf("words are %q, want %q", got, want)
		}
	}
}

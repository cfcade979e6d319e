package voicegw_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/access"
	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/ws"
)

// rover is a far end whose line breaks and that goes on with its call over another one. It plays
// and acknowledges what it hears, and sends a frame every 20 ms.
type rover struct {
	w     *world
	hello transport.Hello
	tasks sync.WaitGroup
	began time.Time

	mu       sync.Mutex
	client   *ws.Client // nil while the line is broken
	tap      *tap
	ready    transport.Ready // the first
	received uint64
	player   *audio.Player
	gen      uint64
	heard    map[uint64][]int16 // what was played of each reply
	log      []transport.Message
	voice    []int16
	sent     int // samples
	over     error
	quit     bool
}

func resumable() transport.Hello {
	h := hello()
	h.Resume.Able = true
	return h
}

// rove begins a call that ends with the test.
func (w *world) rove(h transport.Hello) *rover {
	w.t.Helper()
	r := &rover{w: w, hello: h, began: time.Now(), player: audio.NewPlayer(h.OutputRateHz), heard: map[uint64][]int16{}}
	c, tap, err := w.try(h)
	if err != nil {
		w.t.Fatal(err)
	}
	r.ready = c.Ready()
	if r.ready.Resume.Handle == "" {
		w.t.Fatal("the call cannot be resumed")
	}
	r.use(c, tap)
	r.tasks.Go(r.play)
	w.t.Cleanup(r.hangUp)
	return r
}

// use goes on over a connection.
func (r *rover) use(c *ws.Client, tap *tap) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.client, r.tap = c, tap
	r.tasks.Go(func() {
		for m := (transport.Message{}); ; {
			if err := c.Recv(context.Background(), &m); err != nil {
				r.lost(c, err)
				return
			}
			r.take(c, &m)
		}
	})
}

func (r *rover) lost(c *ws.Client, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.received += c.Received()
	if r.client == c {
		r.client, r.over = nil, err
	}
}

func (r *rover) take(c *ws.Client, m *transport.Message) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.client != c { // the rest of a connection that is over
		return
	}
	switch at := time.Since(r.began); m.Kind {
	case transport.MessageAudio:
		r.gen = m.Generation
		r.player.Push(at, m.Generation, m.PCM)
		r.heard[m.Generation] = append(r.heard[m.Generation], m.PCM...)
	case transport.MessageMark:
		r.player.PushMark(at, m.Generation, m.ID)
	case transport.MessageClear:
		r.clear(m.Generation)
		_ = c.SendEvent(context.Background(), &transport.Event{Kind: transport.EventAck, Generation: m.Generation,
			PlayedMS: r.player.PlayedMS(m.Generation), Cleared: true})
	default:
		kept := *m
		kept.PCM, kept.Fired, kept.Marking = nil, nil, nil
		r.log = append(r.log, kept)
	}
}

// clear drops what was not played; mu is held.
func (r *rover) clear(generation uint64) {
	played := r.player.Clear(time.Since(r.began), generation)
	r.heard[generation] = r.heard[generation][:min(played, len(r.heard[generation]))]
}

// play sends the microphone and acknowledges, in real time, until the call is over.
func (r *rover) play() {
	ticker := time.NewTicker(audio.FrameDuration)
	defer ticker.Stop()
	frame := make([]int16, audio.FrameSamples(r.hello.InputRateHz))
	for n := 0; ; n++ {
		<-ticker.C
		r.mu.Lock()
		c, quit := r.client, r.quit
		clear(frame)
		r.voice = r.voice[copy(frame, r.voice):] // what is said while the line is broken is lost
		var acks []transport.Event
		if r.player.Advance(time.Since(r.began)); n%5 == 0 {
			for _, m := range r.player.Reached() {
				acks = append(acks, transport.Event{Kind: transport.EventAck, Generation: m.Generation,
					PlayedMS: r.player.PlayedMS(m.Generation), Mark: m.ID})
			}
			acks = append(acks, transport.Event{Kind: transport.EventAck, Generation: r.gen, PlayedMS: r.player.PlayedMS(r.gen)})
		}
		r.mu.Unlock()
		if quit {
			return
		}
		if c == nil {
			continue
		}
		for i := range acks {
			if acks[i].Generation > 0 {
				_ = c.SendEvent(context.Background(), &acks[i])
			}
		}
		if c.SendAudio(context.Background(), frame) == nil {
			r.mu.Lock()
			r.sent += len(frame)
			r.mu.Unlock()
		}
	}
}

// cut breaks the line and waits until the far end knows.
func (r *rover) cut() {
	r.w.t.Helper()
	r.mu.Lock()
	tap := r.tap
	r.mu.Unlock()
	tap.cut()
	r.w.eventually("the line is broken", func() bool { return r.connection() == nil })
}

func (r *rover) connection() *ws.Client {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.client
}

// again is the hello that goes on with the call.
func (r *rover) again() transport.Hello {
	r.mu.Lock()
	defer r.mu.Unlock()
	h := r.hello
	if r.client != nil { // the line is not broken: nothing more of it is taken
		r.received += r.client.Received()
		r.client = nil
	}
	r.clear(r.gen)
	h.Resume = transport.Resume{Handle: r.ready.Resume.Handle, Generation: r.gen, PlayedMS: r.player.PlayedMS(r.gen),
		Received: r.received}
	return h
}

// back goes on with the call.
func (r *rover) back() {
	r.w.t.Helper()
	c, tap, err := r.w.try(r.again())
	if err != nil {
		r.w.t.Fatal(err)
	}
	if again := c.Ready(); again.Call != r.ready.Call || again.Resume.Handle != r.ready.Resume.Handle {
		r.w.t.Errorf("the call went on as %+v, was %+v", again, r.ready)
	}
	r.use(c, tap)
}

// count is how many messages of a kind and a state came.
func (r *rover) count(k transport.MessageKind, s transport.State) (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, m := range r.log {
		if m.Kind == k && m.State == s {
			n++
		}
	}
	return n
}

// until waits for the n-th message of a kind and a state.
func (r *rover) until(k transport.MessageKind, s transport.State, n int) {
	r.w.t.Helper()
	r.w.eventually(fmt.Sprint(n, " times ", k, " ", s), func() bool { return r.count(k, s) >= n })
}

// playedMS waits until so much of a reply was played.
func (r *rover) played(generation uint64, d time.Duration) {
	r.w.t.Helper()
	r.w.eventually(fmt.Sprint(d, " of the reply"), func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.player.PlayedMS(generation) >= d.Milliseconds()
	})
}

// said checks that a reply was heard from its beginning to its end, each sample once.
func (r *rover) said(generation uint64, want []int16) {
	r.w.t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	got := r.heard[generation]
	whole := len(got) >= len(want) && len(got)-len(want) < audio.FrameSamples(r.hello.OutputRateHz)
	if !whole || !slices.Equal(got[:len(want)], want) {
		same := 0
		for same < min(len(got), len(want)) && got[same] == want[same] {
			same++
		}
		r.w.t.Errorf("%d samples of the reply were heard, want %d; the first %d are right", len(got), len(want), same)
	}
}

func (r *rover) hangUp() {
	r.mu.Lock()
	c := r.client
	r.quit = true
	r.mu.Unlock()
	if c != nil {
		_ = c.Close()
	}
	r.tasks.Wait()
}

// refusedAgain is how the gateway refuses a hello that would go on with a call.
func (r *rover) refusedAgain(h transport.Hello) {
	r.w.t.Helper()
	if why := r.w.refused(h); why.Reason != transport.ReasonNotResumable ||
		why.Message != transport.ReasonNotResumable.Message() {
		r.w.t.Errorf("refused by %v", why)
	}
}

// TestReplyGoesOn: the line breaks in the middle of a reply, three times, for longer than an
// acknowledgement may take. The whole reply is heard, each sample once.
func TestReplyGoesOn(t *testing.T) {
	t.Parallel()
	greeting := speech("long", 24000)
	p := plan{gw: greets()}
	p.model.Greeting, p.model.GreetingText = greeting, "Hello."
	p.gw.CallsMax = 1
	inBubble(t, p, func(w *world) {
		r := w.rove(resumable())
		for i, away := range []time.Duration{10 * time.Second, 300 * time.Millisecond, 29 * time.Second} {
			r.played(1, time.Duration(i+1)*730*time.Millisecond)
			r.cut()
			time.Sleep(away)
			r.back()
		}
		r.until(transport.MessageTurn, transport.StateEnd, 1)
		r.said(1, greeting)
		if starts := r.count(transport.MessageTurn, transport.StateStart); starts != 1 {
			t.Errorf("%d replies began", starts)
		}
		if a, b := r.count(transport.MessageHold, transport.StateStart), r.count(transport.MessageHold,
			transport.StateStop); a != 3 || b != 3 {
			t.Errorf("the call was put on hold %d times and taken off %d times", a, b)
		}
		if n := len(w.model.Connections()); n != 1 {
			t.Errorf("the model had %d connections", n)
		}
	})
}

// TestSupersedes goes on over another connection while the first is still open: it is closed, and
// the reply is heard once.
func TestSupersedes(t *testing.T) {
	t.Parallel()
	greeting := speech("long", 24000)
	p := plan{gw: greets()}
	p.model.Greeting, p.model.GreetingText = greeting, "Hello."
	inBubble(t, p, func(w *world) {
		r := w.rove(resumable())
		r.played(1, time.Second)
		old := r.tap
		r.back()
		r.until(transport.MessageTurn, transport.StateEnd, 1)
		r.said(1, greeting)
		w.eventually("the old connection is closed by name", func() bool {
			return old.closeCode() == transport.ReasonSuperseded.Code()
		})
	})
}

// TestQuestionGoesOn: the line breaks in the middle of a question. The model gets what was said
// before and after, nothing twice, and answers.
func TestQuestionGoesOn(t *testing.T) {
	t.Parallel()
	inBubble(t, plan{}, func(w *world) {
		r := w.rove(resumable())
		r.mu.Lock()
		r.voice = speech("long", 16000)
		r.mu.Unlock()
		time.Sleep(1500 * time.Millisecond)
		r.cut()
		before := w.heardOf()
		time.Sleep(700 * time.Millisecond)
		if more := w.heardOf() - before; more > 16000/5 {
			t.Errorf("%d samples went to the model while the caller was away", more)
		}
		r.back()
		r.until(transport.MessageTurn, transport.StateEnd, 1)
		if heard := w.heardOf(); heard <= before || heard > int64(r.sent) {
			t.Errorf("the model heard %d samples, %d before the break; %d were sent", heard, before, r.sent)
		}
		if n := len(w.model.Connections()); n != 1 {
			t.Errorf("the model had %d connections", n)
		}
	})
}

// TestNotResumed refuses whoever may not go on with a call, all in the same way; the call goes on
// with its own far end afterwards.
func TestNotResumed(t *testing.T) {
	t.Parallel()
	secret := []byte(strings.Repeat("s", access.SecretLenMin))
	token := func(tenant string) string {
		text, err := access.Mint(secret, access.Claims{ID: tenant, Tenant: tenant, Expiry: time.Now().Add(time.Minute)})
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	guard, err := access.New(access.Config{Secrets: [][]byte{secret}, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	p := plan{gw: voicegw.Config{Guard: func(l transport.Lines) transport.Lines { return access.NewLines(l, guard) }}}
	inBubble(t, p, func(w *world) {
		h := resumable()
		h.Token = token("acme")
		r := w.rove(h)
		r.cut()
		for name, change := range map[string]func(*transport.Hello){
			"another handle":        func(h *transport.Hello) { h.Resume.Handle = strings.Repeat("A", 26) },
			"a part of the handle":  func(h *transport.Hello) { h.Resume.Handle = h.Resume.Handle[:25] },
			"no token":              func(h *transport.Hello) { h.Token = "" },
			"another tenant":        func(h *transport.Hello) { h.Token = token("other") },
			"another token of it":   func(h *transport.Hello) { h.Token += "=" },
			"more than it received": func(h *transport.Hello) { h.Resume.Received += 1000 },
		} {
			h := r.again()
			change(&h)
			t.Log(name)
			r.refusedAgain(h)
		}
		other := r.again()
		other.InputRateHz = 48000
		if why := w.refused(other); why.Reason != transport.ReasonBadHello || !strings.Contains(why.Message, "rates") {
			t.Errorf("another rate was refused by %v", why)
		}
		for range 100 {
			h := r.again()
			h.Token = ""
			r.refusedAgain(h)
		}
		r.back()
		r.mu.Lock()
		r.voice = speech("question", 16000)
		r.mu.Unlock()
		r.until(transport.MessageTurn, transport.StateEnd, 1)
		r.hangUp()
		w.settled()
		r.refusedAgain(r.again())
	})
}

// TestTooLate: a far end that does not come back in time has left, and finds no call.
func TestTooLate(t *testing.T) {
	t.Parallel()
	ends := make(chan voicegw.Record, 1)
	p := plan{gw: voicegw.Config{Hooks: voicegw.Hooks{Ended: func(r voicegw.Record) { ends <- r }}}}
	p.gw.WS.ResumeWithin = 3 * time.Second
	inBubble(t, p, func(w *world) {
		r := w.rove(resumable())
		if got := r.ready.Resume.Within; got != 3*time.Second {
			t.Errorf("the gateway waits %v", got)
		}
		r.cut()
		began := time.Now()
		w.settled()
		if took := time.Since(began); took < 3*time.Second || took > 6*time.Second {
			t.Errorf("the call ended after %v", took)
		}
		if e := <-ends; e.Reason != "peer_lost" {
			t.Errorf("the call ended by %s", e.Reason)
		}
		r.refusedAgain(r.again())
	})
}

// TestTwiceAtOnce: of two connections that go on with a call, one does; the other is closed by name.
func TestTwiceAtOnce(t *testing.T) {
	t.Parallel()
	inBubble(t, plan{}, func(w *world) {
		r := w.rove(resumable())
		r.cut()
		h := r.again()
		errs := make(chan error)
		for range 2 {
			go func() {
				c, _, err := w.try(h)
				if err == nil {
					time.Sleep(time.Second)
					var m transport.Message
					for err == nil {
						ctx, cancel := context.WithTimeout(context.Background(), time.Second)
						err = c.Recv(ctx, &m)
						cancel()
					}
					_ = c.Close()
				}
				errs <- err
			}()
		}
		superseded := 0
		for range 2 {
			err := <-errs
			var refused *ws.Refused
			if transport.ReasonOf(err) == transport.ReasonSuperseded ||
				errors.As(err, &refused) && refused.Reason == transport.ReasonSuperseded {
				superseded++
			}
		}
		if superseded != 1 {
			t.Errorf("%d of two connections were superseded", superseded)
		}
	})
}

// TestHeldWhileAway: what the host does while the caller is away counts when the caller is back.
func TestHeldWhileAway(t *testing.T) {
	t.Parallel()
	cfg, sessions := withSession(greets())
	inBubble(t, plan{gw: cfg}, func(w *world) {
		r, s := w.rove(resumable()), <-sessions
		r.played(1, 500*time.Millisecond)
		r.cut()
		if err := s.Hold(true); err != nil {
			t.Fatal(err)
		}
		if err := s.Send(context.Background(), "missed", 1); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		r.back()
		r.until(transport.MessageMessage, "", 1)
		time.Sleep(3 * time.Second)
		if n := r.count(transport.MessageTurn, transport.StateResume); n != 0 {
			t.Error("the reply went on, although the host had put the call on hold")
		}
		r.cut()
		if err := s.Hold(false); err != nil {
			t.Fatal(err)
		}
		r.back()
		r.until(transport.MessageTurn, transport.StateEnd, 1)
		r.said(1, speech("hello", 24000))
	})
}

// TestResumeIsOff: a gateway that keeps no calls, and a client that cannot resume, lose the call
// with the connection.
func TestResumeIsOff(t *testing.T) {
	t.Parallel()
	for name, h := range map[string]transport.Hello{"gateway": resumable(), "client": hello()} {
		p := plan{}
		if name == "gateway" {
			p.gw.WS.ResumeWithin = -1
		}
		inBubble(t, p, func(w *world) {
			c := w.call(h, manner{})
			if c.client.Ready().Resume != (transport.Resumable{}) {
				t.Errorf("%s: the call can be resumed", name)
			}
			began := time.Now()
			c.tap.cut()
			w.settled()
			if took := time.Since(began); took > 3*time.Second {
				t.Errorf("%s: the call ended after %v", name, took)
			}
		})
	}
}

// TestHangsUpAtOnce: a far end that says goodbye is not waited for.
func TestHangsUpAtOnce(t *testing.T) {
	t.Parallel()
	inBubble(t, plan{}, func(w *world) {
		r := w.rove(resumable())
		began := time.Now()
		r.hangUp()
		w.settled()
		if took := time.Since(began); took > 3*time.Second {
			t.Errorf("the call ended after %v", took)
		}
	})
}

// TestEndsWhileAway: a call that ends while its far end is away is over at once, whoever ends it.
func TestEndsWhileAway(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(w *world, s *voicegw.Session) error{
		"host":    func(_ *world, s *voicegw.Session) error { return s.HangUp() },
		"gateway": func(w *world, _ *voicegw.Session) error { return w.gw.Close() },
	} {
		cfg, sessions := withSession(greets())
		inBubble(t, plan{gw: cfg}, func(w *world) {
			r, s := w.rove(resumable()), <-sessions
			r.played(1, 500*time.Millisecond)
			r.cut()
			began := time.Now()
			if err := end(w, s); err != nil {
				t.Fatal(err)
			}
			w.settled()
			if took := time.Since(began); took > 5*time.Second {
				t.Errorf("%s: the call ended after %v", name, took)
			}
			if name == "host" {
				r.refusedAgain(r.again())
			}
		})
	}
}

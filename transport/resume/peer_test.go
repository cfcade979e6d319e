package resume

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/voicegw/voicegw/transport"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// wire is a connection in memory.
type wire struct {
	hello  transport.Hello
	events chan transport.Event
	broken chan struct{}
	once   sync.Once

	mu       sync.Mutex
	ready    transport.Ready
	sent     []string // messages, and "audio"
	received uint64
	sendErr  error
	closed   transport.Reason
	atReady  func() // nil: nothing
}

func newWire(r transport.Resume) *wire {
	r.Able = true
	return &wire{hello: transport.Hello{Resume: r}, events: make(chan transport.Event, 8), broken: make(chan struct{})}
}

func (w *wire) Hello() transport.Hello { return w.hello }

func (w *wire) Ready(_ context.Context, r transport.Ready) error {
	if w.atReady != nil {
		w.atReady()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ready = r
	return w.sendErr
}

func (w *wire) Recv(ctx context.Context, ev *transport.Event) error {
	select {
	case *ev = <-w.events:
		w.mu.Lock()
		defer w.mu.Unlock()
		w.received++
		return nil
	case <-w.broken:
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.closed != transport.ReasonNone {
			return transport.End(w.closed, "", nil)
		}
		return transport.End(transport.ReasonPeerLost, "", errors.New("reset"))
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (w *wire) SendAudio(context.Context, uint64, []int16) error { return w.note("audio") }

func (w *wire) Send(_ context.Context, m *transport.Message) error {
	return w.note(m.Kind.String() + string(m.State) + m.Text)
}

func (w *wire) note(what string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.sendErr == nil {
		w.sent = append(w.sent, what)
	}
	return w.sendErr
}

func (w *wire) Close(r transport.Reason, _ string) error {
	w.mu.Lock()
	if w.closed == transport.ReasonNone {
		w.closed = r
	}
	w.mu.Unlock()
	w.cut()
	return nil
}

func (w *wire) Received() uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.received
}

func (w *wire) cut() { w.once.Do(func() { close(w.broken) }) }

func (w *wire) got() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.sent)
}

func text(s string) *transport.Message {
	return &transport.Message{Kind: transport.MessageTranscript, Text: s}
}

func turn(s transport.State) *transport.Message {
	return &transport.Message{Kind: transport.MessageTurn, State: s, Generation: 1}
}

// story runs a call: kinds of what Recv returned come out of the channel, and the error last.
func story(t *testing.T, within time.Duration, tell func(calls *Calls, p *Peer, first *wire, kinds chan string)) {
	t.Helper()
	storyOf(t, Wait{Broken: within}, tell)
}

func storyOf(t *testing.T, wait Wait, tell func(calls *Calls, p *Peer, first *wire, kinds chan string)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		calls, first, kinds := &Calls{}, newWire(transport.Resume{}), make(chan string, 64)
		p := calls.New(first, "token", wait)
		if err := p.Ready(context.Background(), transport.Ready{Call: "c-1"}); err != nil {
			t.Fatal(err)
		}
		var receiving sync.WaitGroup
		receiving.Go(func() {
			defer close(kinds)
			for ev := (transport.Event{}); ; {
				if err := p.Recv(context.Background(), &ev); err != nil {
					kinds <- transport.ReasonOf(err).String()
					return
				}
				kinds <- ev.Kind.String()
				if ev.Kind == transport.EventAway { // as the gateway does
					_ = p.Send(context.Background(), &transport.Message{Kind: transport.MessageHold, State: transport.StateStart})
				}
			}
		})
		tell(calls, p, first, kinds)
		_ = p.Close(transport.ReasonDone, "")
		receiving.Wait()
		if _, err := calls.Find(p.handle, "token"); err == nil {
			t.Error("a call that is over can be found")
		}
	})
}

// TestGoesOn loses a connection, and misses nothing.
func TestGoesOn(t *testing.T) {
	story(t, time.Minute, func(calls *Calls, p *Peer, first *wire, kinds chan string) {
		ctx := context.Background()
		for _, m := range []*transport.Message{turn(transport.StateStart), text("a"), text("b")} {
			if err := p.Send(ctx, m); err != nil {
				t.Fatal(err)
			}
		}
		first.events <- transport.Event{Kind: transport.EventText}
		first.events <- transport.Event{Kind: transport.EventDTMF}
		synctest.Wait()
		first.cut()
		synctest.Wait()
		_ = p.SendAudio(ctx, 1, nil)
		_ = p.Send(ctx, text("c"))
		_ = p.Send(ctx, &transport.Message{Kind: transport.MessageNet})
		time.Sleep(59 * time.Second)
		next := newWire(transport.Resume{Generation: 1, PlayedMS: 20, Received: 2})
		if err := p.Attach(ctx, next); err != nil {
			t.Fatal(err)
		}
		_ = p.SendAudio(ctx, 1, nil) // of nobody knows which turn
		_ = p.Send(ctx, turn(transport.StateResume))
		_ = p.SendAudio(ctx, 1, nil)
		synctest.Wait()
		want := []string{"transcriptb", "holdstart", "transcriptc", "turnresume", "audio"}
		if got := next.got(); !slices.Equal(got, want) {
			t.Errorf("the second connection got %v, want %v", got, want)
		}
		if r := next.ready; r.Call != "c-1" || r.Resume.Received != 2 || r.Resume.Handle != p.handle {
			t.Errorf("the second ready is %+v", r)
		}
		for _, want := range []string{"text", "dtmf", "away", "back"} {
			if got := <-kinds; got != want {
				t.Errorf("the call got %s, want %s", got, want)
			}
		}
	})
}

// TestWriteFails: a connection that takes nothing any more is lost too, without being read.
func TestWriteFails(t *testing.T) {
	for name, broken := range map[string]error{"stalled": transport.ErrStalled,
		"lost": transport.End(transport.ReasonPeerLost, "", nil)} {
		story(t, time.Minute, func(calls *Calls, p *Peer, first *wire, kinds chan string) {
			first.mu.Lock()
			first.sendErr = broken
			first.mu.Unlock()
			if err := p.Send(context.Background(), text("a")); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			next := newWire(transport.Resume{})
			if err := p.Attach(context.Background(), next); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if got := next.got(); !slices.Contains(got, "transcripta") {
				t.Errorf("%s: the second connection got %v", name, got)
			}
		})
	}
}

// TestEnds are not taken for a broken connection.
func TestEnds(t *testing.T) {
	for _, r := range []transport.Reason{transport.ReasonCallerHungUp, transport.ReasonBadJSON,
		transport.ReasonIdleTimeout} {
		story(t, time.Minute, func(_ *Calls, p *Peer, first *wire, kinds chan string) {
			_ = first.Close(r, "")
			if got := <-kinds; got != r.String() {
				t.Errorf("%s: the call got %s", r, got)
			}
		})
	}
	story(t, time.Minute, func(_ *Calls, p *Peer, first *wire, kinds chan string) {
		wrong := errors.New("of another generation")
		first.sendErr = wrong
		if err := p.Send(context.Background(), text("a")); !errors.Is(err, wrong) {
			t.Errorf("a message that cannot be sent: %v", err)
		}
	})
}

// TestTimeIsOver ends the call, and a late connection is refused.
func TestTimeIsOver(t *testing.T) {
	story(t, 3*time.Second, func(calls *Calls, p *Peer, first *wire, kinds chan string) {
		began := time.Now()
		first.cut()
		if a, b := <-kinds, <-kinds; a != "away" || b != "peer_lost" || time.Since(began) != 3*time.Second {
			t.Errorf("%s, %s after %v", a, b, time.Since(began))
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if err := p.Attach(ctx, newWire(transport.Resume{})); err == nil {
			t.Error("a late connection goes on")
		}
	})
}

// TestRefused: nobody goes on with a call without its handle and its token, and all of them hear the
// same.
func TestRefused(t *testing.T) {
	story(t, time.Minute, func(calls *Calls, p *Peer, first *wire, kinds chan string) {
		if len(p.handle) < 26 { // 130 bits
			t.Errorf("the handle has %d characters", len(p.handle))
		}
		same := refused().Error()
		for _, c := range [][2]string{{"", "token"}, {p.handle, ""}, {p.handle, "Token"},
			{strings.ToLower(p.handle), "token"}} {
			if _, err := calls.Find(c[0], c[1]); err == nil || err.Error() != same {
				t.Errorf("%q: %v", c, err)
			}
		}
		if got, err := calls.Find(p.handle, "token"); got != p || err != nil {
			t.Errorf("its own: %v", err)
		}
		for _, received := range []uint64{5, 1 << 53} {
			if err := p.Attach(context.Background(), newWire(transport.Resume{Received: received})); err == nil ||
				err.Error() != same {
				t.Errorf("who received %d messages that were never sent: %v", received, err)
			}
		}
	})
}

// TestMissedIsBounded: a far end that is away misses so much, and then counts as stalled. While it
// is connected the oldest messages are forgotten.
func TestMissedIsBounded(t *testing.T) {
	story(t, time.Minute, func(calls *Calls, p *Peer, first *wire, kinds chan string) {
		ctx := context.Background()
		for range KeptMax + 100 {
			if err := p.Send(ctx, text("a")); err != nil {
				t.Fatal(err)
			}
		}
		if n := len(p.log.list); n != KeptMax || p.log.first != 100 {
			t.Errorf("%d messages are kept after %d", n, p.log.first)
		}
		first.cut()
		synctest.Wait()
		n := len(p.log.list)
		for ; n <= missedMax && p.Send(ctx, text("a")) == nil; n++ {
		}
		if n != missedMax || !errors.Is(p.Send(ctx, text("a")), transport.ErrStalled) {
			t.Errorf("%d messages wait, want %d", n, missedMax)
		}
		if err := p.Attach(ctx, newWire(transport.Resume{Received: 99})); err == nil {
			t.Error("a far end goes on that has missed what is forgotten")
		}
	})
	var l sentLog
	large := text(strings.Repeat("x", keptBytesMax/2))
	for range 3 {
		if !l.add(large, false) {
			t.Error("there is no room for a connected far end")
		}
	}
	if l.bytes > keptBytesMax || len(l.list) != 2 || l.add(large, true) {
		t.Errorf("%d bytes in %d messages are kept", l.bytes, len(l.list))
	}
}

// TestNewestAttaches: of connections that wait for a call, the newest goes on with it.
func TestNewestAttaches(t *testing.T) {
	story(t, time.Minute, func(calls *Calls, p *Peer, first *wire, kinds chan string) {
		errs := make(chan error, 2)
		older, newer := newWire(transport.Resume{}), newWire(transport.Resume{})
		p.mu.Lock()
		p.waiting = &attach{conn: older, done: make(chan error, 1)}
		waiting := p.waiting
		p.mu.Unlock()
		errs <- p.Attach(context.Background(), newer)
		if err := <-waiting.done; transport.ReasonOf(err) != transport.ReasonSuperseded {
			t.Errorf("the older one: %v", err)
		}
		if err := <-errs; err != nil || first.closed != transport.ReasonSuperseded {
			t.Errorf("the newer one: %v; the first was closed by %s", err, first.closed)
		}
	})
}

// TestEndsWhileTakenOver: a call that ends while a connection takes it over gives the connection back,
// with how the call ended: nobody else would close it.
func TestEndsWhileTakenOver(t *testing.T) {
	story(t, time.Minute, func(calls *Calls, p *Peer, first *wire, kinds chan string) {
		first.cut()
		synctest.Wait()
		next := newWire(transport.Resume{})
		next.atReady = func() { _ = p.Close(transport.ReasonDone, "") }
		if err := p.Attach(context.Background(), next); transport.ReasonOf(err) != transport.ReasonDone {
			t.Errorf("the connection of a call that is over: %v", err)
		}
	})
}

// TestOrderlyClose: where a protocol allows it, a call also waits for a far end that closed its
// connection, for its own time, and then the caller has hung up.
func TestOrderlyClose(t *testing.T) {
	wait := Wait{Broken: time.Minute, Closed: 5 * time.Second}
	for _, comes := range []bool{true, false} {
		storyOf(t, wait, func(calls *Calls, p *Peer, first *wire, kinds chan string) {
			began := time.Now()
			_ = first.Close(transport.ReasonCallerHungUp, "")
			if got := <-kinds; got != "away" {
				t.Errorf("the call got %s", got)
			}
			if comes {
				time.Sleep(4 * time.Second)
				if err := p.Attach(context.Background(), newWire(transport.Resume{})); err != nil || <-kinds != "back" {
					t.Errorf("a far end that is back: %v", err)
				}
				return
			}
			if got := <-kinds; got != "caller_hung_up" || time.Since(began) != 5*time.Second {
				t.Errorf("%s after %v", got, time.Since(began))
			}
		})
	}
}

// clock is a wire whose far end does not report what it has played.
type clock struct {
	*wire
	generation uint64
	playedMS   int64
}

func (c *clock) Played() (uint64, int64)          { return c.generation, c.playedMS }
func (c *clock) GoOn(generation uint64, ms int64) { c.generation, c.playedMS = generation, ms }

// TestPlayedByTheClock: what the connection before has played counts, not what the hello says.
func TestPlayedByTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls Calls
		first := &clock{wire: newWire(transport.Resume{}), generation: 3, playedMS: 340}
		p := calls.New(first, "token", Wait{Broken: time.Minute})
		if calls.Any("") || !calls.Any("token") {
			t.Error("the calls that can be resumed are not those of the token")
		}
		if err := p.Ready(context.Background(), transport.Ready{}); err != nil {
			t.Fatal(err)
		}
		events := make(chan transport.Event, 2)
		var receiving sync.WaitGroup
		receiving.Go(func() {
			for ev := (transport.Event{}); p.Recv(context.Background(), &ev) == nil; {
				events <- ev
			}
		})
		first.cut()
		<-events
		next := &clock{wire: newWire(transport.Resume{Generation: 1, PlayedMS: 9000})}
		if err := p.Attach(context.Background(), next); err != nil {
			t.Fatal(err)
		}
		if ev := <-events; ev.Kind != transport.EventBack || ev.Generation != 3 || ev.PlayedMS != 340 ||
			next.generation != 3 || next.playedMS != 340 {
			t.Errorf("%+v, and the next clock begins at %d of %d", ev, next.playedMS, next.generation)
		}
		_ = p.Close(transport.ReasonDone, "")
		receiving.Wait()
		if calls.Any("token") {
			t.Error("a call that is over can be resumed")
		}
	})
}
